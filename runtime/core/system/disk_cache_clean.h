/* SPDX-License-Identifier: MIT */
/* Keeping the disk cache's folder small. */
#ifndef WEFT_CORE_DISK_CACHE_CLEAN_H
#define WEFT_CORE_DISK_CACHE_CLEAN_H

#include "core/host.h"
#include "core/system/private_folder.h"

#define WEFT_CACHE_BLOCK 4096u /* bytes: what a file takes on disk is a multiple of this */

/** Bytes of the limit that a file of `size` bytes takes. */
uint64_t weft_cache_room(uint64_t size);

/**
 * If the entries exceed `limit`, removes the least recently used ones until an eighth of the limit is free. Removes
 * half-written files that are a minute old and whose process is gone, or that are a day old: the age is all that
 * shows for processes in another container or on another machine. Keeps files without a name of the cache. Other
 * processes may do the same at the same time.
 */
void weft_cache_clean(const struct weft_private_folder *folder, uint64_t limit,
                      const weft_host *host);

#endif
