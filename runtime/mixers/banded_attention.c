/* SPDX-License-Identifier: MIT */
/* FMMformer's near field: softmax attention within a band, chunk by chunk, with no memory but the result's. */
#include <assert.h>
#include <math.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/banded_attention/half_prompt.h"
#include "kernels/banded_attention/half_step.h"
#include "kernels/banded_attention/half_step_lanes.h"
#include "kernels/banded_attention/half_step_unrolled.h"
#include "kernels/banded_attention/prompt.h"
#include "kernels/banded_attention/step.h"
#include "kernels/banded_attention/step_lanes.h"
#include "kernels/banded_attention/step_unrolled.h"
#include "lower/divisor.h"
#include "mixers/band.h"
#include "mixers/qkv.h"
#include "mixers/step.h"
#include "ops/row.h"

#define LENGTHS    3 /* inputs, behind q, k and v */
#define SINKS      4
#define STEP_SINKS WEFT_STEP_INPUTS

static struct weft_band node_of(const weft_banded_attention_params *params) {
    struct weft_band node = {.heads = 1};
    if (params) {
        node.heads = params->heads ? params->heads : 1;
        node.kv_heads = params->kv_heads;
        node.half_width = params->half_width;
        node.causal = params->causal;
        node.scale = params->scale;
        node.f16 = params->f16;
    }
    return node;
}

weft_status weft_graph_banded_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                        weft_tensor k, weft_tensor v,
                                        const weft_banded_attention_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_band node = node_of(params);
    const weft_tensor none = {0};
    weft_tensor inputs[] = {q, k, v, params ? params->lengths : none,
                            params ? params->sinks : none};
    return weft_graph_add(out, graph, &weft_op_banded_attention, inputs, SINKS + 1, &node,
                          sizeof node);
}

/* ---- shapes ---- */

static weft_status take_scale(const weft_graph *graph, struct weft_band *params, uint32_t width) {
    if (!isfinite(params->scale)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "banded_attention: scale %g must be finite", (double)params->scale);
    }
    if (params->scale == 0.0F) {
        params->scale = (float)(1.0 / sqrt((double)width));
    }
    return WEFT_OK;
}

static weft_status check_params(const weft_graph *graph, struct weft_node *node) {
    struct weft_band *params = (void *)node->params.bytes;
    const weft_shape *q = weft_node_shape(graph, node, 0);
    uint32_t n = q->dim[1];
    uint32_t d = q->dim[2];
    if (params->heads > d || d % params->heads != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "banded_attention: heads %u must be in 1 … %u and divide the %u channels",
                         params->heads, d, d);
    }
    if (params->half_width >= n) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "banded_attention: half_width %u must be in 0 … %u: a sequence of %u "
                         "tokens has no wider band",
                         params->half_width, n - 1, n);
    }
    return take_scale(graph, params, d / params->heads);
}

static weft_status banded_attention_infer(const weft_graph *graph, struct weft_node *node,
                                          weft_dtype *dtype, weft_shape *shape) {
    struct weft_band *params = (void *)node->params.bytes;
    const weft_tensor tensor[] = {{node->input[0]}, {node->input[1]}, {node->input[2]}};
    weft_shape qkv[3];
    WEFT_TRY(weft_check_grouped(qkv, graph, node->op->name, tensor, params->heads, params->kv_heads,
                                true));
    *dtype = WEFT_F32;
    *shape = qkv[0];
    WEFT_TRY(check_params(graph, node));
    return weft_check_sinks(graph, node, SINKS, params->heads);
}

static weft_status banded_attention_lower(struct weft_lowering *lowering,
                                          const struct weft_node *node) {
    weft_lower_band(lowering, node, (const void *)node->params.bytes,
                    weft_lower_input(lowering, node, SINKS));
    return weft_lower_status(lowering);
}

static const struct weft_member banded_attention_fields[] = {
    WEFT_FIELD(weft_band, heads, COUNT),
    WEFT_FIELD(weft_band, half_width, U32),
    WEFT_FIELD(weft_band, causal, BOOL),
    WEFT_FIELD(weft_band, scale, F32),
    WEFT_FIELD_OPTIONAL(weft_band, kv_heads, U32),
    WEFT_FIELD(weft_band, f16, BOOL),
    {.name = NULL}};

const struct weft_op weft_op_banded_attention = {
    .name = "banded_attention",
    .min_inputs = 3,
    .max_inputs = SINKS + 1,
    .lengths = {{.input = LENGTHS, .of = 1}},
    .params_size = sizeof(struct weft_band),
    .fields = banded_attention_fields,
    .infer = banded_attention_infer,
    .cuts = WEFT_CUTS({.inputs = 7 | 1 << LENGTHS, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "band", .lower = banded_attention_lower}),
};

/* ---- one token at a time ---- */

#define HALF_TILE 16 /* rows: WEFT_HALF_TILE of shaders/include/half_ring.glsl */

/* Words of a row of f16. */
static uint32_t pairs_of(uint32_t width) {
    return (width + 1) / 2;
}

