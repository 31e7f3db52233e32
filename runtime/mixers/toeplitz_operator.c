/* SPDX-License-Identifier: MIT */
/* The Toeplitz operator's coefficients, and its definition. */
#include "mixers/toeplitz_operator.h"

#include <inttypes.h>

#include "core/try.h"
#include "graph/graph.h"
#include "kernels/toeplitz/circulant.h"
#include "kernels/toeplitz/decay.h"
#include "kernels/toeplitz/direct.h"
#include "kernels/toeplitz/direct_lanes.h"
#include "kernels/toeplitz/shared_spectrum.h"
#include "kernels/toeplitz/shared_spectrum_wide.h"
#include "lower/divisor.h"
#include "lower/prepared.h"

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

uint32_t weft_toeplitz_lags(uint32_t n, bool causal) {
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

weft_status weft_toeplitz_check_kernel(const weft_graph *graph, const struct weft_node *node,
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

/* ---- the kernel that transforms want, or the coefficients decayed ---- */

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
                            .lag_zero = kernel->zero,
                            WEFT_INVERSE(channels, kernel->channels)});
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

void weft_lower_toeplitz_kernel_to(struct weft_lowering *lowering, const struct weft_node *node,
                                   uint32_t result) {
    const struct weft_toeplitz_kernel_node *params = (const void *)node->params.bytes;
    const weft_shape *t = weft_node_shape(lowering->graph, node, 0);
    struct kernel kernel = {.params = *params,
                            .channels = t->dim[1],
                            .lags = weft_toeplitz_lags(params->n, params->causal),
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

uint32_t weft_lower_toeplitz_kernel(struct weft_lowering *lowering, const struct weft_node *node,
                                    uint32_t n, uint32_t length, enum weft_convolution_form form) {
    const struct weft_toeplitz_node *params = (const void *)node->params.bytes;
    const struct weft_toeplitz_kernel_node kernel = {
        .causal = params->causal, .n = n, .length = length, .form = form};
    return weft_lower_prepared(lowering, &weft_op_toeplitz_kernel, &node->input[1], 2, &kernel,
                               weft_lower_toeplitz_kernel_to);
}

uint32_t weft_lower_toeplitz_decayed(struct weft_lowering *lowering, const struct weft_node *node,
                                     uint32_t n) {
    return node->input[2] != 0
               ? weft_lower_toeplitz_kernel(lowering, node, n, 0, WEFT_CONVOLUTION_ROWS)
               : weft_lower_value(lowering, node->input[1]);
}

/* ---- shapes ---- */

weft_status weft_toeplitz_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const struct weft_toeplitz_node *params = (const void *)node->params.bytes;
    WEFT_TRY(weft_expect_rank(graph, node, 0, "x", 3, "[B, n, d]"));
    const weft_shape *x = weft_node_shape(graph, node, 0);
    const weft_shape *t = weft_node_shape(graph, node, 1);
    WEFT_TRY(weft_toeplitz_check_kernel(graph, node, 1, x->dim[1], params->causal));
    if (t->dim[1] != x->dim[2]) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "%s: coefficients %s must have as many channels as x %s", node->op->name,
                         weft_shape_text(*t, text[0]), weft_shape_text(*x, text[1]));
    }
    *dtype = WEFT_F32;
    *shape = *x;
    return WEFT_OK;
}

/* ---- by its definition ---- */

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

void weft_lower_toeplitz_direct(struct weft_lowering *lowering, const struct weft_node *node,
                                uint32_t reach) {
    const uint32_t tile = WEFT_TOEPLITZ_DIRECT_TILE_ROWS;
    const struct weft_toeplitz_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    const uint32_t n = x->dim[1];
    const uint32_t rows = weft_node_shape(lowering->graph, node, 1)->dim[0];
    const bool has_decay = node->input[2] != 0;
    const uint32_t source = weft_lower_value(lowering, node->input[0]);
    const uint32_t coefficients = weft_lower_toeplitz_decayed(lowering, node, reach);
    const uint32_t result = weft_lower_value(lowering, node->output);
    const uint32_t lags = weft_toeplitz_lags(reach, params->causal);
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
    dispatch->bytes =
        4.0 * (2.0 * elements + (double)weft_toeplitz_lags(n, params->causal) * x->dim[2]);
    dispatch->turns = 2.0 * n;
}
