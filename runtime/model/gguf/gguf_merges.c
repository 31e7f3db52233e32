/* SPDX-License-Identifier: MIT */
/* Which tokens merge into which, from a vocabulary with scores. */
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "model/gguf/gguf_tokens.h"
#include "tokenizer/piece_trie.h"
#include "tokenizer/unicode/text_class.h"

struct finder {
    const struct weft_gguf_tokens *tokens;
    struct weft_budget *budget;
    struct weft_piece_trie trie; /* of all tokens */
    struct weft_gguf_merge *merges;
    uint32_t count, capacity;
};

static weft_status make_trie(struct finder *finder) {
    const struct weft_gguf_tokens *tokens = finder->tokens;
    const weft_host *host = finder->budget->host;
    struct weft_piece_entry *entries = weft_alloc_zero(host, tokens->count, sizeof *entries);
    uint32_t count = 0, kept = 0;
    if (!entries) {
        return weft_fail_memory(host, "tokens");
    }
    for (uint32_t id = 0; id < tokens->count; id++) {
        if (tokens->at[id].size > 0) {
            entries[count++] = (struct weft_piece_entry){weft_gguf_token_text(tokens, id),
                                                         tokens->at[id].size, (int32_t)id};
        }
    }
    qsort(entries, count, sizeof *entries, weft_piece_entry_compare);
    for (uint32_t i = 0; i < count;
         i++) { /* of equal ones the first: the tokenizer's reader refuses them by name */
        const bool again = kept > 0 && entries[kept - 1].size == entries[i].size &&
                           memcmp(entries[kept - 1].text, entries[i].text, entries[i].size) == 0;
        if (!again) {
            entries[kept++] = entries[i];
        }
    }
    const weft_status status =
        kept > 0 ? weft_piece_trie_create(&finder->trie, entries, kept, "tokens", host) : WEFT_OK;
    weft_free(host, entries);
    return status;
}

/* The token is what the budget pays for, as are all the bytes that are looked at. */
static weft_status add_pair(struct finder *finder, uint32_t id, size_t cut, int32_t left) {
    const char *text = weft_gguf_token_text(finder->tokens, id);
    const size_t size = finder->tokens->at[id].size;
    WEFT_TRY(weft_budget_spend(finder->budget, size - cut + 16));
    const int32_t right = weft_piece_trie_find(&finder->trie, text + cut, size - cut);
    if (right < 0) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_budget_spend(finder->budget, size));
    if (finder->count == WEFT_GGUF_MAX_MERGES) {
        return weft_fail(finder->budget->host, WEFT_BAD_FILE,
                         "%s: tokens: expected at most %u pairs of them that are another one, "
                         "found more",
                         finder->budget->what, WEFT_GGUF_MAX_MERGES);
    }
    if (!weft_grow(finder->budget->host, &finder->merges, finder->count, &finder->capacity,
                   sizeof *finder->merges)) {
        return weft_fail_memory(finder->budget->host, "merges");
    }
    finder->merges[finder->count++] =
        (struct weft_gguf_merge){.token = id,
                                 .left = (uint32_t)left,
                                 .right = (uint32_t)right,
                                 .left_length = (uint32_t)weft_utf8_count(text, cut),
                                 .right_length = (uint32_t)weft_utf8_count(text + cut, size - cut),
                                 .score = finder->tokens->scores[id]};
    return WEFT_OK;
}

/* All ways to cut a token into two. */
static weft_status add_token(struct finder *finder, uint32_t id) {
    const char *text = weft_gguf_token_text(finder->tokens, id);
    const size_t size = finder->tokens->at[id].size;
    uint32_t node = 0;
    WEFT_TRY(weft_budget_spend(finder->budget, size));
    for (size_t i = 0; i + 1 < size; i++) {
        if (!weft_piece_trie_step(&finder->trie, &node, (uint8_t)text[i])) {
            return WEFT_OK;
        }
        const int32_t left = finder->trie.nodes[node].id;
        if (left >= 0) {
            WEFT_TRY(add_pair(finder, id, i + 1, left));
        }
    }
    return WEFT_OK;
}

/* Tokens that no merge makes: those that are found in a text before, and bytes. */
static bool is_merged(int32_t type) {
    return type != WEFT_GGUF_TOKEN_UNKNOWN && type != WEFT_GGUF_TOKEN_CONTROL &&
           type != WEFT_GGUF_TOKEN_USER_DEFINED && type != WEFT_GGUF_TOKEN_BYTE;
}

static int compare(const void *first, const void *second) {
    const struct weft_gguf_merge *a = first, *b = second;
    if (a->score != b->score) {
        return a->score > b->score ? -1 : 1;
    }
    const uint32_t pairs[][2] = {{b->left_length, a->left_length},
                                 {b->right_length, a->right_length},
                                 {a->token, b->token},
                                 {a->left, b->left},
                                 {a->right, b->right}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (pairs[i][0] != pairs[i][1]) {
            return pairs[i][0] < pairs[i][1] ? -1 : 1;
        }
    }
    return 0;
}

static weft_status find_all(struct finder *finder) {
    WEFT_TRY(make_trie(finder));
    for (uint32_t id = 0; finder->trie.nodes && id < finder->tokens->count; id++) {
        if (is_merged(weft_gguf_token_type(finder->tokens, id))) {
            WEFT_TRY(add_token(finder, id));
        }
    }
    if (finder->count > 0) {
        qsort(finder->merges, finder->count, sizeof *finder->merges, compare);
    }
    return WEFT_OK;
}

weft_status weft_gguf_merges_find(struct weft_gguf_merge **merges, uint32_t *count,
                                  const struct weft_gguf_tokens *tokens,
                                  struct weft_budget *budget) {
    struct finder finder = {.tokens = tokens, .budget = budget};
    const weft_status status = find_all(&finder);
    weft_piece_trie_clear(&finder.trie, budget->host);
    if (status != WEFT_OK) {
        weft_free(budget->host, finder.merges);
        return status;
    }
    *merges = finder.merges;
    *count = finder.count;
    return WEFT_OK;
}
