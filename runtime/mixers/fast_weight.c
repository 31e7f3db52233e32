/* SPDX-License-Identifier: MIT */
/*
 * The fast-weight far field, S_i = S_{i-1} + β_i (v_i - S_{i-1} k_i) k_iᵀ, in chunks. What the tokens of a chunk write
 * is U - W S with S the state at its start and U, W independent of it (Yang et al., "Parallelizing linear transformers
 * with the delta rule over sequence length", 2024, section 3.2): only the states go from chunk to chunk.
 */
#include <stdio.h>

#include <weft/mixers.h>

#include "mixers/linear_attention.h"
#include "mixers/qkv.h"
#include "mixers/step.h"

struct weft_fast_weight_node {
    uint32_t heads;
};

#define MAX_FEATURES 512 /* a workgroup of fast_weight/scan holds four columns of the state */

weft_status weft_graph_fast_weight(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                   weft_tensor k, weft_tensor v, weft_tensor beta,
                                   const weft_fast_weight_params *params) {
    struct weft_fast_weight_node node = {.heads = params && params->heads ? params->heads : 1};
    weft_tensor inputs[] = {q, k, v, beta};
    return weft_graph_add(out, graph, &weft_op_fast_weight, inputs, 4, &node, sizeof node);
}

static weft_status check_width(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_fast_weight_node *params = (const void *)node->params.bytes;
    const weft_shape *q = weft_node_shape(graph, node, 0);
    if (q->dim[2] / params->heads > MAX_FEATURES) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED,
                         "fast_weight: heads of %u channels of q and k are wider than %u",
                         q->dim[2] / params->heads, MAX_FEATURES);
    }
    return weft_expect_shape(graph, node, 3, "beta",
                             weft_shape_of(q->dim[0], q->dim[1], params->heads));
}

static weft_status fast_weight_infer(const weft_graph *graph, struct weft_node *node,
                                     weft_dtype *dtype, weft_shape *shape) {
    const struct weft_fast_weight_node *params = (const void *)node->params.bytes;
    weft_shape qkv[3];
    weft_status status = weft_check_node_qkv(qkv, graph, node, true);
    if (status == WEFT_OK) {
        status = weft_check_heads(graph, "fast_weight", params->heads, qkv);
    }
    if (status != WEFT_OK) {
        return status;
    }
    *dtype = WEFT_F32;
    *shape = weft_shape_of(qkv[0].dim[0], qkv[0].dim[1], qkv[2].dim[2]);
    return check_width(graph, node);
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

static double rows_of(const struct rule *rule) {
    return (double)rule->batch * rule->heads * rule->n;
}

static uint32_t lower_normalized(struct weft_lowering *lowering, const struct rule *rule,
                                 uint32_t x) {
    uint64_t rows = (uint64_t)rule->batch * rule->n * rule->heads;
    uint32_t result = weft_lower_scratch(lowering, rows * rule->features * sizeof(float));
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "fast_weight/normalize");
    weft_dispatch_read(dispatch, x);
    weft_dispatch_write(dispatch, result);
    weft_dispatch_items(dispatch, rows);
    weft_dispatch_push_u32(dispatch, rule->features);
    dispatch->flops = 40.0 * (double)rows * rule->features;
    dispatch->bytes = 8.0 * (double)rows * rule->features;
    return result;
}

static void lower_solve(struct weft_lowering *lowering, struct rule *rule) {
    uint64_t rows = (uint64_t)rule->batch * rule->n * rule->heads;
    rule->w = weft_lower_scratch(lowering, rows * rule->features * sizeof(float));
    rule->u = weft_lower_scratch(lowering, rows * rule->values * sizeof(float));
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "fast_weight/solve");
    weft_dispatch_read(dispatch, rule->k);
    weft_dispatch_read(dispatch, rule->v);
    weft_dispatch_read(dispatch, rule->beta);
    weft_dispatch_write(dispatch, rule->w);
    weft_dispatch_write(dispatch, rule->u);
    weft_dispatch_specialize(dispatch, weft_whole_fours(rule->features));
    uint64_t groups = (uint64_t)rule->batch * rule->heads * rule->chunks;
    weft_dispatch_rows(dispatch, (struct weft_rows){.rows = groups, .columns = rule->n});
    weft_dispatch_push_u32(dispatch, rule->heads);
    weft_dispatch_push_u32(dispatch, rule->features);
    weft_dispatch_push_u32(dispatch, rule->values);
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

