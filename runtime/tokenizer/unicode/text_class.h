/* SPDX-License-Identifier: MIT */
/* UTF-8, and the Unicode character classes that Python's str methods use, by which FNetTokenizer is defined. */
#ifndef WEFT_TOKENIZER_TEXT_CLASS_H
#define WEFT_TOKENIZER_TEXT_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/**
 * Decodes the UTF-8 character at the start of `size` > 0 bytes: its length, and the code point in
 * *character. Bytes that are not UTF-8 give length 1 and U+FFFD.
 */
size_t weft_utf8_decode(const char *text, size_t size, uint32_t *character);

/** The length of the last character of `size` > 0 bytes; 1 where they are not UTF-8. */
size_t weft_utf8_last(const char *text, size_t size);

/** The length of the first character by its first byte alone, at most `size` > 0: for text that is known to be UTF-8. */
static inline size_t weft_utf8_size(const char *text, size_t size) {
    const uint8_t lead = (uint8_t)text[0];
    const size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    return length < size ? length : size;
}

/** True if all of it is UTF-8 and no byte is zero. */
bool weft_utf8_is_text(const char *text, size_t size);

/** U+2581, which stands for a space in pieces. */
#define WEFT_SPACE_MARK      "\xE2\x96\x81"
#define WEFT_SPACE_MARK_SIZE 3u

static inline bool weft_begins_with_mark(const char *text, size_t size) {
    return size >= WEFT_SPACE_MARK_SIZE && memcmp(text, WEFT_SPACE_MARK, WEFT_SPACE_MARK_SIZE) == 0;
}

/** str.isspace, and what str.split() splits at. */
bool weft_is_white_space(uint32_t character);

/** str.isdigit: property Numeric_Type is Decimal or Digit, Unicode 14. */
bool weft_is_digit(uint32_t character);

#endif
