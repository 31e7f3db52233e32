/* SPDX-License-Identifier: MIT */
/* Fields of tokenizer_config.json: transformers writes all arguments of a tokenizer's class there. */
#ifndef WEFT_TOKENIZER_KNOWN_SETTINGS_H
#define WEFT_TOKENIZER_KNOWN_SETTINGS_H

#include "core/formats/known_fields.h"

extern const weft_known_table weft_tokenizer_config_fields;

#endif