/* Of a state: a ring of keys and one of values for each head. */
static struct weft_state_rings rings_of(const struct weft_band *band, uint32_t kv_heads,
                                        uint32_t width) {
    const uint32_t rows = band->half_width + 1;
    return (struct weft_state_rings){
        .count = 2 * kv_heads,
        .rows = band->f16 ? band->half_width / HALF_TILE * HALF_TILE + HALF_TILE : rows,
        .width = width,
        .halves = band->f16};
}

static double elements_of(const struct weft_state_rings *rings) {
    const double row = rings->halves ? 2.0 * pairs_of(rings->width) : rings->width;
    return row * rings->rows * rings->count;
}

weft_status weft_graph_banded_attention_step(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                             weft_tensor k, weft_tensor v, const weft_step *step,
                                             const weft_banded_attention_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, step);
    struct weft_band node = node_of(params);
    struct weft_step_call call = {
        .op = &weft_op_banded_attention_step,
        .step = step,
        .input = {q, k, v, [STEP_SINKS] = params ? params->sinks : (weft_tensor){0}},
        .input_count = STEP_SINKS + 1,
        .heads = node.heads,
        .kv_heads = weft_kv_heads(node.kv_heads, node.heads),
        .lengths = params ? params->lengths : (weft_tensor){0}};
    WEFT_TRY(weft_check_step(graph, &call));
    WEFT_TRY(take_scale(graph, &node, call.shape[0].dim[2] / node.heads));
    call.rings = rings_of(&node, call.kv_heads, call.shape[1].dim[2] / call.kv_heads);
    return weft_add_step(out, graph, &call, elements_of(&call.rings), &node, sizeof node);
}

/* q's shape: v may have fewer heads. */
static weft_status step_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                              weft_shape *shape) {
    const struct weft_band *params = (const void *)node->params.bytes;
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    return weft_check_sinks(graph, node, STEP_SINKS, params->heads);
}

/** Leaves the last `kept` tokens of each sequence [n, heads · width] in the state. */
static void lower_half_ring(struct weft_lowering *lowering, const struct weft_node *node,
                            uint32_t kept) {
    const struct weft_band *params = (const void *)node->params.bytes;
    const weft_shape *k = weft_node_shape(lowering->graph, node, 1);
    const uint32_t kv_heads = weft_kv_heads(params->kv_heads, params->heads);
    const uint32_t width = k->dim[2] / kv_heads;
    const uint32_t words = kv_heads * pairs_of(width);
    const uint64_t count = (uint64_t)k->dim[0] * kept * words;
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, banded_attention_half_prompt, weft_grid_of_items(count),
                   .bind = {.k = weft_lower_value(lowering, node->input[1]),
                            .v = weft_lower_value(lowering, node->input[2]),
                            .position = weft_lower_value(lowering, node->input[WEFT_STEP_POSITION]),
                            .state = weft_lower_value(lowering, node->input[WEFT_STEP_STATE])},
                   .push = {.count = (uint32_t)count,
                            .n = k->dim[1],
                            .words = words,
                            .kept = kept,
                            .before = params->half_width,
                            .width = width,
                            WEFT_INVERSE(words, words),
                            WEFT_INVERSE(kept, kept),
                            WEFT_INVERSE(pairs, pairs_of(width))});
    dispatch->bytes = 24.0 * (double)count;
}

/** The tokens that sequences begin with: the causal op, and the state that steps of all of them would leave behind. */
static weft_status prompt_lower(struct weft_lowering *lowering, const struct weft_node *node,
                                const weft_shape *shape) {
    struct weft_band params = *(const struct weft_band *)(const void *)node->params.bytes;
    const uint32_t n = shape->dim[1];
    const uint32_t width = shape->dim[2] / params.heads;
    const uint32_t d = width * weft_kv_heads(params.kv_heads, params.heads); /* of k and v */
    const uint32_t before = params.half_width;
    const uint32_t kept = before < n ? before + 1 : n;
    params.causal = true;
    params.half_width = before < n ? before : n - 1;
    weft_lower_band(lowering, node, &params, weft_lower_input(lowering, node, STEP_SINKS));
    const uint64_t count = (uint64_t)shape->dim[0] * kept * d;
    if (params.f16) {
        lower_half_ring(lowering, node, kept);
        return weft_lower_status(lowering);
    }
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, banded_attention_prompt, weft_grid_of_items(count),
                   .bind = {.k = weft_lower_value(lowering, node->input[1]),
                            .v = weft_lower_value(lowering, node->input[2]),
                            .position = weft_lower_value(lowering, node->input[WEFT_STEP_POSITION]),
                            .state = weft_lower_value(lowering, node->input[WEFT_STEP_STATE])},
                   .push = {.count = (uint32_t)count,
                            .n = n,
                            .d = d,
                            .kept = kept,
                            .before = before,
                            .width = width,
                            WEFT_INVERSE(d, d),
                            WEFT_INVERSE(kept, kept),
                            WEFT_INVERSE(width, width)});
    dispatch->bytes = 16.0 * (double)count;
    return weft_lower_status(lowering);
}

