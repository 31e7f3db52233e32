/* SPDX-License-Identifier: MIT */
/* Discretely-induced random features: products of powers of a token's elements. Inputs: x, w, coefficients. */
#include <math.h>
#include <stdio.h>

#include <weft/features.h>
#include <weft/mixers.h>

#include "graph/lowering.h"

/** Powers up to 1023 of this many elements keep a binary exponent within 32 bits. */
#define LARGEST_WIDTH WEFT_FEATURES_MAX_COLUMNS

struct discrete_features_node {
    weft_stabilizer stabilizer;
    uint32_t heads;
    float scale;
};

weft_status weft_graph_discrete_features(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                         weft_tensor w, weft_tensor coefficients,
                                         const weft_discrete_features_params *params) {
    const struct discrete_features_node node = {
        .stabilizer = params ? params->stabilizer : WEFT_STABILIZER_NONE,
        .heads = params && params->heads ? params->heads : 1,
        .scale = params ? params->scale : 0.0F};
    weft_tensor inputs[] = {x, w, coefficients};
    return weft_graph_add(out, graph, &weft_op_discrete_features, inputs, 3, &node, sizeof node);
}

/* ---- checking ---- */

static weft_status check_shapes(const weft_graph *graph, struct weft_node *node) {
    struct discrete_features_node *params = (void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(graph, node, 0);
    const weft_shape w = *weft_node_shape(graph, node, 1);
    char text[2][WEFT_SHAPE_TEXT_SIZE];
    if (x.rank != 3 || w.rank != 2) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "discrete_features: x %s and w %s must be [B, n, d] and [s, d/heads]",
                         weft_shape_text(x, text[0]), weft_shape_text(w, text[1]));
    }
    if (x.dim[2] % params->heads != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "discrete_features: %u heads do not divide %u channels", params->heads,
                         x.dim[2]);
    }
    const uint32_t width = x.dim[2] / params->heads;
    if (width > LARGEST_WIDTH) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "discrete_features: width %u of a head is not 1 to %u", width,
                         LARGEST_WIDTH);
    }
    if (w.dim[1] != width) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "discrete_features: w %s must be [s, %u] for x %s and %u heads",
                         weft_shape_text(w, text[0]), width, weft_shape_text(x, text[1]),
                         params->heads);
    }
    if (params->scale == 0.0F) {
        params->scale = (float)(1.0 / sqrt(sqrt((double)width)));
    }
    return weft_expect_shape(graph, node, 2, "coefficients", weft_shape_of(w.dim[0]));
}

static weft_status discrete_features_infer(const weft_graph *graph, struct weft_node *node,
                                           weft_dtype *dtype, weft_shape *shape) {
    const struct discrete_features_node *params = (const void *)node->params.bytes;
    if ((uint32_t)params->stabilizer >= WEFT_STABILIZER_COUNT) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "discrete_features: stabilizer %u is not in 0 … %u",
                         (uint32_t)params->stabilizer, WEFT_STABILIZER_COUNT - 1);
    }
    if (!isfinite(params->scale)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "discrete_features: scale %g must be finite", (double)params->scale);
    }
    weft_status status = weft_expect_f32(graph, node, 0, "x");
    if (status == WEFT_OK) {
        status = weft_expect_f32(graph, node, 1, "w");
    }
    if (status == WEFT_OK) {
        status = check_shapes(graph, node);
    }
    if (status != WEFT_OK) {
        return status;
    }
    const uint32_t features = weft_node_shape(graph, node, 1)->dim[0];
    const uint64_t channels = (uint64_t)params->heads * features;
    if (channels > UINT32_MAX) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "discrete_features: %u heads of %u features are too many", params->heads,
                         features);
    }
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    shape->dim[2] = (uint32_t)channels;
    return WEFT_OK;
}

/* ---- lowering ---- */

struct lowered {
    struct weft_lowering *lowering;
    const struct discrete_features_node *params;
    uint64_t sequences; /* batch · heads */
    uint32_t tokens, width, features;
    uint32_t x, w, coefficients;
};

