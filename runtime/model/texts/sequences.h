/* SPDX-License-Identifier: MIT */
/* Texts as the sequences that a model takes: encoded, checked, and in the order in which they run. */
#ifndef WEFT_MODEL_TEXTS_SEQUENCES_H
#define WEFT_MODEL_TEXTS_SEQUENCES_H

#include <weft/texts.h>

#include "core/host.h"
#include "model/texts/batches.h"

struct weft_text_sequences {
    weft_model *model;
    weft_model_info info;
    const weft_texts_run_params *params;
    weft_encoding *encodings; /* of texts; zeros for those that are sequences already */
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
};

/** Reads all texts into zeroed sequences that have model and params. Clear it, also after an error. */
weft_status weft_text_sequences_read(struct weft_text_sequences *sequences);
void weft_text_sequences_clear(struct weft_text_sequences *sequences);

struct weft_text_row weft_text_row_of(const struct weft_text_sequences *sequences, uint32_t text);

#endif
