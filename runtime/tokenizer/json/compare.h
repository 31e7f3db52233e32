/* SPDX-License-Identifier: MIT */
/* Warnings where tokenizer_config.json says of texts what tokenizer.json, which counts, does not do. */
#ifndef WEFT_TOKENIZER_COMPARE_H
#define WEFT_TOKENIZER_COMPARE_H

#include "core/formats/json.h"
#include "tokenizer/encoding.h"
#include "tokenizer/json/json_tokenizer.h"

/** Compares add_bos_token, add_eos_token and add_prefix_space. Errors: WEFT_BAD_FILE for another type; those of encoding. */
weft_status weft_json_tokenizer_compare(struct weft_json_tokenizer *tokenizer,
                                        const weft_json_fields *fields);

#endif
