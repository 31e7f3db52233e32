/* SPDX-License-Identifier: MIT */
#include "tokenizer/json/merges.h"

#include "core/system/system.h"
#include "core/try.h"

#define NONE UINT32_MAX

#define ADD_STEPS   4u
#define MERGE_STEPS 16u

/* ---- the table ---- */

weft_status weft_merges_begin(struct weft_merges *merges, uint32_t count, const weft_host *host) {
    uint32_t room = 16;
    while (room < (1u << 30) && room / 2 < count) {
        room *= 2;
    }
    merges->places = weft_alloc_zero(host, room, sizeof *merges->places);
    if (!merges->places) {
        return weft_fail_memory(host, "merges of tokens");
    }
    merges->mask = room - 1;
    weft_system_random(merges->key, sizeof merges->key);
    for (uint32_t i = 0; i < room; i++) {
        merges->places[i].left = -1;
    }
    return WEFT_OK;
}

/*
 * Multiply-shift for two numbers (Dietzfelbinger, "Universal hashing and k-wise independent random variables via integer
 * arithmetic without primes", 1996): equal for two pairs by chance alone. The rest parts neighbours.
 */
static uint32_t hash_of(const struct weft_merges *merges, int32_t left, int32_t right) {
    uint64_t hash = merges->key[0] * (uint32_t)left + merges->key[1] * (uint32_t)right;
    hash = (hash + merges->key[2]) >> 32;
    return (uint32_t)(hash * 0x9E3779B97F4A7C15u >> 32);
}

/* The place of these two, or the empty one where they go: at least half are empty. */
static struct weft_merge *place_of(const struct weft_merges *merges, int32_t left, int32_t right) {
    uint32_t at = hash_of(merges, left, right) & merges->mask;
    struct weft_merge *place = &merges->places[at];
    while (place->left >= 0 && (place->left != left || place->right != right)) {
        at = (at + 1) & merges->mask;
        place = &merges->places[at];
    }
    return place;
}

void weft_merges_add(struct weft_merges *merges, struct weft_merge merge) {
    *place_of(merges, merge.left, merge.right) = merge;
}

void weft_merges_clear(struct weft_merges *merges, const weft_host *host) {
    weft_free(host, merges->places);
    *merges = (struct weft_merges){0};
}

const struct weft_merge *weft_merges_find(const struct weft_merges *merges, int32_t left,
                                          int32_t right) {
    const struct weft_merge *place = place_of(merges, left, right);
    return place->left >= 0 ? place : NULL;
}

/* ---- merging ---- */

weft_status weft_symbols_add(struct weft_symbols *symbols, int32_t token, uint32_t size) {
    WEFT_TRY(weft_budget_spend(symbols->budget, ADD_STEPS));
    if (!weft_grow(&symbols->heap.host, &symbols->at, symbols->count, &symbols->capacity,
                   sizeof *symbols->at)) {
        return weft_fail_memory(&symbols->heap.host, "the tokens of a text");
    }
    const uint32_t at = symbols->count++;
    symbols->at[at] = (struct weft_symbol){token, size, at > 0 ? at - 1 : NONE, NONE};
    if (at > 0) {
        symbols->at[at - 1].next = at;
    }
    return WEFT_OK;
}

static weft_status consider(struct weft_symbols *symbols, const struct weft_merges *merges,
                            uint32_t left, uint32_t right) {
    const struct weft_merge *merge =
        left == NONE || right == NONE
            ? NULL
            : weft_merges_find(merges, symbols->at[left].token, symbols->at[right].token);
    return merge ? weft_pair_heap_push(
                       &symbols->heap,
                       (struct weft_pair){-(float)merge->rank, left, right, (uint32_t)merge->token})
                 : WEFT_OK;
}

static weft_status merge(struct weft_symbols *symbols, const struct weft_merges *merges,
                         const struct weft_pair *pair) {
    struct weft_symbol *left = &symbols->at[pair->left];
    if (left->size == 0 || left->next == NONE) {
        return WEFT_OK;
    }
    struct weft_symbol *right = &symbols->at[left->next];
    const struct weft_merge *now = weft_merges_find(merges, left->token, right->token);
    if (!now || (uint32_t)now->token != pair->mark) {
        return WEFT_OK; /* one of them has become another */
    }
    left->token = now->token;
    left->size += right->size;
    left->next = right->next;
    right->size = 0;
    if (left->next != NONE) {
        symbols->at[left->next].previous = pair->left;
    }
    WEFT_TRY(consider(symbols, merges, left->previous, pair->left));
    return consider(symbols, merges, pair->left, left->next);
}

weft_status weft_symbols_merge(struct weft_symbols *symbols, const struct weft_merges *merges) {
    symbols->heap.count = 0;
    for (uint32_t i = 1; i < symbols->count; i++) {
        WEFT_TRY(consider(symbols, merges, i - 1, i));
    }
    while (symbols->heap.count > 0) {
        WEFT_TRY(weft_budget_spend(symbols->budget, MERGE_STEPS));
        const struct weft_pair best = weft_pair_heap_pop(&symbols->heap);
        WEFT_TRY(merge(symbols, merges, &best));
    }
    return WEFT_OK;
}
