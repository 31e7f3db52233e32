/* SPDX-License-Identifier: MIT */
/*
 * Compiled things kept between runs. An entry is a file named after its kind and the hash of its key; it carries the
 * key's hash and its own, so a damaged, foreign or cut-short file is a miss. Entries are written beside and renamed.
 *
 * Hashes tell of accidents and not of malice, and entries are machine code: they are read from and written to a folder that
 * this user or the administrator alone can have filled (core/system/private_folder.h). Elsewhere everything is a miss.
 */
#ifndef WEFT_CORE_DISK_CACHE_H
#define WEFT_CORE_DISK_CACHE_H

#include "core/hash.h"
#include "core/host.h"

#define WEFT_CACHE_LIMIT ((uint64_t)512 << 20) /* bytes, where nobody says */

/** The name of the folder of kernels that come with the library (weft_library_beside): entries as in a cache, which nobody writes to. */
#define WEFT_SHIPPED_KERNELS "weft-kernels"

/** A folder. Any number of threads may use one, and any number of processes the same folder. */
struct weft_cache;

/** The default folder: $XDG_CACHE_HOME/weft or ~/.cache/weft, in host memory; null when neither variable is set. */
char *weft_cache_default_dir(const weft_host *host);

/**
 * dir null: the default folder, or the library's own alone where there is no default; "", or where there is neither: *cache is null.
 * Nothing is touched yet. `limit`: how many bytes the folder's entries may take, 0: WEFT_CACHE_LIMIT. A relative path is of the
 * working folder now: WEFT_IO_ERROR where that is gone. Otherwise only WEFT_OUT_OF_HOST_MEMORY is an error.
 */
weft_status weft_cache_create(struct weft_cache **cache, const char *dir, uint64_t limit,
                              const weft_host *host);
void weft_cache_destroy(struct weft_cache **cache, const weft_host *host);

/**
 * Searches `dir`, too, for entries that the cache's folder lacks. `dir` is only read, and must be as trusted.
 * weft_cache_create sets the library's own folder, if there is one. Null: no second folder.
 */
weft_status weft_cache_ship(struct weft_cache *cache, const char *dir, const weft_host *host);

/**
 * Looks up an entry: *data is in host memory (the caller frees it), null on a miss. cache null is always a miss.
 * Only WEFT_OUT_OF_HOST_MEMORY is an error. A damaged entry is a miss with a warning; so is one that somebody else may have
 * written, and everything in such a folder, with one warning for each of both while the cache is open.
 */
weft_status weft_cache_read(uint8_t **data, size_t *size, struct weft_cache *cache,
                            const char *kind, const weft_digest *key, const weft_host *host);

/**
 * Stores an entry. cache null does nothing. A folder that cannot be written, or that others may write to, is a warning, once,
 * and not a failure. Now and then entries over the limit go, and what processes that ended have left half written.
 */
void weft_cache_write(struct weft_cache *cache, const char *kind, const weft_digest *key,
                      const void *data, size_t size, const weft_host *host);

#endif
