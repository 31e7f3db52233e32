/* SPDX-License-Identifier: MIT */
#include "core/try.h"
#include "tokenizer/pair_heap.h"
#include "tokenizer/unicode/text_class.h"
#include "tokenizer/vocabulary.h"

#define NONE UINT32_MAX

/* Begins as a character or a user-defined piece. One that was merged into its left neighbour has size 0. */
struct symbol {
    uint32_t begin;
    uint32_t previous;
    uint32_t next;
    uint16_t size; /* at most WEFT_MAX_PIECE */
    bool whole;    /* a user-defined piece, which is never merged */
};

/* How an unused piece was merged last: bytes and symbols of the left part. */
struct split {
    uint16_t size;
    uint16_t symbols;
};

struct work {
    const struct weft_vocabulary *vocabulary;
    const weft_host *host;
    struct weft_budget *budget;
    const char *text;
    struct symbol *symbols;
    uint32_t count;
    size_t room; /* for symbols */
    struct weft_pair_heap
        heap; /* of neighbours that are a piece together; `mark`: their sizes, or out of date */
    struct split *splits; /* by id; null until an unused piece is met */
};

/* ---- merging ---- */

static weft_status note_split(struct work *work, int32_t id, uint32_t left, uint32_t right) {
    if (!work->splits) {
        work->splits = weft_alloc_zero(work->host, work->vocabulary->count, sizeof *work->splits);
    }
    if (!work->splits) {
        return weft_fail_memory(work->host, "the pieces of a text");
    }
    work->splits[id] = (struct split){work->symbols[left].size, (uint16_t)(right - left)};
    return WEFT_OK;
}

static weft_status consider(struct work *work, uint32_t left, uint32_t right) {
    if (left == NONE || right == NONE || work->symbols[left].whole || work->symbols[right].whole) {
        return WEFT_OK;
    }
    const struct symbol *symbol = &work->symbols[left];
    const uint32_t size = (uint32_t)symbol->size + work->symbols[right].size;
    WEFT_TRY(weft_budget_spend(work->budget, 16 + size));
    const int32_t id = weft_vocabulary_match(work->vocabulary, work->text + symbol->begin, size);
    if (id < 0) {
        return WEFT_OK;
    }
    const struct weft_piece *piece = &work->vocabulary->pieces[id];
    if (piece->type == WEFT_PIECE_UNUSED) {
        WEFT_TRY(note_split(work, id, left, right));
    }
    return weft_pair_heap_push(&work->heap,
                               (struct weft_pair){(float)piece->score, left, right, size});
}

static weft_status merge(struct work *work, const struct weft_pair *pair) {
    struct symbol *left = &work->symbols[pair->left];
    struct symbol *right = &work->symbols[pair->right];
    if (left->size == 0 || right->size == 0 || (uint32_t)left->size + right->size != pair->mark) {
        return WEFT_OK;
    }
    left->size = (uint16_t)pair->mark;
    left->next = right->next;
    if (right->next != NONE) {
        work->symbols[right->next].previous = pair->left;
    }
    right->size = 0;
    WEFT_TRY(consider(work, left->previous, pair->left));
    return consider(work, pair->left, left->next);
}

/* ---- symbols ---- */

static weft_status split_text(struct work *work, size_t size) {
    for (size_t i = 0; i < size; work->count++) {
        struct symbol *symbol = &work->symbols[work->count];
        uint64_t steps = 1;
        size_t length = weft_piece_trie_longest(&work->vocabulary->user_defined, work->text + i,
                                                size - i, &steps);
        WEFT_TRY(weft_budget_spend(work->budget, steps));
        symbol->whole = length > 0;
        if (length == 0) {
            length = weft_utf8_size(work->text + i, size - i);
        }
        symbol->begin = (uint32_t)i;
        symbol->size = (uint16_t)length;
        symbol->previous = work->count > 0 ? work->count - 1 : NONE;
        i += length;
        symbol->next = i < size ? work->count + 1 : NONE;
    }
    return WEFT_OK;
}

/* Cuts an unused piece where it was merged; its characters are symbols, so that the right part is one again. */
static void split_symbol(struct work *work, uint32_t at, struct split split) {
    struct symbol *left = &work->symbols[at];
    struct symbol *right = &work->symbols[at + split.symbols];
    right->size = (uint16_t)(left->size - split.size);
    right->next = left->next;
    left->size = split.size;
    left->next = at + split.symbols;
}

/* False when the taker has enough. */
static bool hand_over(struct work *work, weft_take_piece take, void *user) {
    for (uint32_t at = 0; at != NONE;) {
        const struct symbol *symbol = &work->symbols[at];
        const int32_t id =
            weft_vocabulary_match(work->vocabulary, work->text + symbol->begin, symbol->size);
        if (work->splits && id >= 0 && work->splits[id].size > 0) {
            split_symbol(work, at, work->splits[id]);
            continue;
        }
        if (!take(user, symbol->size, id >= 0 ? id : work->vocabulary->unknown)) {
            return false;
        }
        at = symbol->next;
    }
    return true;
}

static weft_status merge_all(struct work *work) {
    for (uint32_t i = 1; i < work->count; i++) {
        WEFT_TRY(consider(work, i - 1, i));
    }
    while (work->heap.count > 0) {
        const struct weft_pair best = weft_pair_heap_pop(&work->heap);
        WEFT_TRY(merge(work, &best));
    }
    return WEFT_OK;
}

static weft_status cut_stretch(struct work *work, size_t size) {
    if (size > work->room) {
        weft_free(work->host, work->symbols);
        work->room = size < 64 ? 64 : size;
        work->symbols = weft_alloc_zero(work->host, work->room, sizeof *work->symbols);
    }
    if (!work->symbols) {
        return weft_fail_memory(work->host, "the pieces of a text");
    }
    work->count = 0;
    WEFT_TRY(split_text(work, size));
    return merge_all(work);
}

weft_status weft_cut_pairs(const struct weft_vocabulary *vocabulary, const char *text, size_t size,
                           weft_take_piece take, void *user, const weft_host *host,
                           struct weft_budget *budget) {
    struct work work = {.vocabulary = vocabulary,
                        .host = host,
                        .budget = budget,
                        .heap = {.host = host ? *host : (weft_host){0}}};
    weft_status status = WEFT_OK;
    bool more = true;
    for (size_t i = 0; status == WEFT_OK && more && i < size;) {
        /* How unused pieces were merged last depends on all of the text. */
        const size_t stretch =
            vocabulary->has_unused ? size : weft_vocabulary_stretch(vocabulary, text + i, size - i);
        work.text = text + i;
        status = cut_stretch(&work, stretch);
        more = status == WEFT_OK && hand_over(&work, take, user);
        i += stretch;
    }
    weft_free(host, work.symbols);
    weft_free(host, work.heap.at);
    weft_free(host, work.splits);
    return status;
}
