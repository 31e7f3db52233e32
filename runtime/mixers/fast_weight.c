/* SPDX-License-Identifier: MIT */
/*
 * The fast-weight far field, S_i = S_{i-1} + β_i (v_i - S_{i-1} k_i) k_iᵀ, in chunks. What the tokens of a chunk write
 * is U - W S with S the state at its start and U, W independent of it (Yang et al., "Parallelizing linear transformers
 * with the delta rule over sequence length", 2024, section 3.2): only the states go from chunk to chunk.
 */
#include <stdio.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/fast_weight/normalize.h"
#include "kernels/fast_weight/normalize_lanes.h"
#include "kernels/fast_weight/prompt.h"
#include "kernels/fast_weight/scan.h"
#include "kernels/fast_weight/scan_lanes.h"
#include "kernels/fast_weight/solve.h"
#include "kernels/fast_weight/solve_lanes.h"
#include "kernels/fast_weight/solve_tiled.h"
#include "kernels/fast_weight/step.h"
#include "kernels/fast_weight/step_state.h"
#include "kernels/fast_weight/step_sums.h"
#include "kernels/fast_weight/update.h"
#include "kernels/fast_weight/update_lanes.h"
#include "kernels/fast_weight/update_tiled.h"
#include "lower/divisor.h"
#include "lower/variant.h"
#include "mixers/linear_attention.h"
#include "mixers/qkv.h"
#include "mixers/step.h"
#include "ops/row.h"

struct weft_fast_weight_node {
    uint32_t heads;
};

weft_status weft_graph_fast_weight(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                   weft_tensor k, weft_tensor v, weft_tensor beta,
                                   const weft_fast_weight_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_fast_weight_node node = {.heads = params && params->heads ? params->heads : 1};
    weft_tensor inputs[] = {q, k, v, beta};
    return weft_graph_add(out, graph, &weft_op_fast_weight, inputs, 4, &node, sizeof node);
}

static weft_status check_width(const weft_graph *graph, const char *op, uint32_t width) {
    if (width > WEFT_FAST_WEIGHT_SCAN_MAX_FEATURES) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED,
                         "%s: heads of %u channels of q and k are wider than %d", op, width,
                         WEFT_FAST_WEIGHT_SCAN_MAX_FEATURES);
    }
    return WEFT_OK;
}

static weft_status fast_weight_infer(const weft_graph *graph, struct weft_node *node,
                                     weft_dtype *dtype, weft_shape *shape) {
    const struct weft_fast_weight_node *params = (const void *)node->params.bytes;
    const weft_shape q = *weft_node_shape(graph, node, 0);
    WEFT_TRY(weft_infer_qkv(dtype, shape, graph, node, params->heads, true));
    WEFT_TRY(check_width(graph, "fast_weight", q.dim[2] / params->heads));
    return weft_expect_shape(graph, node, 3, "beta",
                             weft_shape_of(q.dim[0], q.dim[1], params->heads));
}

/* ---- lowering ---- */

/** Shapes and storages of a node on its way down. */
struct rule {
    uint32_t q, k; /* normalised features */
    uint32_t v, beta;
    uint32_t w, u; /* see shaders/fast_weight/solve.comp */
    uint32_t batch, heads, n;
    uint32_t features, values;
    uint32_t chunks;
};

/* ---- kernels ---- */

/* Those that have a workgroup for each part of the work count the parts as batches. */

static struct weft_grid normalize_lanes_grid(const struct weft_variant *variant, const void *args,
                                             uint32_t batches) {
    const struct weft_fast_weight_normalize_args *words = args;
    (void)batches;
    return weft_grid_of_groups((words->push.rows - 1) / variant->tiles[0] + 1);
}

static struct weft_grid update_tiled_grid(const struct weft_variant *variant, const void *args,
                                          uint32_t batches) {
    const struct weft_fast_weight_update_args *words = args;
    (void)variant;
    return weft_grid_of_groups((uint64_t)batches *
                               weft_chunk_count(words->push.values, WEFT_CHUNK));
}

WEFT_VARIANTS(fast_weight_normalize, "fast_weight/normalize",
              WEFT_GROUP_ROW(fast_weight_normalize, weft_grid_of_first_items, 1.0F),
              WEFT_LANES_ROWS(fast_weight_normalize_lanes, normalize_lanes_grid, 1))

