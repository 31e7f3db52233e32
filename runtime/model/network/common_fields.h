/* SPDX-License-Identifier: MIT */
/* Fields of config.json that every family has in Hugging Face's form: labels, activations, the tokenizer's class. */
#ifndef WEFT_MODEL_COMMON_FIELDS_H
#define WEFT_MODEL_COMMON_FIELDS_H

#include <weft/graph.h>

#include "core/formats/json.h"
#include "tokenizer/tokenizer.h"

#define WEFT_MAX_LABELS 65536

/**
 * id2label and num_labels: *count is the number of labels, *fallback when neither is there; *labels their texts by id in
 * fresh memory, or null without id2label. Both are to be released with weft_labels_free, also on failure. WEFT_BAD_FILE
 * when the two contradict each other.
 */
weft_status weft_read_labels(char ***labels, uint32_t *count, uint32_t fallback,
                             const weft_json_fields *fields);
/** Frees and nulls *labels. */
void weft_labels_free(char ***labels, uint32_t count, const weft_host *host);

/** A field with the name that transformers (ACT2FN) gives an activation; *activation is left as it is without the field. */
weft_status weft_read_activation(weft_activation *activation, const weft_json_fields *fields,
                                 const char *name);

/** tokenizer_class: the kind, and the name in fresh memory (null when absent). */
weft_status weft_read_tokenizer_class(weft_tokenizer_kind *kind, char **name,
                                      const weft_json_fields *fields);

#endif
