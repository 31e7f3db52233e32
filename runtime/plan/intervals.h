/* SPDX-License-Identifier: MIT */
/* Which parts of a line of bytes are taken, such as of the arena. */
#ifndef WEFT_PLAN_INTERVALS_H
#define WEFT_PLAN_INTERVALS_H

#include "core/host.h"

struct weft_interval {
    uint64_t begin, end;
};

/** Disjoint, in ascending order, none right behind another. All zeros: there are none. */
struct weft_intervals {
    struct weft_interval *at;
    uint32_t count, room;
    uint64_t moved; /* intervals that made room or closed it: what tests count */
};

/** Adds an interval, which becomes one with those that it meets or adjoins. False: memory is out. */
bool weft_intervals_add(struct weft_intervals *intervals, struct weft_interval interval,
                        const weft_host *host);

/** The first that has a byte of the interval, or null. */
const struct weft_interval *weft_intervals_meet(const struct weft_intervals *intervals,
                                                struct weft_interval interval);

#endif
