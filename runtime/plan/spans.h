/* SPDX-License-Identifier: MIT */
/* Which parts of a line of bytes are taken, such as of the arena. */
#ifndef WEFT_PLAN_SPANS_H
#define WEFT_PLAN_SPANS_H

#include "core/host.h"

struct weft_span {
    uint64_t begin, end;
};

/** Disjoint, in ascending order, none right behind another. All zeros: there are none. */
struct weft_spans {
    struct weft_span *at;
    uint32_t count, room;
    uint64_t moved; /* spans that made room or closed it: what tests count */
};

/** Adds a span, which becomes one with those that it meets or adjoins. False: memory is out. */
bool weft_spans_add(struct weft_spans *spans, struct weft_span span, const weft_host *host);

/** The first that has a byte of the span, or null. */
const struct weft_span *weft_spans_meet(const struct weft_spans *spans, struct weft_span span);

#endif