WEFT_VARIANTS(fast_weight_solve, "fast_weight/solve",
              WEFT_GROUP_ROW(fast_weight_solve, weft_grid_of_batches, 4.0F),
              WEFT_TILED_ROW(fast_weight_solve_tiled, weft_grid_of_batches),
              WEFT_LANES_ROWS(fast_weight_solve_lanes, weft_grid_of_batches, 1))

WEFT_VARIANTS(fast_weight_scan, "fast_weight/scan",
              WEFT_GROUP_ROW(fast_weight_scan, weft_grid_of_batches, 1.0F),
              WEFT_LANES_ROWS(fast_weight_scan_lanes, weft_grid_of_batches, 1))

WEFT_VARIANTS(fast_weight_update, "fast_weight/update",
              WEFT_GROUP_ROW(fast_weight_update, weft_grid_of_first_items, 1.0F),
              WEFT_TILED_ROW(fast_weight_update_tiled, update_tiled_grid),
              WEFT_LANES_ROWS(fast_weight_update_lanes, weft_grid_of_batches, 1))

/* ---- dispatches ---- */

static double rows_of(const struct rule *rule) {
    return (double)rule->batch * rule->heads * rule->n;
}

static uint32_t lower_normalized(struct weft_lowering *lowering, const struct rule *rule,
                                 uint32_t x) {
    uint64_t rows = (uint64_t)rule->batch * rule->n * rule->heads;
    uint32_t result = weft_lower_scratch(lowering, rows * rule->features * sizeof(float));
    struct weft_dispatch *dispatch =
        WEFT_LOWER_VARIANTS(lowering, &weft_fast_weight_normalize_variants, 1,
                            fast_weight_normalize, .bind = {.x = x, .result = result},
                            .push = {.rows = (uint32_t)rows, .columns = rule->features});
    dispatch->flops = 40.0 * (double)rows * rule->features;
    dispatch->bytes = 8.0 * (double)rows * rule->features;
    return result;
}

static void lower_solve(struct weft_lowering *lowering, struct rule *rule) {
    uint64_t rows = (uint64_t)rule->batch * rule->n * rule->heads;
    rule->w = weft_lower_scratch(lowering, rows * rule->features * sizeof(float));
    rule->u = weft_lower_scratch(lowering, rows * rule->values * sizeof(float));
    const uint64_t groups = (uint64_t)rule->batch * rule->heads * rule->chunks;
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_fast_weight_solve_variants, (uint32_t)groups, fast_weight_solve,
        .bind =
            {.keys = rule->k, .values = rule->v, .beta = rule->beta, .w = rule->w, .u = rule->u},
        .push = {.groups = (uint32_t)groups,
                 .n = rule->n,
                 .heads = rule->heads,
                 .features = rule->features,
                 .values = rule->values},
        .constant = {.vector_features = weft_whole_fours(rule->features)});
    dispatch->flops = rows_of(rule) * WEFT_CHUNK * (2.0 * rule->features + rule->values);
    dispatch->bytes = 4.0 * rows_of(rule) * (2.0 * rule->features + 2.0 * rule->values + 1.0);
}

/** The states that chunks make of the products of two storages. */
static uint32_t lower_states(struct weft_lowering *lowering, const struct rule *rule,
                             uint32_t features, uint32_t values, uint32_t value_count) {
    struct weft_chunk_states states = {.features = features,
                                       .values = values,
                                       .batch = rule->batch,
                                       .heads = rule->heads,
                                       .n = rule->n,
                                       .feature_count = rule->features,
                                       .value_count = value_count,
                                       .chunk = WEFT_CHUNK};
    return weft_lower_chunk_states(lowering, &states);
}

/** How fast_weight/scan and /step_state spread the columns of the states over workgroups. */
struct columns {
    uint32_t tiles; /* fours of columns that a workgroup holds */
    uint32_t blocks;
    uint64_t groups;
};

static struct columns columns_of(const struct rule *rule) {
    const uint32_t fit = WEFT_FAST_WEIGHT_SCAN_MAX_FEATURES / rule->features;
    struct columns columns = {.tiles = fit >= 4 ? 4 : fit >= 2 ? 2 : 1};
    columns.blocks = (rule->values - 1) / (4 * columns.tiles) + 1;
    columns.groups = (uint64_t)rule->batch * rule->heads * columns.blocks;
    return columns;
}

