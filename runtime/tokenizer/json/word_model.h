/* SPDX-License-Identifier: MIT */
/* The model of a tokenizer.json: how a part of a text becomes tokens. */
#ifndef WEFT_TOKENIZER_WORD_MODEL_H
#define WEFT_TOKENIZER_WORD_MODEL_H

#include "core/formats/json.h"
#include "core/text.h"
#include "tokenizer/encoding.h"
#include "tokenizer/json/merges.h"
#include "tokenizer/vocabulary.h"

enum weft_word_kind { WEFT_WORD_PIECE, WEFT_WORD_PAIRS, WEFT_WORD_UNIGRAM, WEFT_WORD_LEVEL };

/** Immutable once made. */
struct weft_word_model {
    enum weft_word_kind kind;
    struct weft_vocabulary vocabulary; /* its `unknown` is -1 where there is none */
    struct weft_text texts;            /* of its pieces */
    struct weft_merges merges;
    uint32_t most_characters; /* of a word for WEFT_WORD_PIECE; longer ones are unknown */
    struct weft_text prefix;  /* of pieces that go on with a word */
    struct weft_text suffix;  /* of pieces that end one */
    uint32_t prefix_node;     /* in the tree of pieces; UINT32_MAX: no piece has the prefix */
    bool fuse_unknown;
    bool byte_fallback;
    bool ignore_merges;    /* for words that are a piece */
    int32_t byte_ids[256]; /* of <0x00> … <0xFF>, or -1 */
};

/** Begins it. */
void weft_word_model_begin(struct weft_word_model *model, const weft_host *host);
void weft_word_model_clear(struct weft_word_model *model, const weft_host *host);

/**
 * Reads the model of a tokenizer.json. `part` is its object. The caller clears it in any case. WEFT_BAD_FILE and
 * WEFT_UNSUPPORTED, naming the field; WEFT_OUT_OF_HOST_MEMORY; also as weft_budget_take.
 */
weft_status weft_word_model_read(struct weft_word_model *model, const weft_json_part *part,
                                 const char *path, struct weft_budget *budget);

/** Working state of cutting, reused from word to word. Begin it with weft_word_work_begin. */
struct weft_word_work {
    struct weft_symbols symbols;
    struct weft_text text;      /* of a character with prefix and suffix */
    struct weft_budget *budget; /* of the text: each text brings its own */
};

void weft_word_work_begin(struct weft_word_work *work, const weft_host *host);
void weft_word_work_clear(struct weft_word_work *work);

/**
 * Adds the tokens of a word, `size` > 0 bytes of UTF-8, with their bytes in it. As in the package, bytes that stand for a
 * character with its prefix or suffix count one each, and so go past what they stand for, and past the word. WEFT_INVALID_ARGUMENT
 * for a text without a piece where none is the unknown one; as weft_budget_take; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_word_cut(const struct weft_word_model *model, struct weft_word_work *work,
                          const char *word, size_t size, struct weft_token_list *list);

#endif
