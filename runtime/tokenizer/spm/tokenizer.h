/* SPDX-License-Identifier: MIT */
/* Hugging Face's FNetTokenizer around SentencePiece; see tokenizer.h. */
#ifndef WEFT_TOKENIZER_SPM_TOKENIZER_H
#define WEFT_TOKENIZER_SPM_TOKENIZER_H

#include "core/hash.h"
#include "tokenizer/encoding.h"

/** Immutable once made. */
struct weft_spm_tokenizer;

/** As weft_tokenizer_open_sentencepiece, which has the errors, or `plain` as weft_tokenizer_open_pieces; and the file's SHA-256. */
weft_status weft_spm_tokenizer_open(struct weft_spm_tokenizer **tokenizer, weft_digest *digest,
                                    const char *path, uint32_t vocabulary, bool plain,
                                    const weft_host *host);
void weft_spm_tokenizer_destroy(struct weft_spm_tokenizer *tokenizer);

/** Tokens that it puts around texts: [CLS] and [SEP], or none with `plain`. */
const struct weft_templates *weft_spm_tokenizer_templates(
    const struct weft_spm_tokenizer *tokenizer);

/** Adds the tokens of a text, their bytes only where they are asked for. Errors as weft_tokenizer_encode. */
weft_status weft_spm_tokenizer_encode(const struct weft_spm_tokenizer *tokenizer,
                                      struct weft_token_list *list, const char *text, size_t size,
                                      bool with_offsets);

/** As weft_json_tokenizer_piece. */
const char *weft_spm_tokenizer_piece(const struct weft_spm_tokenizer *tokenizer, int32_t id,
                                     size_t *size);

/** As weft_tokenizer_decode. */
weft_status weft_spm_tokenizer_decode(const struct weft_spm_tokenizer *tokenizer,
                                      const int32_t *ids, uint32_t count, char **text,
                                      size_t *size);

#endif
