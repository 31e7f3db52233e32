/* SPDX-License-Identifier: MIT */
/* The tokenizer.json that a GGUF file stands for. */
#ifndef WEFT_MODEL_GGUF_TOKENIZER_H
#define WEFT_MODEL_GGUF_TOKENIZER_H

#include "model/gguf/gguf.h"

/**
 * Writes it, *size bytes in host memory, to be freed; null where the file has no tokens. `vocabulary`: rows of the model's
 * table. Errors, naming the key: WEFT_UNSUPPORTED for a kind of tokenizer, a pre-tokenizer or another key that Weft does not have; WEFT_BAD_FILE.
 */
weft_status weft_gguf_tokenizer(char **json, size_t *size, const weft_gguf *file,
                                uint32_t vocabulary);

#endif
