/* SPDX-License-Identifier: MIT */
/*
 * Hybrid random features: projections by w and by the directions, then positive and trigonometric features of each row,
 * once as they are and once for each direction's sign. Inputs: x, w, directions, coefficients.
 */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "ops/matmul.h"

struct hybrid_features_node {
    weft_stabilizer stabilizer;
    uint32_t heads;
    float scale;
    bool keys;
};

weft_status weft_graph_hybrid_features(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                       weft_tensor w, weft_tensor directions,
                                       const weft_hybrid_features_params *params) {
    const weft_hybrid_features_params defaults = {.heads = 1};
    const weft_hybrid_features_params *p = params ? params : &defaults;
    const struct hybrid_features_node node = {.stabilizer = p->stabilizer,
                                              .heads = p->heads ? p->heads : 1,
                                              .scale = p->scale,
                                              .keys = p->keys};
    weft_tensor inputs[] = {x, w, directions, p->coefficients};
    return weft_graph_add(out, graph, &weft_op_hybrid_features, inputs, 4, &node, sizeof node);
}

/* ---- checking ---- */

static weft_status check_numbers(const weft_graph *graph,
                                 const struct hybrid_features_node *params) {
    if ((uint32_t)params->stabilizer >= WEFT_STABILIZER_COUNT) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "hybrid_features: stabilizer %u is not in 0 … %u",
                         (uint32_t)params->stabilizer, WEFT_STABILIZER_COUNT - 1);
    }
    if (!isfinite(params->scale)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "hybrid_features: scale %g must be finite", (double)params->scale);
    }
    return WEFT_OK;
}

static weft_status check_shapes(const weft_graph *graph, struct weft_node *node) {
    struct hybrid_features_node *params = (void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(graph, node, 0);
    const weft_shape w = *weft_node_shape(graph, node, 1);
    const weft_shape directions = *weft_node_shape(graph, node, 2);
    char text[3][WEFT_SHAPE_TEXT_SIZE];
    weft_shape_text(x, text[0]);
    weft_shape_text(w, text[1]);
    weft_shape_text(directions, text[2]);
    if (x.rank != 3 || w.rank != 2 || directions.rank != 2) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "hybrid_features: x %s, w %s and directions %s must be [B, n, d], "
                         "[s, d/heads] and [r, d/heads]",
                         text[0], text[1], text[2]);
    }
    if (x.dim[2] % params->heads != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "hybrid_features: %u heads do not divide %u channels", params->heads,
                         x.dim[2]);
    }
    const uint32_t width = x.dim[2] / params->heads;
    if (w.dim[1] != width || directions.dim[1] != width) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "hybrid_features: w %s and directions %s must be [s, %u] and [r, %u] for "
                         "x %s and %u heads",
                         text[1], text[2], width, width, text[0], params->heads);
    }
    if (params->scale == 0.0F) {
        params->scale = (float)(1.0 / sqrt(sqrt((double)width)));
    }
    return node->input[3] != 0
               ? weft_expect_shape(graph, node, 3, "coefficients", weft_shape_of(w.dim[0]))
               : WEFT_OK;
}

static weft_status hybrid_features_infer(const weft_graph *graph, struct weft_node *node,
                                         weft_dtype *dtype, weft_shape *shape) {
    static const char *const names[] = {"x", "w", "directions"};
    const struct hybrid_features_node *params = (const void *)node->params.bytes;
    weft_status status = check_numbers(graph, params);
    for (uint32_t i = 0; i < 3 && status == WEFT_OK; i++) {
        status = weft_expect_f32(graph, node, i, names[i]);
    }
    if (status == WEFT_OK) {
        status = check_shapes(graph, node);
    }
    if (status != WEFT_OK) {
        return status;
    }
    const uint32_t features = weft_node_shape(graph, node, 1)->dim[0];
    const uint32_t directions = weft_node_shape(graph, node, 2)->dim[0];
    /* Neither product overflows: features and directions are each below 2^31. */
    const uint64_t of_head = UINT64_C(3) * features * (1 + (uint64_t)directions);
    if (of_head > UINT32_MAX / params->heads) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "hybrid_features: %u heads of %u features and %u directions are too many",
                         params->heads, features, directions);
    }
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    shape->dim[2] = (uint32_t)of_head * params->heads;
    return WEFT_OK;
}

/* ---- lowering ---- */

struct lowered {
    struct weft_lowering *lowering;
    const struct hybrid_features_node *params;
    uint64_t sequences; /* batch · heads */
    uint32_t tokens, width, features, directions;
    uint32_t x;
    uint32_t projection; /* [rows, features] */
};

static uint64_t rows_of(const struct lowered *l) {
    return l->sequences * l->tokens;
}

/** x wᵀ for each row, [rows, count]. */
static uint32_t lower_projection(const struct lowered *l, uint32_t w, uint32_t count, float scale) {
    const uint32_t result = weft_lower_scratch(l->lowering, rows_of(l) * count * sizeof(float));
    const struct weft_product product = {.a = {.storage = l->x, .row = l->width, .column = 1},
                                         .b = {.storage = w, .row = 1, .column = l->width},
                                         .c = {.storage = result, .row = count, .column = 1},
                                         .m = (uint32_t)rows_of(l),
                                         .n = count,
                                         .k = l->width,
                                         .batches = 1,
                                         .inner_count = 1,
                                         .alpha = scale,
                                         .bias = WEFT_NO_STORAGE,
                                         .residual = WEFT_NO_STORAGE};
    weft_lower_product(l->lowering, &product);
    return result;
}

