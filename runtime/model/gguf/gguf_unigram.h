/* SPDX-License-Identifier: MIT */
/* SentencePiece's unigram models in GGUF files ("t5"): the parts of a tokenizer.json that are their own. */
#ifndef WEFT_MODEL_GGUF_UNIGRAM_H
#define WEFT_MODEL_GGUF_UNIGRAM_H

#include "model/gguf/gguf_tokens.h"

/**
 * Appends "normalizer", by the file's rules, and "pre_tokenizer", each with a comma behind it. Errors: WEFT_BAD_FILE for rules that
 * are no array of bytes, or longer than a tokenizer.json may be; those of reading; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_gguf_put_unigram_steps(struct weft_text *out, const weft_gguf *file);
/** Appends "decoder" and "model"; bytes: unknown characters become tokens of bytes. Errors: WEFT_BAD_FILE, naming tokenizer.ggml.scores, where tokens have none. */
weft_status weft_gguf_put_unigram(struct weft_text *out, const weft_gguf *file,
                                  const struct weft_gguf_tokens *tokens, int64_t unknown,
                                  bool bytes);

#endif
