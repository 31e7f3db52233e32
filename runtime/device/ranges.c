/* SPDX-License-Identifier: MIT */
#include "device/ranges.h"

weft_status weft_ranges_create(struct weft_ranges *ranges, uint64_t size, const weft_host *host) {
    struct weft_range *all = weft_alloc_zero(host, 1, sizeof *all);
    if (!all) {
        return weft_fail_memory(host, "memory block");
    }
    all->size = size;
    *ranges = (struct weft_ranges){.first = all, .open = all};
    return WEFT_OK;
}

void weft_ranges_destroy(struct weft_ranges *ranges, const weft_host *host) {
    for (struct weft_range *range = ranges->first; range;) {
        struct weft_range *next = range->next;
        weft_free(host, range);
        range = next;
    }
    *ranges = (struct weft_ranges){0};
}

/* Cuts the first `size` bytes off a range; what is left becomes a new free range behind it. */
static bool split(struct weft_range *range, uint64_t size, const weft_host *host) {
    if (range->size == size) {
        return true;
    }
    struct weft_range *rest = weft_alloc_zero(host, 1, sizeof *rest);
    if (!rest) {
        return false;
    }
    rest->offset = range->offset + size;
    rest->size = range->size - size;
    rest->previous = range;
    rest->next = range->next;
    if (rest->next) {
        rest->next->previous = rest;
    }
    range->next = rest;
    range->size = size;
    return true;
}

/* Adds the range behind to `range`. */
static void absorb_next(struct weft_range *range, const weft_host *host) {
    struct weft_range *next = range->next;
    range->size += next->size;
    range->next = next->next;
    if (range->next) {
        range->next->previous = range;
    }
    weft_free(host, next);
}

/* Bytes to skip so that the range's start is aligned. */
static uint64_t padding(const struct weft_range *range, uint64_t alignment) {
    return (alignment - (range->offset & (alignment - 1))) & (alignment - 1);
}

static struct weft_range *first_fit(const struct weft_ranges *ranges, uint64_t size,
                                    uint64_t alignment) {
    for (struct weft_range *range = ranges->open; range; range = range->next) {
        uint64_t skip = padding(range, alignment);
        if (!range->taken && range->size >= skip && range->size - skip >= size) {
            return range;
        }
    }
    return NULL;
}

weft_status weft_ranges_take(struct weft_range **range, struct weft_ranges *ranges, uint64_t size,
                             uint64_t alignment, const weft_host *host) {
    *range = NULL;
    struct weft_range *found = first_fit(ranges, size, alignment);
    if (!found) {
        return WEFT_OK;
    }
    struct weft_range *skipped = NULL;
    uint64_t skip = padding(found, alignment);
    if (skip != 0) {
        if (!split(found, skip, host)) {
            return weft_fail_memory(host, "memory range");
        }
        skipped = found;
        found = found->next;
    }
    if (!split(found, size, host)) {
        if (skipped) {
            absorb_next(skipped, host);
        }
        return weft_fail_memory(host, "memory range");
    }
    found->taken = true;
    ranges->taken += size;
    while (ranges->open->taken && ranges->open->next) {
        ranges->open = ranges->open->next;
    }
    *range = found;
    return WEFT_OK;
}

void weft_ranges_give(struct weft_ranges *ranges, struct weft_range *range, const weft_host *host) {
    const uint64_t open = ranges->open->offset;
    ranges->taken -= range->size;
    range->taken = false;
    if (range->next && !range->next->taken) {
        absorb_next(range, host);
    }
    if (range->previous && !range->previous->taken) {
        range = range->previous;
        absorb_next(range, host);
    }
    if (range->offset <= open) {
        ranges->open = range;
    }
}
