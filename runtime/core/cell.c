/* SPDX-License-Identifier: MIT */
#include "core/cell.h"

#include <string.h>

static bool begins_formula(const char *character) {
    static const char *const starts[] = {"=", "+", "-", "@", "＝", "＋", "－", "＠"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        if (strcmp(character, starts[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_one_of(const char *character, const char *letters) {
    return character[0] != '\0' && character[1] == '\0' && strchr(letters, character[0]) != NULL;
}

void weft_text_add_cell(struct weft_text *text, const char *bytes, size_t size) {
    char character[WEFT_HARMLESS_SIZE];
    bool at_start = true;
    while (size > 0) {
        size_t length = 0;
        const size_t taken =
            weft_harmless_character(character, &length, bytes, size, WEFT_HARMLESS_TEXT, "");
        if (at_start && begins_formula(character)) {
            weft_text_put(text, "'", 1);
        }
        weft_text_put(text, character, length);
        at_start = is_one_of(character, ";|") || (at_start && is_one_of(character, " \""));
        bytes += taken;
        size -= taken;
    }
}
