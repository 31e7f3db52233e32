/* SPDX-License-Identifier: MIT */
/* Functions of single elements. */
#include <weft/arithmetic.h>

#include <math.h>

#include "core/given.h"
#include "core/try.h"
#include "graph/op.h"
#include "kernels/elementwise/unary.h"
#include "lower/lowering.h"

struct weft_unary_node {
    weft_unary kind;
    float alpha;
    float beta;
};

/* Types that a function takes and gives. */
enum {
    FLOATS = 1,
    INTEGERS = 2,
    TESTS = 4, /* gives i32 */
    ALPHA = 8,
    BETA = 16,
    ENDLESS = 32 /* parameters may be infinite */
};

static const char *const unary_words[WEFT_UNARY_COUNT] = {
    [WEFT_UNARY_NEG] = "neg",
    [WEFT_UNARY_ABS] = "abs",
    [WEFT_UNARY_SIGN] = "sign",
    [WEFT_UNARY_SQUARE] = "square",
    [WEFT_UNARY_SQRT] = "sqrt",
    [WEFT_UNARY_RSQRT] = "rsqrt",
    [WEFT_UNARY_RECIPROCAL] = "reciprocal",
    [WEFT_UNARY_LOG] = "log",
    [WEFT_UNARY_LOG1P] = "log1p",
    [WEFT_UNARY_EXPM1] = "expm1",
    [WEFT_UNARY_SIN] = "sin",
    [WEFT_UNARY_COS] = "cos",
    [WEFT_UNARY_TAN] = "tan",
    [WEFT_UNARY_ERF] = "erf",
    [WEFT_UNARY_FLOOR] = "floor",
    [WEFT_UNARY_CEIL] = "ceil",
    [WEFT_UNARY_ROUND] = "round",
    [WEFT_UNARY_TRUNC] = "trunc",
    [WEFT_UNARY_SOFTPLUS] = "softplus",
    [WEFT_UNARY_SOFTSIGN] = "softsign",
    [WEFT_UNARY_LOG_SIGMOID] = "log_sigmoid",
    [WEFT_UNARY_QUICK_GELU] = "quick_gelu",
    [WEFT_UNARY_MISH] = "mish",
    [WEFT_UNARY_HARD_SIGMOID] = "hard_sigmoid",
    [WEFT_UNARY_HARD_SWISH] = "hard_swish",
    [WEFT_UNARY_LEAKY_RELU] = "leaky_relu",
    [WEFT_UNARY_ELU] = "elu",
    [WEFT_UNARY_SELU] = "selu",
    [WEFT_UNARY_CELU] = "celu",
    [WEFT_UNARY_SOFTSHRINK] = "softshrink",
    [WEFT_UNARY_THRESHOLD] = "threshold",
    [WEFT_UNARY_CLAMP] = "clamp",
    [WEFT_UNARY_IS_NAN] = "is_nan",
    [WEFT_UNARY_IS_INF] = "is_inf",
    [WEFT_UNARY_LOGICAL_NOT] = "logical_not",
    [WEFT_UNARY_BITWISE_NOT] = "bitwise_not",
};

static const uint32_t functions[WEFT_UNARY_COUNT] = {
    [WEFT_UNARY_NEG] = FLOATS | INTEGERS,
    [WEFT_UNARY_ABS] = FLOATS | INTEGERS,
    [WEFT_UNARY_SIGN] = FLOATS | INTEGERS,
    [WEFT_UNARY_SQUARE] = FLOATS | INTEGERS,
    [WEFT_UNARY_SQRT] = FLOATS,
    [WEFT_UNARY_RSQRT] = FLOATS,
    [WEFT_UNARY_RECIPROCAL] = FLOATS,
    [WEFT_UNARY_LOG] = FLOATS,
    [WEFT_UNARY_LOG1P] = FLOATS,
    [WEFT_UNARY_EXPM1] = FLOATS,
    [WEFT_UNARY_SIN] = FLOATS,
    [WEFT_UNARY_COS] = FLOATS,
    [WEFT_UNARY_TAN] = FLOATS,
    [WEFT_UNARY_ERF] = FLOATS,
    [WEFT_UNARY_FLOOR] = FLOATS,
    [WEFT_UNARY_CEIL] = FLOATS,
    [WEFT_UNARY_ROUND] = FLOATS,
    [WEFT_UNARY_TRUNC] = FLOATS,
    [WEFT_UNARY_SOFTPLUS] = FLOATS,
    [WEFT_UNARY_SOFTSIGN] = FLOATS,
    [WEFT_UNARY_LOG_SIGMOID] = FLOATS,
    [WEFT_UNARY_QUICK_GELU] = FLOATS,
    [WEFT_UNARY_MISH] = FLOATS,
    [WEFT_UNARY_HARD_SIGMOID] = FLOATS | ALPHA | BETA,
    [WEFT_UNARY_HARD_SWISH] = FLOATS | ALPHA | BETA,
    [WEFT_UNARY_LEAKY_RELU] = FLOATS | ALPHA,
    [WEFT_UNARY_ELU] = FLOATS | ALPHA,
    [WEFT_UNARY_SELU] = FLOATS | ALPHA | BETA,
    [WEFT_UNARY_CELU] = FLOATS | ALPHA,
    [WEFT_UNARY_SOFTSHRINK] = FLOATS | ALPHA | BETA,
    [WEFT_UNARY_THRESHOLD] = FLOATS | ALPHA | BETA | ENDLESS,
    [WEFT_UNARY_CLAMP] = FLOATS | ALPHA | BETA | ENDLESS,
    [WEFT_UNARY_IS_NAN] = FLOATS | TESTS,
    [WEFT_UNARY_IS_INF] = FLOATS | TESTS,
    [WEFT_UNARY_LOGICAL_NOT] = INTEGERS,
    [WEFT_UNARY_BITWISE_NOT] = INTEGERS,
};

