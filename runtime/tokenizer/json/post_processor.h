/* SPDX-License-Identifier: MIT */
/* The post-processor of a tokenizer.json: special tokens around texts, and offsets without white space. */
#ifndef WEFT_TOKENIZER_POST_PROCESSOR_H
#define WEFT_TOKENIZER_POST_PROCESSOR_H

#include "core/formats/json.h"
#include "tokenizer/encoding.h"

/** Most special tokens and texts of a template. */
#define WEFT_MAX_TEMPLATE 256u

/** Immutable once made. */
struct weft_post_processor {
    struct weft_template_item *items; /* of both templates */
    struct weft_templates templates;
    bool trims;        /* spaces at the ends of a token are no part of its offsets */
    bool prefix_space; /* but for one that the pre-tokenizer has put before the text */
};

/** Reads it; null puts nothing around. The caller clears it in any case. Errors as a normalizer's. */
weft_status weft_post_processor_read(struct weft_post_processor *processor, const json_t *value,
                                     const char *path, const weft_host *host);
void weft_post_processor_clear(struct weft_post_processor *processor, const weft_host *host);

/** Reads the truncation of a tokenizer.json, without its length, which is the model's. */
weft_status weft_truncation_read(struct weft_truncation *truncation, const json_t *value,
                                 const char *path, const weft_host *host);

#endif
