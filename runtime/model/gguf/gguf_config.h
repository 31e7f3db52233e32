/* SPDX-License-Identifier: MIT */
/* The config.json that a GGUF file stands for. */
#ifndef WEFT_MODEL_GGUF_CONFIG_H
#define WEFT_MODEL_GGUF_CONFIG_H

#include "model/gguf/gguf_family.h"

/**
 * Writes it as text in host memory, to be freed; `pooling` is a bit of weft_embed_pooling where the file says how vectors of texts are
 * made, else 0. Errors, naming the key: WEFT_UNSUPPORTED for one that changes the result, and that Weft does not have; WEFT_BAD_FILE.
 */
weft_status weft_gguf_config(char **text, uint32_t *pooling, const weft_gguf *file,
                             const struct weft_gguf_family *family);

#endif