/** Fours of columns of a state that a workgroup holds. */
static uint32_t column_tiles_of(const struct rule *rule) {
    return rule->features <= 128 ? 4 : rule->features <= 256 ? 2 : 1;
}

static void lower_scan(struct weft_lowering *lowering, const struct rule *rule, uint32_t g,
                       uint32_t state) {
    uint32_t column_tiles = column_tiles_of(rule);
    uint32_t column_blocks = (rule->values - 1) / (4 * column_tiles) + 1;
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "fast_weight/scan");
    weft_dispatch_read(dispatch, g);
    weft_dispatch_write(dispatch, state);
    weft_dispatch_specialize(dispatch, column_tiles);
    weft_dispatch_specialize(dispatch, weft_whole_fours(rule->features));
    uint64_t groups = (uint64_t)rule->batch * rule->heads * column_blocks;
    weft_dispatch_rows(dispatch, (struct weft_rows){.rows = groups, .columns = rule->features});
    weft_dispatch_push_u32(dispatch, rule->values);
    weft_dispatch_push_u32(dispatch, rule->chunks);
    weft_dispatch_push_u32(dispatch, column_blocks);
    double parts = (double)rule->batch * rule->heads * rule->chunks;
    dispatch->flops = 2.0 * parts * rule->features * rule->features * rule->values;
    dispatch->bytes = 4.0 * parts * rule->features *
                      ((double)rule->features * column_blocks + 2.0 * rule->values);
}

static void lower_update(struct weft_lowering *lowering, const struct rule *rule, uint32_t state) {
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "fast_weight/update");
    weft_dispatch_read(dispatch, rule->w);
    weft_dispatch_read(dispatch, state);
    weft_dispatch_write(dispatch, rule->u);
    weft_dispatch_specialize(dispatch, weft_whole_fours(rule->features));
    weft_dispatch_specialize(dispatch, weft_whole_fours(rule->values));
    uint64_t tiles = (uint64_t)rule->batch * rule->heads * ((rule->n - 1) / 8 + 1) *
                     ((rule->values - 1) / 4 + 1);
    weft_dispatch_items(dispatch, tiles);
    weft_dispatch_push_u32(dispatch, rule->n);
    weft_dispatch_push_u32(dispatch, rule->heads);
    weft_dispatch_push_u32(dispatch, rule->features);
    weft_dispatch_push_u32(dispatch, rule->values);
    weft_dispatch_push_u32(dispatch, rule->chunks);
    dispatch->flops = 2.0 * rows_of(rule) * rule->features * rule->values;
    dispatch->bytes = 4.0 * rows_of(rule) * (rule->features + 2.0 * rule->values);
}

/** The states at the chunks' starts, and U as they make it. */
static uint32_t lower_chunks(struct weft_lowering *lowering, const struct rule *rule) {
    uint32_t g = lower_states(lowering, rule, rule->w, rule->k, rule->features);
    uint32_t state = lower_states(lowering, rule, rule->k, rule->u, rule->values);
    lower_scan(lowering, rule, g, state);
    lower_update(lowering, rule, state);
    return state;
}

