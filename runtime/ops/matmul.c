/* SPDX-License-Identifier: MIT */
/* Matrix products, batched and transposed, with bias, activation and residual fused in. */
#include "ops/matmul.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct weft_matmul_node {
    uint32_t transpose_a;
    uint32_t transpose_b;
    float alpha;
};

/* ---- kernels ---- */

struct kernel {
    const char *shader;
    uint32_t tile_rows, tile_columns;
};

/** Registers alone suit CPUs, whose caches serve all invocations; GPUs want tiles in shared memory. */
static struct kernel kernel_for(const weft_device *device, enum weft_product_kernel wanted) {
    bool software = device->info.type == WEFT_DEVICE_SOFTWARE;
    if (wanted == WEFT_PRODUCT_DIRECT || (wanted == WEFT_PRODUCT_USUAL && software)) {
        return (struct kernel){.shader = "matmul/direct", .tile_rows = 64, .tile_columns = 128};
    }
    return (struct kernel){.shader = "matmul/tiled", .tile_rows = 64, .tile_columns = 64};
}

static bool fours(uint32_t stride) {
    return stride % 4 == 0;
}

static bool can_load_fours(const struct weft_matrix *matrix, uint32_t contiguous_stride,
                           uint32_t other_stride, uint32_t length) {
    return contiguous_stride == 1 && fours(other_stride) && fours(length) && fours(matrix->outer) &&
           fours(matrix->inner);
}

static void push_matrix(struct weft_dispatch *dispatch, const struct weft_matrix *matrix) {
    weft_dispatch_push_u32(dispatch, matrix->outer);
    weft_dispatch_push_u32(dispatch, matrix->inner);
    weft_dispatch_push_u32(dispatch, matrix->row);
}

static void count_costs(struct weft_dispatch *dispatch, const struct weft_product *product) {
    double m = product->m;
    double n = product->n;
    double k = product->k;
    dispatch->flops =
        product->batches * (2.0 * m * n * k + m * n * (product->activation ? 20.0 : 0.0));
    dispatch->bytes =
        product->batches *
        (m * k * (product->a.half ? 2.0 : 4.0) + k * n * (product->b.half ? 2.0 : 4.0) +
         4.0 * m * n * (product->residual != WEFT_NO_STORAGE ? 2 : 1));
}

static uint32_t blocks(uint32_t count, uint32_t size) {
    return (count - 1) / size + 1;
}

void weft_lower_product(struct weft_lowering *lowering, const struct weft_product *product) {
    const uint32_t max_groups = 65535;
    struct kernel kernel = kernel_for(lowering->device, product->kernel);
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, kernel.shader);
    weft_dispatch_read(dispatch, product->a.storage);
    weft_dispatch_read(dispatch, product->b.storage);
    weft_dispatch_read(dispatch,
                       product->bias != WEFT_NO_STORAGE ? product->bias : product->a.storage);
    weft_dispatch_read(dispatch, product->residual != WEFT_NO_STORAGE ? product->residual
                                                                      : product->a.storage);
    weft_dispatch_write(dispatch, product->c.storage);
    weft_dispatch_specialize(dispatch, (uint32_t)product->activation);
    weft_dispatch_specialize(dispatch, product->bias != WEFT_NO_STORAGE);
    weft_dispatch_specialize(dispatch, product->residual != WEFT_NO_STORAGE);
    weft_dispatch_specialize(
        dispatch, can_load_fours(&product->a, product->a.column, product->a.row, product->k));
    weft_dispatch_specialize(
        dispatch, can_load_fours(&product->b, product->b.column, product->b.row, product->n));
    if (lowering->device->math == WEFT_MATH_FAST) {
        weft_dispatch_specialize(dispatch, product->a.half);
        weft_dispatch_specialize(dispatch, product->b.half);
    }
    weft_dispatch_push_u32(dispatch, product->m);
    weft_dispatch_push_u32(dispatch, product->n);
    weft_dispatch_push_u32(dispatch, product->k);
    weft_dispatch_push_u32(dispatch, product->inner_count);
    push_matrix(dispatch, &product->a);
    weft_dispatch_push_u32(dispatch, product->a.column);
    push_matrix(dispatch, &product->b);
    weft_dispatch_push_u32(dispatch, product->b.column);
    push_matrix(dispatch, &product->c);
    weft_dispatch_push_f32(dispatch, product->alpha);
    dispatch->groups[0] = blocks(product->n, kernel.tile_columns);
    dispatch->groups[1] = blocks(product->m, kernel.tile_rows);
    dispatch->groups[2] = product->batches;
    count_costs(dispatch, product);
    for (uint32_t i = 0; i < 3; i++) {
        if (dispatch->groups[i] > max_groups) {
            weft_lower_fail(
                lowering,
                weft_fail(&lowering->device->host, WEFT_UNSUPPORTED,
                          "%s: %u products of %u × %u need %u workgroups along an axis, more "
                          "than %u",
                          lowering->label, product->batches, product->m, product->n,
                          dispatch->groups[i], max_groups));
        }
    }
}

