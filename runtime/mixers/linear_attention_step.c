/* SPDX-License-Identifier: MIT */
/* Linear attention with a state: the sums that the causal op has at a chunk's start, and the chunk so far. */
#include "kernels/linear_attention/prompt.h"
#include "kernels/linear_attention/step.h"
#include "kernels/linear_attention/step_sums.h"
#include "lower/divisor.h"
#include "mixers/linear_attention.h"
#include "mixers/step.h"

static double state_size(uint32_t features, uint32_t values) {
    return WEFT_LINEAR_ATTENTION_STEP_STATE_SUMS * (double)features * (values + 1.0) +
           WEFT_CHUNK * ((double)features + values);
}

double weft_linear_attention_state_size(const struct weft_step_call *call, uint32_t factor) {
    return call->heads * state_size(factor * (call->shape[0].dim[2] / call->heads),
                                    call->shape[2].dim[2] / call->heads);
}

static void lower_sums(struct weft_lowering *lowering, const struct weft_linear_attention *a) {
    const uint64_t heads = (uint64_t)a->batch * a->heads;
    const uint64_t sums = (uint64_t)a->features * (a->values + UINT64_C(1));
    const uint64_t items = heads * (sums + a->features + a->values);
    /* By rows: some features at a time, and then what they have in common. */
    const uint32_t blocks = (a->features - 1) / WEFT_LINEAR_ATTENTION_STEP_SUMS_ROW_FEATURES + 2;
    const bool by_rows = weft_lower_by_rows(lowering, a->values);
    const uint64_t count = by_rows ? heads * blocks : items;
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, linear_attention_step_sums,
        by_rows ? weft_grid_of_rows(count, a->values) : weft_grid_of_items(count),
        .bind = {.keys = a->k, .values = a->v, .position = a->position, .state = a->state},
        .push = {.count = (uint32_t)count,
                 .heads = a->heads,
                 .features = a->features,
                 .values = a->values,
                 .stride = a->stride,
                 .offset = a->offset,
                 WEFT_INVERSE(values, a->values),
                 WEFT_INVERSE(size, (uint32_t)(items / heads))},
        .constant = {.by_rows = by_rows});
    dispatch->flops = 2.0 * (double)(heads * sums);
    dispatch->bytes = 8.0 * (double)items;
}

static void lower_read(struct weft_lowering *lowering, const struct weft_linear_attention *a) {
    const uint32_t column_blocks = (a->values - 1) / WEFT_LINEAR_ATTENTION_STEP_LOCAL_X + 1;
    const uint64_t heads = (uint64_t)a->batch * a->heads;
    const uint64_t groups = heads * column_blocks;
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, linear_attention_step, weft_grid_of_groups(groups),
        .bind = {.queries = a->q, .position = a->position, .state = a->state, .result = a->result},
        .push = {.groups = (uint32_t)groups,
                 .column_blocks = column_blocks,
                 .heads = a->heads,
                 .features = a->features,
                 .values = a->values,
                 .stride = a->stride,
                 .offset = a->offset,
                 .epsilon = a->epsilon,
                 .weight = a->weight},
        .constant = {.accumulate = a->accumulate});
    const double reads =
        (double)a->features * (a->values + 1.0) + WEFT_CHUNK * ((double)a->features + a->values);
    dispatch->flops = 2.0 * (double)heads * reads;
    dispatch->bytes = 4.0 * (double)heads * reads;
}

void weft_lower_linear_attention_prompt(struct weft_lowering *lowering,
                                        const struct weft_linear_attention *a) {
    const uint64_t heads = (uint64_t)a->batch * a->heads;
    const uint64_t sums = (uint64_t)a->features * (a->values + UINT64_C(1));
    const uint64_t count = heads * (sums + a->features + a->values);
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, linear_attention_prompt, weft_grid_of_items(count),
        .bind = {.keys = a->k, .values = a->v, .position = a->position, .state = a->state},
        .push = {.count = (uint32_t)count,
                 .n = a->n,
                 .heads = a->heads,
                 .features = a->features,
                 .values = a->values,
                 .stride = a->stride,
                 .offset = a->offset});
    dispatch->flops = 2.0 * (double)(heads * sums) * a->n;
    dispatch->bytes = 4.0 * ((double)heads * a->n * ((double)a->features + a->values) +
                             WEFT_LINEAR_ATTENTION_STEP_STATE_SUMS * (double)(heads * sums));
}

void weft_lower_linear_attention_step(struct weft_lowering *lowering,
                                      const struct weft_linear_attention *step) {
    lower_sums(lowering, step);
    lower_read(lowering, step);
}
