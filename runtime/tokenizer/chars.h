/* SPDX-License-Identifier: MIT */
/* A text as characters, each of which knows the bytes of the original text that it comes from. */
#ifndef WEFT_TOKENIZER_CHARS_H
#define WEFT_TOKENIZER_CHARS_H

#include "core/text.h"

struct weft_char {
    uint32_t code;
    uint32_t begin; /* bytes of the original text */
    uint32_t end;
};

/** Most characters of a text at any time. */
#define WEFT_MAX_CHARS ((uint32_t)1 << 27)

/** Begin it with a host alone, and free `at`. */
struct weft_chars {
    weft_host host;
    struct weft_char *at;
    uint32_t count;
    uint32_t capacity;
    bool failed; /* memory ran out, or there are too many; nothing is added from then on */
};

/** Room for `more`; false when there is none, which is noted. */
bool weft_chars_reserve(struct weft_chars *chars, uint32_t more);

static inline void weft_chars_add(struct weft_chars *chars, struct weft_char character) {
    if (chars->count < chars->capacity || weft_chars_reserve(chars, 1)) {
        chars->at[chars->count++] = character;
    }
}

void weft_chars_append(struct weft_chars *chars, const struct weft_char *from, uint32_t count);

/** The characters of UTF-8; bytes that are none become U+FFFD, one each. */
void weft_chars_decode(struct weft_chars *chars, const char *text, size_t size);

/** The UTF-8 of a character; gives its length. */
static inline size_t weft_utf8_encode(char out[4], uint32_t code) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/** Appends their UTF-8. */
void weft_chars_put(struct weft_text *text, const struct weft_char *from, uint32_t count);

/**
 * A character of a new form of a text: 0 replaces the next one of the old form, -n as well and drops the n behind it, 1 is
 * put in and comes from where the one before it does.
 */
struct weft_change {
    uint32_t code;
    int32_t change;
};

/** Begin it with a host alone, and free `at`. */
struct weft_changes {
    weft_host host;
    struct weft_change *at;
    uint32_t count;
    uint32_t capacity;
    bool failed;
};

void weft_changes_add(struct weft_changes *changes, uint32_t code, int32_t change);

/** Appends the new form of `count` characters; `base` is where the original of theirs begins. */
void weft_chars_change(struct weft_chars *chars, const struct weft_char *from, uint32_t count,
                       uint32_t base, const struct weft_changes *changes);

#endif