/* ---- building ---- */

weft_status weft_graph_matmul(weft_tensor *out, weft_graph *graph, weft_tensor a, weft_tensor b,
                              const weft_matmul_params *params) {
    struct weft_matmul_node node = {.alpha = 1.0F};
    if (params) {
        node.transpose_a = params->transpose_a;
        node.transpose_b = params->transpose_b;
        node.alpha = params->alpha == 0.0F ? 1.0F : params->alpha;
    }
    weft_tensor inputs[] = {a, b};
    return weft_graph_add(out, graph, &weft_op_matmul, inputs, 2, &node, sizeof node);
}

weft_status weft_graph_linear(weft_tensor *out, weft_graph *graph, weft_tensor x,
                              weft_tensor weight, weft_tensor bias) {
    if (!out || !graph) {
        return weft_graph_missing(graph, "weft_graph_linear");
    }
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    weft_tensor product;
    weft_status status =
        weft_graph_matmul(&product, graph, x, weight, weft_matmul_params(.transpose_b = true));
    if (status == WEFT_OK && bias.id != 0) {
        status = weft_graph_binary(&product, graph, WEFT_BINARY_ADD, product, bias);
    }
    if (status == WEFT_OK) {
        *out = product;
    }
    return weft_graph_end(graph, mark, status);
}

/* ---- shapes ---- */

struct dims {
    uint32_t m, n, k;
    uint32_t k_of_b;
};

static struct dims dims_of(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    const weft_shape *a = weft_node_shape(graph, node, 0);
    const weft_shape *b = weft_node_shape(graph, node, 1);
    const uint32_t *a_end = &a->dim[a->rank - 2];
    const uint32_t *b_end = &b->dim[b->rank - 2];
    return (struct dims){.m = a_end[params->transpose_a ? 1 : 0],
                         .k = a_end[params->transpose_a ? 0 : 1],
                         .n = b_end[params->transpose_b ? 0 : 1],
                         .k_of_b = b_end[params->transpose_b ? 1 : 0]};
}

static bool batches_fit(const weft_shape *a, const weft_shape *b) {
    return a->rank == 2 || b->rank == 2 ||
           (a->rank == b->rank && memcmp(a->dim, b->dim, (a->rank - 2) * sizeof a->dim[0]) == 0);
}

static weft_status matmul_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    const weft_shape *a = weft_node_shape(graph, node, 0);
    const weft_shape *b = weft_node_shape(graph, node, 1);
    char left[WEFT_SHAPE_TEXT_SIZE];
    char right[WEFT_SHAPE_TEXT_SIZE];
    weft_status status = weft_expect_f32(graph, node, 0, "a");
    if (status == WEFT_OK) {
        status = weft_expect_f32(graph, node, 1, "b");
    }
    if (status == WEFT_OK && !isfinite(params->alpha)) {
        status = weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "matmul: alpha %g must be finite",
                           (double)params->alpha);
    }
    if (status != WEFT_OK) {
        return status;
    }
    if (a->rank < 2 || b->rank < 2 || !batches_fit(a, b) ||
        dims_of(graph, node).k != dims_of(graph, node).k_of_b) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "matmul: %s%s and %s%s cannot be multiplied", weft_shape_text(*a, left),
                         params->transpose_a ? " (transposed)" : "", weft_shape_text(*b, right),
                         params->transpose_b ? " (transposed)" : "");
    }
    struct dims dims = dims_of(graph, node);
    *dtype = WEFT_F32;
    *shape = a->rank >= b->rank ? *a : *b;
    shape->dim[shape->rank - 2] = dims.m;
    shape->dim[shape->rank - 1] = dims.n;
    return WEFT_OK;
}

/* ---- lowering ---- */

static uint32_t batches_of(const weft_shape *shape) {
    uint32_t batches = 1;
    for (uint32_t i = 0; i + 2 < shape->rank; i++) {
        batches *= shape->dim[i];
    }
    return batches;
}

