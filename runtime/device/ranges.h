/* SPDX-License-Identifier: MIT */
/*
 * Dividing one block of memory among many users: first fit over the block's ranges in address
 * order; a range that is given back merges with free neighbours at once. Knows nothing of Vulkan.
 */
#ifndef WEFT_DEVICE_RANGES_H
#define WEFT_DEVICE_RANGES_H

#include "core/host.h"

/* A part of the block, free or taken. All parts in order cover the block; no two free ones touch.
 */
struct weft_range {
    uint64_t offset;
    uint64_t size;
    bool taken;
    struct weft_range *previous;
    struct weft_range *next;
};

struct weft_ranges {
    struct weft_range *first;
    struct weft_range *open; /* no range in front of it is free */
    uint64_t taken;          /* bytes */
};

/** One free range of `size` bytes, at least 1. Errors: WEFT_OUT_OF_HOST_MEMORY. */
weft_status weft_ranges_create(struct weft_ranges *ranges, uint64_t size, const weft_host *host);

/** Frees the bookkeeping, also of ranges still taken. */
void weft_ranges_destroy(struct weft_ranges *ranges, const weft_host *host);

/**
 * Takes `size` bytes (at least 1) at a multiple of `alignment`, a power of two. *range is null when
 * there is no room, which is not an error; it stays valid until it is given back. Errors:
 * WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_ranges_take(struct weft_range **range, struct weft_ranges *ranges, uint64_t size,
                             uint64_t alignment, const weft_host *host);

/** Gives a range back; cannot fail. */
void weft_ranges_give(struct weft_ranges *ranges, struct weft_range *range, const weft_host *host);

#endif
