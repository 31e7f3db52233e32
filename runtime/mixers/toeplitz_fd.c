/* SPDX-License-Identifier: MIT */
/*
 * The Toeplitz operator of FD-TNN: the kernel is given by its frequency response, whole, or the real part alone, to
 * which causality adds the imaginary part. As in toeplitz.c, what is made of the response is an op of its own.
 */
#include <stdio.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/toeplitz_fd/causal.h"
#include "kernels/toeplitz_fd/response.h"
#include "kernels/toeplitz_fd/shared_spectrum.h"
#include "kernels/toeplitz_fd/taps.h"
#include "lower/divisor.h"
#include "lower/prepared.h"
#include "mixers/convolution.h"

struct weft_toeplitz_fd_node {
    uint32_t causal;
};

struct weft_toeplitz_fd_kernel_node {
    uint32_t causal;
    uint32_t form; /* of the convolution that the transforms are for: weft_convolution_form */
};

weft_status weft_graph_toeplitz_fd(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                   weft_tensor response, const weft_toeplitz_fd_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_toeplitz_fd_node node = {.causal = params && params->causal};
    weft_tensor inputs[] = {x, response};
    return weft_graph_add(out, graph, &weft_op_toeplitz_fd, inputs, 2, &node, sizeof node);
}

#define MAX_BINS ((UINT32_C(1) << 27) + 1)

/* A response, [bins, 2 d] or, causal, [bins, d], at the frequencies of transforms of 2 (bins - 1) points. */
struct response {
    uint32_t bins, channels, length;
    bool causal;
    float scale;     /* 1 / length */
    uint32_t source; /* storage */
};

static struct response response_of(const weft_graph *graph, const struct weft_node *node,
                                   uint32_t input, bool causal) {
    const weft_shape *shape = weft_node_shape(graph, node, input);
    const uint32_t length = 2 * (shape->dim[0] - 1);
    return (struct response){.bins = shape->dim[0],
                             .channels = causal ? shape->dim[1] : shape->dim[1] / 2,
                             .length = length,
                             .causal = causal,
                             .scale = 1.0F / (float)length};
}

/* ---- toeplitz_fd_kernel ---- */

static void lower_response(struct weft_lowering *lowering, const struct response *response,
                           uint32_t result) {
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, toeplitz_fd_response, weft_transpose_grid(response->channels, 2 * response->bins),
        .bind = {.response = response->source, .spectrum = result},
        .push = {.channels = response->channels, .bins = response->bins, .scale = response->scale},
        .constant = {.is_real = response->causal});
    dispatch->bytes = 16.0 * response->channels * response->bins;
}

/* The even kernel made causal, in place, and divided by its length for the transforms that will use it. */
static void lower_causal(struct weft_lowering *lowering, const struct response *response,
                         uint32_t kernel) {
    const uint64_t count = (uint64_t)response->channels * response->length;
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, toeplitz_fd_causal, weft_grid_of_items(count), .bind = {.kernel = kernel},
        .push = {.count = (uint32_t)count,
                 .kernel_length = response->length,
                 .scale = response->scale,
                 WEFT_INVERSE(kernel_length, response->length)});
    dispatch->bytes = 8.0 * (double)count;
}

static uint64_t spectrum_bytes(const struct response *response) {
    return UINT64_C(8) * response->channels * response->bins;
}

static void lower_spectrum(struct weft_lowering *lowering, const struct response *response,
                           uint32_t result) {
    if (!response->causal) {
        lower_response(lowering, response, result);
        return;
    }
    const uint32_t length = response->length;
    const uint32_t channels = response->channels;
    const uint32_t even = weft_lower_scratch(lowering, spectrum_bytes(response));
    const uint32_t kernel = weft_lower_scratch(lowering, UINT64_C(4) * channels * length);
    lower_response(lowering, response, even);
    weft_lower_row_fft(lowering, WEFT_FFT_C2R, length, channels, even, kernel);
    lower_causal(lowering, response, kernel);
    weft_lower_row_fft(lowering, WEFT_FFT_R2C, length, channels, kernel, result);
}

static void lower_shared_spectrum(struct weft_lowering *lowering, const struct response *response,
                                  uint32_t result) {
    const uint32_t length = response->length;
    const uint64_t count = (uint64_t)response->channels * (length / 4);
    const uint32_t spectrum = weft_lower_scratch(lowering, spectrum_bytes(response));
    lower_spectrum(lowering, response, spectrum);
    const uint32_t twiddles = weft_lower_twiddles(lowering, length);
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, toeplitz_fd_shared_spectrum, weft_grid_of_items(count),
        .bind = {.spectrum = spectrum, .twiddles = twiddles, .kernel = result},
        .push = {.count = (uint32_t)count}, .constant = {.log_half = weft_log2(length / 2)});
    dispatch->bytes = 32.0 * (double)count;
}

