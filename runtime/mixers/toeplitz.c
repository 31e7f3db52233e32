/* SPDX-License-Identifier: MIT */
/*
 * The Toeplitz operator, a matrix T[i, j] = t[i - j] per channel, by its definition or by FFT. What is made of the
 * coefficients first - decay, transform - is an op of its own, toeplitz_kernel, so that it can run once when they are
 * weights and in every run otherwise.
 */
#include <inttypes.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "core/try.h"
#include "graph/graph.h"
#include "kernels/toeplitz/circulant.h"
#include "kernels/toeplitz/decay.h"
#include "kernels/toeplitz/direct.h"
#include "kernels/toeplitz/direct_lanes.h"
#include "kernels/toeplitz/shared_spectrum.h"
#include "kernels/toeplitz/shared_spectrum_wide.h"
#include "lower/prepared.h"
#include "mixers/convolution.h"

struct weft_toeplitz_kernel_node {
    uint32_t causal;
    uint32_t n;      /* length of the sequences it is for */
    uint32_t length; /* of the transforms; 0: the coefficients themselves */
    uint32_t form;   /* of the convolution that the transforms are for: weft_convolution_form */
};

struct weft_toeplitz_node {
    uint32_t causal;
};

weft_status weft_graph_toeplitz(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                weft_tensor coefficients, const weft_toeplitz_params *params) {
    WEFT_ENTER;
    struct weft_toeplitz_node node = {.causal = params && params->causal};
    weft_tensor inputs[] = {x, coefficients, params ? params->decay : (weft_tensor){0}};
    if (!out || !graph) {
        return weft_graph_missing(graph, "weft_graph_toeplitz");
    }
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    weft_status status = params && params->lengths.id != 0
                             ? weft_graph_mask(&inputs[0], graph, x, params->lengths)
                             : WEFT_OK;
    if (status == WEFT_OK) {
        status = weft_graph_add(out, graph, &weft_op_toeplitz, inputs, 3, &node, sizeof node);
    }
    return weft_graph_end(graph, mark, status);
}

/* ---- coefficients ---- */

/* Rows of coefficients are lags in ascending order. With `rows` rows, all lags from -(m-1) or 0 to m-1: m, or 0 when
 * there is no such m. */
static uint32_t reach_of(uint32_t rows, bool causal) {
    return causal ? rows : rows % 2 == 1 ? rows / 2 + 1 : 0;
}

/* The row of lag 0. */
static uint32_t zero_of(uint32_t rows, bool causal) {
    return causal ? 0 : reach_of(rows, false) - 1;
}

/* The lags that sequences of length n use. */
static uint32_t lags_of(uint32_t n, bool causal) {
    return causal ? n : 2 * n - 1;
}

static weft_status check_decay_values(const weft_graph *graph, uint32_t value, const char *op) {
    weft_weight *weight = graph->values[weft_graph_storage_of(graph, value)].weight;
    uint64_t count = weight ? weft_shape_elements(weight->shape) : 0;
    const void *gammas = NULL;
    WEFT_TRY(weight ? weft_weight_data(&gammas, weight) : WEFT_OK);
    for (uint64_t i = 0; i < count; i++) {
        float gamma = ((const float *)gammas)[i];
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
    WEFT_TRY(weft_expect_f32(graph, node, first, "coefficients"));
    if (t->rank != 2 || reach_of(t->dim[0], causal) < n) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         causal ? "%s: causal coefficients must be [m, d] with m >= %u, not %s"
                                : "%s: coefficients must be [2m - 1, d] with m >= %u, not %s",
                         op, n, weft_shape_text(*t, text));
    }
    if (!node->input[first + 1]) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_expect_shape(graph, node, first + 1, "decay", weft_shape_of(t->dim[1])));
    return check_decay_values(graph, node->input[first + 1], op);
}

/* ---- toeplitz_kernel ---- */

/* A node of it while it is lowered. */
struct kernel {
    struct weft_toeplitz_kernel_node params;
    uint32_t channels, lags;
    uint32_t zero; /* the row of lag 0 */
    uint32_t has_decay;
    uint32_t t, gamma, result; /* storages */
};

