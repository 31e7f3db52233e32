/* SPDX-License-Identifier: MIT */
/* Discrete Fourier transforms of rows, of real and of complex numbers: short ones by a matrix, long ones by VkFFT. */
#include <stdio.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/math/trig.h"
#include "core/try.h"
#include "kernels/fourier/prepare.h"
#include "lower/cut.h"
#include "lower/divisor.h"
#include "mixers/convolution.h"
#include "ops/matmul.h"

#define LONGEST_MATRIX 256 /* which needs no kernel of its length */

struct weft_irfft_node {
    uint32_t n;
};

weft_status weft_graph_rfft(weft_tensor *out, weft_graph *graph, weft_tensor x) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    return weft_graph_add(out, graph, &weft_op_rfft, &x, 1, NULL, 0);
}

weft_status weft_graph_irfft(weft_tensor *out, weft_graph *graph, weft_tensor x, uint32_t n) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_irfft_node node = {.n = n};
    return weft_graph_add(out, graph, &weft_op_irfft, &x, 1, &node, sizeof node);
}

weft_status weft_graph_fft(weft_tensor *out, weft_graph *graph, weft_tensor x) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    return weft_graph_add(out, graph, &weft_op_fft, &x, 1, NULL, 0);
}

weft_status weft_graph_ifft(weft_tensor *out, weft_graph *graph, weft_tensor x) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    return weft_graph_add(out, graph, &weft_op_ifft, &x, 1, NULL, 0);
}

/* ---- shapes ---- */

/** Transform of a node: rows of `from` numbers become rows of `to`; n is its length. */
struct transform {
    const struct weft_op *op;
    uint32_t n;
    uint64_t rows;
    uint32_t from, to;
};

static struct transform transform_of(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_irfft_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(graph, node, 0);
    const bool is_complex = node->op != &weft_op_rfft;
    const uint32_t count = x->dim[x->rank - (is_complex ? 2 : 1)];
    struct transform t = {.op = node->op, .n = count, .from = count, .to = count};
    if (node->op == &weft_op_rfft) {
        t.to = 2 * (count / 2 + 1);
    } else {
        t.n = node->op == &weft_op_irfft ? params->n : count;
        t.from = 2 * count;
        t.to = node->op == &weft_op_irfft ? params->n : 2 * count;
    }
    t.rows = weft_shape_elements(*x) / t.from;
    return t;
}

/* x [..., n, 2]. */
static weft_status expect_complex(const weft_graph *graph, const struct weft_node *node) {
    WEFT_TRY(weft_expect_f32(graph, node, 0, "x"));
    const weft_shape *x = weft_node_shape(graph, node, 0);
    if (x->rank < 2 || x->dim[x->rank - 1] != 2) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "%s: x must be […, n, 2], not %s",
                         node->op->name, weft_shape_text(*x, text));
    }
    return WEFT_OK;
}

static weft_status rfft_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                              weft_shape *shape) {
    WEFT_TRY(weft_expect_f32(graph, node, 0, "x"));
    const weft_shape *x = weft_node_shape(graph, node, 0);
    if (x->rank < 1 || x->rank >= WEFT_MAX_RANK) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "rfft: x must have 1 … %d axes, not %u",
                         WEFT_MAX_RANK - 1, x->rank);
    }
    *dtype = WEFT_F32;
    *shape = *x;
    shape->dim[x->rank - 1] = x->dim[x->rank - 1] / 2 + 1;
    shape->dim[shape->rank++] = 2;
    return WEFT_OK;
}

static weft_status irfft_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                               weft_shape *shape) {
    struct weft_irfft_node *params = (void *)node->params.bytes;
    WEFT_TRY(expect_complex(graph, node));
    const weft_shape *x = weft_node_shape(graph, node, 0);
    const uint32_t bins = x->dim[x->rank - 2];
    params->n = params->n != 0 ? params->n : bins > 1 ? 2 * (bins - 1) : 1;
    if (bins > INT32_MAX / 2 || params->n / 2 + 1 != bins) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "irfft: n %u must be one whose rfft has n/2 + 1 = %u numbers", params->n,
                         bins);
    }
    *dtype = WEFT_F32;
    *shape = *x;
    shape->rank--;
    shape->dim[shape->rank - 1] = params->n;
    return WEFT_OK;
}

static weft_status fft_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                             weft_shape *shape) {
    WEFT_TRY(expect_complex(graph, node));
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    return WEFT_OK;
}

/* ---- by a matrix ---- */

/* Weight of number `row` of the input in number `column` of the result. Complex numbers are two: real, imaginary. */
static double weight_of(const struct transform *t, uint32_t row, uint32_t column) {
    const bool from_complex = t->op != &weft_op_rfft;
    const bool to_complex = t->op != &weft_op_irfft;
    const bool is_inverse = t->op == &weft_op_irfft || t->op == &weft_op_ifft;
    const uint32_t j = from_complex ? row / 2 : row;
    const uint32_t k = to_complex ? column / 2 : column;
    const bool from_imaginary = from_complex && row % 2 == 1;
    const bool to_imaginary = to_complex && column % 2 == 1;
    double cosine;
    double sine;
    weft_unit_root(&cosine, &sine, (uint64_t)j * k % t->n, t->n);
    sine = is_inverse ? sine : -sine;
    double weight = from_imaginary == to_imaginary ? cosine : from_imaginary ? -sine : sine;
    if (t->op == &weft_op_irfft) {
        const bool is_single =
            j == 0 || 2 * j == t->n; /* the others stand for their conjugates, too */
        weight = is_single && from_imaginary ? 0.0 : is_single ? weight : 2.0 * weight;
    }
    return is_inverse ? weight / t->n : weight;
}

