/* SPDX-License-Identifier: MIT */
/*
 * Placement of intermediate tensors in one arena. Tensors whose lifetimes overlap must not overlap in memory; the rest
 * may. Largest first, each at the lowest offset that is free over its lifetime: the greedy heuristic of Pisarchyk and
 * Lee, "Efficient memory management for deep neural net inference", 2020. Where that leaves gaps, the largest product of size and
 * lifetime first and what lives to the end first are tried, too, and the smallest arena is taken.
 */
#include <stdlib.h>

#include "core/try.h"
#include "plan/intervals.h"
#include "plan/passes.h"

/* Covers minStorageBufferOffsetAlignment of every known device (256 is the largest value Vulkan allows). */
#define PLACE_ALIGNMENT 256

uint64_t weft_place_aligned(uint64_t offset) {
    return (offset + PLACE_ALIGNMENT - 1) / PLACE_ALIGNMENT * PLACE_ALIGNMENT;
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
    bool placed;
    /* Placed items of its subtree: the end of the first and of the last one, and the memory of any. */
    uint32_t first_end, last_end;
    struct weft_interval hull;
    struct weft_intervals taken; /* of large subtrees, MOST_LISTED and more */
};

enum { MOST_LISTED = 32 };

struct place {
    const weft_host *host;
    struct item *items; /* by when their lives begin */
    uint32_t count;
    uint64_t steps; /* nodes that were looked at */
};

static uint64_t end_of(const struct weft_storage *storage) {
    return storage->offset + weft_place_aligned(storage->bytes);
}

static int by_begin_then_index(const void *a, const void *b) {
    const struct item *x = a;
    const struct item *y = b;
    if (x->storage->first != y->storage->first) {
        return x->storage->first < y->storage->first ? -1 : 1;
    }
    return x->index < y->index ? -1 : 1;
}

/* Orders in which items get their places. */
enum order { BY_SIZE, BY_SIZE_AND_LIFE, BY_END, ORDERS };

struct weighed {
    double weight;
    uint32_t index, item;
};

static double weight_of(const struct weft_storage *storage, enum order order) {
    const double dispatches = storage->last - storage->first + 1.0;
    return order == BY_END ? (double)storage->last
                           : (double)storage->bytes * (order == BY_SIZE ? 1.0 : dispatches);
}

static int by_weight_then_index(const void *a, const void *b) {
    const struct weighed *x = a;
    const struct weighed *y = b;
    if (x->weight != y->weight) {
        return x->weight > y->weight ? -1 : 1;
    }
    return x->index < y->index ? -1 : 1;
}

static struct weft_interval interval_of(const struct weft_storage *storage) {
    return (struct weft_interval){.begin = storage->offset, .end = end_of(storage)};
}

/* True if nothing of a subtree of `count` items is in the way of an item. */
static bool is_elsewhere(const struct item *root, uint32_t count, const struct weft_storage *item) {
    return root->last_end < item->first || root->hull.end <= item->offset ||
           root->hull.begin >= end_of(item) ||
           (count >= MOST_LISTED && !weft_intervals_meet(&root->taken, interval_of(item)));
}

/* Moves an item up behind all of `taken` that is in its way. */
static void move_behind(struct weft_storage *item, const struct weft_intervals *taken) {
    const struct weft_interval *interval = weft_intervals_meet(taken, interval_of(item));
    while (interval) {
        item->offset = interval->end;
        interval = weft_intervals_meet(taken, interval_of(item));
    }
}

static bool lives_with(const struct weft_storage *item, const struct weft_storage *other) {
    return other->first <= item->last && item->first <= other->last;
}

/*
 * The items from `begin` to `end` - 1 are a tree with the one in the middle at its root. Moves an item up behind what is in its way:
 * without a look at those that are over, have not begun or are elsewhere, and without one at each of those that all live with it.
 */
static void evade(struct place *place, uint32_t begin, uint32_t end, struct weft_storage *item) {
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        const struct item *root = &place->items[middle];
        place->steps++;
        if (is_elsewhere(root, end - begin, item)) {
            return;
        }
        if (end - begin >= MOST_LISTED && root->first_end >= item->first &&
            place->items[end - 1].storage->first <= item->last) {
            move_behind(item, &root->taken);
            return;
        }
        evade(place, begin, middle, item);
        if (root->placed && lives_with(item, root->storage) &&
            root->storage->offset < end_of(item) && end_of(root->storage) > item->offset) {
            item->offset = end_of(root->storage);
        }
        begin = root->storage->first <= item->last ? middle + 1 : end;
    }
}

