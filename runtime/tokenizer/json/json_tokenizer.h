/* SPDX-License-Identifier: MIT */
/*
 * A tokenizer.json, the file of Hugging Face's package tokenizers: added tokens, a normalizer, a pre-tokenizer, a model, a
 * post-processor and a decoder, each a file here. Gives the tokens and offsets of that package (0.23).
 */
#ifndef WEFT_TOKENIZER_JSON_TOKENIZER_H
#define WEFT_TOKENIZER_JSON_TOKENIZER_H

#include "core/text.h"
#include "tokenizer/encoding.h"

/** Largest file, in bytes. */
#define WEFT_TOKENIZER_JSON_MAX_BYTES ((size_t)64 << 20)

/** Immutable once made, but for what it keeps of the words that it has seen: several threads may use it. */
struct weft_json_tokenizer;

/**
 * Reads a tokenizer.json out of `size` bytes; `path` names it in errors. What Weft does not have is refused by the name of its
 * field: WEFT_UNSUPPORTED. WEFT_BAD_FILE, WEFT_OUT_OF_HOST_MEMORY. host may be null.
 */
weft_status weft_json_tokenizer_create(struct weft_json_tokenizer **tokenizer, const char *bytes,
                                       size_t size, const char *path, const weft_host *host);
void weft_json_tokenizer_destroy(struct weft_json_tokenizer *tokenizer);

/** Cuts from the left, as tokenizer_config.json's truncation_side may say. */
void weft_json_tokenizer_truncate_left(struct weft_json_tokenizer *tokenizer, bool left);

/** Rules for BERT's normalizer in tokenizer_config.json. */
struct weft_bert_rules {
    bool lowercase, strip_accents, chinese;
};

/** Normalizes by these, as transformers does, whatever tokenizer.json says; nothing where its normalizer is not BERT's. */
void weft_json_tokenizer_set_bert(struct weft_json_tokenizer *tokenizer,
                                  const struct weft_bert_rules *rules);

/** Cuts from the right, the longer text first, whatever the file says. */
void weft_json_tokenizer_truncate_plainly(struct weft_json_tokenizer *tokenizer);

/** What a model without a network needs to know of its tokens. */
struct weft_token_facts {
    int32_t unknown;            /* the token that stands for what has none, or -1 */
    uint32_t median_characters; /* of the tokens' texts, as NumPy's median, without its fraction */
    uint32_t most;              /* tokens of a text that the file itself says; 0: it says none */
};

struct weft_token_facts weft_json_tokenizer_facts(const struct weft_json_tokenizer *tokenizer);

/** The token whose text this is, an added or one of the model's vocabulary; or -1. */
int32_t weft_json_tokenizer_find(const struct weft_json_tokenizer *tokenizer, const char *text,
                                 size_t size);

/** As weft_tokenizer_make_special. */
weft_status weft_json_tokenizer_make_special(struct weft_json_tokenizer *tokenizer,
                                             const char *text, size_t size);

/** Tokens that it puts around texts. */
const struct weft_templates *weft_json_tokenizer_templates(
    const struct weft_json_tokenizer *tokenizer);

/** Adds the tokens of a text of at most WEFT_MAX_CHARS bytes. Errors as weft_tokenizer_encode. */
weft_status weft_json_tokenizer_encode(struct weft_json_tokenizer *tokenizer,
                                       struct weft_token_list *list, const char *text, size_t size);

/** A token as the file has it, *size bytes that it keeps; null for one that it does not have. */
const char *weft_json_tokenizer_piece(const struct weft_json_tokenizer *tokenizer, int32_t id,
                                      size_t *size);

/** Appends the text of tokens, without that of special tokens. Errors as weft_tokenizer_decode. */
weft_status weft_json_tokenizer_decode(const struct weft_json_tokenizer *tokenizer,
                                       const int32_t *ids, uint32_t count, struct weft_text *out);

#endif
