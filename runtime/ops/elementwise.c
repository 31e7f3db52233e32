/* SPDX-License-Identifier: MIT */
/* Ops on single elements: activation functions, binary operators, scaling. */
#include <math.h>
#include <stdio.h>

#include "core/given.h"
#include "core/try.h"
#include "graph/op.h"
#include "kernels/activation/activation.h"
#include "kernels/elementwise/affine.h"
#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/broadcast.h"
#include "lower/cut.h"
#include "lower/divisor.h"
#include "ops/binary.h"
#include "ops/broadcast.h"

struct weft_activation_node {
    weft_activation activation;
};

struct weft_binary_node {
    weft_binary kind;
};

struct weft_affine_node {
    float scale;
    float offset;
};

static void finish(struct weft_dispatch *dispatch, const weft_graph *graph,
                   const struct weft_node *node, double flops_per_element) {
    double count = (double)weft_shape_elements(graph->values[node->output].shape);
    dispatch->flops = flops_per_element * count;
    dispatch->bytes = 4.0 * count * (1.0 + node->input_count);
}

static uint64_t output_elements(const struct weft_lowering *lowering,
                                const struct weft_node *node) {
    return weft_shape_elements(lowering->graph->values[node->output].shape);
}

static weft_status same_shape_infer(const weft_graph *graph, struct weft_node *node,
                                    weft_dtype *dtype, weft_shape *shape) {
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    return weft_expect_f32(graph, node, 0, "x");
}

/* ---- activation ---- */

static const char *const activation_words[WEFT_ACTIVATION_COUNT] = {
    "none", "gelu_tanh", "gelu_erf", "tanh", "relu", "sigmoid", "silu", "elu1", "exp"};

const char *weft_activation_name(weft_activation activation) {
    return (unsigned)activation < WEFT_ACTIVATION_COUNT ? activation_words[activation] : "unknown";
}

weft_status weft_graph_activate(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                weft_activation activation) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_activation_node params = {.activation = activation};
    return weft_graph_add(out, graph, &weft_op_activation, &x, 1, &params, sizeof params);
}

static weft_status activation_infer(const weft_graph *graph, struct weft_node *node,
                                    weft_dtype *dtype, weft_shape *shape) {
    const struct weft_activation_node *params = (const void *)node->params.bytes;
    if ((unsigned)params->activation >= WEFT_ACTIVATION_COUNT) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "activation: unknown activation number %d", (int)params->activation);
    }
    return same_shape_infer(graph, node, dtype, shape);
}

static struct weft_grid activation_grid(const struct weft_variant *variant, const void *args,
                                        uint32_t batches) {
    const struct weft_activation_activation_args *words = args;
    const uint32_t items = weft_variant_tile(variant, WEFT_ACTIVATION_ACTIVATION_AT_TILE_ITEMS);
    (void)batches;
    return weft_grid_of_items(((uint64_t)words->push.count + items - 1) / items);
}

/* With four elements an invocation loads and stores whole vectors, which is most of what cheap functions take on a GPU. */
WEFT_VARIANTS(activation, "activation/activation",
              {.name = "element",
               .shader = &weft_shader_activation_activation,
               .grid = activation_grid,
               .cost = {.hardware = 3.0F}},
              {.name = "four",
               .shader = &weft_shader_activation_activation,
               .tiles = {[WEFT_ACTIVATION_ACTIVATION_AT_TILE_ITEMS] = 4},
               .grid = activation_grid,
               .cost = {.software = 3.0F, .processor = 3.0F}})

static weft_status activation_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_activation_node *params = (const void *)node->params.bytes;
    uint32_t x = weft_lower_value(lowering, node->input[0]);
    uint32_t result = weft_lower_value(lowering, node->output);
    uint64_t count = output_elements(lowering, node);
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_activation_variants, 1, activation_activation,
        .bind = {.x = x, .result = result}, .push = {.count = (uint32_t)count},
        .constant = {.kind = (int32_t)params->activation, .all_fours = count % 4 == 0});
    finish(dispatch, lowering->graph, node, 20.0);
    return weft_lower_status(lowering);
}

static uint32_t activation_fuses_as(struct weft_epilogue *epilogue, const struct weft_node *node) {
    const struct weft_activation_node *params = (const void *)node->params.bytes;
    epilogue->activation = params->activation;
    return WEFT_FUSE_ACTIVATION;
}

const struct weft_op weft_op_activation = {
    .name = "activation",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_activation_node),
    .fields = WEFT_FIELDS(
        WEFT_FIELD_WORDS(weft_activation_node, activation, "activation", activation_words)),
    .fuses_as = activation_fuses_as,
    .infer = activation_infer,
    .cuts = WEFT_CUTS({.inputs = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "elementwise", .lower = activation_lower}),
};

/* ---- binary ---- */

