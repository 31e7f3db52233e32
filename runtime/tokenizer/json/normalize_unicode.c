/* SPDX-License-Identifier: MIT */
#include "tokenizer/json/normalize_unicode.h"

#include <string.h>
#include <utf8proc.h>

#include "tokenizer/unicode/text_class.h"
#include "tokenizer/unicode/unicode.h"

#define LARGEST_CLUSTER 6u /* bytes; rules look at smaller ones */

/* ---- decomposition ---- */

/* Sorts the marks from `begin` on by class; equal ones stay in order. */
static void sort_marks(struct weft_changes *changes, uint32_t begin) {
    for (uint32_t i = begin + 1; i < changes->count; i++) {
        const struct weft_change moved = changes->at[i];
        const uint8_t class = weft_combining_class(moved.code);
        uint32_t at = i;
        for (; at > begin && weft_combining_class(changes->at[at - 1].code) > class; at--) {
            changes->at[at] = changes->at[at - 1];
        }
        changes->at[at] = moved;
    }
}

/* A stable sort by classes for runs of marks that nobody writes: by counting, in time proportional to them. */
static void sort_many(struct weft_changes *changes, uint32_t begin) {
    const uint32_t end = changes->count;
    uint32_t places[257] = {0}; /* where the next mark of each class goes */
    for (uint32_t i = begin; i < end && !changes->failed; i++) {
        const struct weft_change mark = changes->at[i];
        places[weft_combining_class(mark.code) + 1]++;
        weft_changes_add(changes, mark.code, mark.change); /* room behind them */
    }
    for (unsigned class = 1; class < 257; class ++) {
        places[class] += places[class - 1];
    }
    for (uint32_t i = begin; i < end && !changes->failed; i++) {
        const struct weft_change mark = changes->at[i];
        changes->at[end + places[weft_combining_class(mark.code)]++] = mark;
    }
    if (!changes->failed) {
        memmove(changes->at + begin, changes->at + end, (end - begin) * sizeof *changes->at);
        changes->count = end;
    }
}

static void end_marks(struct weft_changes *changes, uint32_t begin) {
    if (changes->failed || changes->count - begin < 2) {
        return;
    }
    if (changes->count - begin > 64) {
        sort_many(changes, begin);
    } else {
        sort_marks(changes, begin);
    }
}

void weft_normalize_decomposed(struct weft_changes *changes, const struct weft_char *from,
                               uint32_t count, bool compatible) {
    uint32_t marks = 0; /* where those begin that follow the newest other character */
    changes->count = 0;
    for (uint32_t i = 0; i < count && !changes->failed; i++) {
        uint32_t parts[WEFT_MAX_DECOMPOSITION];
        const uint32_t found = weft_decompose(parts, from[i].code, compatible);
        for (uint32_t part = 0; part < found; part++) {
            if (weft_combining_class(parts[part]) == 0) {
                end_marks(changes, marks);
                weft_changes_add(changes, parts[part], part > 0 ? 1 : 0);
                marks = changes->count;
            } else {
                weft_changes_add(changes, parts[part], part > 0 ? 1 : 0);
            }
        }
    }
    end_marks(changes, marks);
}

/* ---- composition ---- */

/*
 * Composes in place (Unicode Standard Annex 15): each character with the newest of class 0 before it, unless one between them
 * has the same class or a higher one.
 */
void weft_normalize_composed(struct weft_changes *changes, const struct weft_char *from,
                             uint32_t count, bool compatible) {
    weft_normalize_decomposed(changes, from, count, compatible);
    uint32_t kept = 0;
    uint32_t starter = UINT32_MAX; /* among those that are kept */
    int last_class = -1;           /* of what is between; -1: nothing */
    for (uint32_t i = 0; i < changes->count && !changes->failed; i++) {
        const struct weft_change next = changes->at[i];
        const int class = weft_combining_class(next.code);
        const bool blocked = starter == UINT32_MAX || last_class >= class;
        const uint32_t composed = blocked ? 0 : weft_compose(changes->at[starter].code, next.code);
        if (composed > 0) {
            changes->at[starter].code = composed;
            changes->at[starter].change += next.change - 1;
            continue;
        }
        if (class == 0) {
            starter = kept;
            last_class = -1;
        } else {
            last_class = class;
        }
        changes->at[kept++] = next;
    }
    changes->count = changes->failed ? 0 : kept;
}

/* ---- rules ---- */

/* The target takes the place of `old` characters: what is more or less is said of the last ones. */
static void replace(struct weft_changes *changes, uint32_t old, const char *target) {
    const size_t size = strlen(target);
    uint32_t made = 0;
    for (size_t i = 0; i < size; made++) {
        uint32_t code = 0;
        i += weft_utf8_decode(target + i, size - i, &code);
        weft_changes_add(changes, code, 0);
    }
    if (changes->failed) {
        return;
    }
    for (uint32_t i = old; i < made; i++) {
        changes->at[changes->count - 1 - (i - old)].change = 1;
    }
    if (made < old && changes->count > 0) {
        changes->at[changes->count - 1].change -= (int32_t)(old - made);
    }
}

static uint32_t cluster_length(const struct weft_char *from, uint32_t count) {
    utf8proc_int32_t state = 0;
    uint32_t length = 1;
    while (length < count &&
           !utf8proc_grapheme_break_stateful((utf8proc_int32_t)from[length - 1].code,
                                             (utf8proc_int32_t)from[length].code, &state)) {
        length++;
    }
    return length;
}

static bool replace_text(struct weft_changes *changes, struct weft_text *text,
                         const struct weft_spm_rules *rules, const struct weft_char *from,
                         uint32_t count) {
    const char *target = NULL;
    text->length = 0;
    weft_chars_put(text, from, count);
    if (text->failed || weft_spm_rules_match_first(rules, text->data, text->length, &target) == 0) {
        return false;
    }
    replace(changes, count, target);
    return true;
}

void weft_normalize_by_rules(struct weft_changes *changes, struct weft_text *text,
                             const struct weft_spm_rules *rules, const struct weft_char *from,
                             uint32_t count) {
    changes->count = 0;
    for (uint32_t i = 0, length = 0; i < count && !changes->failed && !text->failed; i += length) {
        length = cluster_length(from + i, count - i);
        uint32_t size = 0;
        for (uint32_t j = 0; j < length && size < LARGEST_CLUSTER; j++) {
            char bytes[4];
            size += (uint32_t)weft_utf8_encode(bytes, from[i + j].code);
        }
        if (size < LARGEST_CLUSTER && replace_text(changes, text, rules, from + i, length)) {
            continue;
        }
        for (uint32_t j = 0; j < length; j++) {
            if (!replace_text(changes, text, rules, from + i + j, 1)) {
                weft_changes_add(changes, from[i + j].code, 0);
            }
        }
    }
}
