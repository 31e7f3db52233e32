/* SPDX-License-Identifier: MIT */
/* The tokens that end a text. */
#ifndef WEFT_MODEL_END_TOKENS_H
#define WEFT_MODEL_END_TOKENS_H

#include <weft/model.h>

#include "model/files/source.h"

/**
 * Sets eos_token, eos_tokens and eos_token_count of *info: by eos_token_id, a number or a list, of the folder's
 * generation_config.json, else of the config, else to the eos_token that info has. Numbers outside the vocabulary, which no
 * model makes, are left out; weft_source_read_generation has read the former. *tokens is in the host's memory, and the info's. Errors: WEFT_BAD_FILE for anything else.
 */
weft_status weft_end_tokens_read(int32_t **tokens, weft_model_info *info,
                                 const struct weft_model_source *source, const weft_host *host);

#endif
