/* SPDX-License-Identifier: MIT */
/*
 * What makes one vector of a text out of an encoder's last hidden state: the modules of a folder of sentence-transformers, or
 * pooling that was asked for.
 */
#ifndef WEFT_MODEL_EMBEDDING_H
#define WEFT_MODEL_EMBEDDING_H

#include <weft/model.h>

#include "core/host.h"

enum weft_embedding_kind { WEFT_EMBEDDING_POOL, WEFT_EMBEDDING_NORMALIZE, WEFT_EMBEDDING_DENSE };

struct weft_embedding_step {
    enum weft_embedding_kind kind;
    uint32_t pooling;  /* bits of weft_embed_pooling; several give their results side by side */
    bool skips_prompt; /* pooling leaves out the prompt's tokens */
    uint32_t in, out;  /* dense: activation(W x + b) */
    weft_activation activation;
    weft_weight *weight, *bias; /* bias: or null */
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
    uint32_t max_length;  /* in tokens; 0: the model's */
    uint32_t prompt_tokens;
    bool normalize; /* at the end, unless the last step does */
    bool trims;     /* texts are encoded without the white space around them */
};

/**
 * Reads modules.json and the files that it names. Without a modules.json *embedding is null, and that is no error.
 * Errors: WEFT_UNSUPPORTED, naming it, for a module or a pooling that Weft does not have; WEFT_BAD_FILE and those of reading.
 */
weft_status weft_embedding_load(struct weft_embedding **embedding, const char *folder,
                                const weft_host *host);
/** Reads what modules.json says at `path`: its steps and where the encoder is. */
weft_status weft_embedding_read_modules(struct weft_embedding *embedding, const char *folder,
                                        const char *path);
/** A step that applies a map which `folder` holds. */
weft_status weft_embedding_read_dense(struct weft_embedding_step *step, const char *folder,
                                      const weft_host *host);
/** Pooling by `folder`/config.json. */
weft_status weft_embedding_read_pooling(struct weft_embedding_step *step, const char *folder,
                                        const weft_host *host);

/** Sets what was asked for; makes *embedding where it is null. */
weft_status weft_embedding_set(struct weft_embedding **embedding, const weft_embed_params *params,
                               const weft_host *host);
void weft_embedding_describe(const struct weft_embedding *embedding, weft_embed_info *info);
void weft_embedding_destroy(struct weft_embedding **embedding);

/** Values of a text's vector. WEFT_BAD_FILE where a map does not fit what it is applied to. */
weft_status weft_embedding_size(uint32_t *size, const struct weft_embedding *embedding,
                                uint32_t hidden_size);

/** Narrows a text to what is encoded of it. */
void weft_embedding_trim(const struct weft_embedding *embedding, const char **text, size_t *size);

/** The vectors f32 [B, size] of the hidden state x f32 [B, n, d]; lengths i32 [B], or none. */
weft_status weft_embedding_build(weft_tensor *out, const struct weft_embedding *embedding,
                                 weft_graph *graph, weft_tensor x, weft_tensor lengths);

#endif
