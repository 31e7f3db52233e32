/* SPDX-License-Identifier: MIT */
/*
 * The relative position encoders of TNN and FD-TNN: an MLP of ops that there are, on a column of positions, which is an
 * op without inputs so that constant folding (plan/fold.c) finds the same MLP in other graphs.
 */
#include <stdio.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/math/portable_math.h"
#include "core/math/trig.h"
#include "core/try.h"
#include "graph/op.h"
#include "ops/binary.h"
#include "ops/copy.h"

#define PI          3.14159265358979323846
#define MOST_LAGS   (UINT32_C(1) << 24) /* how far float32 holds every whole number */
#define MOST_IN_EXP 87                  /* exp of it and of its negative is a normal float32 */

/* ---- the op: a column of positions ---- */

enum quantity { LAG, LAG_FRACTION, LAG_EXP, FREQUENCY, COSINE, QUANTITY_COUNT };

struct positions_node {
    uint32_t quantity;
    int32_t first; /* the number of row 0; they go up by 1 */
    uint32_t count;
    uint32_t divisor; /* of all but LAG */
};

static const char *const quantity_words[QUANTITY_COUNT] = {"lag", "lag_fraction", "lag_exp",
                                                           "frequency", "cosine"};

static double position(const struct positions_node *node, int64_t number) {
    double fraction = (double)number / node->divisor;
    double cosine = 0.0;
    double sine = 0.0;
    switch ((enum quantity)node->quantity) {
    case LAG_FRACTION:
        return fraction;
    case LAG_EXP:
        return weft_portable_exp(fraction);
    case FREQUENCY:
        return PI * fraction;
    case COSINE:
        weft_unit_root(&cosine, &sine, (uint64_t)number, UINT64_C(2) * node->divisor);
        return cosine;
    default:
        return (double)number;
    }
}

static weft_status fill_positions(void *user, void *data) {
    const struct positions_node *node = user;
    float *column = data;
    for (uint32_t i = 0; i < node->count; i++) {
        column[i] = (float)position(node, (int64_t)node->first + i);
    }
    return WEFT_OK;
}

static weft_status positions_infer(const weft_graph *graph, struct weft_node *node,
                                   weft_dtype *dtype, weft_shape *shape) {
    const struct positions_node *params = (const void *)node->params.bytes;
    if (params->quantity >= QUANTITY_COUNT || params->divisor == 0 || params->count == 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "positions: quantity %u must be below %d, count %u and divisor %u above 0",
                         params->quantity, (int)QUANTITY_COUNT, params->count, params->divisor);
    }
    *dtype = WEFT_F32;
    *shape = weft_shape_of(params->count, 1);
    return WEFT_OK;
}

static weft_status positions_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    struct positions_node params = *(const struct positions_node *)(const void *)node->params.bytes;
    char key[96];
    snprintf(key, sizeof key, "positions/%u/%d/%u/%u", params.quantity, params.first, params.count,
             params.divisor);
    uint32_t table =
        weft_lower_table(lowering, key, UINT64_C(4) * params.count, fill_positions, &params);
    weft_lower_copy(lowering, weft_lower_value(lowering, node->output), table, params.count);
    return weft_lower_status(lowering);
}

static void positions_describe(const struct weft_node *node, char *text, size_t size) {
    static const char *const forms[] = {"k", "k/N", "exp(k/N)", "pi k/N", "cos(pi k/N)"};
    const struct positions_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "[%s, k = %d … %lld, N = %u]", forms[params->quantity], params->first,
             (long long)params->first + params->count - 1, params->divisor);
}

const struct weft_op weft_op_positions = {
    .name = "positions",
    .min_inputs = 0,
    .max_inputs = 0,
    .params_size = sizeof(struct positions_node),
    .fields =
        WEFT_FIELDS(WEFT_FIELD_WORDS(positions_node, quantity, "quantity", quantity_words),
                    WEFT_FIELD(positions_node, first, I32), WEFT_FIELD(positions_node, count, U32),
                    WEFT_FIELD(positions_node, divisor, U32)),
    .infer = positions_infer,
    .describe = positions_describe,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "table", .lower = positions_lower}),
};

/* ---- the MLP ---- */

static weft_status add_layer(weft_tensor *h, weft_graph *graph, const weft_rpe_params *rpe,
                             uint32_t index) {
    const weft_rpe_layer *layer = &rpe->layers[index];
    weft_tensor y = *h;
    if (layer->norm) {
        WEFT_TRY(weft_graph_norm(&y, graph, y, layer->norm));
    }
    if (rpe->activation != WEFT_ACTIVATION_NONE) {
        WEFT_TRY(weft_graph_activate(&y, graph, y, rpe->activation));
    }
    WEFT_TRY(weft_graph_linear(&y, graph, y, layer->weight, layer->bias));
    if (rpe->residual && index + 1 < rpe->layer_count) {
        WEFT_TRY(weft_graph_binary_of_shape(&y, graph, WEFT_BINARY_ADD, y, *h));
    }
    *h = y;
    return WEFT_OK;
}

static weft_status add_mlp(weft_tensor *out, weft_graph *graph, const weft_rpe_params *rpe,
                           const struct positions_node *positions) {
    const weft_tensor none = {0}; /* the op has no inputs, but the list must not be null */
    weft_tensor h;
    WEFT_TRY(weft_graph_add(&h, graph, &weft_op_positions, &none, 0, positions, sizeof *positions));
    WEFT_TRY(weft_graph_linear(&h, graph, h, rpe->weight, rpe->bias));
    for (uint32_t i = 0; i < rpe->layer_count; i++) {
        WEFT_TRY(add_layer(&h, graph, rpe, i));
    }
    *out = h;
    return WEFT_OK;
}

