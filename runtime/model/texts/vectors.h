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
    uint32_t max_terms; /* no plan depends on these */
    weft_embed_task task_of_texts;
};

struct weft_vectors_state weft_vectors_state(const weft_model *model);

/** Its vectors have a value for each token of the vocabulary. */
bool weft_vectors_are_sparse(const weft_model *model);
/** How many of the largest values of a sparse vector count, at most as many as it has; 0: all. */
uint32_t weft_vectors_most_terms(const weft_model *model);
/** Sets all values of a vector but the first `most` of weft_vector_terms to 0; `room` holds as many. */
void weft_terms_keep(float *vector, uint32_t width, weft_term *room, uint32_t most);

/** The same pooling and length, with the prompt of weft_model_role_prompt for the texts of a role. */
weft_status weft_vectors_set_role(const char **prompt, weft_model *model, weft_text_role role);

/** What a model of vectors was before. */
weft_status weft_vectors_restore(weft_model *model, const struct weft_vectors_state *state);

#endif
