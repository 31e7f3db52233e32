/* SPDX-License-Identifier: MIT */
#include "plan/intervals.h"

#include <string.h>

/** The first interval that ends behind `place`, or count. */
static uint32_t first_behind(const struct weft_intervals *intervals, uint64_t place) {
    uint32_t low = 0, high = intervals->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (intervals->at[middle].end > place) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

const struct weft_interval *weft_intervals_meet(const struct weft_intervals *intervals,
                                                struct weft_interval interval) {
    const uint32_t at = first_behind(intervals, interval.begin);
    return at < intervals->count && intervals->at[at].begin < interval.end ? &intervals->at[at]
                                                                           : NULL;
}

bool weft_intervals_add(struct weft_intervals *intervals, struct weft_interval interval,
                        const weft_host *host) {
    uint32_t first = first_behind(intervals, interval.begin);
    if (first > 0 && intervals->at[first - 1].end == interval.begin) {
        first--;
    }
    uint32_t last = first;
    for (; last < intervals->count && intervals->at[last].begin <= interval.end; last++) {
        const struct weft_interval *other = &intervals->at[last];
        interval.begin = other->begin < interval.begin ? other->begin : interval.begin;
        interval.end = other->end > interval.end ? other->end : interval.end;
    }
    if (last == first && !weft_grow(host, &intervals->at, intervals->count, &intervals->room,
                                    sizeof *intervals->at)) {
        return false;
    }
    intervals->moved += intervals->count - first;
    memmove(intervals->at + first + 1, intervals->at + last,
            (intervals->count - last) * sizeof *intervals->at);
    intervals->count = intervals->count - (last - first) + 1;
    intervals->at[first] = interval;
    return true;
}
