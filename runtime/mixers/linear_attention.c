/* SPDX-License-Identifier: MIT */
/* States of chunks, their sums, and what the queries read from them. */
#include "mixers/linear_attention.h"

#include "core/try.h"
#include "kernels/linear_attention/apply_lanes.h"
#include "kernels/linear_attention/apply_tiled.h"
#include "kernels/linear_attention/apply_wide.h"
#include "kernels/linear_attention/scan.h"
#include "kernels/linear_attention/state.h"
#include "kernels/linear_attention/state_lanes.h"
#include "kernels/linear_attention/state_tiled.h"
#include "lower/variant.h"
#include "mixers/qkv.h"
#include "mixers/step.h"
#include "ops/mask.h"
#include "ops/row.h"

#define BIDIRECTIONAL_CHUNK (4 * WEFT_CHUNK) /* only its sum is needed: fewer, larger ones */

uint32_t weft_chunk_count(uint32_t n, uint32_t chunk) {
    return (n - 1) / chunk + 1;
}

/* A workgroup has tiles of several chunks, 64 × 64 elements of one, or some features of a chunk or the sums of all of them. */
static struct weft_grid state_tiled_grid(const struct weft_variant *variant, const void *args,
                                         uint32_t batches) {
    const struct weft_linear_attention_state_args *words = args;
    (void)variant;
    return weft_grid_of_groups((uint64_t)batches *
                               weft_chunk_count(words->push.features, WEFT_CHUNK) *
                               weft_chunk_count(words->push.values, WEFT_CHUNK));
}

static struct weft_grid state_lanes_grid(const struct weft_variant *variant, const void *args,
                                         uint32_t batches) {
    const struct weft_linear_attention_state_args *words = args;
    const uint32_t lanes =
        weft_variant_tile(variant, WEFT_LINEAR_ATTENTION_STATE_LANES_AT_TILE_LANES);
    const uint32_t rows = WEFT_LINEAR_ATTENTION_STATE_LANES_LANES_ROWS * (lanes == 16 ? 2 : 1);
    return weft_grid_of_groups((uint64_t)batches *
                               ((words->push.features - 1) / rows + 1 + words->constant.ones));
}

WEFT_VARIANTS(linear_attention_state, "linear_attention/state",
              WEFT_GROUP_ROW(linear_attention_state, weft_grid_of_first_items, 1.0F),
              WEFT_TILED_ROW(linear_attention_state_tiled, state_tiled_grid),
              WEFT_LANES_ROWS(linear_attention_state_lanes, state_lanes_grid, 1))

uint32_t weft_lower_chunk_states(struct weft_lowering *lowering,
                                 const struct weft_chunk_states *states) {
    uint32_t chunks = weft_chunk_count(states->n, states->chunk);
    double parts = (double)states->batch * states->heads * chunks;
    uint32_t size = states->feature_count * (states->value_count + states->ones);
    if (!weft_lower_countable(lowering, parts * size, "elements in the states of all chunks")) {
        return 0;
    }
    uint32_t result = weft_lower_scratch(lowering, (uint64_t)parts * size * sizeof(float));
    const uint32_t columns = (states->value_count - 1) / 4 + 1 + states->ones;
    const uint32_t rows = (states->feature_count - 1) / WEFT_LINEAR_ATTENTION_STATE_ROWS + 1;
    const uint64_t tiles = (uint64_t)parts * rows * columns;
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_linear_attention_state_variants, (uint32_t)parts, linear_attention_state,
        .bind = {.features = states->features, .values = states->values, .state = result},
        .push = {.count = (uint32_t)tiles,
                 .n = states->n,
                 .heads = states->heads,
                 .features = states->feature_count,
                 .values = states->value_count,
                 .chunk = states->chunk,
                 .chunks = chunks},
        .constant = {.ones = states->ones,
                     .vector_features = weft_whole_fours(states->feature_count),
                     .vector_values = weft_whole_fours(states->value_count)});
    double tokens = (double)states->batch * states->heads * states->n;
    dispatch->flops = 2.0 * tokens * size;
    dispatch->bytes = 4.0 * (tokens * (states->feature_count + states->value_count) + parts * size);
    return result;
}

/** Replaces states by the sums of those before them, or the first one of a head by the sum of all. */
static void lower_scan(struct weft_lowering *lowering, uint32_t state, uint32_t size,
                       uint32_t chunks, uint32_t heads, bool prefix) {
    const uint64_t sums = (uint64_t)heads * size;
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, linear_attention_scan, weft_grid_of_items(sums), .bind = {.state = state},
        .push = {.count = (uint32_t)sums, .size = size, .chunks = chunks},
        .constant = {.prefix = prefix});
    double count = (double)heads * size * chunks;
    dispatch->flops = count;
    dispatch->bytes = (prefix ? 8.0 : 4.0) * count;
    dispatch->turns = chunks;
}

/* True if the 64 sums of an invocation have registers, or there are no workgroups of twice as many invocations with half as many each. */
static bool has_registers_for_apply(const weft_device_info *info) {
    return weft_has_over_64_registers(info) || info->max_workgroup_invocations < 256;
}