static weft_status check_rpe(const weft_graph *graph, const char *function,
                             const weft_rpe_params *rpe) {
    if (rpe->layer_count == 0 || !rpe->layers) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "%s: layer_count %u must be at least 1, and layers not null", function,
                         rpe->layer_count);
    }
    return WEFT_OK;
}

/** A count of tokens or frequencies: 1 … 2^24. */
static weft_status check_count(const weft_graph *graph, const char *function, const char *name,
                               uint32_t count) {
    if (count == 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "%s: %s 0 must be at least 1",
                         function, name);
    }
    if (count > MOST_LAGS) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED, "%s: %s %u is above %u", function, name,
                         count, MOST_LAGS);
    }
    return WEFT_OK;
}

/* ---- coefficients ---- */

static weft_status check_lags(const weft_graph *graph, uint32_t n,
                              const weft_toeplitz_rpe_params *params, uint32_t divisor) {
    if ((uint32_t)params->input >= WEFT_RPE_LAG_COUNT) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "weft_graph_toeplitz_rpe: input %u must be in 0 … %d",
                         (uint32_t)params->input, (int)WEFT_RPE_LAG_COUNT - 1);
    }
    if (params->input == WEFT_RPE_LAG_EXP && (n - 1) / divisor >= MOST_IN_EXP) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "weft_graph_toeplitz_rpe: divisor %u must be above (n - 1)/%d = %u/%d, or "
                         "exp(lag/divisor) leaves the range of float32",
                         divisor, MOST_IN_EXP, n - 1, MOST_IN_EXP);
    }
    return WEFT_OK;
}

weft_status weft_graph_toeplitz_rpe(weft_tensor *out, weft_graph *graph, uint32_t n,
                                    const weft_rpe_params *rpe,
                                    const weft_toeplitz_rpe_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, rpe);
    static const enum quantity quantities[] = {LAG, LAG_FRACTION, LAG_EXP};
    const char *function = "weft_graph_toeplitz_rpe";
    const weft_toeplitz_rpe_params defaults = {.causal = false};
    params = params ? params : &defaults;
    uint32_t divisor = params->divisor ? params->divisor : n;
    WEFT_TRY(check_count(graph, function, "n", n));
    WEFT_TRY(check_lags(graph, n, params, divisor));
    WEFT_TRY(check_rpe(graph, function, rpe));
    struct positions_node positions = {.quantity = quantities[params->input],
                                       .first = params->causal ? 0 : 1 - (int32_t)n,
                                       .count = params->causal ? n : 2 * n - 1,
                                       .divisor = params->input == WEFT_RPE_LAG ? 1 : divisor};
    struct weft_graph_mark mark = weft_graph_mark(graph);
    return weft_graph_end(graph, mark, add_mlp(out, graph, rpe, &positions));
}

/* ---- decay ---- */

static weft_status add_decay(weft_tensor *out, weft_graph *graph, weft_tensor theta, float lambda) {
    weft_shape shape;
    WEFT_TRY(weft_graph_get_tensor(graph, theta, &shape, NULL));
    const uint64_t count = weft_shape_elements(shape);
    if (count > UINT32_MAX) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED,
                         "weft_graph_toeplitz_decay: theta has more than %u elements", UINT32_MAX);
    }
    WEFT_TRY(weft_graph_reshape(&theta, graph, theta, weft_shape_of((uint32_t)count)));
    WEFT_TRY(weft_graph_activate(&theta, graph, theta, WEFT_ACTIVATION_SIGMOID));
    return weft_graph_affine(out, graph, theta, 1.0F - lambda, lambda);
}

weft_status weft_graph_toeplitz_decay(weft_tensor *out, weft_graph *graph, weft_tensor theta,
                                      float lambda) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    if (!(lambda >= 0.0F && lambda <= 1.0F)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "weft_graph_toeplitz_decay: lambda %g must be in 0 … 1", (double)lambda);
    }
    struct weft_graph_mark mark = weft_graph_mark(graph);
    return weft_graph_end(graph, mark, add_decay(out, graph, theta, lambda));
}

/* ---- frequency responses ---- */

weft_status weft_graph_toeplitz_fd_rpe(weft_tensor *out, weft_graph *graph, uint32_t grid,
                                       const weft_rpe_params *rpe, weft_rpe_frequency input) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, rpe);
    const char *function = "weft_graph_toeplitz_fd_rpe";
    WEFT_TRY(check_count(graph, function, "grid", grid));
    if ((uint32_t)input >= WEFT_RPE_FREQUENCY_COUNT) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "%s: input %u must be in 0 … %d",
                         function, (uint32_t)input, (int)WEFT_RPE_FREQUENCY_COUNT - 1);
    }
    WEFT_TRY(check_rpe(graph, function, rpe));
    struct positions_node positions = {.quantity = input == WEFT_RPE_COSINE ? COSINE : FREQUENCY,
                                       .count = grid + 1,
                                       .divisor = grid};
    struct weft_graph_mark mark = weft_graph_mark(graph);
    return weft_graph_end(graph, mark, add_mlp(out, graph, rpe, &positions));
}
