/* SPDX-License-Identifier: MIT */
#include "tokenizer/spm/normalizer.h"

#include <string.h>

#include "core/try.h"
#include "tokenizer/unicode/text_class.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* The first characters of a text and what becomes of them. */
struct piece {
    size_t consumed;
    const char *text;
    size_t size;
};

/* Adds what that takes to *steps. */
static struct piece first_piece(const struct weft_spm_normalizer *normalizer, const char *text,
                                size_t size, uint64_t *steps) {
    const size_t kept =
        normalizer->kept ? weft_piece_trie_longest(normalizer->kept, text, size, steps) : 0;
    size_t looked = 0;
    if (kept > 0) {
        return (struct piece){kept, text, kept};
    }
    const char *target = NULL;
    const size_t replaced = weft_spm_rules_match(&normalizer->rules, text, size, &target, &looked);
    *steps += looked + 1;
    if (replaced > 0) {
        return (struct piece){replaced, target, strlen(target)};
    }
    uint32_t character;
    const size_t length = weft_utf8_decode(text, size, &character);
    const bool invalid = length == 1 && character > 0x7F;
    return invalid ? (struct piece){1, REPLACEMENT, sizeof REPLACEMENT - 1}
                   : (struct piece){length, text, length};
}

static void put_space(struct weft_text *out, const struct weft_spm_normalizer *normalizer) {
    if (normalizer->escape_whitespaces) {
        weft_text_put(out, WEFT_SPACE_MARK, WEFT_SPACE_MARK_SIZE);
    } else {
        weft_text_put(out, " ", 1);
    }
}

static void put_piece(struct weft_text *out, const struct weft_spm_normalizer *normalizer,
                      const char *text, size_t size) {
    for (size_t i = 0; i < size;) {
        const char *space = memchr(text + i, ' ', size - i);
        const size_t end = space ? (size_t)(space - text) : size;
        weft_text_put(out, text + i, end - i);
        if (space) {
            put_space(out, normalizer);
        }
        i = end + 1;
    }
}

static void drop_spaces_at_end(struct weft_text *out, size_t begin,
                               const struct weft_spm_normalizer *normalizer) {
    const char *space = normalizer->escape_whitespaces ? WEFT_SPACE_MARK : " ";
    const size_t size = strlen(space);
    while (!out->failed && out->length >= begin + size &&
           memcmp(out->data + out->length - size, space, size) == 0) {
        weft_text_cut(out, out->length - size);
    }
}

/* Notes that the bytes appended to `out` since the last call come from these bytes. */
static void note_origin(struct weft_text *out, struct weft_origins *origins, size_t begin,
                        size_t end) {
    if (!origins || out->failed) {
        return;
    }
    if (out->length > origins->capacity) {
        const size_t capacity = 2 * out->length + 64;
        struct weft_origin *grown =
            weft_realloc(&origins->host, origins->at, capacity * sizeof *grown);
        if (!grown) {
            weft_text_fail(out);
            return;
        }
        origins->at = grown;
        origins->capacity = capacity;
    }
    while (origins->count < out->length) {
        origins->at[origins->count++] = (struct weft_origin){(uint32_t)begin, (uint32_t)end};
    }
}

static size_t skip_spaces(const struct weft_spm_normalizer *normalizer, const char *text,
                          size_t size, struct weft_budget *budget) {
    size_t skipped = 0;
    uint64_t steps = 0;
    while (skipped < size && weft_budget_take(budget, steps)) {
        steps = 0;
        const struct piece piece = first_piece(normalizer, text + skipped, size - skipped, &steps);
        if (piece.size != 1 || piece.text[0] != ' ') {
            break;
        }
        skipped += piece.consumed;
    }
    return skipped;
}

/* From text[begin] on. */
static weft_status put_text(struct weft_text *out, struct weft_origins *origins,
                            const struct weft_spm_normalizer *normalizer, const char *text,
                            size_t begin, size_t size, size_t limit, struct weft_budget *budget) {
    bool after_space = normalizer->remove_extra_whitespaces;
    for (size_t i = begin; i < size && !out->failed;) {
        uint64_t steps = 0;
        struct piece piece = first_piece(normalizer, text + i, size - i, &steps);
        WEFT_TRY(weft_budget_spend(budget, steps));
        i += piece.consumed;
        while (after_space && piece.size > 0 && piece.text[0] == ' ') {
            piece.text++;
            piece.size--;
        }
        if (piece.size > 0) {
            put_piece(out, normalizer, piece.text, piece.size);
            note_origin(out, origins, i - piece.consumed, i);
            after_space = normalizer->remove_extra_whitespaces && piece.text[piece.size - 1] == ' ';
        }
        if (out->length > limit - WEFT_SPACE_MARK_SIZE) {
            return weft_fail(&out->host, WEFT_INVALID_ARGUMENT,
                             "text: expected at most %zu bytes after normalization, found more",
                             limit);
        }
    }
    return WEFT_OK;
}

weft_status weft_spm_normalize(struct weft_text *out, struct weft_origins *origins,
                               const struct weft_spm_normalizer *normalizer, const char *text,
                               size_t size, size_t limit, struct weft_budget *budget) {
    const size_t begin = out->length;
    const size_t skipped =
        normalizer->remove_extra_whitespaces ? skip_spaces(normalizer, text, size, budget) : 0;
    if (skipped == size) {
        return WEFT_OK;
    }
    if (normalizer->add_dummy_prefix && !normalizer->whitespace_as_suffix) {
        put_space(out, normalizer);
        note_origin(out, origins, skipped, skipped);
    }
    WEFT_TRY(put_text(out, origins, normalizer, text, skipped, size, limit, budget));
    if (normalizer->remove_extra_whitespaces) {
        drop_spaces_at_end(out, begin, normalizer);
        if (origins && origins->count > out->length) {
            origins->count = out->length;
        }
    }
    if (normalizer->add_dummy_prefix && normalizer->whitespace_as_suffix) {
        put_space(out, normalizer);
        note_origin(out, origins, size, size);
    }
    return out->failed ? weft_fail_memory(&out->host, "a normalized text") : WEFT_OK;
}
