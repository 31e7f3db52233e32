/* SPDX-License-Identifier: MIT */
/* Text that grows. */
#ifndef WEFT_CORE_TEXT_H
#define WEFT_CORE_TEXT_H

#include <stdarg.h>

#include "core/harmless.h"
#include "core/host.h"

struct weft_text {
    weft_host host;
    char *data; /* zero-terminated; null before the first append and after a failure */
    size_t length;
    size_t capacity;
    bool failed; /* memory ran out; data is null from then on */
};

void weft_text_add(struct weft_text *text, const char *format, ...) WEFT_PRINTF(2, 3);

/** Appends bytes, which may be any. */
void weft_text_put(struct weft_text *text, const void *bytes, size_t size);

void weft_text_add_list(struct weft_text *text, const char *format, va_list arguments);

/** Adds `size` bytes of somebody else's, harmless in that form but for the control characters in `kept`. */
void weft_text_add_harmless(struct weft_text *text, const char *bytes, size_t size,
                            enum weft_harmless_form form, const char *kept);

/** Drops everything after the first `length` bytes. */
void weft_text_cut(struct weft_text *text, size_t length);

/** As when memory has run out. */
void weft_text_fail(struct weft_text *text);

/** Whether a byte of UTF-8 goes on with a character. */
static inline bool weft_utf8_goes_on(char byte) {
    return ((unsigned char)byte & 0xC0U) == 0x80U;
}

/** Characters of UTF-8 that begin in a text. */
size_t weft_utf8_count(const char *text, size_t size);

/** True if a string ends in another. */
bool weft_ends_with(const char *text, const char *end);

/** The text, which the caller frees, or null when memory ran out; never null otherwise. */
char *weft_text_take(struct weft_text *text);

#endif