/* Adds an item to what is known of a subtree of `count`. */
static bool note(struct item *root, uint32_t count, const struct weft_storage *item,
                 const weft_host *host) {
    const struct weft_interval interval = interval_of(item);
    root->first_end = root->first_end < item->last ? root->first_end : item->last;
    root->last_end = root->last_end > item->last ? root->last_end : item->last;
    root->hull.begin = root->hull.begin < interval.begin ? root->hull.begin : interval.begin;
    root->hull.end = root->hull.end > interval.end ? root->hull.end : interval.end;
    return count < MOST_LISTED || weft_intervals_add(&root->taken, interval, host);
}

static bool note_in_tree(struct place *place, uint32_t index) {
    struct item *item = &place->items[index];
    item->placed = true;
    uint32_t begin = 0, end = place->count, middle = place->count;
    bool room = true;
    while (middle != index && room) {
        middle = begin + (end - begin) / 2;
        room = note(&place->items[middle], end - begin, item->storage, place->host);
        begin = middle < index ? middle + 1 : begin;
        end = middle > index ? middle : end;
    }
    return room;
}

/** The lowest offset for an item beside those placed before it: in the first gap that is large enough. */
static bool place_item(struct place *place, uint32_t index) {
    struct weft_storage *item = place->items[index].storage;
    uint64_t before = UINT64_MAX;
    item->offset = 0;
    while (item->offset != before) { /* it may be in the way of one that it has passed by now */
        before = item->offset;
        evade(place, 0, place->count, item);
    }
    return note_in_tree(place, index);
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
    if (!place->items) {
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

/** Nothing has its place. */
static void forget_places(struct place *place) {
    for (uint32_t i = 0; i < place->count; i++) {
        struct item *item = &place->items[i];
        item->placed = false;
        item->first_end = UINT32_MAX;
        item->last_end = 0;
        item->hull = (struct weft_interval){.begin = UINT64_MAX};
        item->taken.count = 0;
    }
}

static weft_status place_items(struct place *place, enum order order, uint64_t *arena_bytes) {
    struct weighed *weighed =
        weft_alloc_zero(place->host, (size_t)place->count + 1, sizeof *weighed);
    if (!weighed) {
        return weft_fail_memory(place->host, "the place pass");
    }
    for (uint32_t i = 0; i < place->count; i++) {
        const struct item *item = &place->items[i];
        weighed[i] = (struct weighed){
            .weight = weight_of(item->storage, order), .index = item->index, .item = i};
    }
    qsort(weighed, place->count, sizeof *weighed, by_weight_then_index);
    forget_places(place);
    bool room = true;
    *arena_bytes = 0;
    for (uint32_t i = 0; i < place->count && room; i++) {
        const struct weft_storage *storage = place->items[weighed[i].item].storage;
        room = place_item(place, weighed[i].item);
        *arena_bytes = end_of(storage) > *arena_bytes ? end_of(storage) : *arena_bytes;
    }
    weft_free(place->host, weighed);
    return room ? WEFT_OK : weft_fail_memory(place->host, "the place pass");
}

/** By another order, if that gives a smaller arena than the places that all have. */
static weft_status place_again(struct place *place, enum order order, uint64_t *arena_bytes) {
    uint64_t *offsets = weft_alloc_zero(place->host, (size_t)place->count + 1, sizeof *offsets);
    if (!offsets) {
        return weft_fail_memory(place->host, "the place pass");
    }
    for (uint32_t i = 0; i < place->count; i++) {
        offsets[i] = place->items[i].storage->offset;
    }
    uint64_t other = 0;
    const weft_status status = place_items(place, order, &other);
    if (status == WEFT_OK && other < *arena_bytes) {
        *arena_bytes = other;
    } else {
        for (uint32_t i = 0; i < place->count; i++) {
            place->items[i].storage->offset = offsets[i];
        }
    }
    weft_free(place->host, offsets);
    return status;
}

/** An arena of at most 1/16 above the least that there can be is good enough. */
static weft_status place_all(struct place *place, uint64_t lower_bound, uint64_t *arena_bytes) {
    weft_status status = place_items(place, BY_SIZE, arena_bytes);
    for (enum order order = BY_SIZE_AND_LIFE;
         order < ORDERS && status == WEFT_OK && *arena_bytes > lower_bound + lower_bound / 16;
         order++) {
        status = place_again(place, order, arena_bytes);
    }
    return status;
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
        status = place_all(&place, *lower_bound, arena_bytes);
    }
    lowering->steps += place.steps;
    for (uint32_t i = 0; i < place.count; i++) {
        lowering->steps += place.items[i].taken.moved;
        weft_free(place.host, place.items[i].taken.at);
    }
    weft_free(place.host, place.items);
    return status;
}
