/* SPDX-License-Identifier: MIT */
/*
 * The Toeplitz operator, a matrix T[i, j] = t[i - j] per channel, by its definition or by FFT. What is made of the
 * coefficients first - decay, transform - is an op of its own, toeplitz_kernel, so that it can run once when they are
 * weights and in every run otherwise.
 */
#include <inttypes.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "graph/prepared.h"
#include "mixers/shared_convolution.h"

struct weft_toeplitz_kernel_node {
    uint32_t causal;
    uint32_t n;      /* length of the sequences it is for */
    uint32_t length; /* of the transforms; 0: the coefficients themselves */
    uint32_t shared; /* the transforms are for shared_convolution.h */
};

struct weft_toeplitz_node {
    uint32_t causal;
};

weft_status weft_graph_toeplitz(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                weft_tensor coefficients, const weft_toeplitz_params *params) {
    struct weft_toeplitz_node node = {.causal = params && params->causal};
    weft_tensor inputs[] = {x, coefficients, params ? params->decay : (weft_tensor){0}};
    return weft_graph_add(out, graph, &weft_op_toeplitz, inputs, 3, &node, sizeof node);
}

/* ---- coefficients ---- */

/* Rows of coefficients are lags in ascending order. */
struct lags {
    uint32_t zero;  /* the row of lag 0 */
    uint32_t rows;  /* of the lags that sequences of length n use */
    uint32_t given; /* rows that there are */
};

/* With `rows` rows, all lags from -(m-1) or 0 to m-1: m, or 0 when there is no such m. */
static uint32_t reach_of(uint32_t rows, bool causal) {
    return causal ? rows : rows % 2 == 1 ? rows / 2 + 1 : 0;
}

static struct lags lags_of(uint32_t rows, uint32_t n, bool causal) {
    return (struct lags){.zero = causal ? 0 : reach_of(rows, false) - 1,
                         .rows = causal ? n : 2 * n - 1,
                         .given = rows};
}

/* Coefficients and decay of a node of either op. */
struct kernel {
    uint32_t coefficients, decay; /* values; decay 0: none */
    uint32_t rows, channels;      /* of the coefficients */
    struct weft_toeplitz_kernel_node params;
};

static weft_status check_decay_values(const weft_graph *graph, uint32_t value, const char *op) {
    const weft_weight *weight = graph->values[weft_graph_storage_of(graph, value)].weight;
    uint64_t count = weight ? weft_shape_elements(weight->shape) : 0;
    for (uint64_t i = 0; i < count; i++) {
        float gamma = ((const float *)weight->data)[i];
        if (!(gamma > 0.0F && gamma <= 1.0F)) {
            return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                             "%s: decay[%" PRIu64 "] is %g, outside (0, 1]", op, i, (double)gamma);
        }
    }
    return WEFT_OK;
}

/* Inputs `first` and `first` + 1 of a node: coefficients for n elements, and decay. */
static weft_status check_kernel(const weft_graph *graph, const struct weft_node *node,
                                uint32_t first, uint32_t n, bool causal) {
    const char *op = node->op->name;
    const weft_shape *t = weft_node_shape(graph, node, first);
    weft_status status = weft_expect_f32(graph, node, first, "coefficients");
    if (status == WEFT_OK && (t->rank != 2 || reach_of(t->dim[0], causal) < n)) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        status = weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                           causal ? "%s: causal coefficients must be [m, d] with m >= %u, not %s"
                                  : "%s: coefficients must be [2m - 1, d] with m >= %u, not %s",
                           op, n, weft_shape_text(*t, text));
    }
    if (status == WEFT_OK && node->input_count > first + 1 && node->input[first + 1]) {
        status = weft_expect_shape(graph, node, first + 1, "decay", weft_shape_of(t->dim[1]));
        if (status == WEFT_OK) {
            status = check_decay_values(graph, node->input[first + 1], op);
        }
    }
    return status;
}

