/* SPDX-License-Identifier: MIT */
/* Parts of a tokenizer.json, for the files json_*.c alone. */
#ifndef WEFT_TOKENIZER_JSON_TOKENIZER_PARTS_H
#define WEFT_TOKENIZER_JSON_TOKENIZER_PARTS_H

#include <stdatomic.h>

#include "tokenizer/json/added_tokens.h"
#include "tokenizer/json/decoder.h"
#include "tokenizer/json/json_tokenizer.h"
#include "tokenizer/json/normalizer.h"
#include "tokenizer/json/post_processor.h"
#include "tokenizer/json/pre_tokenizer.h"
#include "tokenizer/json/word_cache.h"
#include "tokenizer/json/word_model.h"
#include "tokenizer/ration.h"

/** Working state of encoding, reused from text to text. */
struct weft_encode_work {
    struct weft_ration ration; /* of the memory of all that follows */
    struct weft_budget budget;
    struct weft_parts parts;
    struct weft_parts spare;
    struct weft_normal_work normal;
    struct weft_word_work word;
    struct weft_text bytes;      /* of a word */
    struct weft_token_list list; /* of its tokens */
    struct weft_word_cache cache;
};

struct weft_json_tokenizer {
    weft_host host;
    struct weft_ration ration; /* of what was read */
    weft_host memory;          /* the host with it */
    struct weft_added_tokens added;
    struct weft_normalizer normalizer;
    struct weft_pre_tokenizer pre;
    struct weft_word_model model;
    struct weft_post_processor post;
    struct weft_text_decoder decoder;
    /** Lent to one call at a time; another makes its own meanwhile, and the last to end leaves its own here. */
    _Atomic(struct weft_encode_work *) work;
};

void weft_encode_work_destroy(struct weft_encode_work *work);

#endif
