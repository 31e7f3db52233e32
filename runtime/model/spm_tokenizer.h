/* SPDX-License-Identifier: MIT */
/* What Hugging Face's FNetTokenizer does around SentencePiece; see tokenizer.h. */
#ifndef WEFT_MODEL_SPM_TOKENIZER_H
#define WEFT_MODEL_SPM_TOKENIZER_H

#include "core/host.h"

/** Immutable once made. */
struct weft_spm_tokenizer;

/** As weft_tokenizer_open_sentencepiece, which has the errors, or `plain` as weft_tokenizer_open_pieces. */
weft_status weft_spm_tokenizer_open(struct weft_spm_tokenizer **tokenizer, const char *path,
                                    uint32_t vocabulary, bool plain, const weft_host *host);
void weft_spm_tokenizer_destroy(struct weft_spm_tokenizer *tokenizer);

/** As weft_tokenizer_encode, which has checked its arguments. */
weft_status weft_spm_tokenizer_encode(const struct weft_spm_tokenizer *tokenizer, const char *text,
                                      size_t size, bool add_special, uint32_t maximum,
                                      int32_t **ids, uint32_t *count);

/** As weft_tokenizer_decode. */
weft_status weft_spm_tokenizer_decode(const struct weft_spm_tokenizer *tokenizer,
                                      const int32_t *ids, uint32_t count, char **text,
                                      size_t *size);

#endif
