/* SPDX-License-Identifier: MIT */
/* What SentencePiece does to a text before it is cut into pieces, and to one that was put together of them. */
#ifndef WEFT_MODEL_SPM_NORMALIZER_H
#define WEFT_MODEL_SPM_NORMALIZER_H

#include "core/text.h"
#include "model/piece_trie.h"
#include "model/spm_rules.h"

/** NormalizerSpec, and what else has a say. */
struct weft_spm_normalizer {
    struct weft_spm_rules rules;
    bool add_dummy_prefix; /* a space before the text, or behind it with whitespace_as_suffix */
    bool remove_extra_whitespaces; /* one space for each run, none at the ends */
    bool escape_whitespaces;       /* U+2581 for each space */
    bool whitespace_as_suffix;
    const struct weft_piece_trie *kept; /* pieces that rules do not touch; may be null */
};

/**
 * Appends the normal form, which is UTF-8, to `out`; bytes that are not UTF-8 become U+FFFD. WEFT_INVALID_ARGUMENT when
 * it is longer than `limit` bytes; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_spm_normalize(struct weft_text *out, const struct weft_spm_normalizer *normalizer,
                               const char *text, size_t size, size_t limit);

#endif
