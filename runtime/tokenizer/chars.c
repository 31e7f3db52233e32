/* SPDX-License-Identifier: MIT */
#include "tokenizer/chars.h"

#include <string.h>

#include "tokenizer/unicode/text_class.h"

bool weft_chars_reserve(struct weft_chars *chars, uint32_t more) {
    if (chars->failed || more > WEFT_MAX_CHARS - chars->count) {
        chars->failed = true;
        return false;
    }
    /* Also for none: their place is then not null, and C takes no step from null. */
    if (chars->at && chars->count + more <= chars->capacity) {
        return true;
    }
    const uint32_t capacity = 2 * chars->capacity + more + 64;
    struct weft_char *grown =
        weft_realloc(&chars->host, chars->at, (size_t)capacity * sizeof *grown);
    if (!grown) {
        chars->failed = true;
        return false;
    }
    chars->at = grown;
    chars->capacity = capacity;
    return true;
}

void weft_chars_append(struct weft_chars *chars, const struct weft_char *from, uint32_t count) {
    if (count > 0 && weft_chars_reserve(chars, count)) {
        memcpy(chars->at + chars->count, from, count * sizeof *from);
        chars->count += count;
    }
}

void weft_chars_decode(struct weft_chars *chars, const char *text, size_t size) {
    if (size > WEFT_MAX_CHARS || !weft_chars_reserve(chars, (uint32_t)size)) {
        chars->failed = true;
        return;
    }
    for (size_t i = 0; i < size;) {
        uint32_t code = (uint8_t)text[i];
        const size_t length = code < 0x80 ? 1 : weft_utf8_decode(text + i, size - i, &code);
        chars->at[chars->count++] = (struct weft_char){code, (uint32_t)i, (uint32_t)(i + length)};
        i += length;
    }
}

void weft_chars_put(struct weft_text *text, const struct weft_char *from, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        char bytes[4];
        weft_text_put(text, bytes, weft_utf8_encode(bytes, from[i].code));
    }
}

void weft_changes_add(struct weft_changes *changes, uint32_t code, int32_t change) {
    changes->failed = changes->failed || changes->count == WEFT_MAX_CHARS ||
                      !weft_grow(&changes->host, &changes->at, changes->count, &changes->capacity,
                                 sizeof *changes->at);
    if (!changes->failed) {
        changes->at[changes->count++] = (struct weft_change){code, change};
    }
}

void weft_chars_change(struct weft_chars *chars, const struct weft_char *from, uint32_t count,
                       uint32_t base, const struct weft_changes *changes) {
    const struct weft_char start = {.begin = base, .end = base};
    uint32_t next = 0; /* of the old form */
    chars->failed = chars->failed || changes->failed;
    for (uint32_t i = 0; i < changes->count && !chars->failed; i++) {
        const struct weft_change *change = &changes->at[i];
        struct weft_char made;
        if (change->change > 0) {
            made = next > 0 ? from[next - 1] : start;
        } else {
            made = next < count ? from[next] : count > 0 ? from[count - 1] : start;
            const uint32_t taken = 1 + (uint32_t)-change->change;
            next = taken < count - next ? next + taken : count;
        }
        made.code = change->code;
        weft_chars_add(chars, made);
    }
}
