/* SPDX-License-Identifier: MIT */
/*
 * A file that is read again long after it was checked. Its descriptor stays open, so that replacing or deleting the file
 * changes nothing; and what is read must have the checksum that it had when the file was sealed, so that bytes which somebody
 * else writes into it are never used: by accident or on purpose, as the checksums have a key that nobody can know. Size and time of the last change would not say that: both can be what they were.
 */
#ifndef WEFT_CORE_KEPT_FILE_H
#define WEFT_CORE_KEPT_FILE_H

#include "core/host.h"

typedef struct weft_kept_file weft_kept_file;

/** Opens a regular file. Errors: WEFT_NOT_FOUND, WEFT_IO_ERROR, logged with the path. host may be null and is copied. */
weft_status weft_kept_file_open(weft_kept_file **file, const char *path, const weft_host *host);
/** Wraps bytes in memory, which must not change until it is closed. `name` names them in errors. */
weft_status weft_kept_file_of_memory(weft_kept_file **file, const void *data, uint64_t size,
                                     const char *name, const weft_host *host);
void weft_kept_file_close(weft_kept_file **file);

/** The size when it was opened. Bytes that are added later are none of it. */
uint64_t weft_kept_file_size(const weft_kept_file *file);
const char *weft_kept_file_name(const weft_kept_file *file);
const weft_host *weft_kept_file_host(const weft_kept_file *file);

/** Reads all of it and notes the checksums. One thread, once. WEFT_CANCELLED where the host wants an end. */
weft_status weft_kept_file_seal(weft_kept_file *file);

/**
 * Reads bytes within the size. Any thread, several at once. Errors, which name the file and `what`: WEFT_BAD_FILE when they are
 * not those that were sealed, or are gone; WEFT_IO_ERROR. What `out` then has means nothing.
 */
weft_status weft_kept_file_read(const weft_kept_file *file, uint64_t offset, void *out, size_t size,
                                const char *what);

#endif