static void lower_scan(struct weft_lowering *lowering, const struct rule *rule, uint32_t g,
                       uint32_t state) {
    const struct columns columns = columns_of(rule);
    struct weft_dispatch *dispatch =
        WEFT_LOWER_VARIANTS(lowering, &weft_fast_weight_scan_variants, (uint32_t)columns.groups,
                            fast_weight_scan, .bind = {.g = g, .n = state},
                            .push = {.groups = (uint32_t)columns.groups,
                                     .features = rule->features,
                                     .values = rule->values,
                                     .chunks = rule->chunks,
                                     .column_blocks = columns.blocks},
                            .constant = {.column_tiles = columns.tiles,
                                         .vector_features = weft_whole_fours(rule->features)});
    double parts = (double)rule->batch * rule->heads * rule->chunks;
    dispatch->flops = 2.0 * parts * rule->features * rule->features * rule->values;
    dispatch->bytes = 4.0 * parts * rule->features *
                      ((double)rule->features * columns.blocks + 2.0 * rule->values);
    dispatch->turns = rule->chunks * (1.25 * rule->features + 32.0); /* llvmpipe: features + 31 */
}

static void lower_update(struct weft_lowering *lowering, const struct rule *rule, uint32_t state) {
    const uint64_t tiles = (uint64_t)rule->batch * rule->heads *
                           ((rule->n - 1) / WEFT_FAST_WEIGHT_UPDATE_ROWS + 1) *
                           ((rule->values - 1) / 4 + 1);
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_fast_weight_update_variants, rule->batch * rule->heads * rule->chunks,
        fast_weight_update, .bind = {.w = rule->w, .state = state, .u = rule->u},
        .push = {.count = (uint32_t)tiles,
                 .n = rule->n,
                 .heads = rule->heads,
                 .features = rule->features,
                 .values = rule->values,
                 .chunks = rule->chunks},
        .constant = {.vector_features = weft_whole_fours(rule->features),
                     .vector_values = weft_whole_fours(rule->values)});
    dispatch->flops = 2.0 * rows_of(rule) * rule->features * rule->values;
    dispatch->bytes = 4.0 * rows_of(rule) * (rule->features + 2.0 * rule->values);
}

/**
 * The state that steps of all tokens would leave behind: what fast_weight/update changes before it, and the rest `updated`,
 * of the states at the chunks' starts.
 */
static void lower_prompt(struct weft_lowering *lowering, const struct rule *rule,
                         const struct weft_linear_attention *step, uint32_t starts, bool updated) {
    const uint64_t products = (uint64_t)rule->features * rule->values;
    const uint64_t sums = (uint64_t)rule->features * rule->features + products;
    const uint64_t count =
        (uint64_t)rule->batch * rule->heads *
        (updated ? products + rule->values : sums + (uint64_t)rule->features + rule->values);
    const bool has_starts = updated && rule->chunks > 1;
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, fast_weight_prompt, weft_grid_of_items(count),
                   .bind = {.k = updated ? WEFT_NO_STORAGE : rule->k,
                            .w = updated ? WEFT_NO_STORAGE : rule->w,
                            .u = rule->u,
                            .starts = has_starts ? starts : WEFT_NO_STORAGE,
                            .position = step->position,
                            .state = step->state},
                   .push = {.count = (uint32_t)count,
                            .n = rule->n,
                            .heads = rule->heads,
                            .features = rule->features,
                            .values = rule->values,
                            .stride = step->stride,
                            .chunks = rule->chunks},
                   .constant = {.updated = updated, .has_starts = has_starts});
    dispatch->flops = updated ? 0.0 : 2.0 * WEFT_CHUNK * (double)count;
    dispatch->bytes = 8.0 * (double)count;
}

/** The states at the chunks' starts, and U as they make it. */
static uint32_t lower_chunks(struct weft_lowering *lowering, const struct rule *rule) {
    uint32_t g = lower_states(lowering, rule, rule->w, rule->k, rule->features);
    uint32_t state = lower_states(lowering, rule, rule->k, rule->u, rule->values);
    lower_scan(lowering, rule, g, state);
    lower_update(lowering, rule, state);
    return state;
}

