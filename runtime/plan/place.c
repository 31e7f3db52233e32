/* SPDX-License-Identifier: MIT */
/*
 * Placement of intermediate tensors in one arena. Tensors whose lifetimes overlap must not overlap in memory; the rest
 * may. Largest first, each at the lowest offset that is free over its lifetime: the greedy heuristic of Pisarchyk and
 * Lee, "Efficient memory management for deep neural net inference", 2020.
 */
#include <stdlib.h>

#include "plan/passes.h"

/* Covers minStorageBufferOffsetAlignment of every known device (256 is the largest value Vulkan allows). */
#define PLACE_ALIGNMENT 256

static uint64_t padded(uint64_t bytes) {
    return (bytes + PLACE_ALIGNMENT - 1) / PLACE_ALIGNMENT * PLACE_ALIGNMENT;
}

static void find_lifetimes(struct weft_lowering *lowering) {
    for (uint32_t i = 0; i < lowering->storage_count; i++) {
        lowering->storages[i].first = UINT32_MAX;
        lowering->storages[i].last = 0;
    }
    for (uint32_t d = 0; d < lowering->dispatch_count; d++) {
        const struct weft_dispatch *dispatch = &lowering->dispatches[d];
        for (uint32_t k = 0; k < dispatch->operand_count; k++) {
            struct weft_storage *storage = &lowering->storages[dispatch->operand[k].storage];
            storage->first = storage->first < d ? storage->first : d;
            storage->last = d;
        }
    }
}

static bool in_arena(const struct weft_storage *storage) {
    return storage->kind == WEFT_STORAGE_ARENA && storage->first != UINT32_MAX;
}

static uint64_t largest_live_sum(const struct weft_lowering *lowering) {
    uint64_t largest = 0;
    for (uint32_t d = 0; d < lowering->dispatch_count; d++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < lowering->storage_count; i++) {
            const struct weft_storage *storage = &lowering->storages[i];
            if (in_arena(storage) && storage->first <= d && d <= storage->last) {
                sum += storage->bytes;
            }
        }
        largest = sum > largest ? sum : largest;
    }
    return largest;
}

struct placed {
    const struct weft_storage *storage;
    uint32_t index;
};

static int by_size_then_index(const void *a, const void *b) {
    const struct placed *x = a;
    const struct placed *y = b;
    if (x->storage->bytes != y->storage->bytes) {
        return x->storage->bytes > y->storage->bytes ? -1 : 1;
    }
    return x->index < y->index ? -1 : 1;
}

static bool lifetimes_overlap(const struct weft_storage *a, const struct weft_storage *b) {
    return a->first <= b->last && b->first <= a->last;
}

/** The lowest offset for `item` among those placed before it: tries 0 and behind each conflicting one. */
static uint64_t lowest_offset(const struct placed *placed, uint32_t count,
                              const struct weft_storage *item) {
    uint64_t offset = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < count; i++) {
            const struct weft_storage *other = placed[i].storage;
            uint64_t end = other->offset + padded(other->bytes);
            if (lifetimes_overlap(other, item) && offset < end &&
                other->offset < offset + padded(item->bytes)) {
                offset = end;
                moved = true;
            }
        }
    }
    return offset;
}

weft_status weft_pass_place(struct weft_lowering *lowering, uint64_t *arena_bytes,
                            uint64_t *lower_bound) {
    const weft_host *host = &lowering->device->host;
    find_lifetimes(lowering);
    *lower_bound = largest_live_sum(lowering);
    *arena_bytes = 0;
    struct placed *placed = weft_alloc_zero(host, lowering->storage_count + 1, sizeof *placed);
    if (!placed) {
        return weft_fail_memory(host, "the place pass");
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < lowering->storage_count; i++) {
        if (in_arena(&lowering->storages[i])) {
            placed[count++] = (struct placed){.storage = &lowering->storages[i], .index = i};
        }
    }
    qsort(placed, count, sizeof *placed, by_size_then_index);
    for (uint32_t i = 0; i < count; i++) {
        struct weft_storage *storage = &lowering->storages[placed[i].index];
        storage->offset = lowest_offset(placed, i, storage);
        uint64_t end = storage->offset + padded(storage->bytes);
        *arena_bytes = end > *arena_bytes ? end : *arena_bytes;
    }
    weft_free(host, placed);
    return WEFT_OK;
}
