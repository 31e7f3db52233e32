/* SPDX-License-Identifier: MIT */
/* The decoder of a tokenizer.json: from the texts of tokens to a text, by steps from list to list. */
#ifndef WEFT_TOKENIZER_DECODER_H
#define WEFT_TOKENIZER_DECODER_H

#include "core/formats/json.h"
#include "tokenizer/chars.h"
#include "tokenizer/regex/regex.h"

/** Texts one after the other. Begin it with weft_texts_begin. */
struct weft_texts {
    struct weft_text all;
    size_t *ends; /* of each in `all` */
    uint32_t count;
    uint32_t capacity;
};

void weft_texts_begin(struct weft_texts *texts, const weft_host *host);
void weft_texts_clear(struct weft_texts *texts);
/** Ends the text that has been put into `all`. WEFT_OUT_OF_HOST_MEMORY. */
weft_status weft_texts_end(struct weft_texts *texts);
/** One of them, `*size` bytes. */
const char *weft_texts_get(const struct weft_texts *texts, uint32_t index, size_t *size);

enum weft_decode_kind {
    WEFT_DECODE_WORD_PIECE,
    WEFT_DECODE_BYTE_LEVEL,
    WEFT_DECODE_METASPACE,
    WEFT_DECODE_SUFFIX,
    WEFT_DECODE_BYTE_FALLBACK,
    WEFT_DECODE_FUSE,
    WEFT_DECODE_STRIP,
    WEFT_DECODE_REPLACE
};

struct weft_decode_step {
    enum weft_decode_kind kind;
    struct weft_text text; /* a prefix, suffix, or what to put in */
    struct weft_regex *pattern;
    bool cleanup;        /* no spaces before punctuation */
    uint32_t code;       /* what stands for spaces, or is stripped */
    bool drops_first;    /* no space where the text begins */
    uint32_t from_begin; /* most characters to strip */
    uint32_t from_end;
};

/** Immutable once made. */
struct weft_text_decoder {
    bool is_there; /* else texts are joined by spaces */
    struct weft_decode_step *steps;
    uint32_t count;
    uint32_t capacity;
};

/** Reads it. The caller clears it in any case. Errors as a normalizer's. */
weft_status weft_text_decoder_read(struct weft_text_decoder *decoder, const json_t *value,
                                   const char *path, const weft_host *host);
void weft_text_decoder_clear(struct weft_text_decoder *decoder, const weft_host *host);

/** Appends the text of tokens to `out`. WEFT_OUT_OF_HOST_MEMORY; as weft_budget_take. */
weft_status weft_text_decode(const struct weft_text_decoder *decoder, struct weft_texts *texts,
                             struct weft_text *out, struct weft_budget *budget);

#endif
