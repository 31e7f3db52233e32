/* SPDX-License-Identifier: MIT */
/*
 * Models whose result is a vector for each token of a text, and which compare two texts by all of them (late interaction): Khattab and
 * Zaharia, "ColBERT: Efficient and effective passage search via contextualized late interaction over BERT", SIGIR 2020. As
 * sentence-transformers' MultiVectorEncoder has them, and in the older layouts of PyLate and of ColBERT's authors.
 */
#ifndef WEFT_MODEL_MULTI_VECTOR_H
#define WEFT_MODEL_MULTI_VECTOR_H

#include <weft/model.h>

#include "core/formats/json.h"
#include "tokenizer/tokenizer.h"

/** Short queries are filled up with copies of a token, whose vectors count: section 3.2. */
struct weft_query_expansion {
    bool is_there;
    bool is_least; /* "min": longer queries stay as they are; else all have `length` tokens */
    bool attends;  /* others read the copies */
    bool in_front; /* of the query's own tokens */
    uint32_t length;
    char *token; /* or null: the tokenizer's mask, or what ends its texts */
    int32_t id;
};

/** Texts of a list. */
struct weft_word_list {
    char **at;
    uint32_t count;
};

/** Tokens in ascending order. */
struct weft_token_set {
    int32_t *at;
    uint32_t count;
};

/** Zeroed: it is not there. */
struct weft_multi_vector {
    bool is_there;
    bool is_older; /* a layout in which the mask and the normalization follow without being named */
    bool masks;    /* there is a MultiVectorMask: copies count, and some tokens do not */
    bool skips_queries, skips_documents; /* tokens of `skipped` do not count in these */
    bool side_is_said;                   /* of expansion.in_front */
    bool is_mean;         /* scores are divided by the number of the query's vectors */
    weft_embed_task task; /* of the texts that come */
    uint32_t query_length, document_length; /* tokens to which texts are cut; 0: the model's */
    struct weft_query_expansion expansion;
    struct weft_word_list words; /* that are skipped: of documents as a rule punctuation */
    struct weft_token_set skipped;
    struct weft_token_set kept; /* of what is no query only these count; none: all do */
    char *prefixes
        [2]; /* tokens that stand in front of queries and documents of older layouts, or null */
};

void weft_multi_vector_clear(struct weft_multi_vector *multi, const weft_host *host);

/* ---- what files say ---- */

/** Whether fields that only PyLate writes into config_sentence_transformers.json are there. */
bool weft_multi_vector_is_pylate(const weft_json_fields *fields);

/** The same file: lengths, expansion, prefixes and words of PyLate, and how vectors are compared. */
weft_status weft_multi_vector_read_usage(struct weft_multi_vector *multi,
                                         const weft_json_fields *fields);

/** sentence_bert_config.json, which counts more. */
weft_status weft_multi_vector_read_encoder(struct weft_multi_vector *multi,
                                           const weft_json_fields *fields);

/** config.json of a MultiVectorMask. */
weft_status weft_multi_vector_read_mask(struct weft_multi_vector *multi,
                                        const weft_json_fields *fields);

/** artifact.metadata of a folder of ColBERT's authors; *size is that of a vector, or 0: it does not say. */
weft_status weft_multi_vector_read_artifact(struct weft_multi_vector *multi, uint32_t *size,
                                            const weft_json_fields *fields);

/** What is skipped where an older layout does not say: ASCII's punctuation. */
weft_status weft_multi_vector_finish(struct weft_multi_vector *multi, const weft_host *host);

/** Which of the tokenizer's tokens the folder's texts are, with what is in the encoder's `folder` of tokenizer_config.json. */
weft_status weft_multi_vector_resolve(struct weft_multi_vector *multi, weft_tokenizer *tokenizer,
                                      const char *folder, const weft_host *host);

/* ---- what becomes of texts ---- */

/** Tokens to which texts of the task are cut; `own`: those of a text without a task. */
uint32_t weft_multi_vector_most(const struct weft_multi_vector *multi, uint32_t own);

/** Tokens of a sequence that has `count` of its own, with copies. */
uint32_t weft_multi_vector_length(const struct weft_multi_vector *multi, uint32_t count);

/** Writes the sequence: `count` tokens, and copies up to `length`. */
void weft_multi_vector_expand(int32_t *out, uint32_t length, const struct weft_multi_vector *multi,
                              const int32_t *tokens, uint32_t count);

/** Moves the vectors that count to the front, of a sequence that has `count` tokens of its own among `length`; returns how many. */
uint32_t weft_multi_vector_keep(float *vectors, uint32_t width,
                                const struct weft_multi_vector *multi, const int32_t *tokens,
                                uint32_t length, uint32_t count);

#endif