/** A dispatch with the bindings 0 and 1 and the words of hybrid_features.glsl. */
static struct weft_dispatch *rows_dispatch(const struct lowered *l, const char *shader) {
    struct weft_dispatch *dispatch = weft_old_dispatch(l->lowering, shader);
    weft_dispatch_read(dispatch, l->x);
    weft_dispatch_read(dispatch, l->projection);
    weft_dispatch_rows(dispatch, (struct weft_rows){.rows = rows_of(l), .columns = l->features});
    weft_dispatch_push_u32(dispatch, l->width);
    weft_dispatch_push_u32(dispatch, l->params->heads);
    weft_dispatch_push_u32(dispatch, l->tokens);
    weft_dispatch_push_f32(dispatch, l->params->scale);
    weft_dispatch_push_u32(dispatch, l->directions);
    weft_dispatch_push_f32(dispatch, (float)(1.0 / sqrt(2.0 * (double)l->directions)));
    dispatch->flops = (double)rows_of(l) * (2.0 * l->width + 2.0 * l->features);
    dispatch->bytes = 4.0 * (double)rows_of(l) * (l->width + l->features);
    return dispatch;
}

/** The largest exponent of each sequence and head. */
static uint32_t lower_key_maximum(const struct lowered *l) {
    const uint32_t of_rows = weft_lower_scratch(l->lowering, rows_of(l) * sizeof(float));
    const uint32_t of_sequences = weft_lower_scratch(l->lowering, l->sequences * sizeof(float));
    struct weft_dispatch *dispatch = rows_dispatch(l, "hybrid_features/row_maximum");
    weft_dispatch_write(dispatch, of_rows);
    dispatch = weft_old_dispatch(l->lowering, "random_features/sequence_maximum");
    weft_dispatch_read(dispatch, of_rows);
    weft_dispatch_write(dispatch, of_sequences);
    weft_dispatch_rows(dispatch, (struct weft_rows){.rows = l->sequences, .columns = l->tokens});
    weft_dispatch_push_u32(dispatch, l->params->heads);
    dispatch->flops = (double)rows_of(l);
    dispatch->bytes = 4.0 * (double)rows_of(l);
    return of_sequences;
}

static void lower_features(const struct lowered *l, uint32_t sides, uint32_t coefficients,
                           uint32_t result) {
    const uint32_t unused = l->x; /* bound and not read */
    const uint32_t largest =
        l->params->stabilizer == WEFT_STABILIZER_KEY ? lower_key_maximum(l) : unused;
    struct weft_dispatch *dispatch = rows_dispatch(l, "hybrid_features/features");
    weft_dispatch_read(dispatch, sides);
    weft_dispatch_read(dispatch, largest);
    weft_dispatch_read(dispatch, coefficients != WEFT_NO_STORAGE ? coefficients : unused);
    weft_dispatch_write(dispatch, result);
    weft_dispatch_specialize(dispatch, (uint32_t)l->params->stabilizer);
    weft_dispatch_specialize(dispatch, coefficients != WEFT_NO_STORAGE);
    weft_dispatch_specialize(dispatch, l->params->keys);
    const double outputs = 3.0 * (double)rows_of(l) * l->features * (1.0 + l->directions);
    dispatch->flops += 60.0 * (double)rows_of(l) * l->features + outputs;
    dispatch->bytes += 4.0 * (outputs + (double)rows_of(l) * l->directions);
}

static weft_status hybrid_features_lower(struct weft_lowering *lowering,
                                         const struct weft_node *node) {
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *w = weft_node_shape(lowering->graph, node, 1);
    const weft_shape *directions = weft_node_shape(lowering->graph, node, 2);
    const struct hybrid_features_node *params = (const void *)node->params.bytes;
    struct lowered l = {.lowering = lowering,
                        .params = params,
                        .sequences = (uint64_t)x->dim[0] * params->heads,
                        .tokens = x->dim[1],
                        .width = w->dim[1],
                        .features = w->dim[0],
                        .directions = directions->dim[0],
                        .x = weft_lower_value(lowering, node->input[0])};
    const double outputs = 3.0 * (double)rows_of(&l) * l.features * (1.0 + l.directions);
    if (outputs > INT32_MAX) {
        return weft_lower_fail(lowering, weft_fail(&lowering->device->host, WEFT_UNSUPPORTED,
                                                   "%s: %.0f features, more than %d",
                                                   lowering->label, outputs, INT32_MAX));
    }
    const uint32_t coefficients =
        node->input[3] ? weft_lower_value(lowering, node->input[3]) : WEFT_NO_STORAGE;
    const uint32_t result = weft_lower_value(lowering, node->output);
    l.projection =
        lower_projection(&l, weft_lower_value(lowering, node->input[1]), l.features, params->scale);
    /* Signs alone: they are those without the scale, but for a negative one. */
    const uint32_t sides = lower_projection(&l, weft_lower_value(lowering, node->input[2]),
                                            l.directions, params->scale < 0.0F ? -1.0F : 1.0F);
    lower_features(&l, sides, coefficients, result);
    return weft_lower_status(lowering);
}

static void hybrid_features_describe(const struct weft_node *node, char *text, size_t size) {
    const struct hybrid_features_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "[%s, %u heads, stabilizer %s]", params->keys ? "keys" : "queries",
             params->heads, weft_stabilizer_name(params->stabilizer));
}

const struct weft_op weft_op_hybrid_features = {
    .name = "hybrid_features",
    .min_inputs = 3,
    .max_inputs = 4,
    .params_size = sizeof(struct hybrid_features_node),
    .infer = hybrid_features_infer,
    .describe = hybrid_features_describe,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "rows", .lower = hybrid_features_lower}),
};