static struct kernel kernel_of(const weft_graph *graph, const struct weft_node *node,
                               uint32_t first, struct weft_toeplitz_kernel_node params) {
    const weft_shape *t = weft_node_shape(graph, node, first);
    return (struct kernel){.coefficients = node->input[first],
                           .decay = node->input_count > first + 1 ? node->input[first + 1] : 0,
                           .rows = t->dim[0],
                           .channels = t->dim[1],
                           .params = params};
}

static uint64_t kernel_bytes(const struct kernel *kernel) {
    uint64_t channels = kernel->channels;
    if (kernel->params.shared) {
        return weft_shared_kernel_bytes(kernel->params.length, kernel->channels);
    }
    if (kernel->params.length) {
        return channels * weft_convolution_bins(kernel->params.length) * 8;
    }
    return channels * lags_of(kernel->rows, kernel->params.n, kernel->params.causal).rows * 4;
}

/* ---- toeplitz_kernel: lowering ---- */

static void lower_decay(struct weft_lowering *lowering, const struct kernel *kernel,
                        uint32_t result) {
    struct lags lags = lags_of(kernel->rows, kernel->params.n, kernel->params.causal);
    uint64_t count = (uint64_t)lags.rows * kernel->channels;
    uint32_t t = weft_lower_value(lowering, kernel->coefficients);
    uint32_t gamma = weft_lower_value(lowering, kernel->decay);
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "toeplitz/decay");
    weft_dispatch_read(dispatch, t);
    weft_dispatch_read(dispatch, gamma);
    weft_dispatch_write(dispatch, result);
    weft_dispatch_items(dispatch, count);
    weft_dispatch_push_u32(dispatch, kernel->channels);
    weft_dispatch_push_u32(dispatch, kernel->params.causal ? 0 : 1 - kernel->params.n);
    weft_dispatch_push_u32(dispatch, lags.zero);
    dispatch->flops = 60.0 * (double)count;
    dispatch->bytes = 8.0 * (double)count;
}

static void lower_spectrum(struct weft_lowering *lowering, const struct kernel *kernel,
                           uint32_t result) {
    struct lags lags = lags_of(kernel->rows, kernel->params.n, kernel->params.causal);
    uint32_t length = kernel->params.length;
    uint32_t t = weft_lower_value(lowering, kernel->coefficients);
    uint32_t gamma = kernel->decay ? weft_lower_value(lowering, kernel->decay) : t;
    uint32_t rows = weft_lower_scratch(lowering, UINT64_C(4) * kernel->channels * length);
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "toeplitz/circulant");
    weft_dispatch_read(dispatch, t);
    weft_dispatch_read(dispatch, gamma);
    weft_dispatch_write(dispatch, rows);
    weft_dispatch_specialize(dispatch, kernel->params.causal);
    weft_dispatch_specialize(dispatch, kernel->decay != 0);
    weft_dispatch_transpose(dispatch, kernel->channels, length);
    weft_dispatch_push_u32(dispatch, kernel->channels);
    weft_dispatch_push_u32(dispatch, length);
    weft_dispatch_push_u32(dispatch, kernel->params.n);
    weft_dispatch_push_u32(dispatch, lags.zero);
    weft_dispatch_push_f32(dispatch, 1.0F / (float)length);
    weft_lower_row_transform(lowering, length, kernel->channels, rows, result);
}

