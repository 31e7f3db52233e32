/* SPDX-License-Identifier: MIT */
#include "plan/spans.h"

#include <string.h>

/** The first span that ends behind `place`, or count. */
static uint32_t first_behind(const struct weft_spans *spans, uint64_t place) {
    uint32_t low = 0, high = spans->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (spans->at[middle].end > place) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

const struct weft_span *weft_spans_meet(const struct weft_spans *spans, struct weft_span span) {
    const uint32_t at = first_behind(spans, span.begin);
    return at < spans->count && spans->at[at].begin < span.end ? &spans->at[at] : NULL;
}

bool weft_spans_add(struct weft_spans *spans, struct weft_span span, const weft_host *host) {
    uint32_t first = first_behind(spans, span.begin);
    if (first > 0 && spans->at[first - 1].end == span.begin) {
        first--;
    }
    uint32_t last = first;
    for (; last < spans->count && spans->at[last].begin <= span.end; last++) {
        const struct weft_span *other = &spans->at[last];
        span.begin = other->begin < span.begin ? other->begin : span.begin;
        span.end = other->end > span.end ? other->end : span.end;
    }
    if (last == first &&
        !weft_grow(host, &spans->at, spans->count, &spans->room, sizeof *spans->at)) {
        return false;
    }
    spans->moved += spans->count - first;
    memmove(spans->at + first + 1, spans->at + last, (spans->count - last) * sizeof *spans->at);
    spans->count = spans->count - (last - first) + 1;
    spans->at[first] = span;
    return true;
}
