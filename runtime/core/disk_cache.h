/* SPDX-License-Identifier: MIT */
/*
 * Compiled things kept between runs. An entry is a file named after its kind and the hash of its key; it carries the
 * key's hash and its own, so a damaged, foreign or cut-short file is a miss. Entries are written beside and renamed.
 */
#ifndef WEFT_CORE_DISK_CACHE_H
#define WEFT_CORE_DISK_CACHE_H

#include "core/hash.h"
#include "core/host.h"

/** The default folder: $XDG_CACHE_HOME/weft or ~/.cache/weft, in host memory; null when neither variable is set. */
char *weft_cache_default_dir(const weft_host *host);

/**
 * Looks up an entry: *data is in host memory (the caller frees it), null on a miss. dir null is always a miss.
 * Only WEFT_OUT_OF_HOST_MEMORY is an error; a damaged entry is a miss with a warning.
 */
weft_status weft_cache_read(uint8_t **data, size_t *size, const char *dir, const char *kind,
                            const weft_digest *key, const weft_host *host);

/** Stores an entry. dir null does nothing. A folder that cannot be written is a warning, not a failure. */
void weft_cache_write(const char *dir, const char *kind, const weft_digest *key, const void *data,
                      size_t size, const weft_host *host);

#endif
