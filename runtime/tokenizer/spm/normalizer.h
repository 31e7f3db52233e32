/* SPDX-License-Identifier: MIT */
/* SentencePiece's changes to a text before it is cut into pieces, and to one joined from pieces. */
#ifndef WEFT_TOKENIZER_SPM_NORMALIZER_H
#define WEFT_TOKENIZER_SPM_NORMALIZER_H

#include "core/text.h"
#include "tokenizer/budget.h"
#include "tokenizer/piece_trie.h"
#include "tokenizer/spm/rules.h"

/** NormalizerSpec, and what else has a say. */
struct weft_spm_normalizer {
    struct weft_spm_rules rules;
    bool add_dummy_prefix; /* a space before the text, or behind it with whitespace_as_suffix */
    bool remove_extra_whitespaces; /* one space for each run, none at the ends */
    bool escape_whitespaces;       /* U+2581 for each space */
    bool whitespace_as_suffix;
    const struct weft_piece_trie *kept; /* pieces that rules do not touch; may be null */
};

/** The bytes of a text that a byte of its normal form comes from. */
struct weft_origin {
    uint32_t begin;
    uint32_t end;
};

/** Origin of each byte of a normal form. Begin it with a host alone, and free `at`. */
struct weft_origins {
    weft_host host;
    struct weft_origin *at;
    size_t count;
    size_t capacity;
};

/**
 * Appends the normal form, which is UTF-8, to `out`; bytes that are not UTF-8 become U+FFFD. WEFT_INVALID_ARGUMENT when
 * it is longer than `limit` bytes; as weft_budget_take of `budget`, which may be null; WEFT_OUT_OF_HOST_MEMORY. `origins`, which may be null, and `out` begin empty, or go on
 * where they ended.
 */
weft_status weft_spm_normalize(struct weft_text *out, struct weft_origins *origins,
                               const struct weft_spm_normalizer *normalizer, const char *text,
                               size_t size, size_t limit, struct weft_budget *budget);

#endif