static void lower_decay(struct weft_lowering *lowering, const struct kernel *kernel) {
    const uint64_t count = (uint64_t)kernel->lags * kernel->channels;
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, toeplitz_decay, weft_grid_of_items(count),
                   .bind = {.t = kernel->t, .gamma = kernel->gamma, .result = kernel->result},
                   .push = {.count = (uint32_t)count,
                            .channels = kernel->channels,
                            .first_lag = kernel->params.causal ? 0 : 1 - (int32_t)kernel->params.n,
                            .lag_zero = kernel->zero});
    dispatch->flops = 60.0 * (double)count;
    dispatch->bytes = 8.0 * (double)count;
}

static void lower_spectrum(struct weft_lowering *lowering, const struct kernel *kernel) {
    const uint32_t length = kernel->params.length;
    const uint32_t rows = weft_lower_scratch(lowering, UINT64_C(4) * kernel->channels * length);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, toeplitz_circulant, weft_transpose_grid(kernel->channels, length),
                   .bind = {.t = kernel->t, .gamma = kernel->gamma, .rows = rows},
                   .push = {.channels = kernel->channels,
                            .circulant_length = length,
                            .sequence_length = kernel->params.n,
                            .lag_zero = kernel->zero,
                            .scale = 1.0F / (float)length},
                   .constant = {.causal = kernel->params.causal, .has_decay = kernel->has_decay});
    dispatch->bytes = 8.0 * kernel->channels * length;
    weft_lower_row_fft(lowering, WEFT_FFT_R2C, length, kernel->channels, rows, kernel->result);
}

static struct weft_grid spectra_grid(const struct weft_variant *variant, const void *args,
                                     uint32_t batches) {
    const struct weft_toeplitz_shared_spectrum_args *words = args;
    (void)variant, (void)batches;
    return weft_grid_of_groups(
        (((uint64_t)words->push.channels - 1) >> words->constant.fft_log_rows) + 1);
}

/* As those of convolution/shared: many invocations suit GPUs, and few the processors, which go through them one behind the other. */
WEFT_VARIANTS(shared_spectrum, "toeplitz/shared_spectrum",
              {.name = "points",
               .shader = &weft_shader_toeplitz_shared_spectrum,
               .grid = spectra_grid,
               .cost = {.hardware = 3.0F}},
              {.name = "wide",
               .shader = &weft_shader_toeplitz_shared_spectrum_wide,
               .grid = spectra_grid,
               .needs = {.invocations = 512},
               .cost = {.software = 3.0F, .processor = 3.0F}})

static void lower_shared_spectrum(struct weft_lowering *lowering, const struct kernel *kernel) {
    const uint32_t length = kernel->params.length;
    const struct weft_shared_fft fft = weft_shared_fft_of(length, kernel->channels, 1);
    const uint32_t twiddles = weft_lower_twiddles(lowering, length / 2);
    struct weft_dispatch *dispatch =
        WEFT_LOWER_VARIANTS(lowering, &weft_shared_spectrum_variants, 1, toeplitz_shared_spectrum,
                            .bind = {.t = kernel->t,
                                     .gamma = kernel->gamma,
                                     .twiddles = twiddles,
                                     .kernel = kernel->result},
                            .push = {.sequence_length = kernel->params.n,
                                     .channels = kernel->channels,
                                     .lag_zero = kernel->zero,
                                     .scale = 0.5F / (float)length},
                            .constant = {.fft_log_length = fft.log_length,
                                         .fft_log_rows = fft.log_rows,
                                         .causal = kernel->params.causal,
                                         .has_decay = kernel->has_decay});
    dispatch->flops = fft.flops;
    dispatch->bytes = 4.0 * kernel->channels * (kernel->lags + (double)length);
}

static void lower_kernel_to(struct weft_lowering *lowering, const struct weft_node *node,
                            uint32_t result) {
    const struct weft_toeplitz_kernel_node *params = (const void *)node->params.bytes;
    const weft_shape *t = weft_node_shape(lowering->graph, node, 0);
    struct kernel kernel = {.params = *params,
                            .channels = t->dim[1],
                            .lags = lags_of(params->n, params->causal),
                            .zero = zero_of(t->dim[0], params->causal),
                            .has_decay = node->input[1] != 0,
                            .result = result};
    kernel.t = weft_lower_value(lowering, node->input[0]);
    kernel.gamma = weft_lower_optional(lowering, node->input[1]);
    if (params->form == WEFT_CONVOLUTION_SHARED) {
        lower_shared_spectrum(lowering, &kernel);
    } else if (params->form == WEFT_CONVOLUTION_LANES) {
        const uint32_t bins = weft_convolution_bins(params->length);
        kernel.result = weft_lower_scratch(lowering, UINT64_C(8) * kernel.channels * bins);
        lower_spectrum(lowering, &kernel);
        weft_lower_spread(lowering, kernel.result, result, kernel.channels, bins);
    } else if (params->length) {
        lower_spectrum(lowering, &kernel);
    } else {
        lower_decay(lowering, &kernel);
    }
}