/** The rule of either op, with the normalised features of q and k; beta is the input of that number. */
static struct rule lower_rule(struct weft_lowering *lowering, const struct weft_node *node,
                              const struct weft_linear_attention *a, uint32_t beta) {
    struct rule rule = {.v = a->v,
                        .beta = weft_lower_value(lowering, node->input[beta]),
                        .batch = a->batch,
                        .heads = a->heads,
                        .n = a->n,
                        .features = a->features,
                        .values = a->values,
                        .chunks = weft_chunk_count(a->n, WEFT_CHUNK)};
    rule.q = lower_normalized(lowering, &rule, weft_lower_value(lowering, node->input[0]));
    rule.k = lower_normalized(lowering, &rule, weft_lower_value(lowering, node->input[1]));
    return rule;
}

static struct weft_linear_attention attention_of(struct weft_lowering *lowering,
                                                 const struct weft_node *node) {
    const struct weft_fast_weight_node *params = (const void *)node->params.bytes;
    const uint32_t channels = weft_node_shape(lowering->graph, node, 0)->dim[2];
    return weft_linear_attention_of(lowering, node, params->heads, channels / params->heads, true);
}

/** Lowers whole sequences, or their first tokens, which leave a state. */
static void lower_sequence(struct weft_lowering *lowering, const struct rule *rule_of_node,
                           struct weft_linear_attention attention) {
    struct rule rule = *rule_of_node;
    lower_solve(lowering, &rule);
    if (attention.has_state) {
        lower_prompt(lowering, &rule, &attention, WEFT_NO_STORAGE, false);
    }
    attention.q = rule.q;
    attention.k = rule.k;
    attention.v = rule.u;
    attention.epsilon = WEFT_LEAST_DENOMINATOR;
    struct weft_chunk_apply apply = {
        .attention = &attention, .state = WEFT_NO_STORAGE, .state_chunks = rule.chunks};
    if (rule.chunks > 1) {
        apply.state = lower_chunks(lowering, &rule);
    }
    if (attention.has_state) {
        lower_prompt(lowering, &rule, &attention, apply.state, true);
    }
    weft_lower_chunk_apply(lowering, &apply);
}

static weft_status fast_weight_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_linear_attention attention = attention_of(lowering, node);
    const struct rule rule = lower_rule(lowering, node, &attention, 3);
    lower_sequence(lowering, &rule, attention);
    return weft_lower_status(lowering);
}

static const struct weft_member fast_weight_fields[] = {
    WEFT_FIELD(weft_fast_weight_node, heads, COUNT), {.name = NULL}};

const struct weft_op weft_op_fast_weight = {
    .name = "fast_weight",
    .min_inputs = 4,
    .max_inputs = 4,
    .params_size = sizeof(struct weft_fast_weight_node),
    .fields = fast_weight_fields,
    .infer = fast_weight_infer,
    .cuts = WEFT_CUTS({.inputs = 15, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "chunks", .lower = fast_weight_lower}),
};

/* ---- one token at a time ---- */

static weft_status check_step_beta(const weft_graph *graph, const struct weft_step_call *call) {
    weft_dtype dtype;
    weft_shape beta;
    WEFT_TRY(weft_graph_get_tensor(graph, call->input[WEFT_STEP_INPUTS], &beta, &dtype));
    const weft_shape expected =
        weft_shape_of(call->shape[0].dim[0], call->shape[0].dim[1], call->heads);
    if (dtype != WEFT_F32 || !weft_shape_equal(beta, expected)) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "%s: beta must be f32 %s, not %s %s",
                         call->op->name, weft_shape_text(expected, text[0]), weft_dtype_name(dtype),
                         weft_shape_text(beta, text[1]));
    }
    return WEFT_OK;
}

weft_status weft_graph_fast_weight_step(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                        weft_tensor k, weft_tensor v, weft_tensor beta,
                                        const weft_step *step,
                                        const weft_fast_weight_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, step);
    struct weft_step_call call = {.op = &weft_op_fast_weight_step,
                                  .step = step,
                                  .input = {q, k, v, {0}, {0}, beta},
                                  .input_count = WEFT_STEP_INPUTS + 1,
                                  .heads = params && params->heads ? params->heads : 1};
    const struct weft_fast_weight_node node = {.heads = call.heads};
    WEFT_TRY(weft_check_step(graph, &call));
    const uint32_t m = call.shape[0].dim[2] / call.heads;
    const uint32_t w = call.shape[2].dim[2] / call.heads;
    WEFT_TRY(check_width(graph, call.op->name, m));
    WEFT_TRY(check_step_beta(graph, &call));
    const double size = (double)m * (m + 2.0 * w) + 2.0 * WEFT_CHUNK * ((double)m + w);
    return weft_add_step(out, graph, &call, call.heads * size, &node, sizeof node);
}

