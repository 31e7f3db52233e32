/* SPDX-License-Identifier: MIT */
#include "model/gguf/gguf_cursor.h"

#include <inttypes.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"

void weft_gguf_cursor_begin(struct weft_gguf_cursor *cursor, const weft_kept_file *bytes,
                            uint64_t at) {
    cursor->bytes = bytes;
    cursor->at = at;
    cursor->begin = 0;
    cursor->held = 0;
}

uint64_t weft_gguf_cursor_left(const struct weft_gguf_cursor *cursor) {
    return weft_kept_file_size(cursor->bytes) - cursor->at;
}

static weft_status expect_left(const struct weft_gguf_cursor *cursor, uint64_t size,
                               const char *what) {
    return size <= weft_gguf_cursor_left(cursor)
               ? WEFT_OK
               : weft_fail(weft_kept_file_host(cursor->bytes), WEFT_BAD_FILE,
                           "%s: %.200s: expected %" PRIu64 " bytes at %" PRIu64 ", found %" PRIu64
                           " until the file's end",
                           weft_kept_file_name(cursor->bytes), what, size, cursor->at,
                           weft_gguf_cursor_left(cursor));
}

/* Holds the piece of the file that the cursor is in; pieces begin where checksums do. */
static weft_status hold(struct weft_gguf_cursor *cursor, const char *what) {
    if (cursor->held > 0 && cursor->at >= cursor->begin &&
        cursor->at - cursor->begin < cursor->held) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_interrupted(weft_kept_file_host(cursor->bytes)));
    const uint64_t begin = cursor->at - cursor->at % WEFT_GGUF_PIECE;
    const uint64_t left = weft_kept_file_size(cursor->bytes) - begin;
    const size_t size = left < WEFT_GGUF_PIECE ? (size_t)left : WEFT_GGUF_PIECE;
    cursor->held = 0;
    WEFT_TRY(weft_kept_file_read(cursor->bytes, begin, cursor->piece, size, what));
    cursor->begin = begin;
    cursor->held = size;
    return WEFT_OK;
}

/* The next bytes, at least one and at most `most`, of those that are held. */
static weft_status take(struct weft_gguf_cursor *cursor, const uint8_t **bytes, size_t *count,
                        uint64_t most, const char *what) {
    WEFT_TRY(hold(cursor, what));
    const size_t begin = (size_t)(cursor->at - cursor->begin);
    const size_t left = cursor->held - begin;
    *bytes = cursor->piece + begin;
    *count = most < left ? (size_t)most : left;
    cursor->at += *count;
    return WEFT_OK;
}

weft_status weft_gguf_cursor_read(struct weft_gguf_cursor *cursor, void *out, size_t size,
                                  const char *what) {
    WEFT_TRY(expect_left(cursor, size, what));
    for (size_t done = 0, count = 0; done < size; done += count) {
        const uint8_t *bytes = NULL;
        WEFT_TRY(take(cursor, &bytes, &count, size - done, what));
        memcpy((uint8_t *)out + done, bytes, count);
    }
    return WEFT_OK;
}

weft_status weft_gguf_cursor_number(struct weft_gguf_cursor *cursor, uint64_t *value, size_t size,
                                    const char *what) {
    uint8_t bytes[8];
    WEFT_TRY(weft_gguf_cursor_read(cursor, bytes, size, what));
    *value = weft_load_bytes(bytes, size);
    return WEFT_OK;
}

weft_status weft_gguf_cursor_skip(struct weft_gguf_cursor *cursor, uint64_t size,
                                  const char *what) {
    WEFT_TRY(expect_left(cursor, size, what));
    cursor->at += size;
    return WEFT_OK;
}

weft_status weft_gguf_cursor_text(struct weft_gguf_cursor *cursor, struct weft_text *text,
                                  uint64_t most, const char *what) {
    const weft_host *host = weft_kept_file_host(cursor->bytes);
    uint64_t size = 0;
    WEFT_TRY(weft_gguf_cursor_number(cursor, &size, sizeof size, what));
    if (size > most) {
        return weft_fail(host, WEFT_BAD_FILE,
                         "%s: %.200s: expected a text of at most %" PRIu64 " bytes, found %" PRIu64,
                         weft_kept_file_name(cursor->bytes), what, most, size);
    }
    WEFT_TRY(expect_left(cursor, size, what));
    for (size_t count = 0; size > 0; size -= count) {
        const uint8_t *bytes = NULL;
        WEFT_TRY(take(cursor, &bytes, &count, size, what));
        if (memchr(bytes, '\0', count)) {
            return weft_fail(host, WEFT_BAD_FILE, "%s: %.200s: expected text, found a zero byte",
                             weft_kept_file_name(cursor->bytes), what);
        }
        if (text) {
            weft_text_put(text, bytes, count);
        }
    }
    return text && text->failed ? weft_fail_memory(host, what) : WEFT_OK;
}