static weft_status fill_matrix(void *user, void *data) {
    const struct transform *t = user;
    float *matrix = data;
    for (uint32_t row = 0; row < t->from; row++) {
        for (uint32_t column = 0; column < t->to; column++) {
            *matrix++ = (float)weight_of(t, row, column);
        }
    }
    return WEFT_OK;
}

static weft_status lower_matrix(struct weft_lowering *lowering, const struct weft_node *node) {
    struct transform t = transform_of(lowering->graph, node);
    char key[48];
    snprintf(key, sizeof key, "transform/%s/%u", t.op->name, t.n);
    const uint32_t matrix =
        weft_lower_table(lowering, key, UINT64_C(4) * t.from * t.to, fill_matrix, &t);
    const uint32_t x = weft_lower_value(lowering, node->input[0]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    if (!weft_lower_countable(lowering, (double)t.rows * (t.from > t.to ? t.from : t.to),
                              "elements")) {
        return weft_lower_status(lowering);
    }
    const struct weft_product product = {.a = {.storage = x, .row = t.from, .column = 1},
                                         .b = {.storage = matrix, .row = t.to, .column = 1},
                                         .c = {.storage = result, .row = t.to, .column = 1},
                                         .m = (uint32_t)t.rows,
                                         .n = t.to,
                                         .k = t.from,
                                         .batches = 1,
                                         .inner_count = 1,
                                         .alpha = 1.0F,
                                         .bias = WEFT_NO_STORAGE,
                                         .residual = WEFT_NO_STORAGE};
    weft_lower_product(lowering, &product);
    return weft_lower_status(lowering);
}

/* ---- by VkFFT ---- */

/* x over n, as the unnormalised transforms back want it. */
static uint32_t lower_prepared(struct weft_lowering *lowering, const struct transform *t,
                               uint32_t x) {
    const uint64_t count = t->rows * (t->from / 2);
    if (!weft_lower_countable(lowering, 2.0 * (double)count, "elements of spectra")) {
        return x;
    }
    const uint32_t result = weft_lower_scratch(lowering, 8 * count);
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, fourier_prepare, weft_grid_of_items(count), .bind = {.x = x, .result = result},
        .push = {.count = (uint32_t)count,
                 .bins = t->from / 2,
                 .real = t->op == &weft_op_irfft ? t->n : 0,
                 .factor = (float)(1.0 / t->n),
                 WEFT_INVERSE(bins, t->from / 2)});
    dispatch->bytes = 16.0 * (double)count;
    return result;
}

static weft_status lower_fft(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct transform t = transform_of(lowering->graph, node);
    const bool is_inverse = t.op == &weft_op_irfft || t.op == &weft_op_ifft;
    const enum weft_fft_kind kind = t.op == &weft_op_rfft    ? WEFT_FFT_R2C
                                    : t.op == &weft_op_irfft ? WEFT_FFT_C2R
                                    : t.op == &weft_op_fft   ? WEFT_FFT_C2C_FORWARD
                                                             : WEFT_FFT_C2C_INVERSE;
    const uint32_t x = weft_lower_value(lowering, node->input[0]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    if (!weft_lower_countable(lowering, (double)t.rows * t.n, "elements of transforms")) {
        return weft_lower_status(lowering);
    }
    const uint32_t from = is_inverse ? lower_prepared(lowering, &t, x) : x;
    weft_lower_row_fft(lowering, kind, t.n, (uint32_t)t.rows, from, result);
    return weft_lower_status(lowering);
}

static bool fft_supports(const weft_graph *graph, const struct weft_node *node,
                         const weft_device_info *device) {
    (void)device;
    return transform_of(graph, node).n > 1; /* VkFFT makes no copies */
}

/* ---- the ops ---- */

/* The choice by shape of docs/reproducibility.md, rule 8. */
static const char *choose(const weft_graph *graph, const struct weft_node *node) {
    return transform_of(graph, node).n <= LONGEST_MATRIX ? "matrix" : "fft";
}

/* Along the first axis, where that is not transformed. */
static bool lower_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const uint32_t own = node->op == &weft_op_rfft ? 1 : 2;
    return weft_node_shape(lowering->graph, node, 0)->rank > own &&
           weft_cut_along(lowering, node, WEFT_CUTS({.inputs = 1, .axes = 1}));
}

#define TRANSFORM(name_, infer_)                                                              \
    .name = (name_), .min_inputs = 1, .max_inputs = 1, .infer = (infer_), .choose = choose,   \
    .lower_parts = lower_parts,                                                               \
    .implementations = WEFT_IMPLEMENTATIONS({.name = "fft",                                   \
                                             .supports = fft_supports,                        \
                                             .limits = "transforms of more than one element", \
                                             .lower = lower_fft},                             \
                                            {.name = "matrix", .bits = 1, .lower = lower_matrix})

const struct weft_op weft_op_rfft = {TRANSFORM("rfft", rfft_infer)};
const struct weft_op weft_op_irfft = {
    TRANSFORM("irfft", irfft_infer), .params_size = sizeof(struct weft_irfft_node),
    .fields = WEFT_FIELDS(WEFT_FIELD_OPTIONAL(weft_irfft_node, n, U32))};
const struct weft_op weft_op_fft = {TRANSFORM("fft", fft_infer)};
const struct weft_op weft_op_ifft = {TRANSFORM("ifft", fft_infer)};
