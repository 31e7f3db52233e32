/* SPDX-License-Identifier: MIT */
/* Pairs of neighbours that may be merged, the best first: the highest score, the left-most of equals. */
#ifndef WEFT_TOKENIZER_PAIR_HEAP_H
#define WEFT_TOKENIZER_PAIR_HEAP_H

#include "core/host.h"

struct weft_pair {
    float score;
    uint32_t left; /* symbols */
    uint32_t right;
    uint32_t mark; /* the owner's, by which it knows a pair that is out of date */
};

/** Begin it with a host alone, and free `at`. */
struct weft_pair_heap {
    weft_host host;
    struct weft_pair *at;
    uint32_t count;
    uint32_t capacity;
};

/** WEFT_OUT_OF_HOST_MEMORY. */
weft_status weft_pair_heap_push(struct weft_pair_heap *heap, struct weft_pair pair);
/** Takes the best out; there is one. */
struct weft_pair weft_pair_heap_pop(struct weft_pair_heap *heap);

#endif
