/* SPDX-License-Identifier: MIT */
/* Normalizer of tokenizer.json: a list of steps from characters to characters. */
#ifndef WEFT_TOKENIZER_NORMALIZER_H
#define WEFT_TOKENIZER_NORMALIZER_H

#include "core/formats/json.h"
#include "tokenizer/chars.h"
#include "tokenizer/regex/regex.h"
#include "tokenizer/spm/rules.h"

enum weft_normal_kind {
    WEFT_NORMAL_BERT,
    WEFT_NORMAL_NFC,
    WEFT_NORMAL_NFD,
    WEFT_NORMAL_NFKC,
    WEFT_NORMAL_NFKD,
    WEFT_NORMAL_LOWERCASE,
    WEFT_NORMAL_STRIP,
    WEFT_NORMAL_STRIP_ACCENTS,
    WEFT_NORMAL_REPLACE,
    WEFT_NORMAL_PREPEND,
    WEFT_NORMAL_PRECOMPILED,
    WEFT_NORMAL_BYTE_LEVEL,
    WEFT_NORMAL_NMT
};

struct weft_normal_step {
    enum weft_normal_kind kind;
    bool clean_text, chinese, strip_accents, lowercase; /* BERT's */
    bool left, right;                                   /* ends to strip */
    struct weft_regex *pattern;                         /* to replace */
    struct weft_chars content;                          /* by this, or what to prepend */
    uint8_t *bytes;                                     /* of the rules */
    struct weft_spm_rules rules;
};

/** Immutable once made. */
struct weft_normalizer {
    struct weft_normal_step *steps;
    uint32_t count;
    uint32_t capacity;
};

/** Working state of normalizing, reused from text to text. Begin it with weft_normal_work_begin. */
struct weft_normal_work {
    struct weft_chars forms[2];
    struct weft_changes changes;
    struct weft_text text;
    struct weft_regex_work regex;
    struct weft_budget *budget; /* each text, or file that is read, brings its own */
};

void weft_normal_work_begin(struct weft_normal_work *work, const weft_host *host);
void weft_normal_work_clear(struct weft_normal_work *work);

/**
 * Appends the normal form of `count` characters to `out`; `base` is where their original begins. WEFT_OUT_OF_HOST_MEMORY,
 * also when there are more than WEFT_MAX_CHARS; as weft_budget_take.
 */
weft_status weft_normalize(const struct weft_normalizer *normalizer, struct weft_normal_work *work,
                           const struct weft_char *from, uint32_t count, uint32_t base,
                           struct weft_chars *out);

/**
 * Reads the normalizer of a tokenizer.json; null has no steps. The caller clears it in any case. WEFT_BAD_FILE, and
 * WEFT_UNSUPPORTED for what Weft does not have, naming the field; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_normalizer_read(struct weft_normalizer *normalizer, const json_t *value,
                                 const char *path, const weft_host *host);
void weft_normalizer_clear(struct weft_normalizer *normalizer, const weft_host *host);

/** GPT-2's character for a byte, and back (-1: none). */
uint32_t weft_char_of_byte(uint8_t byte);
int weft_byte_of_char(uint32_t code);

#endif
