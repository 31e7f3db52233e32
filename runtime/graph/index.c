/* SPDX-License-Identifier: MIT */
#include "graph/index.h"

bool weft_index_set(struct weft_digest_map *index, const void *key, size_t size, uint32_t number,
                    const weft_host *host) {
    const weft_digest digest = weft_digest_of(key, size);
    if (!weft_digest_map_reserve(index, 1, host)) {
        return false;
    }
    weft_digest_map_put(index, &digest, (void *)(uintptr_t)number);
    return true;
}

uint32_t weft_index_find(const struct weft_digest_map *index, const void *key, size_t size) {
    if (index->count == 0) {
        return WEFT_INDEX_NONE;
    }
    const weft_digest digest = weft_digest_of(key, size);
    const struct weft_digest_slot *slot = weft_digest_map_find(index, &digest);
    return slot ? (uint32_t)(uintptr_t)slot->value : WEFT_INDEX_NONE;
}
