/* SPDX-License-Identifier: MIT */
/*
 * Modules that make one vector of a text from an encoder's last hidden state: those of a folder of
 * sentence-transformers, or a requested pooling.
 */
#ifndef WEFT_MODEL_EMBEDDING_H
#define WEFT_MODEL_EMBEDDING_H

#include <weft/model.h>

#include "core/host.h"
#include "model/embedding/multi_vector.h"
#include "model/network/architecture.h"

enum weft_embedding_kind {
    WEFT_EMBEDDING_POOL,
    WEFT_EMBEDDING_HEAD, /* in the place of pooling: the network makes the vector, of `out` values */
    WEFT_EMBEDDING_TOKENS, /* in the place of pooling: the vectors of tokens as they are */
    WEFT_EMBEDDING_SPLADE, /* in the place of pooling: of a masked language model's logits, sparse */
    WEFT_EMBEDDING_NORMALIZE,
    WEFT_EMBEDDING_DENSE,
    WEFT_EMBEDDING_LAYER_NORM /* by the weights of `weight` and `bias` */
};

#define WEFT_EMBEDDING_MOST_POOLINGS 6

/** The map of vectors in a folder of ColBERT's authors. */
#define WEFT_ARTIFACT_MAP "linear.weight"

struct weft_embedding_step {
    enum weft_embedding_kind kind;
    /* Pooling: the results of all these, side by side in this order. */
    enum weft_embed_pooling poolings[WEFT_EMBEDDING_MOST_POOLINGS];
    uint32_t pooling_count;
    bool skips_prompt;    /* pooling leaves out the prompt's tokens */
    bool sums, log_twice; /* SPLADE: the sum over tokens, not the largest; log1p_relu */
    uint32_t in,
        out; /* a norm's are equal; dense: activation(W x + b), and where it adds its input, + x or + R x */
    weft_activation activation;
    bool has_bias, adds_input;
    weft_weight *weight, *bias, *residual; /* bias, and R: or null */
};

struct weft_prompt {
    char *name, *text;
};

struct weft_embedding {
    weft_host host;
    struct weft_embedding_step *steps; /* pooling, then others */
    uint32_t step_count;
    struct weft_prompt *prompts;
    uint32_t prompt_count;
    char *default_prompt; /* the name of one of them, or null */
    char *similarity;     /* or null */
    char *encoder;        /* the folder of config.json, or null: not read from one */
    bool
        has_artifact; /* the folder is of ColBERT's authors: WEFT_ARTIFACT_MAP is among its weights */
    bool is_static;   /* it is that of a StaticEmbedding, without a config.json */
    bool predicts;    /* it is a masked language model with its head */
    bool is_sparse;   /* the folder is a SparseEncoder's, and must have a SpladePooling */
    uint32_t max_length;   /* in tokens; 0: the model's */
    uint32_t truncate_dim; /* of the folder: a vector's first values are its result; 0: all */
    uint32_t dimension;    /* the same as asked for; 0: the folder's */
    uint32_t
        max_active_dims; /* of the folder: how many of a sparse vector's largest values are its result; 0: all */
    uint32_t max_terms; /* the same as asked for; 0: the folder's */
    uint32_t prompt_tokens;
    struct weft_multi_vector multi;
    bool normalize; /* at the end, unless the last step does */
    /* A CrossEncoder's: the encoder has a head whose only label is a pair's score, and nothing comes after it. */
    bool scores_pairs;
    bool has_activation, raw_scores; /* what activation_fn makes of it: itself, or its sigmoid */
    struct weft_logit_score
        score; /* LogitScore: the encoder is a language model without a classifier */
};

/**
 * Reads modules.json and the files that it names. Without a modules.json *embedding is null, and that is no error.
 * Errors: WEFT_UNSUPPORTED, naming it, for a module or a pooling that Weft does not have; WEFT_BAD_FILE and those of reading.
 */
weft_status weft_embedding_load(struct weft_embedding **embedding, const char *folder,
                                const weft_host *host);
/** Reads a folder of ColBERT's authors, which has an artifact.metadata at `path`, and the map of its vectors among the encoder's weights. */
weft_status weft_embedding_read_artifact(struct weft_embedding *embedding, const char *folder,
                                         const char *path);
/** Reads what modules.json says at `path`: its steps and where the encoder is. */
weft_status weft_embedding_read_modules(struct weft_embedding *embedding, const char *folder,
                                        const char *path);
/** That of a network whose head makes vectors of so many values. */
weft_status weft_embedding_of_head(struct weft_embedding **embedding, uint32_t size,
                                   const weft_host *host);
bool weft_embedding_is_of_head(const struct weft_embedding *embedding);
/** SPLADE: its encoder is a masked language model with its head. */
bool weft_embedding_is_sparse(const struct weft_embedding *embedding);
/** A text has a vector for each token that counts. */
bool weft_embedding_is_multi(const struct weft_embedding *embedding);
/** Sets what was asked for; makes *embedding where it is null. */
weft_status weft_embedding_set(struct weft_embedding **embedding, const weft_embed_params *params,
                               const weft_host *host);
/** A vector's first values that are its result; 0: all. */
uint32_t weft_embedding_most_values(const struct weft_embedding *embedding);
/** Vectors are of length 1 without being asked for it: nothing comes after their normalization. */
bool weft_embedding_ends_normalized(const struct weft_embedding *embedding);
/** Pooling by bits of weft_embed_pooling, in their order. */
void weft_embedding_set_poolings(struct weft_embedding_step *step, uint32_t bits);
void weft_embedding_describe(const struct weft_embedding *embedding, weft_embed_info *info);
void weft_embedding_destroy(struct weft_embedding **embedding);

/**
 * Values of a text's vector; `width`: of a token's, which a sparse one has for the vocabulary. WEFT_BAD_FILE where a map does not fit
 * what it is applied to.
 */
weft_status weft_embedding_size(uint32_t *size, const struct weft_embedding *embedding,
                                uint32_t width);

/**
 * The vectors f32 [B, size] of the hidden state x f32 [B, n, d], of logits where they are sparse, or of a head's f32 [B, d]; or f32 [B, n, size]
 * of a vector for each token; lengths i32 [B], or none.
 */
weft_status weft_embedding_build(weft_tensor *out, const struct weft_embedding *embedding,
                                 weft_graph *graph, weft_tensor x, weft_tensor lengths);

#endif
