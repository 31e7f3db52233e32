/* SPDX-License-Identifier: MIT */
#include "core/digest_map.h"

#include <string.h>

#define FIRST_CAPACITY 64u

/*
 * Open addressing with linear probing; at least a quarter of the slots is free, so the walk ends.
 */
static struct weft_digest_slot *slot_for(struct weft_digest_slot *slots, uint32_t capacity,
                                         const weft_digest *key) {
    uint32_t at; /* any four bytes of a SHA-256 are as good as a hash */
    memcpy(&at, key->bytes, sizeof at);
    for (;; at++) {
        struct weft_digest_slot *slot = &slots[at & (capacity - 1)];
        if (!slot->taken || memcmp(slot->key.bytes, key->bytes, sizeof key->bytes) == 0) {
            return slot;
        }
    }
}

bool weft_digest_map_reserve(struct weft_digest_map *map, uint32_t more, const weft_host *host) {
    uint64_t capacity = map->capacity == 0 ? FIRST_CAPACITY : map->capacity;
    while ((uint64_t)map->count + more > capacity / 4 * 3) {
        capacity *= 2;
    }
    if (capacity == map->capacity) {
        return true;
    }
    if (capacity > UINT32_MAX) {
        return false;
    }
    struct weft_digest_slot *slots = weft_alloc_zero(host, (size_t)capacity, sizeof *slots);
    if (!slots) {
        return false;
    }
    for (uint32_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].taken) {
            *slot_for(slots, (uint32_t)capacity, &map->slots[i].key) = map->slots[i];
        }
    }
    weft_free(host, map->slots);
    map->slots = slots;
    map->capacity = (uint32_t)capacity;
    return true;
}

void weft_digest_map_put(struct weft_digest_map *map, const weft_digest *key, void *value) {
    struct weft_digest_slot *slot = slot_for(map->slots, map->capacity, key);
    if (!slot->taken) {
        slot->taken = true;
        slot->key = *key;
        map->count++;
    }
    slot->value = value;
}

struct weft_digest_slot *weft_digest_map_find(const struct weft_digest_map *map,
                                              const weft_digest *key) {
    if (map->capacity == 0) {
        return NULL;
    }
    struct weft_digest_slot *slot = slot_for(map->slots, map->capacity, key);
    return slot->taken ? slot : NULL;
}

void weft_digest_map_remove(struct weft_digest_map *map, const weft_digest *key) {
    struct weft_digest_slot *slot = weft_digest_map_find(map, key);
    if (!slot) {
        return;
    }
    slot->taken = false;
    map->count--;
    /* Later entries may be there because their own slots were taken: each gets the first that is free now. */
    const uint32_t removed = (uint32_t)(slot - map->slots);
    for (uint32_t i = removed + 1; map->slots[i & (map->capacity - 1)].taken; i++) {
        struct weft_digest_slot *next = &map->slots[i & (map->capacity - 1)];
        next->taken = false;
        struct weft_digest_slot *first = slot_for(map->slots, map->capacity, &next->key);
        if (first != next) {
            *first = *next;
        }
        first->taken = true;
    }
}

void weft_digest_map_free(struct weft_digest_map *map, const weft_host *host) {
    weft_free(host, map->slots);
    *map = (struct weft_digest_map){0};
}

/* ---- numbers ---- */

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
