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

/**
 * Reads the header at the start of `size` bytes. Errors: WEFT_BAD_FILE, logged with `name`, for
 * anything that NumPy would not write in version 1 or 2, Fortran order, and more than
 * WEFT_NPY_MAX_RANK axes.
 */
weft_status weft_npy_header_read(struct weft_npy_header *header, const uint8_t *bytes, size_t size,
                                 const char *name, const weft_host *host);

/** Room for any header that weft_npy_header_write makes. */
#define WEFT_NPY_HEADER_CAPACITY 192

/** Writes a version 1 header, padded so that the data begins at a multiple of 64; its size. */
size_t weft_npy_header_write(uint8_t out[WEFT_NPY_HEADER_CAPACITY], const char *descr,
                             weft_shape shape);

#endif
