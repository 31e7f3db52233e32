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

#include "core/host.h"

/** Longest header in bytes: the limit of the reference implementation. */
#define WEFT_SAFETENSORS_MAX_HEADER 100000000u
/** Most axes of a tensor. */
#define WEFT_SAFETENSORS_MAX_RANK 8

typedef enum weft_safetensors_dtype {
    WEFT_SAFETENSORS_BOOL = 0,
    WEFT_SAFETENSORS_U8,
    WEFT_SAFETENSORS_I8,
    WEFT_SAFETENSORS_F8_E5M2,
    WEFT_SAFETENSORS_F8_E4M3,
    WEFT_SAFETENSORS_F8_E8M0,
    WEFT_SAFETENSORS_I16,
    WEFT_SAFETENSORS_U16,
    WEFT_SAFETENSORS_F16,
    WEFT_SAFETENSORS_BF16,
    WEFT_SAFETENSORS_I32,
    WEFT_SAFETENSORS_U32,
    WEFT_SAFETENSORS_F32,
    WEFT_SAFETENSORS_F64,
    WEFT_SAFETENSORS_I64,
    WEFT_SAFETENSORS_U64,
    WEFT_SAFETENSORS_C64,
    WEFT_SAFETENSORS_DTYPE_COUNT
} weft_safetensors_dtype;

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
    const uint8_t *data; /**< little-endian, row-major, at any alignment; null when bytes is 0 */
    size_t bytes;
} weft_safetensors_tensor;

typedef struct weft_safetensors weft_safetensors;

/**
 * Maps and checks a file. Errors, naming file, tensor, expected and found:
 *   WEFT_BAD_FILE: cut short, header longer than the file or WEFT_SAFETENSORS_MAX_HEADER, bad JSON,
 *     duplicate names, a missing or malformed field, more than WEFT_SAFETENSORS_MAX_RANK axes, an
 *     offset that is out of range, misaligned (not a multiple of the element's size) or does not
 *     fit dtype and shape, tensors that overlap or leave bytes unused;
 *   WEFT_UNSUPPORTED: a dtype with elements smaller than a byte;
 *   WEFT_NOT_FOUND, WEFT_IO_ERROR, WEFT_OUT_OF_HOST_MEMORY.
 * The file must not shrink while it is open. host may be null and is copied.
 */
weft_status weft_safetensors_open(weft_safetensors **file, const char *path, const weft_host *host);

/**
 * The same on bytes in memory, which are borrowed until weft_safetensors_close; `path` only names
 * them in errors.
 */
weft_status weft_safetensors_open_memory(weft_safetensors **file, const void *data, size_t size,
                                         const char *path, const weft_host *host);

void weft_safetensors_close(weft_safetensors **file);

/** The name it was opened under. */
const char *weft_safetensors_path(const weft_safetensors *file);
/** The host it was opened with. */
const weft_host *weft_safetensors_host(const weft_safetensors *file);
/** Number of tensors. */
uint32_t weft_safetensors_count(const weft_safetensors *file);
/** Tensor `index` in the byte order of names; null when index is out of range. */
const weft_safetensors_tensor *weft_safetensors_at(const weft_safetensors *file, uint32_t index);
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

/**
 * The data as floats, without a copy: null unless the dtype is F32, the data is aligned for float
 * and this machine is little-endian. Lives as long as the file is open.
 */
const float *weft_safetensors_f32(const weft_safetensors_tensor *tensor);

/**
 * Converts to floats: F32 copied bit for bit, F16 and BF16 exactly, F64 rounded to nearest even.
 * `out` holds tensor->elements. Errors: WEFT_BAD_FILE for any other dtype.
 */
weft_status weft_safetensors_read_f32(const weft_safetensors *file,
                                      const weft_safetensors_tensor *tensor, float *out);

/**
 * WEFT_BAD_FILE, naming file, tensor and the first index, when a value is NaN or infinite, or is an
 * F64 too large for a float. Also for a dtype that is not floating-point.
 */
weft_status weft_safetensors_check_finite(const weft_safetensors *file,
                                          const weft_safetensors_tensor *tensor);

#endif
