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

/** An item of the arena, by when its life begins; and a node of the tree over all (below). */
struct item {
    struct weft_storage *storage;
    uint32_t index;
    /* Of those of its subtree that have their place: when the last of them ends, and the highest end. */
    uint32_t last;
    uint64_t end;
    bool placed;
};

struct place {
    const weft_host *host;
    struct item *items; /* by when their lives begin */
    uint32_t count;
    /* Per dispatch: below `solid` there is no gap, and above `top` nothing. */
    struct profile {
        uint64_t solid, top;
    } * profile;
    struct weft_storage **others; /* what is in the way of one item */
    uint32_t other_count;
};

static uint64_t end_of(const struct weft_storage *storage) {
    return storage->offset + padded(storage->bytes);
}

static int by_begin_then_index(const void *a, const void *b) {
    const struct item *x = a;
    const struct item *y = b;
    if (x->storage->first != y->storage->first) {
        return x->storage->first < y->storage->first ? -1 : 1;
    }
    return x->index < y->index ? -1 : 1;
}

struct sized {
    uint64_t bytes;
    uint32_t index, item;
};

static int by_size_then_index(const void *a, const void *b) {
    const struct sized *x = a;
    const struct sized *y = b;
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    return x->index < y->index ? -1 : 1;
}

static int by_offset(const void *a, const void *b) {
    const struct weft_storage *const *x = a;
    const struct weft_storage *const *y = b;
    return ((*x)->offset > (*y)->offset) - ((*x)->offset < (*y)->offset);
}

/*
 * The items from `begin` to `end` - 1 are a tree with the one in the middle at its root: what is in the way of an item is
 * found without a look at those that are over, have not begun, or end below the offset that is the least possible.
 */
static void collect(struct place *place, uint32_t begin, uint32_t end,
                    const struct weft_storage *item, uint64_t above) {
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        const struct item *root = &place->items[middle];
        struct weft_storage *other = root->storage;
        if (root->end <= above || root->last < item->first) {
            return;
        }
        if (root->placed && other->first <= item->last && item->first <= other->last &&
            end_of(other) > above) {
            place->others[place->other_count++] = other;
        }
        if (other->first <= item->last) {
            collect(place, middle + 1, end, item, above);
        }
        end = middle;
    }
}

static void note_in_tree(struct place *place, uint32_t index) {
    struct item *item = &place->items[index];
    item->placed = true;
    uint32_t begin = 0, end = place->count, middle = place->count;
    while (middle != index) {
        middle = begin + (end - begin) / 2;
        struct item *root = &place->items[middle];
        const uint64_t high = end_of(item->storage);
        root->last = root->last > item->storage->last ? root->last : item->storage->last;
        root->end = root->end > high ? root->end : high;
        begin = middle < index ? middle + 1 : begin;
        end = middle > index ? middle : end;
    }
}

/** The lowest offset for an item beside those placed before it: in the first gap that is large enough. */
static uint64_t lowest_offset(struct place *place, const struct weft_storage *item) {
    struct profile least = {0};
    for (uint32_t d = item->first; d <= item->last; d++) {
        const struct profile *at = &place->profile[d];
        least.solid = at->solid > least.solid ? at->solid : least.solid;
        least.top = at->top > least.top ? at->top : least.top;
    }
    uint64_t offset = least.solid;
    if (least.solid < least.top) {
        place->other_count = 0;
        collect(place, 0, place->count, item, offset);
        qsort((void *)place->others, place->other_count, sizeof *place->others, by_offset);
    }
    for (uint32_t i = 0; offset < least.top && i < place->other_count &&
                         place->others[i]->offset < offset + padded(item->bytes);
         i++) {
        const uint64_t end = end_of(place->others[i]);
        offset = end > offset ? end : offset;
    }
    return offset;
}