WEFT_VARIANTS(linear_attention_apply, "linear_attention/apply",
              {.name = "group",
               .shader = &weft_shader_linear_attention_apply,
               .grid = weft_grid_of_first_groups,
               .needs = WEFT_NEEDS_REGISTERS(has_registers_for_apply),
               .cost = {.hardware = 4.0F, .processor = 8.0F}},
              WEFT_TILED_ROW(linear_attention_apply_tiled, weft_grid_of_first_groups),
              {.name = "wide",
               .shader = &weft_shader_linear_attention_apply_wide,
               .grid = weft_grid_of_first_groups,
               .needs = {.invocations = 256},
               .cost = {.software = 3.0F, .hardware = 2.1F, .processor = 16.0F}},
              WEFT_LANES_ROWS(linear_attention_apply_lanes, weft_grid_of_batches, 1))

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
    uint32_t column_blocks = (a->values - 1) / WEFT_LINEAR_ATTENTION_APPLY_COLUMNS + 1;
    double groups =
        (double)a->batch * a->heads * weft_chunk_count(a->n, WEFT_CHUNK) * column_blocks;
    if (!weft_lower_countable(lowering, groups, "workgroups")) {
        return;
    }
    struct weft_dispatch *dispatch =
        WEFT_LOWER_VARIANTS(lowering, &weft_linear_attention_apply_variants,
                            (uint32_t)groups / column_blocks, linear_attention_apply,
                            .bind = {.queries = a->q,
                                     .keys = a->causal ? a->k : WEFT_NO_STORAGE,
                                     .values = a->causal ? a->v : WEFT_NO_STORAGE,
                                     .state = apply->state,
                                     .result = a->result},
                            .push = {.groups = (uint32_t)groups,
                                     .n = a->n,
                                     .heads = a->heads,
                                     .features = a->features,
                                     .values = a->values,
                                     .state_chunks = apply->state_chunks,
                                     .column_blocks = column_blocks,
                                     .epsilon = a->epsilon,
                                     .weight = a->weight},
                            .constant = {.causal = a->causal,
                                         .normalize = apply->normalize,
                                         .accumulate = a->accumulate,
                                         .vector_features = weft_whole_fours(a->features),
                                         .vector_values = weft_whole_fours(a->values),
                                         .has_state = apply->state != WEFT_NO_STORAGE});
    count_apply(dispatch, a, column_blocks);
}

/* Keys or values [batch, keys, columns] without those behind a sequence's length, since zeros add nothing. Causal queries before it
 * read none anyway. */
static uint32_t masked(struct weft_lowering *lowering, const struct weft_linear_attention *a,
                       uint32_t storage, uint32_t columns) {
    const uint32_t shape[] = {a->batch, a->keys, columns};
    return a->causal ? storage : weft_lower_masked_copy(lowering, storage, a->lengths, shape);
}

static void lower_chunks(struct weft_lowering *lowering, const struct weft_linear_attention *a) {
    uint32_t chunk = a->causal ? WEFT_CHUNK : BIDIRECTIONAL_CHUNK;
    uint32_t chunks = weft_chunk_count(a->keys, chunk);
    struct weft_chunk_apply apply = {
        .attention = a, .state = WEFT_NO_STORAGE, .state_chunks = chunks, .normalize = true};
    if (!a->causal || chunks > 1) {
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

void weft_lower_linear_attention(struct weft_lowering *lowering,
                                 const struct weft_linear_attention *attention) {
    if (attention->is_step) {
        weft_lower_linear_attention_step(lowering, attention);
        return;
    }
    struct weft_linear_attention counting = *attention;
    counting.k = masked(lowering, attention, attention->k, attention->heads * attention->features);
    lower_chunks(lowering, &counting);
    if (attention->has_state) {
        weft_lower_linear_attention_prompt(lowering, attention);
    }
}

struct weft_linear_attention weft_linear_attention_of(struct weft_lowering *lowering,
                                                      const struct weft_node *node, uint32_t heads,
                                                      uint32_t features, bool causal) {
    const weft_shape *q = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *v = weft_node_shape(lowering->graph, node, 2);
    struct weft_linear_attention attention = {
        .v = weft_lower_value(lowering, node->input[2]),
        .result = weft_lower_value(lowering, node->output),
        .batch = q->dim[0],
        .heads = heads,
        .n = q->dim[1],
        .keys = v->dim[1],
        .features = features,
        .values = v->dim[2] / heads,
        .causal = causal,
        .weight = 1.0F,
        .lengths = weft_lower_lengths(lowering, node, node->op->lengths[0].input),
        .has_state = node->op->state_input != 0};
    attention.v = masked(lowering, &attention, attention.v, v->dim[2]);
    attention.is_step = attention.has_state && attention.n == 1;
    if (attention.has_state) {
        attention.position = weft_lower_value(lowering, node->input[WEFT_STEP_POSITION]);
        attention.state = weft_lower_value(lowering, node->input[WEFT_STEP_STATE]);
        attention.stride = weft_node_shape(lowering->graph, node, WEFT_STEP_STATE)->dim[1];
    }
    return attention;
}

weft_status weft_take_epsilon(float *epsilon, const weft_graph *graph, const char *op) {
    WEFT_TRY(weft_check_epsilon(graph, op, *epsilon));
    if (*epsilon < WEFT_LEAST_DENOMINATOR) {
        *epsilon = WEFT_LEAST_DENOMINATOR;
    }
    return WEFT_OK;
}
