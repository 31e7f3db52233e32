/* SPDX-License-Identifier: MIT */
/* A model in one GGUF file: what a folder has in several. */
#ifndef WEFT_MODEL_GGUF_MODEL_H
#define WEFT_MODEL_GGUF_MODEL_H

#include "model/files/checkpoint.h"

/** Zeros are none. Clear it in any case. */
struct weft_gguf_model {
    char *config;    /* the text of its config.json */
    char *tokenizer; /* the text of its tokenizer.json, or null: it has none */
    size_t tokenizer_size;
    uint32_t pooling; /* a bit of weft_embed_pooling, or 0 */
    struct weft_checkpoint *checkpoint;
};

/**
 * The GGUF file that a path means, to be freed: a file of that kind, or the only one whose name ends in .gguf of a folder that has no
 * config.json. Null: it means something else. Errors: WEFT_UNSUPPORTED where a folder has several; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_gguf_model_find(char **file, const char *path, const weft_host *host);

/** Opens it. Logs how much memory its weights take. Errors: those of the files in this folder. */
weft_status weft_gguf_model_open(struct weft_gguf_model *model, const char *path,
                                 const weft_host *host);
void weft_gguf_model_clear(struct weft_gguf_model *model, const weft_host *host);

#endif
