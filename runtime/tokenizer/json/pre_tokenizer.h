/* SPDX-License-Identifier: MIT */
/* Pre-tokenizer of tokenizer.json: cuts a text into parts, each of which is tokenized by itself. */
#ifndef WEFT_TOKENIZER_PRE_TOKENIZER_H
#define WEFT_TOKENIZER_PRE_TOKENIZER_H

#include "core/formats/json.h"
#include "tokenizer/chars.h"
#include "tokenizer/regex/regex.h"

/** A part of a text. */
struct weft_part {
    uint32_t first; /* character */
    uint32_t count;
    uint32_t base; /* where its original begins */
    int32_t token; /* that it is already, or -1 */
};

/** A text in parts. Begin it with weft_parts_begin. */
struct weft_parts {
    struct weft_chars chars;
    struct weft_part *at;
    uint32_t count;
    uint32_t capacity;
};

void weft_parts_begin(struct weft_parts *parts, const weft_host *host);
void weft_parts_clear(struct weft_parts *parts);
/** Empties it, and keeps its memory. */
void weft_parts_reset(struct weft_parts *parts);
/** Appends a part, unless it is empty. WEFT_OUT_OF_HOST_MEMORY. */
weft_status weft_parts_add(struct weft_parts *parts, struct weft_part part);

/** Treatment of a pattern's matches. */
enum weft_split {
    WEFT_SPLIT_REMOVED,
    WEFT_SPLIT_ISOLATED,
    WEFT_SPLIT_WITH_PREVIOUS,
    WEFT_SPLIT_WITH_NEXT,
    WEFT_SPLIT_CONTIGUOUS
};

enum weft_pre_kind {
    WEFT_PRE_CHARACTERS, /* parts by a class of characters */
    WEFT_PRE_PATTERN,
    WEFT_PRE_BYTE_LEVEL,
    WEFT_PRE_METASPACE
};

enum weft_prepend { WEFT_PREPEND_ALWAYS, WEFT_PREPEND_FIRST, WEFT_PREPEND_NEVER };

struct weft_pre_step {
    enum weft_pre_kind kind;
    enum weft_split split;
    bool (*is_in)(uint32_t code); /* of characters; null: the one below */
    uint32_t code;                /* that separates, or what stands for spaces */
    struct weft_regex *pattern;
    bool whole;  /* no parts */
    bool invert; /* what lies between matches counts as one */
    bool prefix_space;
    enum weft_prepend prepend;
};

/** Immutable once made. */
struct weft_pre_tokenizer {
    struct weft_pre_step *steps;
    uint32_t count;
    uint32_t capacity;
};

/**
 * Cuts the parts of a text, those that are no tokens yet; `spare` is for work, and `budget` is that of the text. Errors as
 * weft_regex_find.
 */
weft_status weft_pre_tokenize(const struct weft_pre_tokenizer *tokenizer, struct weft_parts *parts,
                              struct weft_parts *spare, struct weft_regex_work *work,
                              struct weft_budget *budget);

/** Reads the pre-tokenizer of a tokenizer.json; null has no steps. The caller clears it in any case. Errors as a normalizer's. */
weft_status weft_pre_tokenizer_read(struct weft_pre_tokenizer *tokenizer, const json_t *value,
                                    const char *path, const weft_host *host);
void weft_pre_tokenizer_clear(struct weft_pre_tokenizer *tokenizer, const weft_host *host);

#endif