/* A workgroup for the queries of a head of keys, or for as many as there are lanes. */
static struct weft_grid step_lanes_grid(const struct weft_variant *variant, const void *args,
                                        uint32_t batches) {
    const struct weft_banded_attention_step_args *step = args;
    const uint32_t lanes =
        weft_variant_tile(variant, WEFT_BANDED_ATTENTION_STEP_LANES_AT_TILE_LANES);
    (void)batches;
    return weft_grid_of_groups((uint64_t)(step->push.groups / step->push.group) *
                               ((step->push.group - 1) / lanes + 1));
}

/* Drivers in software execute what is unrolled for invocations without work, too. */
WEFT_VARIANTS(band_step, "banded_attention/step",
              {.name = "loops",
               .shader = &weft_shader_banded_attention_step,
               .grid = weft_grid_of_first_groups,
               .cost = {.hardware = 3.0F, .processor = 8.0F}},
              {.name = "unrolled",
               .shader = &weft_shader_banded_attention_step_unrolled,
               .grid = weft_grid_of_first_groups,
               .needs = WEFT_NEEDS_REGISTERS(weft_has_over_64_registers),
               .cost = {.software = 3.0F, .processor = 16.0F}},
              WEFT_LANES_ROWS(banded_attention_step_lanes, step_lanes_grid, 1))

/* A workgroup for the queries of a head of keys, or for as many as it has room for. */
static struct weft_grid half_lanes_grid(const struct weft_variant *variant, const void *args,
                                        uint32_t batches) {
    const struct weft_banded_attention_half_step_args *step = args;
    (void)variant, (void)batches;
    return weft_grid_of_groups(
        (uint64_t)(step->push.groups / step->push.group) *
        ((step->push.group - 1) / WEFT_BANDED_ATTENTION_HALF_STEP_LANES_QUERIES + 1));
}

/* The same with keys and values of 16 bits. */
WEFT_VARIANTS(band_half_step, "banded_attention/half_step",
              {.name = "loops",
               .shader = &weft_shader_banded_attention_half_step,
               .grid = weft_grid_of_first_groups,
               .cost = {.hardware = 3.0F, .processor = 8.0F}},
              {.name = "unrolled",
               .shader = &weft_shader_banded_attention_half_step_unrolled,
               .grid = weft_grid_of_first_groups,
               .needs = WEFT_NEEDS_REGISTERS(weft_has_over_64_registers),
               .cost = {.software = 3.0F, .processor = 16.0F}},
              WEFT_LANES_ROWS(banded_attention_half_step_lanes, half_lanes_grid, 1))

/* The args of both sets of kernels. */
#define STEP_ARGS                                                                     \
    .bind = {.q = storages[0],                                                        \
             .k = storages[1],                                                        \
             .v = storages[2],                                                        \
             .position = storages[WEFT_STEP_POSITION],                                \
             .state = storages[WEFT_STEP_STATE],                                      \
             .result = result,                                                        \
             .sinks = sinks},                                                         \
    .push = {.groups = (uint32_t)heads,                                               \
             .width = width,                                                          \
             .heads = params->heads,                                                  \
             .group = params->heads / weft_kv_heads(params->kv_heads, params->heads), \
             .before = params->half_width,                                            \
             .scale = params->scale},                                                 \
    .constant = {.vector = width % 4 == 0, .has_sinks = sinks != WEFT_NO_STORAGE}

static weft_status step_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_band *params = (const void *)node->params.bytes;
    const weft_shape *shape = weft_node_shape(lowering->graph, node, 0);
    if (shape->dim[1] > 1) {
        return prompt_lower(lowering, node, shape);
    }
    const uint32_t width = shape->dim[2] / params->heads;
    const uint64_t heads = (uint64_t)shape->dim[0] * params->heads;
    uint32_t storages[WEFT_STEP_INPUTS];
    for (uint32_t i = 0; i < WEFT_STEP_INPUTS; i++) {
        storages[i] = weft_lower_value(lowering, node->input[i]);
    }
    const uint32_t sinks = weft_lower_input(lowering, node, STEP_SINKS);
    const uint32_t result = weft_lower_value(lowering, node->output);
    struct weft_dispatch *dispatch =
        params->f16 ? WEFT_LOWER_VARIANTS(lowering, &weft_band_half_step_variants, 1,
                                          banded_attention_half_step, STEP_ARGS)
                    : WEFT_LOWER_VARIANTS(lowering, &weft_band_step_variants, 1,
                                          banded_attention_step, STEP_ARGS);
    const double pairs = (double)heads * (params->half_width + 1.0);
    dispatch->flops = pairs * (4.0 * width + 20.0);
    dispatch->bytes = (params->f16 ? 4.0 : 8.0) * pairs * width;
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_banded_attention_step = {
    .name = "banded_attention_step",
    .min_inputs = WEFT_STEP_INPUTS,
    .max_inputs = STEP_SINKS + 1,
    .params_size = sizeof(struct weft_band),
    .fields = banded_attention_fields,
    .takes_packed = true, /* the state: weft_check_step sees to the others */
    .state_input = WEFT_STEP_STATE,
    .infer = step_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "step", .lower = step_lower}),
};
