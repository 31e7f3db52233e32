/* SPDX-License-Identifier: MIT */
#include "model/texts/generated_text.h"

#include <string.h>

#include "core/try.h"

/* ---- stops ---- */

weft_status weft_stops_copy(struct weft_stops *stops, const char *const *texts, uint32_t count,
                            const weft_host *host) {
    if (count == 0) {
        return WEFT_OK;
    }
    stops->texts = weft_alloc_zero(host, count, sizeof *stops->texts);
    if (!stops->texts) {
        return weft_fail_memory(host, "texts that stop");
    }
    for (; stops->count < count; stops->count++) {
        const char *text = texts[stops->count];
        if (!text || text[0] == '\0') {
            return weft_fail(host, WEFT_INVALID_ARGUMENT,
                             "stop %u: expected a text, found an empty one", stops->count);
        }
        stops->texts[stops->count] = weft_strdup(host, text);
        if (!stops->texts[stops->count]) {
            return weft_fail_memory(host, "texts that stop");
        }
    }
    return WEFT_OK;
}

void weft_stops_clear(struct weft_stops *stops, const weft_host *host) {
    for (uint32_t i = 0; i < stops->count; i++) {
        weft_free(host, stops->texts[i]);
    }
    weft_free(host, stops->texts);
    *stops = (struct weft_stops){0};
}

/* Where the first stop in text[from … size) begins; size: there is none. */
static size_t find_stop(const struct weft_stops *stops, const char *text, size_t from,
                        size_t size) {
    for (size_t at = from; at < size; at++) {
        for (uint32_t i = 0; i < stops->count; i++) {
            const size_t length = strlen(stops->texts[i]);
            if (length <= size - at && memcmp(text + at, stops->texts[i], length) == 0) {
                return at;
            }
        }
    }
    return size;
}

/* Where the first part of a stop begins with which text[from … size) ends; size: there is none. */
static size_t find_beginning(const struct weft_stops *stops, const char *text, size_t from,
                             size_t size) {
    for (size_t at = from; at < size; at++) {
        for (uint32_t i = 0; i < stops->count; i++) {
            if (strlen(stops->texts[i]) > size - at &&
                memcmp(text + at, stops->texts[i], size - at) == 0) {
                return at;
            }
        }
    }
    return size;
}

/* ---- characters ---- */

#define REPLACEMENT      "\xef\xbf\xbd" /* U+FFFD, which tokenizers have for a part of a character */
#define REPLACEMENT_SIZE 3
#define MOST_PARTS       3 /* of a character that still lacks one */

/* How much of a text is whole characters: tokens can be parts of one. Text that is no UTF-8 at all counts as whole. */
static size_t whole_characters(const char *text, size_t size) {
    for (int i = 0; i < MOST_PARTS && size >= REPLACEMENT_SIZE; i++) {
        if (memcmp(text + size - REPLACEMENT_SIZE, REPLACEMENT, REPLACEMENT_SIZE) != 0) {
            break;
        }
        size -= REPLACEMENT_SIZE;
    }
    size_t end = size;
    while (end > 0 && size - end < 3 && ((uint8_t)text[end - 1] & 0xc0) == 0x80) {
        end--;
    }
    const uint8_t first = end > 0 ? (uint8_t)text[end - 1] : 0;
    const size_t wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    return wanted > size - end + 1 ? end - 1 : size;
}

/* ---- all ---- */

weft_status weft_generated_text_take(struct weft_generated_text *text, bool *stopped,
                                     weft_model *model, const struct weft_text_tokens *tokens,
                                     const struct weft_stops *stops) {
    char *found = NULL;
    size_t size = 0;
    *stopped = false;
    WEFT_TRY(weft_model_detokenize(model, tokens->tokens, tokens->count, &found, &size));
    weft_text_free(model, &text->text);
    text->text = found;
    const size_t whole = tokens->is_whole ? size : whole_characters(found, size);
    if (tokens->is_prompt) {
        text->begin = text->end = whole;
    }
    text->begin = text->begin < size ? text->begin : size;
    text->end = text->end < size ? text->end : size;
    if (!tokens->is_prompt && whole >= text->end) {
        const size_t stop = find_stop(stops, found, text->end, size);
        *stopped = stop < size;
        text->end = *stopped           ? stop
                    : tokens->is_whole ? size
                                       : find_beginning(stops, found, text->end, whole);
    }
    return WEFT_OK;
}

void weft_generated_text_clear(struct weft_generated_text *text, weft_model *model) {
    weft_text_free(model, &text->text);
    *text = (struct weft_generated_text){0};
}
