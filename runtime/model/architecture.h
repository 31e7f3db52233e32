/* SPDX-License-Identifier: MIT */
/* What a model family provides; one file each in architectures/, one row each in model.c. */
#ifndef WEFT_MODEL_ARCHITECTURE_H
#define WEFT_MODEL_ARCHITECTURE_H

#include <weft/model.h>

#include "model/checkpoint.h"
#include "model/tokenizer.h"

struct weft_family;

struct weft_architecture {
    const char *model_type;           /* of config.json */
    const struct weft_family *family; /* of those that network.h loads; otherwise null */
    /** Reads config and tensors; *state is the family's own. Everything is checked here, nothing later. */
    weft_status (*load)(void **state, const struct weft_architecture *self, const char *folder,
                        const weft_host *host);
    void (*destroy)(void *state, const weft_host *host);
    /** Everything but `tokenizer`. */
    void (*describe)(const void *state, weft_model_info *info);
    /** Null where the config names no label. */
    const char *(*label)(const void *state, uint32_t index);
    weft_status (*make_tokenizer)(weft_tokenizer **tokenizer, const void *state, const char *folder,
                                  const weft_host *host);
    /** Adds the model to a graph. */
    weft_status (*build)(weft_tensor *out, const void *state, weft_graph *graph,
                         const weft_model_inputs *inputs);
};

/**
 * Adds the inputs of a model that has no token types to a graph: "tokens" i32 [B, n], or with an input_size "features" f32
 * [B, n, input_size]; and with a position_size "positions" f32 [B, n, position_size].
 */
weft_status weft_model_add_inputs(weft_model_inputs *inputs, weft_graph *graph, uint32_t batch,
                                  uint32_t length, uint32_t input_size, uint32_t position_size);

extern const struct weft_architecture weft_architecture_fnet;
extern const struct weft_architecture weft_architecture_transformer;

#endif
