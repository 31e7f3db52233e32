/* SPDX-License-Identifier: MIT */
/* Softmax attention through its n × n scores, the baseline that the other mixers are compared with; causal, without them. */
#include <math.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/attention/repeat.h"
#include "lower/cut.h"
#include "lower/divisor.h"
#include "mixers/band.h"
#include "mixers/one_pass.h"
#include "mixers/qkv.h"
#include "ops/binary.h"
#include "ops/mask.h"
#include "ops/matmul.h"
#include "ops/softmax.h"

enum { LENGTHS = 3, BIAS = 4, SINKS = 5, INPUTS = 6 };

struct weft_attention_node {
    uint32_t heads;
    uint32_t kv_heads; /* of k and v; divides heads; 0: heads */
    uint32_t causal;
    float scale;
};

weft_status weft_graph_attention(weft_tensor *out, weft_graph *graph, weft_tensor q, weft_tensor k,
                                 weft_tensor v, const weft_attention_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_attention_node node = {.heads = params && params->heads ? params->heads : 1,
                                       .kv_heads = params ? params->kv_heads : 0,
                                       .causal = params && params->causal,
                                       .scale = params ? params->scale : 0.0F};
    const weft_tensor none = {0};
    const weft_tensor inputs[INPUTS] = {q,
                                        k,
                                        v,
                                        params ? params->lengths : none,
                                        params ? params->bias : none,
                                        params ? params->sinks : none};
    return weft_graph_add(out, graph, &weft_op_attention, inputs, INPUTS, &node, sizeof node);
}

static weft_status check_heads(const weft_graph *graph, struct weft_node *node) {
    struct weft_attention_node *params = (void *)node->params.bytes;
    uint32_t d = weft_node_shape(graph, node, 0)->dim[2];
    if (d % params->heads != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "attention: %u heads do not divide %u channels", params->heads, d);
    }
    if (!isfinite(params->scale)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "attention: scale %g must be finite",
                         (double)params->scale);
    }
    if (params->scale == 0.0F) {
        uint32_t head_size = d / params->heads;
        params->scale = (float)(1.0 / sqrt((double)head_size));
    }
    return WEFT_OK;
}

/* [n, m], [heads, n, m] or [B, heads, n, m]. */
static weft_status check_bias(const weft_graph *graph, const struct weft_node *node) {
    if (!weft_node_has_input(node, BIAS)) {
        return WEFT_OK;
    }
    const struct weft_attention_node *params = (const void *)node->params.bytes;
    const weft_shape *q = weft_node_shape(graph, node, 0);
    const uint32_t m = weft_node_shape(graph, node, 1)->dim[1];
    const weft_shape wanted[] = {weft_shape_of(q->dim[1], m),
                                 weft_shape_of(params->heads, q->dim[1], m),
                                 weft_shape_of(q->dim[0], params->heads, q->dim[1], m)};
    const weft_shape found = *weft_node_shape(graph, node, BIAS);
    WEFT_TRY(weft_expect_f32(graph, node, BIAS, "bias"));
    for (uint32_t i = 0; i < 3; i++) {
        if (weft_shape_equal(found, wanted[i])) {
            return WEFT_OK;
        }
    }
    char text[4][WEFT_SHAPE_TEXT_SIZE];
    return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                     "attention: bias must be %s, %s or %s, not %s",
                     weft_shape_text(wanted[0], text[0]), weft_shape_text(wanted[1], text[1]),
                     weft_shape_text(wanted[2], text[2]), weft_shape_text(found, text[3]));
}

/* Causal, chunk by chunk. */
static bool is_band(const struct weft_node *node) {
    const struct weft_attention_node *params = (const void *)node->params.bytes;
    return params->causal && !weft_node_has_input(node, BIAS);
}

static weft_status attention_infer(const weft_graph *graph, struct weft_node *node,
                                   weft_dtype *dtype, weft_shape *shape) {
    struct weft_attention_node *params = (void *)node->params.bytes;
    const weft_tensor tensor[] = {{node->input[0]}, {node->input[1]}, {node->input[2]}};
    weft_shape qkv[3];
    WEFT_TRY(weft_check_grouped(qkv, graph, node->op->name, tensor, params->heads, params->kv_heads,
                                params->causal != 0));
    *dtype = WEFT_F32;
    *shape = qkv[0];
    WEFT_TRY(check_heads(graph, node));
    WEFT_TRY(check_bias(graph, node));
    WEFT_TRY(weft_check_sinks(graph, node, SINKS, params->heads));
    return is_band(node) || !weft_node_has_input(node, SINKS)
               ? WEFT_OK
               : weft_fail(&graph->host, WEFT_UNSUPPORTED,
                           "attention: sinks are of causal attention without a bias");
}

/** A head's [n, d/heads] matrix within activations [B, n, d]. */
static struct weft_matrix head_matrix(uint32_t storage, const weft_shape *shape, uint32_t heads) {
    return (struct weft_matrix){.storage = storage,
                                .outer = shape->dim[1] * shape->dim[2],
                                .inner = shape->dim[2] / heads,
                                .row = shape->dim[2],
                                .column = 1};
}

