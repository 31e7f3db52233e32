/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tokenizer/ration.h"
#include "tokenizer/spm/model.h"
#include "tokenizer/unicode/text_class.h"

/* Each U+2581 becomes a space. */
static void put_spaced(struct weft_text *text, const char *piece, size_t size) {
    size_t begin = 0;
    for (size_t i = 0; i < size;) {
        if (weft_begins_with_mark(piece + i, size - i)) {
            weft_text_put(text, piece + begin, i - begin);
            weft_text_put(text, " ", 1);
            i += WEFT_SPACE_MARK_SIZE;
            begin = i;
        } else {
            i++;
        }
    }
    weft_text_put(text, piece + begin, size - begin);
}

/* Byte pieces from ids[0] on: their characters, and U+FFFD for each byte that is part of none. Gives how many. */
static size_t put_bytes(struct weft_text *text, const struct weft_spm_model *model,
                        const int32_t *ids, size_t count) {
    char bytes[4];
    size_t size = 0;
    while (size < count && size < sizeof bytes &&
           model->vocabulary.pieces[ids[size]].type == WEFT_PIECE_BYTE) {
        const char *hex = model->vocabulary.pieces[ids[size]].text + 3; /* of "<0x41>" */
        const unsigned high = (unsigned)(hex[0] <= '9' ? hex[0] - '0' : hex[0] - 'A' + 10);
        const unsigned low = (unsigned)(hex[1] <= '9' ? hex[1] - '0' : hex[1] - 'A' + 10);
        bytes[size++] = (char)(16 * high + low);
    }
    uint32_t character;
    const size_t length = weft_utf8_decode(bytes, size, &character);
    if (length == 1 && character > 0x7F) {
        weft_text_put(text, "\xEF\xBF\xBD", 3);
    } else {
        weft_text_put(text, bytes, length);
    }
    return length;
}

/*
 * The first space is the one that encoding has put there; where it also removes spaces, all of them go that come before
 * anything else.
 */
struct start {
    bool open; /* a space would be dropped */
    bool dropped;
};

static void put_piece(struct weft_text *text, const struct weft_spm_model *model, int32_t id,
                      struct start *start) {
    const struct weft_piece *piece = &model->vocabulary.pieces[id];
    const struct weft_spm_normalizer *normalizer = &model->normalizer;
    start->open = start->open && !start->dropped && text->length == 0;
    start->dropped = false;
    if (piece->type == WEFT_PIECE_CONTROL) {
        return;
    }
    if (piece->type == WEFT_PIECE_UNKNOWN) {
        weft_text_put(text, model->unknown_surface, model->unknown_surface_size);
        return;
    }
    const bool drops = normalizer->add_dummy_prefix || normalizer->remove_extra_whitespaces;
    size_t skipped = 0;
    if (start->open && drops && weft_begins_with_mark(piece->text, piece->size)) {
        skipped = WEFT_SPACE_MARK_SIZE;
        start->dropped = !normalizer->remove_extra_whitespaces;
    }
    put_spaced(text, piece->text + skipped, piece->size - skipped);
}

/* False when the text grows beyond the limit. */
static bool put_pieces(struct weft_text *text, const struct weft_spm_model *model,
                       const int32_t *ids, size_t count, size_t limit) {
    struct start start = {.open = true};
    for (size_t i = 0; i < count && !text->failed && text->length <= limit;) {
        if (model->vocabulary.pieces[ids[i]].type == WEFT_PIECE_BYTE) {
            i += put_bytes(text, model, ids + i, count - i);
        } else {
            put_piece(text, model, ids[i++], &start);
        }
    }
    return text->length <= limit;
}

weft_status weft_spm_decode(const struct weft_spm_model *model, const int32_t *ids, size_t count,
                            struct weft_text *text) {
    const size_t limit = (size_t)WEFT_RATION_LEAST + count * WEFT_DECODE_RATION;
    if (!put_pieces(text, model, ids, count, limit)) {
        return weft_fail(
            &model->host, WEFT_INVALID_ARGUMENT,
            "the text of tokens: expected at most %zu bytes for %zu tokens, found more", limit,
            count);
    }
    if (text->failed) {
        return weft_fail_memory(&model->host, "a text");
    }
    if (model->denormalizer.rules.count == 0) {
        return WEFT_OK;
    }
    struct weft_text result = {.host = model->host};
    struct weft_budget budget;
    weft_budget_begin(&budget, WEFT_DECODE_STEPS(count), NULL, &model->host);
    const weft_status status =
        weft_spm_normalize(&result, NULL, &model->denormalizer, text->data ? text->data : "",
                           text->length, limit, &budget);
    weft_free(&model->host, text->data);
    *text = result;
    return status;
}
