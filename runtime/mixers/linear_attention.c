/* SPDX-License-Identifier: MIT */
/* States of chunks, their sums, and what the queries read from them. */
#include "mixers/linear_attention.h"

#define BIDIRECTIONAL_CHUNK (4 * WEFT_CHUNK) /* only its sum is needed: fewer, larger ones */

uint32_t weft_chunk_count(uint32_t n, uint32_t chunk) {
    return (n - 1) / chunk + 1;
}

/** Whether a kernel's 32-bit indices reach that many elements or work items. */
static bool countable(struct weft_lowering *lowering, double count, const char *what) {
    if (count <= (double)INT32_MAX) {
        return true;
    }
    weft_lower_fail(lowering, weft_fail(&lowering->device->host, WEFT_UNSUPPORTED,
                                        "%s: %.0f %s, more than %d", lowering->label, count, what,
                                        INT32_MAX));
    return false;
}

uint32_t weft_lower_chunk_states(struct weft_lowering *lowering,
                                 const struct weft_chunk_states *states) {
    uint32_t chunks = weft_chunk_count(states->n, states->chunk);
    double parts = (double)states->batch * states->heads * chunks;
    uint32_t size = states->feature_count * (states->value_count + states->ones);
    if (!countable(lowering, parts * size, "elements in the states of all chunks")) {
        return 0;
    }
    uint32_t result = weft_lower_scratch(lowering, (uint64_t)parts * size * sizeof(float));
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "linear_attention/state");
    weft_dispatch_read(dispatch, states->features);
    weft_dispatch_read(dispatch, states->values);
    weft_dispatch_write(dispatch, result);
    weft_dispatch_specialize(dispatch, states->ones);
    weft_dispatch_specialize(dispatch, weft_whole_fours(states->feature_count));
    weft_dispatch_specialize(dispatch, weft_whole_fours(states->value_count));
    uint32_t columns = (states->value_count - 1) / 4 + 1 + states->ones;
    uint32_t rows = (states->feature_count - 1) / 8 + 1;
    weft_dispatch_items(dispatch, (uint64_t)parts * rows * columns);
    weft_dispatch_push_u32(dispatch, states->n);
    weft_dispatch_push_u32(dispatch, states->heads);
    weft_dispatch_push_u32(dispatch, states->feature_count);
    weft_dispatch_push_u32(dispatch, states->value_count);
    weft_dispatch_push_u32(dispatch, states->chunk);
    weft_dispatch_push_u32(dispatch, chunks);
    double tokens = (double)states->batch * states->heads * states->n;
    dispatch->flops = 2.0 * tokens * size;
    dispatch->bytes = 4.0 * (tokens * (states->feature_count + states->value_count) + parts * size);
    return result;
}

/** Replaces states by the sums of those before them, or the first one of a head by the sum of all. */
static void lower_scan(struct weft_lowering *lowering, uint32_t state, uint32_t size,
                       uint32_t chunks, uint32_t heads, bool prefix) {
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "linear_attention/scan");
    weft_dispatch_write(dispatch, state);
    weft_dispatch_specialize(dispatch, prefix);
    weft_dispatch_items(dispatch, (uint64_t)heads * size);
    weft_dispatch_push_u32(dispatch, size);
    weft_dispatch_push_u32(dispatch, chunks);
    double count = (double)heads * size * chunks;
    dispatch->flops = count;
    dispatch->bytes = (prefix ? 8.0 : 4.0) * count;
}

static void count_apply(struct weft_dispatch *dispatch, const struct weft_linear_attention *a,
                        uint32_t column_blocks) {
    double rows = (double)a->batch * a->heads * a->n;
    double scores =
        a->causal ? WEFT_CHUNK * (0.5 * a->values + 0.5 * column_blocks * a->features) : 0.0;
    dispatch->flops = 2.0 * rows * (a->features * (a->values + 1.0) + scores);
    dispatch->bytes = 4.0 * rows * (2.0 * a->features + 2.0 * a->values);
}

void weft_lower_chunk_apply(struct weft_lowering *lowering, const struct weft_chunk_apply *apply) {
    const struct weft_linear_attention *a = apply->attention;
    uint32_t column_blocks = (a->values - 1) / 64 + 1;
    double groups =
        (double)a->batch * a->heads * weft_chunk_count(a->n, WEFT_CHUNK) * column_blocks;
    if (!countable(lowering, groups, "workgroups")) {
        return;
    }
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "linear_attention/apply");
    weft_dispatch_read(dispatch, a->q);
    weft_dispatch_read(dispatch, a->causal ? a->k : a->q);
    weft_dispatch_read(dispatch, a->causal ? a->v : a->q);
    weft_dispatch_read(dispatch, apply->has_state ? apply->state : a->q);
    weft_dispatch_write(dispatch, a->result);
    weft_dispatch_specialize(dispatch, a->causal);
    weft_dispatch_specialize(dispatch, apply->normalize);
    weft_dispatch_specialize(dispatch, a->accumulate);
    weft_dispatch_specialize(dispatch, weft_whole_fours(a->features));
    weft_dispatch_specialize(dispatch, weft_whole_fours(a->values));
    weft_dispatch_specialize(dispatch, apply->has_state);
    weft_dispatch_rows(dispatch, (struct weft_rows){.rows = (uint64_t)groups, .columns = a->n});
    weft_dispatch_push_u32(dispatch, a->heads);
    weft_dispatch_push_u32(dispatch, a->features);
    weft_dispatch_push_u32(dispatch, a->values);
    weft_dispatch_push_u32(dispatch, apply->state_chunks);
    weft_dispatch_push_u32(dispatch, column_blocks);
    weft_dispatch_push_f32(dispatch, a->epsilon);
    weft_dispatch_push_f32(dispatch, a->weight);
    count_apply(dispatch, a, column_blocks);
}

void weft_lower_linear_attention(struct weft_lowering *lowering,
                                 const struct weft_linear_attention *attention) {
    const struct weft_linear_attention *a = attention;
    uint32_t chunk = a->causal ? WEFT_CHUNK : BIDIRECTIONAL_CHUNK;
    uint32_t chunks = weft_chunk_count(a->keys, chunk);
    struct weft_chunk_apply apply = {.attention = a,
                                     .state_chunks = chunks,
                                     .has_state = !a->causal || chunks > 1,
                                     .normalize = true};
    if (apply.has_state) {
        struct weft_chunk_states states = {.features = a->k,
                                           .values = a->v,
                                           .batch = a->batch,
                                           .heads = a->heads,
                                           .n = a->keys,
                                           .feature_count = a->features,
                                           .value_count = a->values,
                                           .chunk = chunk,
                                           .ones = true};
        apply.state = weft_lower_chunk_states(lowering, &states);
    }
    if (chunks > 1) {
        lower_scan(lowering, apply.state, a->features * (a->values + 1), chunks,
                   a->batch * a->heads, a->causal);
    }
    weft_lower_chunk_apply(lowering, &apply);
}
