/* SPDX-License-Identifier: MIT */
/* Byte-pair encoding as tokenizer.json has it: which two tokens become which, and in what order. */
#ifndef WEFT_TOKENIZER_MERGES_H
#define WEFT_TOKENIZER_MERGES_H

#include "tokenizer/budget.h"
#include "tokenizer/pair_heap.h"

struct weft_merge {
    int32_t left; /* tokens; -1: an empty place */
    int32_t right;
    int32_t token;
    uint32_t rank;
};

/** A table by hash, whose key is drawn for each table: no file can choose numbers whose places are neighbours. */
struct weft_merges {
    struct weft_merge *places;
    uint64_t key[3];
    uint32_t mask; /* number of places minus one, or 0 without any */
};

/** Room for `count`. WEFT_OUT_OF_HOST_MEMORY. */
weft_status weft_merges_begin(struct weft_merges *merges, uint32_t count, const weft_host *host);
/** Adds one, of the at most `count`; it takes the place of one for the same two tokens. */
void weft_merges_add(struct weft_merges *merges, struct weft_merge merge);
void weft_merges_clear(struct weft_merges *merges, const weft_host *host);

/** The merge of two tokens, or null. */
const struct weft_merge *weft_merges_find(const struct weft_merges *merges, int32_t left,
                                          int32_t right);

/** A token of a word on its way, `size` bytes. Merged into the one before it: size 0. */
struct weft_symbol {
    int32_t token;
    uint32_t size;
    uint32_t previous;
    uint32_t next;
};

/** The symbols of a word. Begin it with the hosts alone, and free `at` and heap.at. */
struct weft_symbols {
    struct weft_pair_heap heap;
    struct weft_symbol *at;
    uint32_t count;
    uint32_t capacity;
    struct weft_budget *budget; /* of the text */
};

/** WEFT_OUT_OF_HOST_MEMORY; also as weft_budget_take. */
weft_status weft_symbols_add(struct weft_symbols *symbols, int32_t token, uint32_t size);
/** Merges neighbours, the lowest rank first, until there are none to merge. n log n time. The same errors. */
weft_status weft_symbols_merge(struct weft_symbols *symbols, const struct weft_merges *merges);

#endif
