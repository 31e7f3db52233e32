/* SPDX-License-Identifier: MIT */
#include "core/text.h"

#include <stdio.h>
#include <string.h>

void weft_text_fail(struct weft_text *text) {
    weft_free(&text->host, text->data);
    text->data = NULL;
    text->failed = true;
}

static bool reserve(struct weft_text *text, size_t more) {
    if (text->length + more + 1 <= text->capacity) {
        return true;
    }
    size_t capacity = 2 * text->capacity + more + 256;
    char *data = weft_realloc(&text->host, text->data, capacity);
    if (!data) {
        weft_text_fail(text);
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void weft_text_add_list(struct weft_text *text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    size_t room = text->failed ? 0 : text->capacity - text->length;
    const int size =
        vsnprintf(room > 0 ? text->data + text->length : NULL, room, format, arguments);
    bool fits = size >= 0 && (size_t)size < room;
    if (size >= 0 && !fits && !text->failed && reserve(text, (size_t)size)) {
        vsnprintf(text->data + text->length, (size_t)size + 1, format, again);
        fits = true;
    }
    va_end(again);
    if (fits) {
        text->length += (size_t)size;
    }
}

void weft_text_add(struct weft_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    weft_text_add_list(text, format, arguments);
    va_end(arguments);
}

void weft_text_put(struct weft_text *text, const void *bytes, size_t size) {
    if (!text->failed && reserve(text, size)) {
        memcpy(text->data + text->length, bytes, size);
        text->length += size;
        text->data[text->length] = '\0';
    }
}

void weft_text_add_harmless(struct weft_text *text, const char *bytes, size_t size,
                            enum weft_harmless_form form, const char *kept) {
    while (size > 0 && !text->failed && reserve(text, WEFT_HARMLESS_SIZE)) {
        char *end = text->data + text->length;
        size_t length = 0;
        const size_t taken = weft_harmless_character(end, &length, bytes, size, form, kept);
        text->length += length;
        text->data[text->length] = '\0';
        bytes += taken;
        size -= taken;
    }
}

size_t weft_utf8_count(const char *text, size_t size) {
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        count += !weft_utf8_goes_on(text[i]);
    }
    return count;
}

void weft_text_cut(struct weft_text *text, size_t length) {
    if (text->data && length < text->length) {
        text->length = length;
        text->data[length] = '\0';
    }
}

char *weft_text_take(struct weft_text *text) {
    if (!text->data && !text->failed) {
        weft_text_add(text, "%s", "");
    }
    char *data = text->data;
    text->data = NULL;
    return data;
}

bool weft_ends_with(const char *text, const char *end) {
    const size_t length = strlen(text);
    const size_t size = strlen(end);
    return length >= size && memcmp(text + length - size, end, size) == 0;
}
