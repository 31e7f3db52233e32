/* SPDX-License-Identifier: MIT */
/* The tokens of a GGUF file: texts, types and scores. */
#ifndef WEFT_MODEL_GGUF_TOKENS_H
#define WEFT_MODEL_GGUF_TOKENS_H

#include "model/gguf/gguf.h"
#include "tokenizer/budget.h"

/** Longest text of a token, in bytes. */
#define WEFT_GGUF_MAX_TOKEN 65536u

/** Most pairs that are merged: as many as a tokenizer.json may have. */
#define WEFT_GGUF_MAX_MERGES ((uint32_t)1 << 21)

/** As files number them. */
enum weft_gguf_token_type {
    WEFT_GGUF_TOKEN_NORMAL = 1,
    WEFT_GGUF_TOKEN_UNKNOWN,
    WEFT_GGUF_TOKEN_CONTROL,
    WEFT_GGUF_TOKEN_USER_DEFINED,
    WEFT_GGUF_TOKEN_UNUSED,
    WEFT_GGUF_TOKEN_BYTE
};

struct weft_gguf_token {
    size_t begin; /* in the texts */
    uint32_t size;
};

struct weft_gguf_tokens {
    struct weft_text texts; /* one behind the other */
    struct weft_gguf_token *at;
    uint32_t count, capacity;
    int32_t *types; /* null: all are normal */
    float *scores;  /* or null */
};

/**
 * Reads them. All texts are UTF-8, and there are at most `vocabulary`. In any case free them. Errors, naming the key: WEFT_BAD_FILE.
 */
weft_status weft_gguf_tokens_read(struct weft_gguf_tokens *tokens, const weft_gguf *file,
                                  uint32_t vocabulary);
void weft_gguf_tokens_free(struct weft_gguf_tokens *tokens, const weft_host *host);

static inline const char *weft_gguf_token_text(const struct weft_gguf_tokens *tokens, uint32_t id) {
    return tokens->texts.data + tokens->at[id].begin;
}

static inline int32_t weft_gguf_token_type(const struct weft_gguf_tokens *tokens, uint32_t id) {
    return tokens->types ? tokens->types[id] : WEFT_GGUF_TOKEN_NORMAL;
}

/** Appends a text as the inside of a string in JSON. */
void weft_gguf_put_characters(struct weft_text *out, const char *text, size_t size);

/** A pair of tokens that are a third one together. */
struct weft_gguf_merge {
    uint32_t token, left, right;
    uint32_t left_length, right_length; /* in characters */
    float score;                        /* the token's */
};

/**
 * All pairs whose tokens have scores, the first to be merged first, to be freed: by falling score, then by the length of the left and of the right
 * one, then by their numbers, which is how transformers makes a tokenizer.json of a SentencePiece model. Errors: WEFT_BAD_FILE for
 * more pairs than that, or more steps than the budget has; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_gguf_merges_find(struct weft_gguf_merge **merges, uint32_t *count,
                                  const struct weft_gguf_tokens *tokens,
                                  struct weft_budget *budget);

#endif
