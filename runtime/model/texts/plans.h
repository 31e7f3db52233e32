/* SPDX-License-Identifier: MIT */
/* Plans for batches of texts, each with room for its inputs and its output; the newest ones are kept. */
#ifndef WEFT_MODEL_TEXTS_PLANS_H
#define WEFT_MODEL_TEXTS_PLANS_H

#include <weft/texts.h>

#include "model/texts/sequences.h"

struct weft_text_plan {
    weft_plan *plan;    /* null: a free place */
    uint32_t sequences; /* rows */
    uint32_t length;
    bool padded, has_types;
    int32_t *tokens, *types, *lengths; /* null where the plan has no such input */
    float *features, *positions, *output;
    uint32_t rows, width; /* of an item's output; with a row for each token rows is 0 */
    uint64_t values;      /* of all of it */
    uint64_t runs, used;  /* the larger, the later */
};

struct weft_text_plans {
    weft_host host;
    weft_model *model; /* may be gone when they are dropped */
    weft_device *device;
    const weft_plan_params *params;
    struct weft_text_plan *kept;
    uint32_t most;
    uint64_t used;
    weft_texts_info *done; /* counts what is compiled */
};

/** The plan for a group, kept or compiled; one that has not been used for long makes room for it. It lives until the next call. */
weft_status weft_text_plans_find(struct weft_text_plan **plan, struct weft_text_plans *plans,
                                 const struct weft_batch_group *group,
                                 const struct weft_text_sequences *sequences);

/** Copies a sequence to a row of the inputs, and zeros behind it. */
void weft_text_plan_fill(const struct weft_text_plan *plan, uint32_t row,
                         const struct weft_text_row *sequence, const weft_model_info *info);

/** The plan's inputs and its output; returns how many. */
uint32_t weft_text_plan_tensors(weft_host_tensor tensors[6], const struct weft_text_plan *plan,
                                const weft_model_info *info);

void weft_text_plans_drop(struct weft_text_plans *plans);

#endif
