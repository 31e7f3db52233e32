/* SPDX-License-Identifier: MIT */
/* Whether what the command printed steers a terminal. Includes cli/command.h. */
#ifndef WEFT_TESTS_CLI_HARMLESS_H
#define WEFT_TESTS_CLI_HARMLESS_H

#include "cli/command.h"

/** Length of the UTF-8 character at `at` and its number, by the table of RFC 3629; 0 where there is none. */
static inline size_t utf8_character(uint32_t *character, const unsigned char *at) {
    static const struct {
        unsigned char first[2], second[2];
        size_t length;
    } forms[] = {
        {{0x01, 0x7f}, {0x00, 0xff}, 1}, {{0xc2, 0xdf}, {0x80, 0xbf}, 2},
        {{0xe0, 0xe0}, {0xa0, 0xbf}, 3}, {{0xe1, 0xec}, {0x80, 0xbf}, 3},
        {{0xed, 0xed}, {0x80, 0x9f}, 3}, {{0xee, 0xef}, {0x80, 0xbf}, 3},
        {{0xf0, 0xf0}, {0x90, 0xbf}, 4}, {{0xf1, 0xf3}, {0x80, 0xbf}, 4},
        {{0xf4, 0xf4}, {0x80, 0x8f}, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (at[0] < forms[i].first[0] || at[0] > forms[i].first[1]) {
            continue;
        }
        *character = at[0];
        if (forms[i].length > 1) {
            if (at[1] < forms[i].second[0] || at[1] > forms[i].second[1]) {
                continue;
            }
            *character = at[0] & (0x7fu >> forms[i].length);
        }
        for (size_t byte = 1; byte < forms[i].length; byte++) {
            if ((at[byte] & 0xc0) != 0x80) {
                return 0;
            }
            *character = *character << 6 | (at[byte] & 0x3fu);
        }
        return forms[i].length;
    }
    return 0;
}

/** Fails the test unless the text is UTF-8 without control characters, but those kept, and without bidirectional ones. */
static inline void expect_harmless(const struct outcome *outcome, const char *text,
                                   const char *kept) {
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        uint32_t c = 0;
        const size_t length = utf8_character(&c, at);
        const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
        const bool turns = c == 0x61c || c == 0x200e || c == 0x200f ||
                           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
        const bool unseen = (c >= 0xe0000 && c <= 0xe0fff) || c == 0x200b || c == 0xfeff;
        if (length == 0 || turns || unseen || (control && !strchr(kept, (int)c))) {
            fail_msg("%s: at byte %zu stands U+%04X (of %zu bytes) in\n%s", outcome->line,
                     (size_t)((const char *)at - text), c, length, text);
        }
        at += length;
    }
}

#endif
