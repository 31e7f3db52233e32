/* SPDX-License-Identifier: MIT */
/*
 * The pieces that a text is cut into, and the ways to cut it. Nothing here knows from which format of file they come. A
 * vocabulary is immutable once made, and may be used in several threads at the same time.
 */
#ifndef WEFT_TOKENIZER_VOCABULARY_H
#define WEFT_TOKENIZER_VOCABULARY_H

#include "tokenizer/budget.h"
#include "tokenizer/piece_trie.h"

/** Largest piece, in bytes. */
#define WEFT_MAX_PIECE 4096u

/** The numbers are those of SentencePiece's files. */
enum weft_piece_type {
    WEFT_PIECE_NONE = 0, /* a number that no piece has, where these need not be dense */
    WEFT_PIECE_NORMAL = 1,
    WEFT_PIECE_UNKNOWN = 2,      /* stands for what has no piece; there is exactly one */
    WEFT_PIECE_CONTROL = 3,      /* is never found in a text, and has none */
    WEFT_PIECE_USER_DEFINED = 4, /* stays whole wherever it is in a text */
    WEFT_PIECE_UNUSED = 5,       /* an intermediate step of merges that is cut again */
    WEFT_PIECE_BYTE = 6          /* "<0x00>" … "<0xFF>": a byte of what has no piece */
};

struct weft_piece {
    const char *text; /* borrowed, UTF-8 without a zero byte */
    size_t size;
    double score; /* finite; SentencePiece's are f32 */
    enum weft_piece_type type;
};

struct weft_vocabulary {
    struct weft_piece *pieces; /* by id, in host memory */
    uint32_t count;
    /**
     * As tokenizer.json has it: any piece may be the unknown one, which the caller has chosen, or none (-1); numbers may have no
     * piece; and scores are added up in f64.
     */
    bool is_loose;
    int32_t unknown;
    double least; /* of the scores of normal pieces, or FLT_MAX */
    double most;  /* likewise, and no less than FLT_MIN */
    bool has_unused;
    uint8_t before_mark[256]; /* by byte: whether a piece has it before a U+2581 */
    uint8_t after_mark[256];
    struct weft_piece_trie all;
    struct weft_piece_trie user_defined;
};

/**
 * Checks the pieces, which the caller has filled in together with `count`, and makes the rest. Owns `pieces` from then on,
 * but not their texts. WEFT_BAD_FILE, logged with `path` and the number of the piece, for a text that is empty, too long,
 * no UTF-8 or there twice, a score that is not finite, a type that is none, and unless one piece is the unknown one (but see
 * is_loose);
 * WEFT_OUT_OF_HOST_MEMORY. The caller clears it in any case.
 */
weft_status weft_vocabulary_finish(struct weft_vocabulary *vocabulary, const char *path,
                                   const weft_host *host);
void weft_vocabulary_clear(struct weft_vocabulary *vocabulary, const weft_host *host);

/** The id of the piece that is exactly these bytes, of whatever type, or -1. */
int32_t weft_vocabulary_find(const struct weft_vocabulary *vocabulary, const char *text,
                             size_t size);

/** Finds a piece among those that can occur in a text: normal, user-defined and unused ones. */
int32_t weft_vocabulary_match(const struct weft_vocabulary *vocabulary, const char *text,
                              size_t size);

/** True if a piece of that type can be found in a text. */
static inline bool weft_piece_in_text(enum weft_piece_type type) {
    return type == WEFT_PIECE_NORMAL || type == WEFT_PIECE_USER_DEFINED ||
           type == WEFT_PIECE_UNUSED;
}

/* ---- cutting ---- */

/** Takes the next `size` bytes of a text, which are the piece `id`; false stops the cutting, which is then WEFT_OK. */
typedef bool (*weft_take_piece)(void *user, size_t size, int32_t id);

/** Largest text that can be cut, in bytes. */
#define WEFT_MAX_CUT ((size_t)1 << 29)

/**
 * How many bytes of `size` > 0 are cut as if nothing came behind them: up to the first place before or behind a U+2581 that
 * no piece crosses, or all. With the usual models that is a word.
 */
size_t weft_vocabulary_stretch(const struct weft_vocabulary *vocabulary, const char *text,
                               size_t size);

/**
 * Cuts `size` ≤ WEFT_MAX_CUT bytes of UTF-8 into pieces and hands them over in order. A character that no piece has is the
 * unknown piece. `budget`, which may be null, is that of the text. As weft_budget_take; WEFT_OUT_OF_HOST_MEMORY.
 *
 * By the unigram language model: the pieces whose scores have the greatest sum (Kudo, "Subword Regularization", 2018,
 * section 3.2), in time proportional to the text and to the longest piece in it.
 */
weft_status weft_cut_unigram(const struct weft_vocabulary *vocabulary, const char *text,
                             size_t size, weft_take_piece take, void *user, const weft_host *host,
                             struct weft_budget *budget);
/**
 * By byte-pair encoding: beginning with characters and user-defined pieces, the two neighbours whose union has the highest
 * score are merged, the left-most first, until no union is a piece; unused pieces are cut again as they were merged last.
 * n log n time.
 */
weft_status weft_cut_pairs(const struct weft_vocabulary *vocabulary, const char *text, size_t size,
                           weft_take_piece take, void *user, const weft_host *host,
                           struct weft_budget *budget);
/** Into words, each of which begins with U+2581. */
weft_status weft_cut_words(const struct weft_vocabulary *vocabulary, const char *text, size_t size,
                           weft_take_piece take, void *user, const weft_host *host,
                           struct weft_budget *budget);
/** Into characters and user-defined pieces. */
weft_status weft_cut_characters(const struct weft_vocabulary *vocabulary, const char *text,
                                size_t size, weft_take_piece take, void *user,
                                const weft_host *host, struct weft_budget *budget);

#endif