static void lower_shared_spectrum(struct weft_lowering *lowering, const struct kernel *kernel,
                                  uint32_t result) {
    struct lags lags = lags_of(kernel->rows, kernel->params.n, kernel->params.causal);
    uint32_t length = kernel->params.length;
    uint32_t t = weft_lower_value(lowering, kernel->coefficients);
    uint32_t gamma = kernel->decay ? weft_lower_value(lowering, kernel->decay) : t;
    uint32_t twiddles = weft_lower_twiddles(lowering, length / 2);
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "toeplitz/shared_spectrum");
    weft_dispatch_read(dispatch, t);
    weft_dispatch_read(dispatch, gamma);
    weft_dispatch_read(dispatch, twiddles);
    weft_dispatch_write(dispatch, result);
    weft_dispatch_shared_fft(dispatch, length, kernel->channels, 1);
    weft_dispatch_specialize(dispatch, kernel->params.causal);
    weft_dispatch_specialize(dispatch, kernel->decay != 0);
    weft_dispatch_push_u32(dispatch, kernel->params.n);
    weft_dispatch_push_u32(dispatch, kernel->channels);
    weft_dispatch_push_u32(dispatch, lags.zero);
    weft_dispatch_push_f32(dispatch, 0.5F / (float)length);
    dispatch->flops = weft_shared_fft_flops(length, kernel->channels);
    dispatch->bytes = 4.0 * kernel->channels * (lags.rows + (double)length);
}

static void lower_kernel_to(struct weft_lowering *lowering, const struct kernel *kernel,
                            uint32_t result) {
    if (kernel->params.shared) {
        lower_shared_spectrum(lowering, kernel, result);
    } else if (kernel->params.length) {
        lower_spectrum(lowering, kernel, result);
    } else {
        lower_decay(lowering, kernel, result);
    }
}

/* ---- toeplitz_kernel: the op ---- */

static weft_status kernel_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const struct weft_toeplitz_kernel_node *params = (const void *)node->params.bytes;
    uint32_t n = params->n;
    weft_status status = check_kernel(graph, node, 0, n, params->causal);
    if (status == WEFT_OK) {
        uint32_t d = weft_node_shape(graph, node, 0)->dim[1];
        *dtype = WEFT_F32;
        *shape = params->shared   ? weft_shape_of(d, params->length)
                 : params->length ? weft_shape_of(d, weft_convolution_bins(params->length), 2)
                                  : weft_shape_of(params->causal ? n : 2 * n - 1, d);
    }
    return status;
}

static weft_status kernel_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_toeplitz_kernel_node *params = (const void *)node->params.bytes;
    struct kernel kernel = kernel_of(lowering->graph, node, 0, *params);
    lower_kernel_to(lowering, &kernel, weft_lower_value(lowering, node->output));
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_toeplitz_kernel = {
    .name = "toeplitz_kernel",
    .min_inputs = 1,
    .max_inputs = 2,
    .params_size = sizeof(struct weft_toeplitz_kernel_node),
    .infer = kernel_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "kernel", .lower = kernel_lower}),
};

/* ---- kernels of weights: made once ---- */

struct constant_kernel {
    const struct kernel *kernel;
    weft_weight *coefficients, *decay; /* decay may be null */
};

static weft_status build_constant(weft_tensor *out, weft_graph *graph, void *user) {
    const struct constant_kernel *constant = user;
    const struct kernel *kernel = constant->kernel;
    weft_tensor inputs[2] = {{0}};
    weft_status status = weft_prepare_weight(&inputs[0], graph, constant->coefficients,
                                             weft_shape_of(kernel->rows, kernel->channels));
    if (status == WEFT_OK && constant->decay) {
        status = weft_prepare_weight(&inputs[1], graph, constant->decay,
                                     weft_shape_of(kernel->channels));
    }
    return status == WEFT_OK
               ? weft_graph_add(out, graph, &weft_op_toeplitz_kernel, inputs,
                                constant->decay ? 2 : 1, &kernel->params, sizeof kernel->params)
               : status;
}

