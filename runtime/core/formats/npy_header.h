/* SPDX-License-Identifier: MIT */
/* The header of a .npy file: magic, version, and a Python dict literal of three keys. */
#ifndef WEFT_CORE_NPY_HEADER_H
#define WEFT_CORE_NPY_HEADER_H

#include "core/host.h"

#define WEFT_NPY_MAX_RANK 8

struct weft_npy_header {
    size_t size;    /* bytes before the data */
    char descr[16]; /* NumPy's type string, cut to fit */
    uint32_t rank;
    uint64_t shape[WEFT_NPY_MAX_RANK];
};

/** Longest header, with what comes before its text: NumPy's own limit for files of strangers is 10,000 characters. */
#define WEFT_NPY_MAX_HEADER 10240u
/** Bytes at the start that contain the header's length. */
#define WEFT_NPY_START 12u

/**
 * The bytes of the header, of a file of `total` bytes that begins with these: WEFT_NPY_START or all there are. Errors: WEFT_BAD_FILE,
 * logged with `name`, for other contents, another version than 1 and 2, and a header that is longer than the file or
 * WEFT_NPY_MAX_HEADER.
 */
weft_status weft_npy_header_measure(size_t *size, const uint8_t *start, size_t start_size,
                                    uint64_t total, const char *name, const weft_host *host);

/**
 * Reads a header of that many bytes. Errors: WEFT_BAD_FILE, logged with `name`, for anything that NumPy would not write in version 1
 * or 2, Fortran order, and more than WEFT_NPY_MAX_RANK axes.
 */
weft_status weft_npy_header_read(struct weft_npy_header *header, const uint8_t *bytes, size_t size,
                                 const char *name, const weft_host *host);

/** Room for any header that weft_npy_header_write makes. */
#define WEFT_NPY_HEADER_CAPACITY 192

/** Writes a version 1 header, padded so that the data begins at a multiple of 64; its size. */
size_t weft_npy_header_write(uint8_t out[WEFT_NPY_HEADER_CAPACITY], const char *descr,
                             weft_shape shape);

#endif