static weft_status kernel_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const struct weft_toeplitz_kernel_node *params = (const void *)node->params.bytes;
    WEFT_TRY(check_kernel(graph, node, 0, params->n, params->causal));
    const uint32_t d = weft_node_shape(graph, node, 0)->dim[1];
    *dtype = WEFT_F32;
    const uint32_t bins = weft_convolution_bins(params->length);
    *shape = params->form == WEFT_CONVOLUTION_SHARED  ? weft_shape_of(d, params->length)
             : params->form == WEFT_CONVOLUTION_LANES ? weft_shape_of(bins, 2, d)
             : params->length                         ? weft_shape_of(d, bins, 2)
                              : weft_shape_of(lags_of(params->n, params->causal), d);
    return WEFT_OK;
}

static weft_status kernel_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    lower_kernel_to(lowering, node, weft_lower_value(lowering, node->output));
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

/* The storage of the kernel of a node of toeplitz. */
static uint32_t lower_kernel(struct weft_lowering *lowering, const struct weft_node *node,
                             uint32_t length, enum weft_convolution_form form) {
    const struct weft_toeplitz_node *params = (const void *)node->params.bytes;
    const struct weft_toeplitz_kernel_node kernel = {
        .causal = params->causal,
        .n = weft_node_shape(lowering->graph, node, 0)->dim[1],
        .length = length,
        .form = form};
    return weft_lower_prepared(lowering, &weft_op_toeplitz_kernel, &node->input[1], 2, &kernel,
                               lower_kernel_to);
}

/* ---- toeplitz: shapes ---- */

static weft_status toeplitz_infer(const weft_graph *graph, struct weft_node *node,
                                  weft_dtype *dtype, weft_shape *shape) {
    const struct weft_toeplitz_node *params = (const void *)node->params.bytes;
    WEFT_TRY(weft_expect_rank(graph, node, 0, "x", 3, "[B, n, d]"));
    const weft_shape *x = weft_node_shape(graph, node, 0);
    const weft_shape *t = weft_node_shape(graph, node, 1);
    WEFT_TRY(check_kernel(graph, node, 1, x->dim[1], params->causal));
    if (t->dim[1] != x->dim[2]) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "toeplitz: coefficients %s must have as many channels as x %s",
                         weft_shape_text(*t, text[0]), weft_shape_text(*x, text[1]));
    }
    *dtype = WEFT_F32;
    *shape = *x;
    return WEFT_OK;
}

/* ---- toeplitz: by its definition ---- */

/* Both forms have the same tiles. */
static struct weft_grid direct_grid(const struct weft_variant *variant, const void *args,
                                    uint32_t batches) {
    const struct weft_toeplitz_direct_args *words = args;
    const uint32_t channels = words->push.channels;
    (void)batches;
    if (variant->shader == &weft_shader_toeplitz_direct) {
        return weft_grid_of_items(words->push.count);
    }
    const uint64_t tiles = words->push.count / channels;
    return weft_grid_of_groups(tiles * ((channels - 1) / WEFT_TOEPLITZ_DIRECT_LANES_CHANNELS + 1));
}

/* Processors want channels along the lanes, whose loads are then whole vectors. */
WEFT_VARIANTS(toeplitz_direct, "toeplitz/direct",
              {.name = "items",
               .shader = &weft_shader_toeplitz_direct,
               .grid = direct_grid,
               .cost = {.processor = 16.0F}},
              {.name = "lanes",
               .shader = &weft_shader_toeplitz_direct_lanes,
               .grid = direct_grid,
               .cost = {.software = 4.0F, .hardware = 8.0F}})