static struct weft_matrix transposed(struct weft_matrix matrix) {
    uint32_t row = matrix.row;
    matrix.row = matrix.column;
    matrix.column = row;
    return matrix;
}

/* Keys or values with a head for each head of q: x itself where it has those. */
static uint32_t lower_repeated(struct weft_lowering *lowering, const struct weft_node *node,
                               uint32_t x) {
    const struct weft_attention_node *params = (const void *)node->params.bytes;
    const weft_shape *q = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *k = weft_node_shape(lowering->graph, node, 1);
    const uint64_t count = (uint64_t)k->dim[0] * k->dim[1] * q->dim[2];
    if (k->dim[2] == q->dim[2] ||
        !weft_lower_countable(lowering, (double)count, "elements of keys")) {
        return x;
    }
    const uint32_t result = weft_lower_scratch(lowering, count * sizeof(float));
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, attention_repeat, weft_grid_of_items(count), .bind = {.x = x, .result = result},
        .push = {.count = (uint32_t)count,
                 .width = q->dim[2] / params->heads,
                 WEFT_INVERSE(width, q->dim[2] / params->heads),
                 WEFT_INVERSE(shared, q->dim[2] / k->dim[2] * (q->dim[2] / params->heads))});
    dispatch->bytes = 8.0 * (double)count;
    return result;
}

/* Scores [B, heads, n, m] in their place: with the bias, and -infinity behind the lengths of the keys and behind a causal query. */
static void lower_scores(struct weft_lowering *lowering, const struct weft_node *node,
                         uint32_t scores, uint64_t count, uint32_t lengths) {
    const struct weft_attention_node *params = (const void *)node->params.bytes;
    const weft_shape *k = weft_node_shape(lowering->graph, node, 1);
    if (weft_node_has_input(node, BIAS) &&
        weft_lower_countable(lowering, (double)count, "scores")) {
        const struct weft_operands add = {
            .a = scores,
            .b = weft_lower_value(lowering, node->input[BIAS]),
            .result = scores,
            .count = count,
            .b_count = weft_shape_elements(*weft_node_shape(lowering->graph, node, BIAS))};
        weft_lower_binary(lowering, WEFT_BINARY_ADD, &add);
    }
    if (lengths != WEFT_NO_STORAGE || params->causal) {
        const struct weft_masked masked = {.x = scores,
                                           .result = scores,
                                           .lengths = lengths,
                                           .count = count,
                                           .batch = k->dim[0],
                                           .tokens = k->dim[1],
                                           .columns = 1,
                                           .fill = -INFINITY,
                                           .queries = params->causal ? k->dim[1] : 0};
        weft_lower_mask(lowering, &masked);
    }
}

/* The product q kᵀ of all heads. */
static struct weft_product score_product(struct weft_lowering *lowering,
                                         const struct weft_node *node, uint32_t scores) {
    const struct weft_attention_node *params = (const void *)node->params.bytes;
    const weft_shape *q = weft_node_shape(lowering->graph, node, 0);
    const uint32_t heads = params->heads;
    const uint32_t m = weft_node_shape(lowering->graph, node, 1)->dim[1];
    const weft_shape keys = weft_shape_of(q->dim[0], m, q->dim[2]);
    const uint32_t q_storage = weft_lower_value(lowering, node->input[0]);
    const uint32_t k_storage =
        lower_repeated(lowering, node, weft_lower_value(lowering, node->input[1]));
    return (struct weft_product){.a = head_matrix(q_storage, q, heads),
                                 .b = transposed(head_matrix(k_storage, &keys, heads)),
                                 .c = {.storage = scores,
                                       .outer = heads * q->dim[1] * m,
                                       .inner = q->dim[1] * m,
                                       .row = m,
                                       .column = 1},
                                 .m = q->dim[1],
                                 .n = m,
                                 .k = q->dim[2] / heads,
                                 .batches = q->dim[0] * heads,
                                 .inner_count = heads,
                                 .alpha = params->scale,
                                 .bias = WEFT_NO_STORAGE,
                                 .residual = WEFT_NO_STORAGE};
}

static weft_status attention_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_attention_node *params = (const void *)node->params.bytes;
    const weft_shape *q = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *k = weft_node_shape(lowering->graph, node, 1);
    const uint32_t heads = params->heads;
    const uint64_t score_count = (uint64_t)q->dim[0] * heads * q->dim[1] * k->dim[1];
    const uint32_t v_storage = weft_lower_value(lowering, node->input[2]);
    const uint32_t lengths = weft_lower_lengths(lowering, node, LENGTHS);
    const uint32_t scores = weft_lower_scratch(lowering, score_count * sizeof(float));
    const uint32_t result = weft_lower_value(lowering, node->output);
    struct weft_product product = score_product(lowering, node, scores);
    weft_lower_product(lowering, &product);
    lower_scores(lowering, node, scores, score_count, lengths);
    weft_lower_softmax(lowering, scores, scores,
                       (struct weft_rows){.rows = score_count / k->dim[1], .columns = k->dim[1]});
    /* Weight 0 times what stands behind a length could be NaN. */
    const uint32_t values = lower_repeated(
        lowering, node, weft_lower_masked_copy(lowering, v_storage, lengths, k->dim));
    const weft_shape of_values = weft_shape_of(k->dim[0], k->dim[1], q->dim[2]);
    product.a = product.c;
    product.b = head_matrix(values, &of_values, heads);
    product.c = head_matrix(result, q, heads);
    product.n = q->dim[2] / heads;
    product.k = k->dim[1];
    product.alpha = 1.0F;
    weft_lower_product(lowering, &product);
    return weft_lower_status(lowering);
}