static weft_status fast_weight_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_fast_weight_node *params = (const void *)node->params.bytes;
    const weft_shape *q = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *v = weft_node_shape(lowering->graph, node, 2);
    struct rule rule = {.v = weft_lower_value(lowering, node->input[2]),
                        .beta = weft_lower_value(lowering, node->input[3]),
                        .batch = q->dim[0],
                        .heads = params->heads,
                        .n = q->dim[1],
                        .features = q->dim[2] / params->heads,
                        .values = v->dim[2] / params->heads,
                        .chunks = weft_chunk_count(q->dim[1], WEFT_CHUNK)};
    rule.q = lower_normalized(lowering, &rule, weft_lower_value(lowering, node->input[0]));
    rule.k = lower_normalized(lowering, &rule, weft_lower_value(lowering, node->input[1]));
    lower_solve(lowering, &rule);
    struct weft_linear_attention attention = {.q = rule.q,
                                              .k = rule.k,
                                              .v = rule.u,
                                              .result = weft_lower_value(lowering, node->output),
                                              .batch = rule.batch,
                                              .heads = rule.heads,
                                              .n = rule.n,
                                              .keys = rule.n,
                                              .features = rule.features,
                                              .values = rule.values,
                                              .causal = true,
                                              .epsilon = WEFT_LEAST_DENOMINATOR,
                                              .weight = 1.0F};
    struct weft_chunk_apply apply = {
        .attention = &attention, .state_chunks = rule.chunks, .has_state = rule.chunks > 1};
    if (apply.has_state) {
        apply.state = lower_chunks(lowering, &rule);
    }
    weft_lower_chunk_apply(lowering, &apply);
    return weft_lower_status(lowering);
}

static void fast_weight_describe(const struct weft_node *node, char *text, size_t size) {
    const struct weft_fast_weight_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "[%u heads]", params->heads);
}

const struct weft_op weft_op_fast_weight = {
    .name = "fast_weight",
    .min_inputs = 4,
    .max_inputs = 4,
    .params_size = sizeof(struct weft_fast_weight_node),
    .infer = fast_weight_infer,
    .describe = fast_weight_describe,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "chunks", .lower = fast_weight_lower}),
};

/* ---- one token at a time ---- */

static weft_status check_step_width(const weft_graph *graph, const struct weft_step_call *call) {
    const uint32_t width = call->shape[0].dim[2] / call->heads;
    if (width > MAX_FEATURES) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED,
                         "%s: heads of %u channels of q and k are wider than %u", call->op->name,
                         width, MAX_FEATURES);
    }
    weft_dtype dtype;
    weft_shape beta;
    const weft_status status =
        weft_graph_get_tensor(graph, call->input[WEFT_STEP_INPUTS], &beta, &dtype);
    if (status != WEFT_OK) {
        return status;
    }
    const weft_shape expected = weft_shape_of(call->shape[0].dim[0], 1, call->heads);
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
    if (!out || !graph) {
        return weft_graph_missing(graph, "weft_graph_fast_weight_step");
    }
    struct weft_step_call call = {.op = &weft_op_fast_weight_step,
                                  .step = step,
                                  .input = {q, k, v, {0}, {0}, beta},
                                  .input_count = WEFT_STEP_INPUTS + 1,
                                  .heads = params && params->heads ? params->heads : 1};
    const struct weft_fast_weight_node node = {.heads = call.heads};
    weft_status status = weft_check_step(graph, &call);
    if (status == WEFT_OK) {
        status = check_step_width(graph, &call);
    }
    if (status != WEFT_OK) {
        return status;
    }
    const uint32_t m = call.shape[0].dim[2] / call.heads;
    const uint32_t w = call.shape[2].dim[2] / call.heads;
    const double size = (double)m * (m + 2.0 * w) + 2.0 * WEFT_CHUNK * ((double)m + w);
    return weft_add_step(out, graph, &call, call.heads * size, &node, sizeof node);
}

/** What a step has beside a rule with n = 1. */
struct rule_step {
    struct rule rule;
    uint32_t position, state, result;
    uint32_t stride; /* elements of the state of a sequence */
};

static void lower_step_state(struct weft_lowering *lowering, const struct rule_step *step) {
    const struct rule *rule = &step->rule;
    uint32_t column_tiles = column_tiles_of(rule);
    uint32_t column_blocks = (rule->values - 1) / (4 * column_tiles) + 1;
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "fast_weight/step_state");
    weft_dispatch_read(dispatch, step->position);
    weft_dispatch_write(dispatch, step->state);
    weft_dispatch_specialize(dispatch, column_tiles);
    uint64_t groups = (uint64_t)rule->batch * rule->heads * column_blocks;
    weft_dispatch_rows(dispatch, (struct weft_rows){.rows = groups, .columns = rule->features});
    weft_dispatch_push_u32(dispatch, rule->heads);
    weft_dispatch_push_u32(dispatch, rule->values);
    weft_dispatch_push_u32(dispatch, step->stride);
    weft_dispatch_push_u32(dispatch, column_blocks);
    double products = rows_of(rule) * rule->features * rule->values; /* once in a chunk */
    dispatch->flops = 2.0 * products * rule->features / WEFT_CHUNK;
    dispatch->bytes = 4.0 * products * (column_blocks + 2.0) / WEFT_CHUNK;
}

