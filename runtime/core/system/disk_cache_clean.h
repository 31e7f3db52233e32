/* SPDX-License-Identifier: MIT */
/* Keeping the disk cache's folder small. */
#ifndef WEFT_CORE_DISK_CACHE_CLEAN_H
#define WEFT_CORE_DISK_CACHE_CLEAN_H

#include "core/host.h"
#include "core/system/private_folder.h"

#define WEFT_CACHE_BLOCK 4096u /* bytes: what a file takes on disk is a multiple of this */

/** What a file of `size` bytes takes of the limit. */
uint64_t weft_cache_room(uint64_t size);

/**
 * Where the entries take more than `limit`, those that were not used for the longest time go, until an eighth of the limit is
 * free. Half-written files go when no process of their number lives and they are a minute old, or when they are a day old:
 * of processes in another container, or on another machine, only the age is to be seen. Files that are not named as the
 * cache names its own stay, whatever they are. Other processes may do the same at the same time.
 */
void weft_cache_clean(const struct weft_private_folder *folder, uint64_t limit,
                      const weft_host *host);

#endif
