/* SPDX-License-Identifier: MIT */
/*
 * The safetensors format: an 8-byte little-endian length N, N bytes of JSON that name each tensor's
 * type, shape and place, and the data. Specification: "Format" in the README of the safetensors
 * project.
 *
 * A file is checked completely before any of it can be used; a handle is immutable afterwards, so
 * all functions that take a const handle may be called from any thread at the same time.
 */
#ifndef WEFT_MODEL_SAFETENSORS_H
#define WEFT_MODEL_SAFETENSORS_H

#include "model/files/safetensors_dtype.h"
#include "model/files/safetensors_notes.h"

struct weft_block_form; /* graph/graph.h */
struct weft_blocks;
struct weft_ggml_format; /* ggml_format.h */

/**
 * Longest header in bytes. It has about 100 for each tensor, so that this is room for 150,000; the reference implementation's limit
 * is 100 MB. Opening a file takes about as much memory as its header and 104 bytes for each tensor.
 */
#define WEFT_SAFETENSORS_MAX_HEADER (16u << 20)
/** Longest entry of a tensor in the header: type, shape and offsets. */
#define WEFT_SAFETENSORS_MAX_ENTRY 4096u
/** Most axes of a tensor. */
#define WEFT_SAFETENSORS_MAX_RANK 8

/** The name in the file, such as "BF16". */
const char *weft_safetensors_dtype_name(weft_safetensors_dtype dtype);
/** Bytes of one element. */
size_t weft_safetensors_dtype_size(weft_safetensors_dtype dtype);

/** One tensor. All pointers live as long as the file is open. */
typedef struct weft_safetensors_tensor {
    const char *name;
    weft_safetensors_dtype dtype;
    uint32_t rank;
    uint64_t shape[WEFT_SAFETENSORS_MAX_RANK]; /**< outermost first; an axis may be 0 */
    uint64_t elements;                         /**< product of shape; 1 for a scalar */
    uint64_t offset; /**< in the file, at any alignment: of its data, little-endian, row-major */
    uint64_t bytes;  /**< of its elements */
    /** An F32 matrix whose data in the file are blocks, which are taken apart when it is read; or null */
    const struct weft_ggml_format *format;
} weft_safetensors_tensor;

typedef struct weft_safetensors weft_safetensors;

/**
 * A U8 matrix called NAME.q8_0, NAME.q4_0 or of another format of ggml that Weft has is given as an F32 matrix NAME, of the numbers that its
 * rows of blocks stand for: as weft_model_quantize writes them.
 *
 * Opens and checks a file, and keeps it open: what is read later are the bytes that were there now, or an error (core/system/kept_file.h).
 * Errors, naming file, tensor, expected and found:
 *   WEFT_BAD_FILE: cut short, header longer than the file or WEFT_SAFETENSORS_MAX_HEADER, bad JSON,
 *     duplicate names, a missing or malformed field, more than WEFT_SAFETENSORS_MAX_RANK axes, an
 *     offset that is out of range or does not fit dtype and shape, tensors that overlap or leave bytes unused, rows that are no whole blocks;
 *   WEFT_UNSUPPORTED: a dtype with elements smaller than a byte;
 *   WEFT_NOT_FOUND, WEFT_IO_ERROR, WEFT_OUT_OF_HOST_MEMORY.
 * host may be null and is copied.
 */
weft_status weft_safetensors_open(weft_safetensors **file, const char *path, const weft_host *host);

/** Opens bytes in memory, which are borrowed until weft_safetensors_close; `path` only names them in errors. */
weft_status weft_safetensors_open_memory(weft_safetensors **file, const void *data, size_t size,
                                         const char *path, const weft_host *host);

/** A file of another format whose tensors are given as a safetensors file would give them. */
struct weft_safetensors_view {
    const char *path; /* named in errors; it lives until release, as the tensors' names do */
    const weft_safetensors_tensor *tensors; /* copied; `offset` means something to `read` alone */
    uint32_t count;
    /** So many bytes, of whole elements, of a tensor from `begin` on. Any thread. */
    weft_status (*read)(void *user, const weft_safetensors_tensor *tensor, uint64_t begin,
                        void *out, size_t size);
    /** How the numbers of an F32 matrix are made (graph/graph.h), or null; the whole function may be null. */
    const struct weft_block_form *(*blocks)(void *user, const weft_safetensors_tensor *tensor);
    /** Whole rows of such a matrix. Any thread. */
    weft_status (*read_blocks)(void *user, const weft_safetensors_tensor *tensor,
                               uint64_t first_row, uint64_t rows, const struct weft_blocks *out);
    void (*release)(
        void *user); /* of `user`, when the file is closed; not called when opening fails */
    void *user;
};

/** Errors: WEFT_BAD_FILE for two tensors of a name; WEFT_OUT_OF_HOST_MEMORY. */
weft_status weft_safetensors_open_view(weft_safetensors **file,
                                       const struct weft_safetensors_view *view,
                                       const weft_host *host);
