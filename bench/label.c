/* SPDX-License-Identifier: MIT */
#include "bench/label.h"

#include <string.h>

#include "core/harmless.h"

/* A character that would be escaped where it is shown is refused, and so is a text of spaces. */
bool weft_bench_label_fits(const char *text) {
    size_t count = 0;
    bool seen = false;
    for (size_t left = strlen(text); left > 0; count++) {
        char character[WEFT_HARMLESS_SIZE];
        size_t length = 0;
        const size_t taken =
            weft_harmless_character(character, &length, text, left, WEFT_HARMLESS_TEXT, "");
        if (length != taken || memcmp(character, text, taken) != 0 ||
            count == WEFT_BENCH_LABEL_CHARACTERS) {
            return false;
        }
        seen = seen || *text != ' ';
        text += taken;
        left -= taken;
    }
    return seen;
}
