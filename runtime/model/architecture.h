/* SPDX-License-Identifier: MIT */
/* What a model family provides; one file each in architectures/, one row each in model.c. */
#ifndef WEFT_MODEL_ARCHITECTURE_H
#define WEFT_MODEL_ARCHITECTURE_H

#include <weft/model.h>

#include "model/checkpoint.h"
#include "model/tokenizer.h"

struct weft_architecture {
    const char *model_type; /* of config.json */
    /** Reads config and tensors; *state is the family's own. Everything is checked here, nothing later. */
    weft_status (*load)(void **state, const char *folder, const weft_host *host);
    void (*destroy)(void *state, const weft_host *host);
    /** Everything but `tokenizer`. */
    void (*describe)(const void *state, weft_model_info *info);
    /** Null where the config names no label. */
    const char *(*label)(const void *state, uint32_t index);
    weft_status (*make_tokenizer)(weft_tokenizer **tokenizer, const void *state, const char *folder,
                                  const weft_host *host);
    /** Adds the model to a graph. */
    weft_status (*build)(weft_tensor *out, const void *state, weft_graph *graph, weft_tensor tokens,
                         weft_tensor types);
};

extern const struct weft_architecture weft_architecture_fnet;

#endif
