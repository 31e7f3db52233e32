/* SPDX-License-Identifier: MIT */
/* Properties of characters as the package tokenizers has them, which asks older versions of Unicode. */
#ifndef WEFT_TOKENIZER_UNICODE_HISTORY_H
#define WEFT_TOKENIZER_UNICODE_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

enum weft_history {
    WEFT_HISTORY_NONSPACING = 1,  /* as BertNormalizer */
    WEFT_HISTORY_MARK = 2,        /* as StripAccents */
    WEFT_HISTORY_PUNCTUATION = 4, /* as Punctuation and BertPreTokenizer */
    WEFT_HISTORY_CONTROL = 8,     /* as BertNormalizer */
    WEFT_HISTORY_DECOMPOSES = 16  /* in NFKC and NFKD */
};

/** True if a character has the property there; `now` is what utf8proc says. */
bool weft_history_has(uint32_t code, enum weft_history property, bool now);

#endif