static bool scores_support(const weft_graph *graph, const struct weft_node *node,
                           const weft_device_info *device) {
    (void)graph, (void)device;
    return !weft_node_has_input(node, SINKS);
}

/* ---- in one pass, on processors ---- */

static weft_status rows_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_attention_node *params = (const void *)node->params.bytes;
    const weft_shape *q = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *k = weft_node_shape(lowering->graph, node, 1);
    const weft_shape of_values = weft_shape_of(k->dim[0], k->dim[1], q->dim[2]);
    struct weft_one_pass pass = {.heads = params->heads,
                                 .scores = score_product(lowering, node, WEFT_NO_STORAGE),
                                 .lengths = weft_lower_lengths(lowering, node, LENGTHS)};
    pass.values =
        head_matrix(lower_repeated(lowering, node, weft_lower_value(lowering, node->input[2])),
                    &of_values, params->heads);
    pass.result = weft_lower_value(lowering, node->output);
    if (!weft_lower_one_pass(lowering, &pass)) {
        return attention_lower(lowering, node); /* the same bits */
    }
    return weft_lower_status(lowering);
}

/* Fewer queries do not pay for the packing. */
static bool rows_support(const weft_graph *graph, const struct weft_node *node,
                         const weft_device_info *device) {
    enum { LEAST_QUERIES = 16 };
    const struct weft_attention_node *params = (const void *)node->params.bytes;
    (void)device;
    return !params->causal && !weft_node_has_input(node, BIAS) &&
           weft_node_shape(graph, node, 0)->dim[1] >= LEAST_QUERIES;
}

/* ---- causal, chunk by chunk ---- */

static bool band_supports(const weft_graph *graph, const struct weft_node *node,
                          const weft_device_info *device) {
    (void)graph;
    (void)device;
    return is_band(node);
}

static weft_status band_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_attention_node *params = (const void *)node->params.bytes;
    const struct weft_band band = {.heads = params->heads,
                                   .kv_heads = params->kv_heads,
                                   .half_width =
                                       weft_node_shape(lowering->graph, node, 0)->dim[1] - 1,
                                   .causal = true,
                                   .scale = params->scale};
    weft_lower_band(lowering, node, &band, weft_lower_input(lowering, node, SINKS));
    return weft_lower_status(lowering);
}

static const char *attention_choose(const weft_graph *graph, const struct weft_node *node) {
    (void)graph;
    return is_band(node) ? "band" : "scores";
}

/* A bias of each sequence is cut with them, another stays whole; a causal query needs its place among the others. */
static bool attention_lower_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_attention_node *params = (const void *)node->params.bytes;
    const uint32_t by_sequence = 7 | 1 << LENGTHS;
    const bool has_bias = weft_node_has_input(node, BIAS);
    const bool of_each = has_bias && weft_node_shape(lowering->graph, node, BIAS)->rank == 4;
    const uint32_t inputs = of_each ? by_sequence | 1 << BIAS : by_sequence;
    return weft_cut_along(lowering, node,
                          params->causal
                              ? WEFT_CUTS({.inputs = inputs, .axes = 1})
                              : WEFT_CUTS({.inputs = inputs, .axes = 1},
                                          {.inputs = 1, .axes = 2, .one = true, .without = BIAS}));
}

const struct weft_op weft_op_attention = {
    .name = "attention",
    .min_inputs = 3,
    .max_inputs = INPUTS,
    .lengths = {{.input = LENGTHS, .of = 1}},
    .params_size = sizeof(struct weft_attention_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_attention_node, heads, COUNT),
                          WEFT_FIELD(weft_attention_node, scale, F32),
                          WEFT_FIELD(weft_attention_node, causal, BOOL),
                          WEFT_FIELD_OPTIONAL(weft_attention_node, kv_heads, U32)),
    .infer = attention_infer,
    .lower_parts = attention_lower_parts,
    .choose = attention_choose,
    .implementations =
        WEFT_IMPLEMENTATIONS({.name = "scores",
                              .supports = scores_support,
                              .limits = "attention without sinks",
                              .lower = attention_lower},
                             {.name = "rows",
                              .supports = rows_support,
                              .limits = "attention of 16 queries or more, without "
                                        "a bias, not causal",
                              .cost = {.software = 8.0F, .hardware = 16.0F, .processor = 0.4F},
                              .lower = rows_lower},
                             {.name = "band",
                              .bits = 1,
                              .supports = band_supports,
                              .limits = "causal attention without a bias",
                              .lower = band_lower}),
};
