/* SPDX-License-Identifier: MIT */
/*
 * NumPy's .npy files, versions 1 and 2: little-endian, C order. Format: numpy.lib.format in NumPy's
 * documentation. Thread safety: an open array is immutable.
 */
#ifndef WEFT_CORE_NPY_H
#define WEFT_CORE_NPY_H

#include "core/formats/npy_header.h"
#include "core/host.h"

typedef enum weft_npy_dtype {
    WEFT_NPY_U8 = 0, /**< '|u1' */
    WEFT_NPY_I32,    /**< '<i4' */
    WEFT_NPY_I64,    /**< '<i8' */
    WEFT_NPY_F32,    /**< '<f4' */
    WEFT_NPY_F64,    /**< '<f8' */
    WEFT_NPY_DTYPE_COUNT
} weft_npy_dtype;

/** The name in the file, such as "<f4". */
const char *weft_npy_dtype_name(weft_npy_dtype dtype);
/** Bytes of one element. */
size_t weft_npy_dtype_size(weft_npy_dtype dtype);

/** An array. The caller reads the first block; the second belongs to this module. */
typedef struct weft_npy {
    weft_npy_dtype dtype;
    uint32_t rank;
    uint64_t shape[WEFT_NPY_MAX_RANK]; /**< outermost first; an axis may be 0 */
    uint64_t elements;                 /**< product of shape; 1 for a scalar */
    const uint8_t
        *data; /**< little-endian elements, row-major, at any alignment; weft_npy_look: null */
    uint64_t bytes;

    weft_host host;
    char *name;     /* for messages; in host memory */
    uint8_t *owned; /* the data, where they are not borrowed; in host memory */
} weft_npy;

/** Most bytes of data that weft_npy_open reads. */
#define WEFT_NPY_MAX_BYTES (UINT64_C(1) << 32)

/**
 * Reads a file, after its header says that the file is as long as its shape. Errors, naming file, expected and found: WEFT_BAD_FILE for a malformed header, a
 * dtype not listed above, Fortran order, more than WEFT_NPY_MAX_RANK axes, and too few or too many
 * bytes of data or more than WEFT_NPY_MAX_BYTES; WEFT_NOT_FOUND, WEFT_IO_ERROR, WEFT_OUT_OF_HOST_MEMORY. *npy is untouched on
 * failure. host may be null and is copied. Close with weft_npy_close.
 */
weft_status weft_npy_open(weft_npy *npy, const char *path, const weft_host *host);

/** Opens bytes in memory, borrowed until weft_npy_close; `name` names them in errors. */
weft_status weft_npy_open_memory(weft_npy *npy, const void *data, size_t size, const char *name,
                                 const weft_host *host);

/** Source of a file that is read once, in order. */
struct weft_npy_stream {
    /** The next `size` bytes; says in the log why it cannot give them. */
    weft_status (*read)(void *user, void *out, size_t size);
    void *user;
    uint64_t size; /* of the whole file */
};

/** A file as a stream. */
struct weft_npy_file {
    int file;
    const char *path;
    const weft_host *host;
};

/** Opens a file that `stream` reads until it is closed; path and host are kept. Logs its errors. */
weft_status weft_npy_file_open(struct weft_npy_file *file, struct weft_npy_stream *stream,
                               const char *path, const weft_host *host);
void weft_npy_file_close(const struct weft_npy_file *file);

/** Opens a stream with at most `limit` bytes of data. Refused data are neither read nor given memory. */
weft_status weft_npy_open_stream(weft_npy *npy, const struct weft_npy_stream *stream,
                                 uint64_t limit, const char *name, const weft_host *host);
/** Reads the header alone, without the data. */
weft_status weft_npy_look(weft_npy *npy, const struct weft_npy_stream *stream, const char *name,
                          const weft_host *host);

/** Releases what the array holds and zeroes it; a zeroed array is fine. */
void weft_npy_close(weft_npy *npy);

/**
 * Converts U8, I32 or I64 to int32. `out` holds npy->elements. Errors: WEFT_BAD_FILE for another
 * dtype, and for a value outside int32, naming its index.
 */
weft_status weft_npy_read_i32(const weft_npy *npy, int32_t *out);

/**
 * Converts F32 (bit for bit) or F64 (to nearest even) to float. `out` holds npy->elements.
 * WEFT_BAD_FILE for another dtype.
 */
weft_status weft_npy_read_f32(const weft_npy *npy, float *out);

/** Room for the text of any shape. */
#define WEFT_NPY_SHAPE_TEXT_SIZE 192
/** Writes "[2, 512]" to text, which holds WEFT_NPY_SHAPE_TEXT_SIZE bytes, and returns it. */
const char *weft_npy_shape_text(const weft_npy *npy, char *text);

/**
 * Writes weft_shape_elements(shape) values as a version 1 file, beside `path` and renamed over it:
 * on failure `path` is as it was. host may be null. Errors: WEFT_INVALID_ARGUMENT for a rank over
 * WEFT_MAX_RANK, WEFT_IO_ERROR, WEFT_NOT_FOUND (no such folder), WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_npy_write_f32(const char *path, const float *data, weft_shape shape,
                               const weft_host *host);
weft_status weft_npy_write_i32(const char *path, const int32_t *data, weft_shape shape,
                               const weft_host *host);

#endif
