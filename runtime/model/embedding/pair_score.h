/* SPDX-License-Identifier: MIT */
/* Score of a pair by a classifier with one label: sentence-transformers' activation_fn. */
#ifndef WEFT_MODEL_PAIR_SCORE_H
#define WEFT_MODEL_PAIR_SCORE_H

#include <weft/model.h>

#include "core/formats/json.h"
#include "model/files/source.h"

/**
 * Reads `field`, the class of an activation: *raw is whether it leaves the logit as it is, and *named whether there is one.
 * Both are untouched where the field is missing or null. WEFT_UNSUPPORTED for anything but Identity and Sigmoid.
 */
weft_status weft_pair_score_read(bool *named, bool *raw, const weft_json_fields *fields,
                                 const char *field);

/**
 * Sets info->raw_scores by the config's `sentence_transformers` or, of older versions, sbert_ce_default_activation_function;
 * without either, regressions give the value and others its sigmoid.
 */
weft_status weft_pair_score_describe(weft_model_info *info, const struct weft_model_source *source,
                                     const weft_host *host);

#endif