/* The storage of the kernel: a constant where it is made of weights, otherwise scratch. */
static uint32_t lower_kernel(struct weft_lowering *lowering, const struct kernel *kernel) {
    struct constant_kernel constant = {
        .kernel = kernel,
        .coefficients = weft_lower_weight_of(lowering, kernel->coefficients),
        .decay = kernel->decay ? weft_lower_weight_of(lowering, kernel->decay) : NULL};
    if (constant.coefficients && (!kernel->decay || constant.decay)) {
        char key[128];
        snprintf(key, sizeof key, "toeplitz/%" PRIu64 " %ux%u/%" PRIu64 "/%s n %u length %u%s",
                 constant.coefficients->uid, kernel->rows, kernel->channels,
                 constant.decay ? constant.decay->uid : 0,
                 kernel->params.causal ? "causal" : "both", kernel->params.n, kernel->params.length,
                 kernel->params.shared ? " shared" : "");
        return weft_lower_prepared(lowering, key, kernel_bytes(kernel), build_constant, &constant);
    }
    uint32_t storage = weft_lower_scratch(lowering, kernel_bytes(kernel));
    lower_kernel_to(lowering, kernel, storage);
    return storage;
}

/* ---- toeplitz: shapes ---- */

static weft_status toeplitz_infer(const weft_graph *graph, struct weft_node *node,
                                  weft_dtype *dtype, weft_shape *shape) {
    const struct weft_toeplitz_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(graph, node, 0);
    const weft_shape *t = weft_node_shape(graph, node, 1);
    char text[2][WEFT_SHAPE_TEXT_SIZE];
    weft_status status = weft_expect_f32(graph, node, 0, "x");
    if (status == WEFT_OK && x->rank != 3) {
        status = weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                           "toeplitz: x must be [B, n, d], not %s", weft_shape_text(*x, text[0]));
    }
    if (status == WEFT_OK) {
        status = check_kernel(graph, node, 1, x->dim[1], params->causal);
    }
    if (status == WEFT_OK && t->dim[1] != x->dim[2]) {
        status = weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                           "toeplitz: coefficients %s are not for the channels of x %s",
                           weft_shape_text(*t, text[0]), weft_shape_text(*x, text[1]));
    }
    *dtype = WEFT_F32;
    *shape = *x;
    return status;
}

/* ---- toeplitz: by its definition ---- */

static weft_status lower_direct(struct weft_lowering *lowering, const struct weft_node *node) {
    const uint32_t tile = 8; /* of direct.comp */
    const struct weft_toeplitz_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    uint32_t n = x->dim[1];
    struct kernel kernel =
        kernel_of(lowering->graph, node, 1,
                  (struct weft_toeplitz_kernel_node){.causal = params->causal, .n = n});
    uint32_t source = weft_lower_value(lowering, node->input[0]);
    uint32_t zero = lags_of(kernel.rows, n, params->causal).zero;
    uint32_t coefficients;
    if (kernel.decay) {
        coefficients = lower_kernel(lowering, &kernel);
        zero = params->causal ? 0 : n - 1;
    } else {
        coefficients = weft_lower_value(lowering, kernel.coefficients);
    }
    uint32_t result = weft_lower_value(lowering, node->output);
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "toeplitz/direct");
    weft_dispatch_read(dispatch, source);
    weft_dispatch_read(dispatch, coefficients);
    weft_dispatch_write(dispatch, result);
    weft_dispatch_specialize(dispatch, params->causal);
    weft_dispatch_items(dispatch, (uint64_t)x->dim[0] * x->dim[2] * ((n - 1) / tile + 1));
    weft_dispatch_push_u32(dispatch, n);
    weft_dispatch_push_u32(dispatch, x->dim[2]);
    weft_dispatch_push_u32(dispatch, zero);
    double elements = (double)x->dim[0] * n * x->dim[2];
    dispatch->flops = elements * n * (params->causal ? 1.0 : 2.0);
    dispatch->bytes = 4.0 * (2.0 * elements + (double)kernel_bytes(&kernel) / 4.0);
    return weft_lower_status(lowering);
}

/* ---- toeplitz: by FFT in shared memory ---- */

#define SHARED_LIMITS "n up to 2048"