static weft_status lower_direct(struct weft_lowering *lowering, const struct weft_node *node) {
    const uint32_t tile = WEFT_TOEPLITZ_DIRECT_TILE_ROWS;
    const struct weft_toeplitz_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    const uint32_t n = x->dim[1];
    const uint32_t rows = weft_node_shape(lowering->graph, node, 1)->dim[0];
    const bool has_decay = node->input[2] != 0;
    const uint32_t source = weft_lower_value(lowering, node->input[0]);
    const uint32_t coefficients = has_decay ? lower_kernel(lowering, node, 0, false)
                                            : weft_lower_value(lowering, node->input[1]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    const uint32_t lags = lags_of(n, params->causal);
    const uint64_t items = (uint64_t)x->dim[0] * x->dim[2] * ((n - 1) / tile + 1);
    struct weft_dispatch *dispatch =
        WEFT_LOWER_VARIANTS(lowering, &weft_toeplitz_direct_variants, x->dim[0], toeplitz_direct,
                            .bind = {.x = source, .t = coefficients, .y = result},
                            .push = {.count = (uint32_t)items,
                                     .sequence_length = n,
                                     .channels = x->dim[2],
                                     .lag_zero = zero_of(has_decay ? lags : rows, params->causal)},
                            .constant = {.causal = params->causal});
    const double elements = (double)x->dim[0] * n * x->dim[2];
    dispatch->flops = elements * n * (params->causal ? 1.0 : 2.0);
    dispatch->bytes = 4.0 * (2.0 * elements + (double)lags * x->dim[2]);
    return weft_lower_status(lowering);
}

/* ---- toeplitz: by FFT, in shared memory or not ---- */

static bool shared_supports(const weft_graph *graph, const struct weft_node *node,
                            const weft_device_info *device) {
    (void)device;
    return weft_shared_convolution_length(weft_node_shape(graph, node, 0)->dim[1]) != 0;
}

static bool fft_supports(const weft_graph *graph, const struct weft_node *node,
                         const weft_device_info *device) {
    (void)device;
    return weft_node_shape(graph, node, 0)->dim[1] <= WEFT_CONVOLUTION_MAX_LENGTH / 2;
}

static bool lanes_supports(const weft_graph *graph, const struct weft_node *node,
                           const weft_device_info *device) {
    (void)device;
    return weft_lanes_convolution_fits(
        weft_convolution_length(weft_node_shape(graph, node, 0)->dim[1]));
}

static weft_status lower_by(struct weft_lowering *lowering, const struct weft_node *node,
                            enum weft_convolution_form form) {
    const uint32_t n = weft_node_shape(lowering->graph, node, 0)->dim[1];
    const uint32_t length = form == WEFT_CONVOLUTION_SHARED ? weft_shared_convolution_length(n)
                                                            : weft_convolution_length(n);
    const uint32_t x = weft_lower_value(lowering, node->input[0]);
    const uint32_t spectrum = lower_kernel(lowering, node, length, form);
    return weft_lower_node_convolution(lowering, node, x, spectrum, length, form);
}

static weft_status lower_shared(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_by(lowering, node, WEFT_CONVOLUTION_SHARED);
}

static weft_status lower_fft(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_by(lowering, node, WEFT_CONVOLUTION_ROWS);
}

static weft_status lower_lanes(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_by(lowering, node, WEFT_CONVOLUTION_LANES);
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

const struct weft_op weft_op_toeplitz = {
    .name = "toeplitz",
    .min_inputs = 2,
    .max_inputs = 3,
    .params_size = sizeof(struct weft_toeplitz_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_toeplitz_node, causal, BOOL)),
    .infer = toeplitz_infer,
    .choose = toeplitz_choose,
    .cuts = WEFT_CUTS({.inputs = 1, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS(
        {.name = "direct", .lower = lower_direct},
        {.name = "fft_shared",
         .bits = 1,
         .supports = shared_supports,
         .limits = "n up to 2048",
         .lower = lower_shared},
        {.name = "fft",
         .bits = 2,
         .cost = {.processor = 8.0F},
         .supports = fft_supports,
         .lower = lower_fft},
        {.name = "fft_lanes",
         .bits = 2,
         .cost = {.software = 4.0F, .hardware = 4.0F},
         .supports = lanes_supports,
         .limits = "transforms of 8192 elements, which 2 n - 1 asks for, and VkFFT 1.3.4",
         .lower = lower_lanes}),
};
