/* SPDX-License-Identifier: MIT */
/*
 * NumPy's .npz files: ZIP archives whose members are NAME.npy. Through libzip, which allocates with
 * the C library.
 */
#ifndef WEFT_CORE_NPZ_H
#define WEFT_CORE_NPZ_H

#include "core/formats/npy.h"

/** An open archive. One thread at a time. */
typedef struct weft_npz weft_npz;

/**
 * Opens an archive. Errors: WEFT_NOT_FOUND, WEFT_IO_ERROR, WEFT_BAD_FILE (no ZIP archive),
 * WEFT_OUT_OF_HOST_MEMORY. host may be null and is copied.
 */
weft_status weft_npz_open(weft_npz **npz, const char *path, const weft_host *host);
/** Opens bytes in memory, which must outlive the archive; `name` replaces the path in messages. */
weft_status weft_npz_open_memory(weft_npz **npz, const void *data, size_t size, const char *name,
                                 const weft_host *host);
void weft_npz_close(weft_npz **npz);

/** True if the archive has an array of that name (without ".npy"). */
bool weft_npz_has(const weft_npz *npz, const char *name);

/**
 * Reads the header of the array `name` without its data, by weft_npy_look. weft_npy_close releases it. Errors as
 * weft_npz_get.
 */
weft_status weft_npz_look(weft_npy *npy, const weft_npz *npz, const char *name);

/**
 * Unpacks the array `name` into host memory; weft_npy_close releases it, before or after the
 * archive is closed. Its header is unpacked and checked first. Errors: WEFT_NOT_FOUND (the message lists what the archive has);
 * WEFT_BAD_FILE when it has more than `limit` bytes of data, is encrypted or damaged (its checksum is
 * checked), and as weft_npy_open; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_npz_get(weft_npy *npy, const weft_npz *npz, const char *name, uint64_t limit);

/** An array to be written. */
struct weft_npz_member {
    const char *name;  /**< without ".npy" */
    const char *descr; /**< NumPy's type string */
    weft_shape shape;
    const void *data; /**< little-endian, row-major, `size` bytes */
    size_t size;
    const char *file; /**< or a whole .npy file in the place of all this but the name; else null */
};

/**
 * Writes an archive of stored members, once it is whole in memory, as weft_file_write does, whose errors it has: equal arrays are equal files, without
 * times. host may be null.
 */
weft_status weft_npz_write(const char *path, const struct weft_npz_member *members, uint32_t count,
                           const weft_host *host);

/** Writes an archive over a file that is there, piece by piece: members may be larger than memory. An error leaves the file as it was. */
weft_status weft_npz_write_pieces(const char *path, const struct weft_npz_member *members,
                                  uint32_t count, const weft_host *host);

#endif
