/* SPDX-License-Identifier: MIT */
/* Unicode character classes that Python's str methods use; FNetTokenizer is defined by them. */
#ifndef WEFT_MODEL_TEXT_CLASS_H
#define WEFT_MODEL_TEXT_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Decodes the UTF-8 character at the start of `size` > 0 bytes: its length, and the code point in
 * *character. Bytes that are not UTF-8 give length 1 and U+FFFD.
 */
size_t weft_utf8_decode(const char *text, size_t size, uint32_t *character);

/** The length of the last character of `size` > 0 bytes; 1 where they are not UTF-8. */
size_t weft_utf8_last(const char *text, size_t size);

/** str.isspace, and what str.split() splits at. */
bool weft_is_white_space(uint32_t character);

/** str.isdigit: property Numeric_Type is Decimal or Digit, Unicode 14. */
bool weft_is_digit(uint32_t character);

#endif
