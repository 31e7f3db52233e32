/* SPDX-License-Identifier: MIT */
/* Unicode's properties of characters, as tokenizers ask for them. Over utf8proc, whose version has the last word. */
#ifndef WEFT_TOKENIZER_UNICODE_H
#define WEFT_TOKENIZER_UNICODE_H

#include <stdbool.h>
#include <stdint.h>

/** Sets of general categories: a bit each. */
typedef uint32_t weft_categories;

/** The bit of the category of a character. */
weft_categories weft_category_of(uint32_t code);

/** The categories that "L", "Lu", "Letter" and the like name; 0 for a name that is none. */
weft_categories weft_categories_named(const char *name);

extern const weft_categories weft_category_letter, weft_category_mark, weft_category_number,
    weft_category_punctuation, weft_category_decimal, weft_category_nonspacing,
    weft_category_control;

/** White_Space. */
bool weft_is_space(uint32_t code);
/** True if \w matches: Alphabetic, marks, decimal digits, connectors. */
bool weft_is_word(uint32_t code);
/** Punctuation, with all of ASCII's that is no letter, digit or control. */
bool weft_is_punctuation(uint32_t code);

uint32_t weft_lower(uint32_t code);
/** Case folding: equal for characters that differ in case alone. */
uint32_t weft_fold(uint32_t code);

uint8_t weft_combining_class(uint32_t code);

#define WEFT_MAX_DECOMPOSITION 32u

/** The full canonical decomposition, or compatibility's; gives how many. */
uint32_t weft_decompose(uint32_t out[WEFT_MAX_DECOMPOSITION], uint32_t code, bool compatible);
/** The character that two compose to, or 0. */
uint32_t weft_compose(uint32_t first, uint32_t second);

#endif