static void lower_step_state(struct weft_lowering *lowering, const struct rule *rule,
                             const struct weft_linear_attention *step) {
    const struct columns columns = columns_of(rule);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, fast_weight_step_state, weft_grid_of_groups(columns.groups),
                   .bind = {.position = step->position, .state = step->state},
                   .push = {.groups = (uint32_t)columns.groups,
                            .features = rule->features,
                            .heads = rule->heads,
                            .values = rule->values,
                            .stride = step->stride,
                            .column_blocks = columns.blocks},
                   .constant = {.column_tiles = columns.tiles});
    double products = rows_of(rule) * rule->features * rule->values; /* once in a chunk */
    dispatch->flops = 2.0 * products * rule->features / WEFT_CHUNK;
    dispatch->bytes = 4.0 * products * (columns.blocks + 2.0) / WEFT_CHUNK;
}

static void lower_step_read(struct weft_lowering *lowering, const struct rule *rule,
                            const struct weft_linear_attention *step) {
    const uint64_t groups = (uint64_t)rule->batch * rule->heads;
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, fast_weight_step, weft_grid_of_groups(groups),
                   .bind = {.queries = rule->q,
                            .keys = rule->k,
                            .values = rule->v,
                            .beta = rule->beta,
                            .position = step->position,
                            .state = step->state,
                            .result = step->result},
                   .push = {.groups = (uint32_t)groups,
                            .features = rule->features,
                            .heads = rule->heads,
                            .values = rule->values,
                            .stride = step->stride});
    double elements = rows_of(rule) * (2.0 * rule->features * rule->values +
                                       WEFT_CHUNK * (3.0 * rule->features + 2.0 * rule->values));
    dispatch->flops = 2.0 * elements;
    dispatch->bytes = 4.0 * elements;
}

static void lower_step_sums(struct weft_lowering *lowering, const struct rule *rule,
                            const struct weft_linear_attention *step) {
    const uint64_t heads = (uint64_t)rule->batch * rule->heads;
    const uint64_t items = heads * rule->features * ((uint64_t)rule->features + rule->values);
    const uint32_t columns = rule->features > rule->values ? rule->features : rule->values;
    const bool by_rows = weft_lower_by_rows(lowering, columns);
    const uint64_t blocks = (rule->features - 1) / WEFT_FAST_WEIGHT_STEP_SUMS_ROW_FEATURES + 1;
    const uint64_t count = by_rows ? heads * blocks : items;
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, fast_weight_step_sums,
                   by_rows ? weft_grid_of_rows(count, columns) : weft_grid_of_items(count),
                   .bind = {.position = step->position, .state = step->state},
                   .push = {.count = (uint32_t)count,
                            .heads = rule->heads,
                            .features = rule->features,
                            .values = rule->values,
                            .stride = step->stride,
                            WEFT_INVERSE(features, rule->features),
                            WEFT_INVERSE(values, rule->values),
                            WEFT_INVERSE(size, (uint32_t)(items / heads))},
                   .constant = {.by_rows = by_rows});
    dispatch->flops = 2.0 * (double)items;
    dispatch->bytes = 8.0 * (double)items;
}

static weft_status step_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_linear_attention step = attention_of(lowering, node);
    const struct rule rule = lower_rule(lowering, node, &step, WEFT_STEP_INPUTS);
    if (!step.is_step) {
        lower_sequence(lowering, &rule, step);
        return weft_lower_status(lowering);
    }
    lower_step_state(lowering, &rule, &step);
    lower_step_read(lowering, &rule, &step);
    lower_step_sums(lowering, &rule, &step);
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_fast_weight_step = {
    .name = "fast_weight_step",
    .min_inputs = WEFT_STEP_INPUTS + 1,
    .max_inputs = WEFT_STEP_INPUTS + 1,
    .params_size = sizeof(struct weft_fast_weight_node),
    .fields = fast_weight_fields,
    .state_input = WEFT_STEP_STATE,
    .infer = weft_step_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "step", .lower = step_lower}),
};
