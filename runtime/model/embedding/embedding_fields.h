/* SPDX-License-Identifier: MIT */
/*
 * Fields of the files that sentence-transformers writes (2.0 to 6.2): each is read, says nothing about vectors, or is held to
 * what Weft does (core/formats/known_fields.h).
 */
#ifndef WEFT_MODEL_EMBEDDING_FIELDS_H
#define WEFT_MODEL_EMBEDDING_FIELDS_H

#include "core/formats/known_fields.h"

/** An entry of modules.json; config.json of its kinds; of a Normalize, which may have none, too. */
extern const weft_known_table weft_module_fields, weft_pooling_fields, weft_dense_fields,
    weft_module_norm_fields, weft_normalize_fields, weft_splade_fields, weft_logit_score_fields;

/** config.json of a MultiVectorMask, and of a Normalize in its company; what query_expansion has; artifact.metadata of ColBERT. */
extern const weft_known_table weft_mask_fields, weft_token_normalize_fields, weft_expansion_fields,
    weft_artifact_fields;

/** What messages say of modules and models that Weft does not have, such as routers. */
#define WEFT_EMBEDDING_WAY_OUT "; any other runs as a program, by weft.from_torch(module, inputs)"

/** config_sentence_transformers.json, of models of texts, sparse ones, models of pairs and of a vector for each token, also PyLate's. */
extern const weft_known_table weft_text_usage_fields, weft_sparse_usage_fields,
    weft_pair_usage_fields, weft_multi_usage_fields, weft_pylate_usage_fields;

/** What becomes of an encoder's output. */
enum weft_encoder_use {
    WEFT_ENCODER_OF_TEXTS,  /**< pooling of its last hidden state */
    WEFT_ENCODER_OF_TOKENS, /**< each vector of it */
    WEFT_ENCODER_OF_PAIRS,  /**< the classifier of a CrossEncoder */
    WEFT_ENCODER_OF_WORDS,  /**< SPLADE's pooling of a masked language model's logits */
    WEFT_ENCODER_OF_SCORES  /**< a CrossEncoder's score by a language model's logits */
};

/** sentence_bert_config.json with what is nested in it. Errors as weft_known_check; WEFT_BAD_FILE. */
weft_status weft_embedding_check_encoder(const weft_json_fields *fields, enum weft_encoder_use use);

#endif