static const char *const binary_words[WEFT_BINARY_COUNT] = {
    "add",         "subtract",   "multiply",      "divide",      "minimum",    "maximum",
    "power",       "modulo",     "floor_divide",  "equal",       "not_equal",  "less",
    "less_equal",  "greater",    "greater_equal", "logical_and", "logical_or", "logical_xor",
    "bitwise_and", "bitwise_or", "bitwise_xor"};

const char *weft_binary_name(weft_binary binary) {
    return (unsigned)binary < WEFT_BINARY_COUNT ? binary_words[binary] : "unknown";
}

weft_status weft_graph_binary(weft_tensor *out, weft_graph *graph, weft_binary op, weft_tensor a,
                              weft_tensor b) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_binary_node params = {.kind = op};
    weft_tensor inputs[] = {a, b};
    return weft_graph_add(out, graph, &weft_op_binary, inputs, 2, &params, sizeof params);
}

/** True if b is the shape of a's last axes. */
static bool is_suffix(weft_shape a, weft_shape b) {
    for (uint32_t i = 0; i < b.rank && i < a.rank; i++) {
        if (a.dim[a.rank - 1 - i] != b.dim[b.rank - 1 - i]) {
            return false;
        }
    }
    return b.rank <= a.rank;
}

weft_status weft_graph_binary_of_shape(weft_tensor *out, weft_graph *graph, weft_binary op,
                                       weft_tensor a, weft_tensor b) {
    weft_shape shapes[2];
    weft_dtype dtypes[2];
    WEFT_TRY(weft_graph_get_tensor(graph, a, &shapes[0], &dtypes[0]));
    WEFT_TRY(weft_graph_get_tensor(graph, b, &shapes[1], &dtypes[1]));
    if (dtypes[0] != WEFT_F32 || dtypes[1] != WEFT_F32) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "%s: a and b must be f32, not %s and %s", weft_binary_name(op),
                         weft_dtype_name(dtypes[0]), weft_dtype_name(dtypes[1]));
    }
    if (!is_suffix(shapes[0], shapes[1])) {
        char left[WEFT_SHAPE_TEXT_SIZE];
        char right[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "%s: b %s is neither a's shape %s nor that of its last axes",
                         weft_binary_name(op), weft_shape_text(shapes[1], right),
                         weft_shape_text(shapes[0], left));
    }
    return weft_graph_binary(out, graph, op, a, b);
}

static bool is_comparison(weft_binary kind) {
    return kind >= WEFT_BINARY_EQUAL && kind <= WEFT_BINARY_GREATER_EQUAL;
}

static weft_status binary_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const struct weft_binary_node *params = (const void *)node->params.bytes;
    const weft_dtype a = weft_node_dtype(graph, node, 0);
    const weft_dtype b = weft_node_dtype(graph, node, 1);
    if ((unsigned)params->kind >= WEFT_BINARY_COUNT) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "binary: unknown operator number %d",
                         (int)params->kind);
    }
    if (a != b) {
        return weft_node_fail(graph, node, WEFT_SHAPE_MISMATCH, "%s: a is %s and b %s",
                              weft_binary_name(params->kind), weft_dtype_name(a),
                              weft_dtype_name(b));
    }
    if (params->kind >= WEFT_BINARY_LOGICAL_AND && a != WEFT_I32) {
        return weft_node_fail(graph, node, WEFT_SHAPE_MISMATCH, "%s: a and b must be i32, not %s",
                              weft_binary_name(params->kind), weft_dtype_name(a));
    }
    *dtype = is_comparison(params->kind) ? WEFT_I32 : a;
    return weft_broadcast_infer(graph, node, weft_binary_name(params->kind), shape);
}

/* B_IS of elementwise/binary. */
enum { B_ALL, B_SINGLE, B_REPEATED, B_BY_ROWS };

static uint32_t b_is(const struct weft_lowering *lowering, const struct weft_operands *operands) {
    if (operands->b_count == operands->count || operands->b_count == 1) {
        return operands->b_count == operands->count ? B_ALL : B_SINGLE;
    }
    return weft_lower_by_rows(lowering, (uint32_t)operands->b_count) ? B_BY_ROWS : B_REPEATED;
}

void weft_lower_binary(struct weft_lowering *lowering, weft_binary op,
                       const struct weft_operands *operands) {
    const uint32_t is = b_is(lowering, operands);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, elementwise_binary,
                   is == B_BY_ROWS ? weft_grid_of_rows(operands->count / operands->b_count,
                                                       (uint32_t)operands->b_count)
                                   : weft_grid_of_items(operands->count),
                   .bind = {.a = operands->a, .b = operands->b, .result = operands->result},
                   .push = {.count = (uint32_t)operands->count,
                            .b_count = (uint32_t)operands->b_count,
                            WEFT_INVERSE(b_count, (uint32_t)operands->b_count)},
                   .constant = {.kind = op, .b_is = is});
    dispatch->flops = (double)operands->count;
    dispatch->bytes = 8.0 * (double)operands->count + 4.0 * (double)operands->b_count;
}