static struct weft_matrix dense(uint32_t rows, uint32_t columns, bool transposed, bool batched) {
    return (struct weft_matrix){.outer = batched ? rows * columns : 0,
                                .row = transposed ? 1 : columns,
                                .column = transposed ? rows : 1};
}

static void address(struct weft_product *product, const weft_graph *graph,
                    const struct weft_node *node) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    const weft_shape *a = weft_node_shape(graph, node, 0);
    const weft_shape *b = weft_node_shape(graph, node, 1);
    struct dims dims = dims_of(graph, node);
    product->m = dims.m;
    product->n = dims.n;
    product->k = dims.k;
    product->batches = batches_of(&graph->values[node->output].shape);
    if (b->rank == 2 && !params->transpose_a) { /* one tall product instead of many */
        product->m *= product->batches;
        product->batches = 1;
    }
    product->a = dense(dims.m, dims.k, params->transpose_a, a->rank > 2 && product->batches > 1);
    product->b = dense(dims.k, dims.n, params->transpose_b, b->rank > 2);
    product->c = dense(dims.m, dims.n, false, true);
}

/**
 * Sets an operand's storage: as f16 where the device keeps the weight so, whose power of two then moves to alpha, and
 * as f32 otherwise, also when alpha cannot take it exactly.
 */
static void place_operand(struct weft_lowering *lowering, struct weft_product *product,
                          struct weft_matrix *matrix, uint32_t value, bool transposed) {
    int exponent = 0;
    if (weft_lower_half_exponent(&exponent, lowering, value)) {
        float alpha = ldexpf(product->alpha, -exponent);
        if (ldexpf(alpha, exponent) == product->alpha) {
            matrix->storage = weft_lower_half_weight(lowering, value, transposed);
            matrix->half = true;
            product->alpha = alpha;
            return;
        }
    }
    matrix->storage = transposed ? weft_lower_transposed_weight(lowering, value)
                                 : weft_lower_value(lowering, value);
}

static uint32_t optional(struct weft_lowering *lowering, uint32_t value) {
    return value ? weft_lower_value(lowering, value) : WEFT_NO_STORAGE;
}

static weft_status lower_with(struct weft_lowering *lowering, const struct weft_node *node,
                              enum weft_product_kernel kernel) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    struct weft_product product = {.inner_count = 1,
                                   .alpha = params->alpha,
                                   .activation = node->epilogue.activation,
                                   .kernel = kernel};
    address(&product, lowering->graph, node);
    place_operand(lowering, &product, &product.a, node->input[0], false);
    if (params->transpose_b && weft_lower_is_weight(lowering, node->input[1]) &&
        weft_node_shape(lowering->graph, node, 1)->rank == 2) {
        /* Rows of b next to each other in memory let kernels load four columns at once. */
        place_operand(lowering, &product, &product.b, node->input[1], true);
        product.b.row = product.n;
        product.b.column = 1;
    } else {
        place_operand(lowering, &product, &product.b, node->input[1], false);
    }
    product.bias = optional(lowering, node->epilogue.bias);
    product.residual = optional(lowering, node->epilogue.residual);
    product.c.storage = weft_lower_value(lowering, node->output);
    weft_lower_product(lowering, &product);
    return weft_lower_status(lowering);
}

static weft_status lower_usual(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_with(lowering, node, WEFT_PRODUCT_USUAL);
}

static weft_status lower_direct(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_with(lowering, node, WEFT_PRODUCT_DIRECT);
}

static weft_status lower_tiled(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_with(lowering, node, WEFT_PRODUCT_TILED);
}

static void matmul_describe(const struct weft_node *node, char *text, size_t size) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "%s%s", params->transpose_a ? "[aT]" : "",
             params->transpose_b ? "[bT]" : "");
}

const struct weft_op weft_op_matmul = {
    .name = "matmul",
    .min_inputs = 2,
    .max_inputs = 2,
    .params_size = sizeof(struct weft_matmul_node),
    .fusable = WEFT_FUSE_BIAS | WEFT_FUSE_ACTIVATION | WEFT_FUSE_RESIDUAL,
    .infer = matmul_infer,
    .describe = matmul_describe,
    .implementation = {{.name = "product", .lower = lower_usual},
                       {.name = "direct", .lower = lower_direct},
                       {.name = "tiled", .lower = lower_tiled}},
};
