/* SPDX-License-Identifier: MIT */
/* Texts as the sequences that a model takes: encoded, checked, and in the order in which they run. */
#ifndef WEFT_MODEL_TEXTS_SEQUENCES_H
#define WEFT_MODEL_TEXTS_SEQUENCES_H

#include <weft/texts.h>

#include "core/host.h"
#include "model/texts/batches.h"

/** A query with copies of a token, see weft_query_expansion. */
struct weft_expanded_text {
    int32_t *tokens; /* null: it has none */
    uint32_t length;
};

struct weft_text_sequences {
    weft_model *model;
    weft_model_info info;
    const weft_texts_run_params *params;
    weft_encoding *encodings; /* of texts; zeros for those that are sequences already */
    const struct weft_multi_vector *multi; /* of a model with a vector for each token, or null */
    struct weft_expanded_text *expanded;   /* with it */
    struct weft_batch_item *items;
    uint32_t item_count, per_item;
    uint64_t cut; /* texts */
};

/** What a plan reads of a sequence; null where there is nothing. */
struct weft_text_row {
    const int32_t *tokens;
    const int32_t *types;
    const float *features;
    const float *positions;
    uint32_t length;
    uint32_t own; /* of these tokens, without copies */
    uint32_t
        read; /* tokens that others read: its length, or where nobody reads copies its own ones */
};

/** Reads all texts into zeroed sequences that have model and params. Clear it, also after an error. */
weft_status weft_text_sequences_read(struct weft_text_sequences *sequences);
void weft_text_sequences_clear(struct weft_text_sequences *sequences);

struct weft_text_row weft_text_row_of(const struct weft_text_sequences *sequences, uint32_t text);

#endif