static void lower_kernel_to(struct weft_lowering *lowering, const struct weft_node *node,
                            uint32_t result) {
    const struct weft_toeplitz_fd_kernel_node *params = (const void *)node->params.bytes;
    struct response response = response_of(lowering->graph, node, 0, params->causal);
    response.source = weft_lower_value(lowering, node->input[0]);
    if (params->form == WEFT_CONVOLUTION_SHARED) {
        lower_shared_spectrum(lowering, &response, result);
    } else if (params->form == WEFT_CONVOLUTION_LANES) {
        const uint32_t spectrum = weft_lower_scratch(lowering, spectrum_bytes(&response));
        lower_spectrum(lowering, &response, spectrum);
        weft_lower_spread(lowering, spectrum, result, response.channels, response.bins);
    } else {
        lower_spectrum(lowering, &response, result);
    }
}

/* A response for sequences of n elements. */
static weft_status check_response(const weft_graph *graph, const struct weft_node *node,
                                  uint32_t input, uint32_t n, bool causal) {
    const char *op = node->op->name;
    const weft_shape *shape = weft_node_shape(graph, node, input);
    char text[WEFT_SHAPE_TEXT_SIZE];
    WEFT_TRY(weft_expect_f32(graph, node, input, "response"));
    if (shape->rank != 2 || shape->dim[0] < 2 || shape->dim[0] <= n) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "%s: response must be [N + 1, %s] with N >= %u, not %s", op,
                         causal ? "d" : "2d", n, weft_shape_text(*shape, text));
    }
    if (!causal && shape->dim[1] % 2 != 0) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "%s: response %s needs as many imaginary as real parts in a row", op,
                         weft_shape_text(*shape, text));
    }
    if (shape->dim[0] > MAX_BINS) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED,
                         "%s: response %s has more than %u frequencies", op,
                         weft_shape_text(*shape, text), MAX_BINS);
    }
    return WEFT_OK;
}

static weft_status kernel_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const struct weft_toeplitz_fd_kernel_node *params = (const void *)node->params.bytes;
    WEFT_TRY(check_response(graph, node, 0, 1, params->causal));
    const struct response response = response_of(graph, node, 0, params->causal);
    *dtype = WEFT_F32;
    *shape = params->form == WEFT_CONVOLUTION_SHARED
                 ? weft_shape_of(response.channels, response.length)
             : params->form == WEFT_CONVOLUTION_LANES
                 ? weft_shape_of(response.bins, 2, response.channels)
                 : weft_shape_of(response.channels, response.bins, 2);
    return WEFT_OK;
}

static weft_status kernel_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    lower_kernel_to(lowering, node, weft_lower_value(lowering, node->output));
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_toeplitz_fd_kernel = {
    .name = "toeplitz_fd_kernel",
    .min_inputs = 1,
    .max_inputs = 1,
    .params_size = sizeof(struct weft_toeplitz_fd_kernel_node),
    .infer = kernel_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "kernel", .lower = kernel_lower}),
};

/* ---- toeplitz_fd ---- */

static weft_status toeplitz_fd_infer(const weft_graph *graph, struct weft_node *node,
                                     weft_dtype *dtype, weft_shape *shape) {
    const struct weft_toeplitz_fd_node *params = (const void *)node->params.bytes;
    WEFT_TRY(weft_expect_rank(graph, node, 0, "x", 3, "[B, n, d]"));
    const weft_shape *x = weft_node_shape(graph, node, 0);
    WEFT_TRY(check_response(graph, node, 1, x->dim[1], params->causal));
    if (response_of(graph, node, 1, params->causal).channels != x->dim[2]) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "toeplitz_fd: %sresponse %s must have as many channels as x %s",
                         params->causal ? "causal " : "",
                         weft_shape_text(*weft_node_shape(graph, node, 1), text[0]),
                         weft_shape_text(*x, text[1]));
    }
    *dtype = WEFT_F32;
    *shape = *x;
    return WEFT_OK;
}

