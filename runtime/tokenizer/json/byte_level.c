/* SPDX-License-Identifier: MIT */
/* Bytes as characters that can be seen: those that print are themselves, the others follow from U+0100 on (GPT-2). */
#include "tokenizer/json/normalizer.h"

static bool is_itself(uint32_t code) {
    return (code >= '!' && code <= '~') || (code >= 0xA1 && code <= 0xAC) ||
           (code >= 0xAE && code <= 0xFF);
}

/* The bytes that are not themselves, in order, are 0 … 32, 127 … 160 and 173. */
uint32_t weft_char_of_byte(uint8_t byte) {
    return is_itself(byte) ? byte
           : byte <= 32    ? 0x100u + byte
           : byte <= 160   ? 0x100u + 33 + byte - 127u
                           : 0x100u + 67;
}

int weft_byte_of_char(uint32_t code) {
    return is_itself(code)                          ? (int)code
           : code >= 0x100 && code <= 0x100 + 32    ? (int)(code - 0x100)
           : code > 0x100 + 32 && code < 0x100 + 67 ? (int)(code - 0x100 - 33 + 127)
           : code == 0x100 + 67                     ? 173
                                                    : -1;
}
