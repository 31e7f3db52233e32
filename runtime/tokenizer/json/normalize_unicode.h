/* SPDX-License-Identifier: MIT */
/* Unicode's normal forms, and SentencePiece's rules, as changes of characters. Each call begins the list anew. */
#ifndef WEFT_TOKENIZER_NORMALIZE_UNICODE_H
#define WEFT_TOKENIZER_NORMALIZE_UNICODE_H

#include "tokenizer/chars.h"
#include "tokenizer/spm/rules.h"

/** NFD, or NFKD with `compatible`. */
void weft_normalize_decomposed(struct weft_changes *changes, const struct weft_char *from,
                               uint32_t count, bool compatible);
/** NFC, or NFKC. */
void weft_normalize_composed(struct weft_changes *changes, const struct weft_char *from,
                             uint32_t count, bool compatible);

/**
 * By the rule for each cluster of characters that a reader takes for one (Unicode's extended grapheme clusters) below 6 bytes,
 * else for each character: the first that begins it, as the package tokenizers. `text` is for work.
 */
void weft_normalize_by_rules(struct weft_changes *changes, struct weft_text *text,
                             const struct weft_spm_rules *rules, const struct weft_char *from,
                             uint32_t count);

#endif