static weft_status lower_by(struct weft_lowering *lowering, const struct weft_node *node,
                            enum weft_convolution_form form) {
    const struct weft_toeplitz_fd_node *params = (const void *)node->params.bytes;
    const struct weft_toeplitz_fd_kernel_node kernel = {.causal = params->causal, .form = form};
    const uint32_t length = response_of(lowering->graph, node, 1, params->causal).length;
    const uint32_t x = weft_lower_value(lowering, node->input[0]);
    const uint32_t spectrum = weft_lower_prepared(lowering, &weft_op_toeplitz_fd_kernel,
                                                  &node->input[1], 1, &kernel, lower_kernel_to);
    return weft_lower_node_convolution(lowering, node, x, spectrum, length, form);
}

static weft_status lower_fft(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_by(lowering, node, WEFT_CONVOLUTION_ROWS);
}

static weft_status lower_shared(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_by(lowering, node, WEFT_CONVOLUTION_SHARED);
}

static weft_status lower_lanes(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_by(lowering, node, WEFT_CONVOLUTION_LANES);
}

static bool lanes_supports(const weft_graph *graph, const struct weft_node *node,
                           const weft_device_info *device) {
    (void)device;
    return weft_lanes_convolution_fits(2 * (weft_node_shape(graph, node, 1)->dim[0] - 1));
}

static bool shared_supports(const weft_graph *graph, const struct weft_node *node,
                            const weft_device_info *device) {
    (void)device;
    uint32_t grid = weft_node_shape(graph, node, 1)->dim[0] - 1;
    return 2 * grid == weft_shared_convolution_length(grid);
}

/* The choice by shape of docs/reproducibility.md, rule 8: at powers of two it is the faster one, as in toeplitz.c. */
static const char *toeplitz_fd_choose(const weft_graph *graph, const struct weft_node *node) {
    return shared_supports(graph, node, NULL) ? "fft_shared" : "fft";
}

const struct weft_op weft_op_toeplitz_fd = {
    .name = "toeplitz_fd",
    .min_inputs = 2,
    .max_inputs = 2,
    .params_size = sizeof(struct weft_toeplitz_fd_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_toeplitz_fd_node, causal, BOOL)),
    .infer = toeplitz_fd_infer,
    .choose = toeplitz_fd_choose,
    .cuts = WEFT_CUTS({.inputs = 1, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS(
        {.name = "fft_shared",
         .supports = shared_supports,
         .limits = "an N that is a power of two from 4 to 2048",
         .lower = lower_shared},
        {.name = "fft", .bits = 1, .cost = {.processor = 8.0F}, .lower = lower_fft},
        {.name = "fft_lanes",
         .bits = 1,
         .cost = {.software = 4.0F, .hardware = 4.0F},
         .supports = lanes_supports,
         .limits = "N = 4096, and VkFFT 1.3.4",
         .lower = lower_lanes}),
};

/* ---- toeplitz_fd_taps ---- */

weft_status weft_graph_toeplitz_fd_taps(weft_tensor *out, weft_graph *graph, weft_tensor response) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    return weft_graph_add(out, graph, &weft_op_toeplitz_fd_taps, &response, 1, NULL, 0);
}

static weft_status taps_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                              weft_shape *shape) {
    WEFT_TRY(check_response(graph, node, 0, 1, true));
    const weft_shape *response = weft_node_shape(graph, node, 0);
    *dtype = WEFT_F32;
    *shape = weft_shape_of(response->dim[0] - 1, response->dim[1]);
    return WEFT_OK;
}

static weft_status taps_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    struct response response = response_of(lowering->graph, node, 0, true);
    response.source = weft_lower_value(lowering, node->input[0]);
    const uint32_t lags = response.bins - 1;
    const uint32_t length = response.length;
    const uint32_t channels = response.channels;
    const uint32_t even = weft_lower_scratch(lowering, spectrum_bytes(&response));
    const uint32_t kernel = weft_lower_scratch(lowering, UINT64_C(4) * channels * length);
    const uint32_t result = weft_lower_value(lowering, node->output);
    lower_response(lowering, &response, even);
    weft_lower_row_fft(lowering, WEFT_FFT_C2R, length, channels, even, kernel);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, toeplitz_fd_taps, weft_transpose_grid(lags, channels),
                   .bind = {.kernel = kernel, .coefficients = result},
                   .push = {.channels = channels, .lags = lags});
    dispatch->bytes = 8.0 * channels * lags;
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_toeplitz_fd_taps = {
    .name = "toeplitz_fd_taps",
    .min_inputs = 1,
    .max_inputs = 1,

    .infer = taps_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "fft", .lower = taps_lower}),
};
