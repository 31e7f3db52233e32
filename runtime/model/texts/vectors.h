/* SPDX-License-Identifier: MIT */
/* What a model's vectors depend on beside its weights: a state of the model, which plans have as it was when they were compiled. */
#ifndef WEFT_MODEL_TEXTS_VECTORS_H
#define WEFT_MODEL_TEXTS_VECTORS_H

#include <weft/texts.h>

struct weft_vectors_state {
    weft_task task;
    uint32_t pooling; /* bits */
    bool normalize;
    uint32_t prompt_tokens;
    uint32_t dimension;
};

struct weft_vectors_state weft_vectors_state(const weft_model *model);

/** The same pooling and length with another prompt, as in weft_vectors_params. */
weft_status weft_vectors_set_prompt(const char **prompt, weft_model *model, const char *name);

/** What a model of vectors was before. */
weft_status weft_vectors_restore(weft_model *model, const struct weft_vectors_state *state);

#endif