static void lower_step_read(struct weft_lowering *lowering, const struct rule_step *step) {
    const struct rule *rule = &step->rule;
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "fast_weight/step");
    const uint32_t reads[] = {rule->q, rule->k, rule->v, rule->beta, step->position};
    for (uint32_t i = 0; i < 5; i++) {
        weft_dispatch_read(dispatch, reads[i]);
    }
    weft_dispatch_write(dispatch, step->state);
    weft_dispatch_write(dispatch, step->result);
    uint64_t groups = (uint64_t)rule->batch * rule->heads;
    weft_dispatch_rows(dispatch, (struct weft_rows){.rows = groups, .columns = rule->features});
    weft_dispatch_push_u32(dispatch, rule->heads);
    weft_dispatch_push_u32(dispatch, rule->values);
    weft_dispatch_push_u32(dispatch, step->stride);
    double elements = rows_of(rule) * (2.0 * rule->features * rule->values +
                                       WEFT_CHUNK * (3.0 * rule->features + 2.0 * rule->values));
    dispatch->flops = 2.0 * elements;
    dispatch->bytes = 4.0 * elements;
}

static void lower_step_sums(struct weft_lowering *lowering, const struct rule_step *step) {
    const struct rule *rule = &step->rule;
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "fast_weight/step_sums");
    weft_dispatch_read(dispatch, step->position);
    weft_dispatch_write(dispatch, step->state);
    uint64_t count = (uint64_t)rule->batch * rule->heads * rule->features *
                     ((uint64_t)rule->features + rule->values);
    weft_dispatch_items(dispatch, count);
    weft_dispatch_push_u32(dispatch, rule->heads);
    weft_dispatch_push_u32(dispatch, rule->features);
    weft_dispatch_push_u32(dispatch, rule->values);
    weft_dispatch_push_u32(dispatch, step->stride);
    dispatch->flops = 2.0 * (double)count;
    dispatch->bytes = 8.0 * (double)count;
}

static weft_status step_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_fast_weight_node *params = (const void *)node->params.bytes;
    const weft_shape *q = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *v = weft_node_shape(lowering->graph, node, 2);
    struct rule_step step = {
        .rule = {.v = weft_lower_value(lowering, node->input[2]),
                 .beta = weft_lower_value(lowering, node->input[WEFT_STEP_INPUTS]),
                 .batch = q->dim[0],
                 .heads = params->heads,
                 .n = 1,
                 .features = q->dim[2] / params->heads,
                 .values = v->dim[2] / params->heads,
                 .chunks = 1},
        .position = weft_lower_value(lowering, node->input[WEFT_STEP_POSITION]),
        .state = weft_lower_value(lowering, node->input[WEFT_STEP_STATE]),
        .result = weft_lower_value(lowering, node->output),
        .stride = weft_node_shape(lowering->graph, node, WEFT_STEP_STATE)->dim[1]};
    struct rule *rule = &step.rule;
    rule->q = lower_normalized(lowering, rule, weft_lower_value(lowering, node->input[0]));
    rule->k = lower_normalized(lowering, rule, weft_lower_value(lowering, node->input[1]));
    lower_step_state(lowering, &step);
    lower_step_read(lowering, &step);
    lower_step_sums(lowering, &step);
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_fast_weight_step = {
    .name = "fast_weight_step",
    .min_inputs = WEFT_STEP_INPUTS + 1,
    .max_inputs = WEFT_STEP_INPUTS + 1,
    .params_size = sizeof(struct weft_fast_weight_node),
    .state_input = WEFT_STEP_STATE,
    .infer = weft_step_infer,
    .describe = fast_weight_describe,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "step", .lower = step_lower}),
};
