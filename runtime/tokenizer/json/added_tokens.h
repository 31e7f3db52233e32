/* SPDX-License-Identifier: MIT */
/* The added tokens of a tokenizer.json: texts that are tokens wherever they are found, before the model is asked. */
#ifndef WEFT_TOKENIZER_ADDED_TOKENS_H
#define WEFT_TOKENIZER_ADDED_TOKENS_H

#include "tokenizer/json/normalizer.h"
#include "tokenizer/json/pre_tokenizer.h"
#include "tokenizer/piece_trie.h"
#include "tokenizer/vocabulary.h"

struct weft_added_token {
    char *text; /* in host memory */
    size_t size;
    char
        *found; /* what a text is searched for: with `normalized` the normal form; in host memory */
    size_t found_size;
    int32_t id;
    bool special;
    bool single_word; /* not within a word */
    bool left;        /* takes the white space before it */
    bool right;       /* and behind it */
    bool normalized;  /* found in normal forms */
};

/** Immutable once made. */
struct weft_added_tokens {
    struct weft_added_token *at;
    uint32_t count;
    uint32_t capacity;
    struct weft_piece_trie tries[2]; /* of those in texts, and in normal forms; by index */
    bool begins[2][256];             /* with that byte */
    int32_t *by_id;                  /* index, or -1; `id_count` of them */
    uint32_t id_count;
};

/**
 * Reads the list; a token that the vocabulary has is its. The caller clears it in any case. WEFT_BAD_FILE, WEFT_UNSUPPORTED,
 * naming the field; WEFT_OUT_OF_HOST_MEMORY; as weft_budget_take.
 */
weft_status weft_added_tokens_read(struct weft_added_tokens *tokens, const json_t *value,
                                   const struct weft_vocabulary *vocabulary,
                                   const struct weft_normalizer *normalizer, const char *path,
                                   struct weft_budget *budget);
void weft_added_tokens_clear(struct weft_added_tokens *tokens, const weft_host *host);

/** That of a text, or null. */
struct weft_added_token *weft_added_token_find(const struct weft_added_tokens *tokens,
                                               const char *text, size_t size);

/**
 * Has a text, whose token is `id`, found in texts as it is, wherever it is, and taken for a special token: as transformers'
 * add_special_tokens does it for a token that is there. Nothing may be encoded meanwhile. WEFT_OUT_OF_HOST_MEMORY, after which the list is of no use.
 */
weft_status weft_added_tokens_make_special(struct weft_added_tokens *tokens, const char *text,
                                           size_t size, int32_t id, const weft_host *host);

/** The token of an id, or null. */
const struct weft_added_token *weft_added_token_of(const struct weft_added_tokens *tokens,
                                                   int32_t id);

/**
 * Adds to `parts` the last `count` characters of its text, cut at the tokens that are found there. `base` is where their
 * original begins. WEFT_OUT_OF_HOST_MEMORY; as weft_budget_take.
 */
weft_status weft_added_tokens_split(const struct weft_added_tokens *tokens, bool normalized,
                                    struct weft_parts *parts, uint32_t count, uint32_t base,
                                    struct weft_budget *budget);

#endif
