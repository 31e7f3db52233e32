/* SPDX-License-Identifier: MIT */
/*
 * From the tokens of one or two texts to what a model takes: tokens that are too many are cut, special ones are put around.
 * The same for all tokenizers.
 */
#ifndef WEFT_TOKENIZER_ENCODING_H
#define WEFT_TOKENIZER_ENCODING_H

#include "core/host.h"

/** A token and the bytes of its text that it stands for. */
struct weft_token {
    int32_t id;
    uint32_t begin;
    uint32_t end;
};

/** The tokens of a text. Begin it with a host alone, and free `tokens`. */
struct weft_token_list {
    weft_host host;
    struct weft_token *tokens;
    uint32_t count;
    uint32_t capacity;
    uint32_t more; /* tokens behind them that nobody will ask for */
    size_t size;   /* of the text, in bytes: whoever adds its tokens says so */
    bool failed;   /* memory ran out */
};

/** False when memory is out. */
static inline bool weft_token_list_add(struct weft_token_list *list, struct weft_token token) {
    list->failed = list->failed || !weft_grow(&list->host, &list->tokens, list->count,
                                              &list->capacity, sizeof token);
    if (!list->failed) {
        list->tokens[list->count++] = token;
    }
    return !list->failed;
}

/** A special token, or where the tokens of a text go. */
struct weft_template_item {
    bool is_text;
    uint8_t sequence; /* of a text: 0, or 1 for the second of a pair */
    int32_t token;    /* of a special token */
    int32_t type;
};

struct weft_template {
    const struct weft_template_item *items;
    uint32_t count;
};

enum weft_truncation_strategy { WEFT_TRUNCATE_LONGEST, WEFT_TRUNCATE_FIRST, WEFT_TRUNCATE_SECOND };

struct weft_truncation {
    enum weft_truncation_strategy strategy;
    bool left;     /* the first tokens go, not the last */
    uint32_t most; /* tokens that tokenizer.json itself says; 0: it says none */
};

/** Tokens that a tokenizer puts around texts. */
struct weft_templates {
    struct weft_template single;
    struct weft_template pair;
    struct weft_truncation truncation;
};

/** As weft_encoding of weft/model.h, which has the same fields. */
struct weft_encoded {
    int32_t *tokens;
    int32_t *types;
    uint32_t *begins;
    uint32_t *ends;
    uint8_t *sequences;
    uint32_t count;
    uint32_t cut;
};

/** Special tokens of a template. */
uint32_t weft_template_special(const struct weft_template *template);

/**
 * Cuts the tokens of one text, or two, to at most `maximum` with the special tokens, and puts them together. Arrays are in
 * memory of the lists' host. Whatever the tokenizer is, an encoding that has been made holds at most `maximum` tokens, none
 * negative, each of a text that is there or of none, and begin <= end <= the size of that text.
 *
 * A text that a template names n times has each of its tokens n times, all of which count. WEFT_INVALID_ARGUMENT when `maximum`
 * has no room for the special tokens, and when the strategy's text is not there or too short; WEFT_BAD_FILE for a tokenizer
 * that gives what no encoding may hold; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_encoded_make(struct weft_encoded *encoded, const struct weft_templates *templates,
                              const struct weft_token_list *lists, bool is_pair, bool no_special,
                              uint32_t maximum);
void weft_encoded_clear(struct weft_encoded *encoded, const weft_host *host);

#endif
