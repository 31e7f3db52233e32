/* SPDX-License-Identifier: MIT */
#include "tokenizer/pair_heap.h"

static bool better(const struct weft_pair *a, const struct weft_pair *b) {
    return a->score > b->score || (a->score == b->score && a->left < b->left);
}

weft_status weft_pair_heap_push(struct weft_pair_heap *heap, struct weft_pair pair) {
    if (!weft_grow(&heap->host, &heap->at, heap->count, &heap->capacity, sizeof pair)) {
        return weft_fail_memory(&heap->host, "the pieces of a text");
    }
    uint32_t at = heap->count++;
    while (at > 0 && better(&pair, &heap->at[(at - 1) / 2])) {
        heap->at[at] = heap->at[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->at[at] = pair;
    return WEFT_OK;
}

struct weft_pair weft_pair_heap_pop(struct weft_pair_heap *heap) {
    const struct weft_pair best = heap->at[0];
    const struct weft_pair moved = heap->at[--heap->count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count && better(&heap->at[child + 1], &heap->at[child])) {
            child++;
        }
        if (!better(&heap->at[child], &moved)) {
            break;
        }
        heap->at[at] = heap->at[child];
        at = child;
    }
    heap->at[at] = moved;
    return best;
}
