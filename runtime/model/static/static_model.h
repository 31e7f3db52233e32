/* SPDX-License-Identifier: MIT */
/*
 * Static embeddings: a table of vectors and a tokenizer.json, where a text's vector is the mean of its tokens' rows. A folder of
 * model2vec, or that of a StaticEmbedding of sentence-transformers. What they become is in network/architectures/model2vec.c.
 */
#ifndef WEFT_MODEL_STATIC_MODEL_H
#define WEFT_MODEL_STATIC_MODEL_H

#include "model/files/checkpoint.h"
#include "model/network/form.h"
#include "tokenizer/tokenizer.h"

/** Zeros are none. Clear it in any case. */
struct weft_static_model {
    char *config; /* the text of a config.json with the network's fields */
    char *tokenizer;
    size_t tokenizer_size;
    struct weft_checkpoint *checkpoint;
    bool normalizes; /* a folder of model2vec says so */
};

/** Whether a folder has a config.json of model2vec. Without one, or where it cannot be read, it has none: whoever reads it says why. */
bool weft_static_model_is_there(const char *folder);

/**
 * Opens a folder by the rules of a package, of which model2vec's are in its config.json.
 * Errors: those of static_table.h and of files; WEFT_UNSUPPORTED naming a field.
 */
weft_status weft_static_model_open(struct weft_static_model *model, const char *folder,
                                   enum weft_bag_rules rules, const weft_host *host);
void weft_static_model_clear(struct weft_static_model *model, const weft_host *host);

/**
 * The tokens of a text by these rules: none is special; with model2vec's a text is first cut at request->maximum times the median of
 * the tokens' lengths in characters, and unknown tokens are left out. A text without tokens has the one behind the
 * others, `rows` - 1, whose row is zeros. Errors: WEFT_INVALID_ARGUMENT for a pair; WEFT_BAD_FILE for a token without a row; those of
 * weft_tokenizer_encode.
 */
weft_status weft_static_encode(struct weft_encoded *encoded, const weft_tokenizer *tokenizer,
                               const struct weft_encode_request *request, enum weft_bag_rules rules,
                               uint32_t rows);

#endif
