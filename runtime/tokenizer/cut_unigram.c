/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/try.h"
#include "tokenizer/unicode/text_class.h"
#include "tokenizer/vocabulary.h"

/* How much less likely an unknown character is than the least likely piece, as in SentencePiece. */
#define UNKNOWN_PENALTY 10.0f
/* Penalty on a user-defined piece in SentencePiece, whose score is otherwise its length times the highest one. */
#define USER_DEFINED_PENALTY 0.1

/* The last piece of the best way to cut the text up to here; while they are handed over: the piece that begins here. */
struct step {
    double score;    /* of the whole way */
    uint32_t length; /* of the piece; 0: no way leads here */
    int32_t id;
};

/* SentencePiece keeps sums in f32 and compares in f64, the package tokenizers has f64 alone: as theirs, ties fall alike. */
static void offer(struct step *end, bool wide, double score, size_t length, int32_t id) {
    if (end->length == 0 || score > end->score) {
        *end = (struct step){wide ? score : (double)(float)score, (uint32_t)length, id};
    }
}

static double score_of(const struct weft_vocabulary *vocabulary, const struct weft_piece *piece) {
    return piece->type == WEFT_PIECE_USER_DEFINED
               ? (double)((float)piece->size * (float)vocabulary->most) - USER_DEFINED_PENALTY
               : piece->score;
}

/* Offers all pieces that begin at `begin`, whose first character has `character` bytes; how many steps that takes. */
static size_t extend(struct step *steps, const struct weft_vocabulary *vocabulary, const char *text,
                     size_t begin, size_t size, size_t character) {
    const double until = steps[begin].score;
    const bool wide = vocabulary->is_loose;
    uint32_t node = 0;
    bool known = false;
    size_t end = begin;
    while (end < size) {
        if (!weft_piece_trie_step(&vocabulary->all, &node, (uint8_t)text[end++])) {
            break;
        }
        const int32_t id = vocabulary->all.nodes[node].id;
        const struct weft_piece *piece = id >= 0 ? &vocabulary->pieces[id] : NULL;
        if (piece && (piece->type == WEFT_PIECE_NORMAL || piece->type == WEFT_PIECE_USER_DEFINED)) {
            offer(&steps[end], wide, score_of(vocabulary, piece) + until, end - begin, id);
            known = known || end - begin == character;
        }
    }
    if (!known) {
        const double unknown =
            wide ? vocabulary->least - (double)UNKNOWN_PENALTY + until
                 : (double)((float)vocabulary->least - UNKNOWN_PENALTY + (float)until);
        offer(&steps[begin + character], wide, unknown, character, vocabulary->unknown);
    }
    return end - begin;
}

/* Follows the best way back from the end, turning it round. */
static void turn_round(struct step *steps, size_t size) {
    struct step piece = steps[size];
    for (size_t end = size; end > 0;) {
        const size_t begin = end - piece.length;
        const struct step before = steps[begin];
        steps[begin] = piece;
        piece = before;
        end = begin;
    }
}

/* Finds the best way through a stretch of the text, from where the best way to it has a score. */
static weft_status walk_stretch(struct step *steps, const struct weft_vocabulary *vocabulary,
                                const char *text, size_t size, double *score,
                                struct weft_budget *budget) {
    memset(steps, 0, (size + 1) * sizeof *steps);
    steps[0].score = *score;
    for (size_t i = 0; i < size;) {
        const size_t character = weft_utf8_size(text + i, size - i);
        WEFT_TRY(weft_budget_spend(budget, extend(steps, vocabulary, text, i, size, character)));
        i += character;
    }
    *score = steps[size].score;
    turn_round(steps, size);
    return WEFT_OK;
}

/* False when the taker has enough. */
static bool hand_over(const struct step *steps, size_t size, weft_take_piece take, void *user) {
    for (size_t i = 0; i < size; i += steps[i].length) {
        if (!take(user, steps[i].length, steps[i].id)) {
            return false;
        }
    }
    return true;
}

weft_status weft_cut_unigram(const struct weft_vocabulary *vocabulary, const char *text,
                             size_t size, weft_take_piece take, void *user, const weft_host *host,
                             struct weft_budget *budget) {
    struct step *steps = NULL;
    size_t room = 0;
    double score = 0;
    bool more = true;
    weft_status status = WEFT_OK;
    for (size_t i = 0; more && i < size;) {
        const size_t stretch = weft_vocabulary_stretch(vocabulary, text + i, size - i);
        if (stretch >= room) {
            weft_free(host, steps);
            room = 2 * stretch + 64;
            steps = weft_alloc_zero(host, room, sizeof *steps);
        }
        if (!steps) {
            return weft_fail_memory(host, "the pieces of a text");
        }
        status = walk_stretch(steps, vocabulary, text + i, stretch, &score, budget);
        more = status == WEFT_OK && hand_over(steps, stretch, take, user);
        i += stretch;
    }
    weft_free(host, steps);
    return status;
}