/** A dispatch with the bindings 0 … 2 and the words of discrete_features.glsl. */
static struct weft_dispatch *rows_dispatch(const struct lowered *l, const char *shader) {
    const uint64_t rows = l->sequences * l->tokens;
    struct weft_dispatch *dispatch = weft_old_dispatch(l->lowering, shader);
    weft_dispatch_read(dispatch, l->x);
    weft_dispatch_read(dispatch, l->w);
    weft_dispatch_read(dispatch, l->coefficients);
    weft_dispatch_rows(dispatch, (struct weft_rows){.rows = rows, .columns = l->features});
    weft_dispatch_push_u32(dispatch, l->width);
    weft_dispatch_push_u32(dispatch, l->params->heads);
    weft_dispatch_push_u32(dispatch, l->tokens);
    weft_dispatch_push_f32(dispatch, l->params->scale);
    const double powers = (double)rows * l->features * l->width;
    dispatch->flops = 2.0 * powers; /* for powers of 0 or 1, the most common ones */
    dispatch->bytes = 4.0 * ((double)rows * l->width + (double)l->features * (l->width + 1.0));
    return dispatch;
}

/** The largest binary exponent of each sequence and head. */
static uint32_t lower_key_maximum(const struct lowered *l) {
    const uint64_t rows = l->sequences * l->tokens;
    const uint32_t of_rows = weft_lower_scratch(l->lowering, rows * sizeof(float));
    const uint32_t of_sequences = weft_lower_scratch(l->lowering, l->sequences * sizeof(float));
    struct weft_dispatch *dispatch = rows_dispatch(l, "discrete_features/row_maximum");
    weft_dispatch_write(dispatch, of_rows);
    dispatch = weft_old_dispatch(l->lowering, "random_features/sequence_maximum");
    weft_dispatch_read(dispatch, of_rows);
    weft_dispatch_write(dispatch, of_sequences);
    weft_dispatch_rows(dispatch, (struct weft_rows){.rows = l->sequences, .columns = l->tokens});
    weft_dispatch_push_u32(dispatch, l->params->heads);
    dispatch->flops = (double)rows;
    dispatch->bytes = 4.0 * (double)rows;
    return of_sequences;
}

static weft_status discrete_features_lower(struct weft_lowering *lowering,
                                           const struct weft_node *node) {
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *w = weft_node_shape(lowering->graph, node, 1);
    const struct discrete_features_node *params = (const void *)node->params.bytes;
    const struct lowered l = {.lowering = lowering,
                              .params = params,
                              .sequences = (uint64_t)x->dim[0] * params->heads,
                              .tokens = x->dim[1],
                              .width = w->dim[1],
                              .features = w->dim[0],
                              .x = weft_lower_value(lowering, node->input[0]),
                              .w = weft_lower_value(lowering, node->input[1]),
                              .coefficients = weft_lower_value(lowering, node->input[2])};
    const uint64_t outputs = l.sequences * l.tokens * l.features;
    if (outputs > INT32_MAX) {
        return weft_lower_fail(lowering,
                               weft_fail(&lowering->device->host, WEFT_UNSUPPORTED,
                                         "%s: %llu features, more than %d", lowering->label,
                                         (unsigned long long)outputs, INT32_MAX));
    }
    const uint32_t result = weft_lower_value(lowering, node->output);
    const uint32_t largest = params->stabilizer == WEFT_STABILIZER_KEY
                                 ? lower_key_maximum(&l)
                                 : l.x; /* bound and not read */
    struct weft_dispatch *dispatch = rows_dispatch(&l, "discrete_features/features");
    weft_dispatch_read(dispatch, largest);
    weft_dispatch_write(dispatch, result);
    weft_dispatch_specialize(dispatch, (uint32_t)params->stabilizer);
    dispatch->flops *= params->stabilizer == WEFT_STABILIZER_QUERY ? 2.0 : 1.0;
    dispatch->bytes += 4.0 * (double)outputs;
    return weft_lower_status(lowering);
}

static void discrete_features_describe(const struct weft_node *node, char *text, size_t size) {
    const struct discrete_features_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "[%u heads, stabilizer %s]", params->heads,
             weft_stabilizer_name(params->stabilizer));
}

const struct weft_op weft_op_discrete_features = {
    .name = "discrete_features",
    .min_inputs = 3,
    .max_inputs = 3,
    .params_size = sizeof(struct discrete_features_node),
    .infer = discrete_features_infer,
    .describe = discrete_features_describe,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "rows", .lower = discrete_features_lower}),
};
