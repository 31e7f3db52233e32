/* SPDX-License-Identifier: MIT */
/* Linear attention one token at a time: the sums that the causal op has at a chunk's start, and the chunk so far. */
#include "mixers/linear_attention.h"
#include "mixers/step.h"

#define SUMS \
    6 /* arrays of a state that have an element per sum: shaders/include/linear_attention_state.glsl */
#define COLUMNS_A_GROUP 128 /* of linear_attention/step */

double weft_linear_attention_state_size(uint32_t heads, uint32_t features, uint32_t values) {
    return heads *
           (SUMS * (double)features * (values + 1.0) + WEFT_CHUNK * ((double)features + values));
}

static void push_state(struct weft_dispatch *dispatch,
                       const struct weft_linear_attention_step *step) {
    weft_dispatch_push_u32(dispatch, step->heads);
    weft_dispatch_push_u32(dispatch, step->features);
    weft_dispatch_push_u32(dispatch, step->values);
    weft_dispatch_push_u32(dispatch, step->stride);
    weft_dispatch_push_u32(dispatch, step->offset);
}

static void lower_sums(struct weft_lowering *lowering,
                       const struct weft_linear_attention_step *step) {
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "linear_attention/step_sums");
    weft_dispatch_read(dispatch, step->k);
    weft_dispatch_read(dispatch, step->v);
    weft_dispatch_read(dispatch, step->position);
    weft_dispatch_write(dispatch, step->state);
    uint64_t heads = (uint64_t)step->batch * step->heads;
    uint64_t sums = (uint64_t)step->features * (step->values + UINT64_C(1));
    weft_dispatch_items(dispatch, heads * (sums + step->features + step->values));
    push_state(dispatch, step);
    dispatch->flops = 2.0 * (double)(heads * sums);
    dispatch->bytes = 8.0 * (double)(heads * (sums + step->features + step->values));
}

static void lower_read(struct weft_lowering *lowering,
                       const struct weft_linear_attention_step *step) {
    uint32_t column_blocks = (step->values - 1) / COLUMNS_A_GROUP + 1;
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "linear_attention/step");
    weft_dispatch_read(dispatch, step->q);
    weft_dispatch_read(dispatch, step->position);
    weft_dispatch_read(dispatch, step->state);
    weft_dispatch_write(dispatch, step->result);
    weft_dispatch_specialize(dispatch, step->accumulate);
    uint64_t heads = (uint64_t)step->batch * step->heads;
    weft_dispatch_rows(dispatch,
                       (struct weft_rows){.rows = heads * column_blocks, .columns = column_blocks});
    push_state(dispatch, step);
    weft_dispatch_push_f32(dispatch, step->epsilon);
    weft_dispatch_push_f32(dispatch, step->weight);
    double reads = (double)step->features * (step->values + 1.0) +
                   WEFT_CHUNK * ((double)step->features + step->values);
    dispatch->flops = 2.0 * (double)heads * reads;
    dispatch->bytes = 4.0 * (double)heads * reads;
}

void weft_lower_linear_attention_step(struct weft_lowering *lowering,
                                      const struct weft_linear_attention_step *step) {
    lower_sums(lowering, step);
    lower_read(lowering, step);
}