static bool shared_supports(const weft_graph *graph, const struct weft_node *node,
                            const weft_device_info *device) {
    (void)device;
    return weft_shared_convolution_length(weft_node_shape(graph, node, 0)->dim[1]) != 0;
}

static weft_status lower_shared(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_toeplitz_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    uint32_t n = x->dim[1];
    uint32_t length = weft_shared_convolution_length(n);
    struct kernel kernel =
        kernel_of(lowering->graph, node, 1,
                  (struct weft_toeplitz_kernel_node){
                      .causal = params->causal, .n = n, .length = length, .shared = true});
    uint32_t source = weft_lower_value(lowering, node->input[0]);
    uint32_t spectrum = lower_kernel(lowering, &kernel);
    struct weft_convolution convolution = {.x = source,
                                           .result = weft_lower_value(lowering, node->output),
                                           .spectrum = spectrum,
                                           .shape = *x,
                                           .length = length};
    weft_lower_shared_convolution(lowering, &convolution);
    return weft_lower_status(lowering);
}

/* ---- toeplitz: by FFT ---- */

static bool fft_supports(const weft_graph *graph, const struct weft_node *node,
                         const weft_device_info *device) {
    (void)device;
    return weft_node_shape(graph, node, 0)->dim[1] <= WEFT_CONVOLUTION_MAX_LENGTH / 2;
}

static weft_status lower_fft(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_toeplitz_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    uint32_t n = x->dim[1];
    uint32_t length = weft_convolution_length(n);
    struct kernel kernel = kernel_of(
        lowering->graph, node, 1,
        (struct weft_toeplitz_kernel_node){.causal = params->causal, .n = n, .length = length});
    uint32_t source = weft_lower_value(lowering, node->input[0]);
    uint32_t spectrum = lower_kernel(lowering, &kernel);
    struct weft_convolution convolution = {.x = source,
                                           .result = weft_lower_value(lowering, node->output),
                                           .spectrum = spectrum,
                                           .shape = *x,
                                           .length = length};
    weft_lower_convolution(lowering, &convolution);
    return weft_lower_status(lowering);
}

/* ---- the choice ---- */

/*
 * The choice by shape of docs/reproducibility.md, rule 8. The definition costs 2 n² a channel, half of that when it is
 * causal; in shared memory a transform has the next power of two from 2n on, and there is one pass over memory; VkFFT's
 * has a length near 2n, five passes or more, and pipelines that take long to compile. Processor time at d = 64: against
 * the definition fft_shared took less from about n = 110 on (causal: 220) on lavapipe, and from 32 on SwiftShader; against
 * VkFFT 0.5 to 0.95 of its time at powers of two, up to 1.4 right above them on lavapipe, 0.2 to 0.7 on SwiftShader.
 */
static const char *toeplitz_choose(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_toeplitz_node *params = (const void *)node->params.bytes;
    uint32_t n = weft_node_shape(graph, node, 0)->dim[1];
    if (n <= (params->causal ? 192 : 96)) {
        return "direct";
    }
    return weft_shared_convolution_length(n) != 0 ? "fft_shared" : "fft";
}

static void toeplitz_describe(const struct weft_node *node, char *text, size_t size) {
    const struct weft_toeplitz_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "%s", params->causal ? "[causal]" : "");
}

const struct weft_op weft_op_toeplitz = {
    .name = "toeplitz",
    .min_inputs = 2,
    .max_inputs = 3,
    .params_size = sizeof(struct weft_toeplitz_node),
    .infer = toeplitz_infer,
    .choose = toeplitz_choose,
    .describe = toeplitz_describe,
    .implementations = WEFT_IMPLEMENTATIONS(
        {.name = "direct", .lower = lower_direct},
        {.name = "fft_shared",
         .bits = 1,
         .supports = shared_supports,
         .limits = SHARED_LIMITS,
         .lower = lower_shared},
        {.name = "fft", .bits = 2, .supports = fft_supports, .lower = lower_fft}),
};
