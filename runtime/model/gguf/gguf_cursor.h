/* SPDX-License-Identifier: MIT */
/* Reads the front of a GGUF file, number by number and text by text. Nothing is read beyond the file. */
#ifndef WEFT_MODEL_GGUF_CURSOR_H
#define WEFT_MODEL_GGUF_CURSOR_H

#include "core/system/kept_file.h"
#include "core/text.h"

#define WEFT_GGUF_PIECE ((size_t)16384) /* as much as has one checksum (core/system/kept_file.h) */

/** Begin it with weft_gguf_cursor_begin. */
struct weft_gguf_cursor {
    const weft_kept_file *bytes;
    uint64_t at;
    uint64_t begin; /* of the bytes that are held */
    size_t held;
    uint8_t piece[WEFT_GGUF_PIECE];
};

void weft_gguf_cursor_begin(struct weft_gguf_cursor *cursor, const weft_kept_file *bytes,
                            uint64_t at);

/** Bytes of the file from there on. */
uint64_t weft_gguf_cursor_left(const struct weft_gguf_cursor *cursor);

/*
 * Each moves on by what it reads. `what` names it in errors: WEFT_BAD_FILE where the file ends before it; those of weft_kept_file_read;
 * WEFT_CANCELLED.
 */

weft_status weft_gguf_cursor_read(struct weft_gguf_cursor *cursor, void *out, size_t size,
                                  const char *what);
/** An unsigned integer of `size` bytes, at most 8. */
weft_status weft_gguf_cursor_number(struct weft_gguf_cursor *cursor, uint64_t *value, size_t size,
                                    const char *what);
weft_status weft_gguf_cursor_skip(struct weft_gguf_cursor *cursor, uint64_t size, const char *what);
/**
 * A text behind its length, appended to `text`; null: it is passed over. Also WEFT_BAD_FILE for more than `most` bytes, or for
 * a zero among them.
 */
weft_status weft_gguf_cursor_text(struct weft_gguf_cursor *cursor, struct weft_text *text,
                                  uint64_t most, const char *what);

#endif