/** How a tensor's numbers are made, or null; and rows of one that has such a form. */
const struct weft_block_form *weft_safetensors_blocks(const weft_safetensors *file,
                                                      const weft_safetensors_tensor *tensor);
weft_status weft_safetensors_read_blocks(const weft_safetensors *file,
                                         const weft_safetensors_tensor *tensor, uint64_t first_row,
                                         uint64_t rows, const struct weft_blocks *out);
/** True of such a file: it has no bytes of its own. */
bool weft_safetensors_is_view(const weft_safetensors *file);

void weft_safetensors_close(weft_safetensors **file);

/** The name it was opened under. */
const char *weft_safetensors_path(const weft_safetensors *file);
/** The host it was opened with. */
const weft_host *weft_safetensors_host(const weft_safetensors *file);
/** Number of tensors. */
uint32_t weft_safetensors_count(const weft_safetensors *file);
/** Tensor `index` in the byte order of names; null when index is out of range. */
const weft_safetensors_tensor *weft_safetensors_at(const weft_safetensors *file, uint32_t index);
/** Notes of __metadata__, in the file's order; null when index is out of range. */
uint32_t weft_safetensors_note_count(const weft_safetensors *file);
const weft_safetensors_note *weft_safetensors_note_at(const weft_safetensors *file, uint32_t index);
/** The tensor of that name, or null; logs nothing. */
const weft_safetensors_tensor *weft_safetensors_find(const weft_safetensors *file,
                                                     const char *name);

/**
 * The tensor of that name, which must be floating-point (F32, F16, BF16 or F64) and have exactly
 * `shape`. Errors: WEFT_NOT_FOUND when there is none, WEFT_BAD_FILE for another dtype or shape; all
 * logged with file, tensor, expected and found.
 */
weft_status weft_safetensors_require(const weft_safetensors_tensor **tensor,
                                     const weft_safetensors *file, const char *name,
                                     weft_shape shape);

/** The two halves of that: of a tensor that was found, and what is said where there is none. */
weft_status weft_safetensors_expect(const weft_safetensors *file,
                                    const weft_safetensors_tensor *tensor, weft_shape shape);
/** The shape alone. */
weft_status weft_safetensors_expect_shape(const weft_safetensors *file,
                                          const weft_safetensors_tensor *tensor, weft_shape shape);
weft_status weft_safetensors_missing(const char *path, const char *name, weft_shape shape,
                                     const weft_host *host);

/**
 * Converts `count` elements from `first` on to floats: F32 copied bit for bit, F16 and BF16 exactly, F64 rounded to nearest even.
 * Errors: WEFT_BAD_FILE for any other dtype, or when the file has other bytes now; WEFT_IO_ERROR.
 */
weft_status weft_safetensors_read_f32(const weft_safetensors *file,
                                      const weft_safetensors_tensor *tensor, uint64_t first,
                                      uint64_t count, float *out);

/** Those conversions, of bytes in memory. `data` may be the end of `out`: each element is read before the last float is written over it. */
void weft_safetensors_convert(float *out, weft_safetensors_dtype dtype, const uint8_t *data,
                              size_t count);

/** The bits of so many elements of 2 bytes. Errors as weft_safetensors_read. */
weft_status weft_safetensors_read_u16(const weft_safetensors *file,
                                      const weft_safetensors_tensor *tensor, uint64_t first,
                                      uint64_t count, uint16_t *out);

/** Reads I32 and I64 as i32: WEFT_BAD_FILE, naming the index, for an element that does not fit. */
weft_status weft_safetensors_read_i32(const weft_safetensors *file,
                                      const weft_safetensors_tensor *tensor, uint64_t first,
                                      uint64_t count, int32_t *out);

/** So many of a tensor's bytes from `begin` on. Errors as the above. */
weft_status weft_safetensors_read(const weft_safetensors *file,
                                  const weft_safetensors_tensor *tensor, uint64_t begin, void *out,
                                  size_t size);

/** All bytes of the file, weft_safetensors_size, as they were when it was opened; of no view. Errors: WEFT_BAD_FILE when they are not; WEFT_IO_ERROR. */
weft_status weft_safetensors_copy(const weft_safetensors *file, void *out);
uint64_t weft_safetensors_size(const weft_safetensors *file);

/**
 * WEFT_BAD_FILE, naming file, tensor and the first index, when a value is NaN or infinite, or is an
 * F64 too large for a float. Also for a dtype that is not floating-point.
 */
weft_status weft_safetensors_check_finite(const weft_safetensors *file,
                                          const weft_safetensors_tensor *tensor);

/** True if it is F32, F16, BF16 or F64. */
bool weft_safetensors_is_float(weft_safetensors_dtype dtype);

/** Checks that weft_safetensors_read_i32 can read all of it; logs why not. */
weft_status weft_safetensors_check_i32(const weft_safetensors *file,
                                       const weft_safetensors_tensor *tensor);

#endif