static void note_profile(struct place *place, const struct weft_storage *item) {
    const uint64_t end = end_of(item);
    for (uint32_t d = item->first; d <= item->last; d++) {
        struct profile *at = &place->profile[d];
        at->solid = item->offset <= at->solid && end > at->solid ? end : at->solid;
        at->top = end > at->top ? end : at->top;
    }
}

/** The largest sum of what is live at once: what no placement can do without. */
static uint64_t largest_live_sum(const struct place *place, const struct weft_lowering *lowering,
                                 uint64_t *ends) {
    uint64_t largest = 0, live = 0;
    uint32_t next = 0;
    for (uint32_t d = 0; d < lowering->dispatch_count; d++) {
        for (; next < place->count && place->items[next].storage->first == d; next++) {
            live += place->items[next].storage->bytes;
            ends[place->items[next].storage->last] += place->items[next].storage->bytes;
        }
        largest = live > largest ? live : largest;
        live -= ends[d];
    }
    return largest;
}

static weft_status make_items(struct place *place, struct weft_lowering *lowering) {
    place->items =
        weft_alloc_zero(place->host, (size_t)lowering->storage_count + 1, sizeof *place->items);
    place->profile =
        weft_alloc_zero(place->host, (size_t)lowering->dispatch_count + 1, sizeof *place->profile);
    place->others = weft_alloc_zero(place->host, (size_t)lowering->storage_count + 1,
                                    sizeof(struct weft_storage *));
    if (!place->items || !place->profile || !place->others) {
        return weft_fail_memory(place->host, "the place pass");
    }
    for (uint32_t i = 0; i < lowering->storage_count; i++) {
        if (in_arena(&lowering->storages[i])) {
            place->items[place->count++] =
                (struct item){.storage = &lowering->storages[i], .index = i};
        }
    }
    qsort(place->items, place->count, sizeof *place->items, by_begin_then_index);
    return WEFT_OK;
}

static weft_status place_items(struct place *place, uint64_t *arena_bytes) {
    struct sized *sized = weft_alloc_zero(place->host, (size_t)place->count + 1, sizeof *sized);
    if (!sized) {
        return weft_fail_memory(place->host, "the place pass");
    }
    for (uint32_t i = 0; i < place->count; i++) {
        const struct item *item = &place->items[i];
        sized[i] = (struct sized){.bytes = item->storage->bytes, .index = item->index, .item = i};
    }
    qsort(sized, place->count, sizeof *sized, by_size_then_index);
    for (uint32_t i = 0; i < place->count; i++) {
        struct weft_storage *storage = place->items[sized[i].item].storage;
        storage->offset = lowest_offset(place, storage);
        note_in_tree(place, sized[i].item);
        note_profile(place, storage);
        *arena_bytes = end_of(storage) > *arena_bytes ? end_of(storage) : *arena_bytes;
    }
    weft_free(place->host, sized);
    return WEFT_OK;
}

static weft_status find_lower_bound(uint64_t *lower_bound, const struct place *place,
                                    const struct weft_lowering *lowering) {
    uint64_t *ends =
        weft_alloc_zero(place->host, (size_t)lowering->dispatch_count + 1, sizeof *ends);
    if (!ends) {
        return weft_fail_memory(place->host, "the place pass");
    }
    *lower_bound = largest_live_sum(place, lowering, ends);
    weft_free(place->host, ends);
    return WEFT_OK;
}

weft_status weft_pass_place(struct weft_lowering *lowering, uint64_t *arena_bytes,
                            uint64_t *lower_bound) {
    struct place place = {.host = &lowering->device->host};
    *arena_bytes = 0;
    find_lifetimes(lowering);
    weft_status status = make_items(&place, lowering);
    if (status == WEFT_OK) {
        status = find_lower_bound(lower_bound, &place, lowering);
    }
    if (status == WEFT_OK) {
        status = place_items(&place, arena_bytes);
    }
    weft_free(place.host, place.items);
    weft_free(place.host, place.profile);
    weft_free(place.host, (void *)place.others);
    return status;
}