/* True if the kernel for b repeated over a's leading axes does it. */
static bool repeats_b(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_binary_node *params = (const void *)node->params.bytes;
    return params->kind <= WEFT_BINARY_DIVIDE && weft_node_dtype(graph, node, 0) == WEFT_F32 &&
           is_suffix(*weft_node_shape(graph, node, 0), *weft_node_shape(graph, node, 1));
}

static void lower_broadcast(struct weft_lowering *lowering, const struct weft_node *node,
                            const struct weft_operands *operands) {
    const struct weft_binary_node *params = (const void *)node->params.bytes;
    const struct weft_broadcast broadcast = weft_broadcast_of(lowering->graph, node);
    const uint32_t inner = weft_broadcast_inner(lowering, &broadcast);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, elementwise_broadcast, weft_broadcast_grid(&broadcast, inner),
                   .bind = {.a = operands->a, .b = operands->b, .result = operands->result},
                   .push = {WEFT_BROADCAST_FIELDS(broadcast), .a_has = broadcast.has[0],
                            .b_has = broadcast.has[1]},
                   .constant = {.kind = (uint32_t)params->kind,
                                .inner = inner,
                                .integer = weft_node_dtype(lowering->graph, node, 0) == WEFT_I32});
    finish(dispatch, lowering->graph, node, 1.0);
}

static weft_status binary_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_binary_node *params = (const void *)node->params.bytes;
    const struct weft_operands operands = {
        .a = weft_lower_value(lowering, node->input[0]),
        .b = weft_lower_value(lowering, node->input[1]),
        .result = weft_lower_value(lowering, node->output),
        .count = output_elements(lowering, node),
        .b_count = weft_shape_elements(*weft_node_shape(lowering->graph, node, 1))};
    if (repeats_b(lowering->graph, node)) {
        weft_lower_binary(lowering, params->kind, &operands);
    } else {
        lower_broadcast(lowering, node, &operands);
    }
    return weft_lower_status(lowering);
}

/* Equal shapes, and b repeated over a's leading axes, along all axes as one. */
static bool binary_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_cut *cuts = WEFT_CUTS({.inputs = 1 | 2}, {.inputs = 1, .as = 1});
    const bool repeats = is_suffix(*weft_node_shape(lowering->graph, node, 0),
                                   *weft_node_shape(lowering->graph, node, 1));
    return repeats ? weft_cut_along(lowering, node, cuts) : weft_broadcast_parts(lowering, node);
}

static uint32_t binary_fuses_as(struct weft_epilogue *epilogue, const struct weft_node *node) {
    const struct weft_binary_node *params = (const void *)node->params.bytes;
    (void)epilogue;
    return params->kind == WEFT_BINARY_ADD ? WEFT_FUSE_BIAS | WEFT_FUSE_RESIDUAL : 0;
}

const struct weft_op weft_op_binary = {
    .name = "binary",
    .min_inputs = 2,
    .max_inputs = 2,
    .params_size = sizeof(struct weft_binary_node),
    .fields = WEFT_FIELDS(WEFT_FIELD_WORDS(weft_binary_node, kind, "kind", binary_words)),
    .fuses_as = binary_fuses_as,
    .infer = binary_infer,
    .lower_parts = binary_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "elementwise", .lower = binary_lower}),
};

/* ---- affine ---- */

weft_status weft_graph_affine(weft_tensor *out, weft_graph *graph, weft_tensor x, float scale,
                              float offset) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_affine_node params = {.scale = scale, .offset = offset};
    return weft_graph_add(out, graph, &weft_op_affine, &x, 1, &params, sizeof params);
}

static weft_status affine_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const struct weft_affine_node *params = (const void *)node->params.bytes;
    if (!isfinite(params->scale) || !isfinite(params->offset)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "affine: scale %g and offset %g must be finite", (double)params->scale,
                         (double)params->offset);
    }
    return same_shape_infer(graph, node, dtype, shape);
}

static weft_status affine_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_affine_node *params = (const void *)node->params.bytes;
    uint32_t x = weft_lower_value(lowering, node->input[0]);
    uint32_t result = weft_lower_value(lowering, node->output);
    uint64_t count = output_elements(lowering, node);
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, elementwise_affine, weft_grid_of_items(count), .bind = {.x = x, .result = result},
        .push = {.count = (uint32_t)count, .scale = params->scale, .offset = params->offset});
    finish(dispatch, lowering->graph, node, 2.0);
    return weft_lower_status(lowering);
}

static void affine_describe(const struct weft_node *node, char *text, size_t size) {
    const struct weft_affine_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "[%g x + %g]", (double)params->scale, (double)params->offset);
}

const struct weft_op weft_op_affine = {
    .name = "affine",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_affine_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_affine_node, scale, F32),
                          WEFT_FIELD(weft_affine_node, offset, F32)),
    .infer = affine_infer,
    .describe = affine_describe,
    .cuts = WEFT_CUTS({.inputs = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "elementwise", .lower = affine_lower}),
};
