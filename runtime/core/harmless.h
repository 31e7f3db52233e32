/* SPDX-License-Identifier: MIT */
/*
 * Text that steers nothing: what came from a file, a driver or another person, as it may be shown on a terminal or put
 * into a file that another program opens. Escaped are
 *   - control characters (C0, DEL and C1, which are sequences of their own on many terminals) and bytes that are no UTF-8;
 *   - what changes the order of other characters: bidirectional embeddings, overrides, isolates and marks;
 *   - line and paragraph separators, and what cannot be seen: zero-width spaces, invisible operators, interlinear
 *     annotations, tags. Joiners (U+200C, U+200D) stay, without which Persian and many emoji are not what they are.
 * An escape is `\n`, `\r`, `\t`, `\x1b` for a byte, `\u202e` or `\U000e0041` for a character. A backslash is left as it is:
 * this is for people to read. JSON, which says everything exactly, has escapes of its own.
 */
#ifndef WEFT_CORE_HARMLESS_H
#define WEFT_CORE_HARMLESS_H

#include <stdbool.h>
#include <stddef.h>

enum weft_harmless_form {
    WEFT_HARMLESS_TEXT, /* for people: all of the above */
    WEFT_HARMLESS_JSON, /* the same, of a JSON document: \uXXXX, which means the character itself */
    WEFT_HARMLESS_UTF8  /* bytes that are no UTF-8 alone: for what is encoded once more */
};

/** Room for one character, or its escape, and a zero. */
#define WEFT_HARMLESS_SIZE 13

/**
 * Takes the first character of `size` >= 1 bytes, or a byte that is no UTF-8, and writes what stands for it, *length
 * bytes with a zero behind them. `kept`: control characters that the format needs, such as "\n"; never null. Returns how many bytes it took, at least 1.
 */
size_t weft_harmless_character(char text[WEFT_HARMLESS_SIZE], size_t *length, const char *bytes,
                               size_t size, enum weft_harmless_form form, const char *kept);

/**
 * Writes `size` bytes for people, on one line, into `room` >= 4 bytes with a zero at the end. What does not fit is left out,
 * and so is a character that `bytes` were cut in when `is_cut`; either ends in "…". Returns `text`.
 */
char *weft_harmless(char *text, size_t room, const char *bytes, size_t size, bool is_cut);

#endif
