/* SPDX-License-Identifier: MIT */
/* A hash map from digests to pointers. */
#ifndef WEFT_CORE_DIGEST_MAP_H
#define WEFT_CORE_DIGEST_MAP_H

#include "core/hash.h"
#include "core/host.h"

struct weft_digest_slot {
    weft_digest key;
    bool taken;
    void *value;
};

/**
 * All zeros is an empty map. Values are the owner's; walk `slots` (capacity of them) to reach them
 * all.
 */
struct weft_digest_map {
    struct weft_digest_slot *slots;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
};

/**
 * Makes room for so many more keys, so that as many calls of weft_digest_map_put cannot fail. False:
 * memory is out.
 */
bool weft_digest_map_reserve(struct weft_digest_map *map, uint32_t more, const weft_host *host);

/** Sets the value of a key; room must have been reserved. */
void weft_digest_map_put(struct weft_digest_map *map, const weft_digest *key, void *value);

/** The key's slot, or null. */
struct weft_digest_slot *weft_digest_map_find(const struct weft_digest_map *map,
                                              const weft_digest *key);

/** Takes a key out, if it is there. Other slots may move. */
void weft_digest_map_remove(struct weft_digest_map *map, const weft_digest *key);

/** Frees the slots and empties the map. */
void weft_digest_map_free(struct weft_digest_map *map, const weft_host *host);

/* ---- numbers that are found by some bytes, such as a name ---- */

#define WEFT_INDEX_NONE UINT32_MAX

/** The number of that key, in place of the one that it had. False: memory is out, and nothing has changed. */
bool weft_index_set(struct weft_digest_map *index, const void *key, size_t size, uint32_t number,
                    const weft_host *host);

/** The number of that key, or WEFT_INDEX_NONE. */
uint32_t weft_index_find(const struct weft_digest_map *index, const void *key, size_t size);

#endif
