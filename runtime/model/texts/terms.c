/* SPDX-License-Identifier: MIT */
/* Sparse vectors as the tokens that they have. */
#include <stdlib.h>
#include <string.h>

#include <weft/texts.h>

#include "core/given.h"
#include "core/host.h"
#include "model/texts/vectors.h"

/* NaN comes first, as a value that is wrong should not go unseen. */
static bool is_before(const weft_term *a, const weft_term *b) {
    const bool wrong[] = {a->value != a->value, b->value != b->value};
    if (wrong[0] || wrong[1]) {
        return wrong[0] && (!wrong[1] || a->token < b->token);
    }
    return a->value != b->value ? a->value > b->value : a->token < b->token;
}

static int compare(const void *left, const void *right) {
    const weft_term *a = left;
    const weft_term *b = right;
    return is_before(a, b) ? -1 : is_before(b, a) ? 1 : 0;
}

static void swap(weft_term *a, weft_term *b) {
    const weft_term kept = *a;
    *a = *b;
    *b = kept;
}

/* A heap whose first is the last in order: what the next better one takes the place of. */
static void sift_down(weft_term *heap, uint32_t count, uint32_t at) {
    for (;;) {
        uint32_t last = at;
        for (uint64_t child = 2 * (uint64_t)at + 1; child <= 2 * (uint64_t)at + 2 && child < count;
             child++) {
            last = is_before(&heap[last], &heap[child]) ? (uint32_t)child : last;
        }
        if (last == at) {
            return;
        }
        swap(&heap[at], &heap[last]);
        at = last;
    }
}

static void sift_up(weft_term *heap, uint32_t at) {
    while (at > 0 && is_before(&heap[(at - 1) / 2], &heap[at])) {
        swap(&heap[(at - 1) / 2], &heap[at]);
        at = (at - 1) / 2;
    }
}

uint32_t weft_vector_terms(weft_term *terms, uint32_t most, const float *vector, uint32_t width) {
    WEFT_ENTER;
    uint32_t count = 0;
    const uint32_t room = most > 0 && most < width ? most : width;
    for (uint32_t i = 0; terms && vector && i < width; i++) {
        const weft_term term = {i, vector[i]};
        if (term.value == 0) {
            continue;
        }
        if (count < room) {
            terms[count] = term;
            sift_up(terms, count++);
        } else if (is_before(&term, &terms[0])) {
            terms[0] = term;
            sift_down(terms, count, 0);
        }
    }
    if (count > 0) {
        qsort(terms, count, sizeof *terms, compare);
    }
    return count;
}

void weft_terms_keep(float *vector, uint32_t width, weft_term *room, uint32_t most) {
    const uint32_t count = weft_vector_terms(room, most, vector, width);
    memset(vector, 0, width * sizeof *vector);
    for (uint32_t i = 0; i < count; i++) {
        vector[room[i].token] = room[i].value;
    }
}