const char *weft_unary_name(weft_unary unary) {
    return (unsigned)unary < WEFT_UNARY_COUNT ? unary_words[unary] : "unknown";
}

weft_status weft_graph_unary(weft_tensor *out, weft_graph *graph, weft_unary op, weft_tensor x,
                             float alpha, float beta) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_unary_node params = {.kind = op, .alpha = alpha, .beta = beta};
    return weft_graph_add(out, graph, &weft_op_unary, &x, 1, &params, sizeof params);
}

weft_status weft_graph_clamp(weft_tensor *out, weft_graph *graph, weft_tensor x, float low,
                             float high) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_unary_node params = {.kind = WEFT_UNARY_CLAMP, .alpha = low, .beta = high};
    return weft_graph_add(out, graph, &weft_op_unary, &x, 1, &params, sizeof params);
}

static weft_status check_parameter(const weft_graph *graph, const struct weft_node *node,
                                   const char *name, float value, bool taken, bool endless) {
    const struct weft_unary_node *params = (const void *)node->params.bytes;
    if (isnan(value) || (isinf(value) && !endless) || (!taken && value != 0.0F)) {
        return weft_node_fail(graph, node, WEFT_INVALID_ARGUMENT, "%s: %s is %g, expected %s",
                              weft_unary_name(params->kind), name, (double)value,
                              !taken    ? "0, since it has no such parameter"
                              : endless ? "a number"
                                        : "a finite number");
    }
    return WEFT_OK;
}

static weft_status check_parameters(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_unary_node *params = (const void *)node->params.bytes;
    const uint32_t is = functions[params->kind];
    const bool endless = (is & ENDLESS) != 0;
    WEFT_TRY(check_parameter(graph, node, "alpha", params->alpha, (is & ALPHA) != 0, endless));
    WEFT_TRY(check_parameter(graph, node, "beta", params->beta, (is & BETA) != 0, endless));
    if (params->kind == WEFT_UNARY_CELU && params->alpha == 0.0F) {
        return weft_node_fail(graph, node, WEFT_INVALID_ARGUMENT, "celu: alpha is 0");
    }
    if (params->kind == WEFT_UNARY_CLAMP && params->alpha > params->beta) {
        return weft_node_fail(graph, node, WEFT_INVALID_ARGUMENT, "clamp: %g is above %g",
                              (double)params->alpha, (double)params->beta);
    }
    return WEFT_OK;
}

static weft_status unary_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                               weft_shape *shape) {
    const struct weft_unary_node *params = (const void *)node->params.bytes;
    const weft_dtype from = weft_node_dtype(graph, node, 0);
    if ((unsigned)params->kind >= WEFT_UNARY_COUNT) {
        return weft_node_fail(graph, node, WEFT_INVALID_ARGUMENT, "unknown function number %d",
                              (int)params->kind);
    }
    const uint32_t is = functions[params->kind];
    if ((is & (from == WEFT_I32 ? INTEGERS : FLOATS)) == 0) {
        return weft_node_fail(graph, node, WEFT_SHAPE_MISMATCH, "%s: x must be %s, not %s",
                              unary_words[params->kind], from == WEFT_I32 ? "f32" : "i32",
                              weft_dtype_name(from));
    }
    WEFT_TRY(check_parameters(graph, node));
    *dtype = (is & TESTS) != 0 ? WEFT_I32 : from;
    *shape = *weft_node_shape(graph, node, 0);
    return WEFT_OK;
}

static weft_status unary_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_unary_node *params = (const void *)node->params.bytes;
    const uint32_t x = weft_lower_value(lowering, node->input[0]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    const uint64_t count = weft_shape_elements(*weft_node_shape(lowering->graph, node, 0));
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, elementwise_unary, weft_grid_of_items(count), .bind = {.x = x, .result = result},
        .push = {.count = (uint32_t)count, .alpha = params->alpha, .beta = params->beta},
        .constant = {.kind = (uint32_t)params->kind,
                     .integer = weft_node_dtype(lowering->graph, node, 0) == WEFT_I32});
    dispatch->flops = 20.0 * (double)count;
    dispatch->bytes = 8.0 * (double)count;
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_unary = {
    .name = "unary",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_unary_node),
    .fields = WEFT_FIELDS(WEFT_FIELD_WORDS(weft_unary_node, kind, "kind", unary_words),
                          WEFT_FIELD_OPTIONAL(weft_unary_node, alpha, F32),
                          WEFT_FIELD_OPTIONAL(weft_unary_node, beta, F32)),
    .infer = unary_infer,
    .cuts = WEFT_CUTS({.inputs = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "elementwise", .lower = unary_lower}),
};
