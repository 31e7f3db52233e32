/* SPDX-License-Identifier: MIT */
/*
 * The Toeplitz operator, a matrix T[i, j] = t[i - j] per channel, by its definition or by FFT. What is made of the
 * coefficients first - decay, transform - is an op of its own, toeplitz_kernel, so that it can run once when they are
 * weights and in every run otherwise.
 */
#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "mixers/toeplitz_operator.h"

weft_status weft_graph_toeplitz(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                weft_tensor coefficients, const weft_toeplitz_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_toeplitz_node node = {.causal = params && params->causal};
    weft_tensor inputs[] = {x, coefficients, params ? params->decay : (weft_tensor){0}};
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    weft_status status = params && params->lengths.id != 0
                             ? weft_graph_mask(&inputs[0], graph, x, params->lengths)
                             : WEFT_OK;
    if (status == WEFT_OK) {
        status = weft_graph_add(out, graph, &weft_op_toeplitz, inputs, 3, &node, sizeof node);
    }
    return weft_graph_end(graph, mark, status);
}

/* ---- toeplitz_kernel ---- */

static weft_status kernel_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const struct weft_toeplitz_kernel_node *params = (const void *)node->params.bytes;
    WEFT_TRY(weft_toeplitz_check_kernel(graph, node, 0, params->n, params->causal));
    const uint32_t d = weft_node_shape(graph, node, 0)->dim[1];
    *dtype = WEFT_F32;
    const uint32_t bins = weft_convolution_bins(params->length);
    *shape = params->form == WEFT_CONVOLUTION_SHARED  ? weft_shape_of(d, params->length)
             : params->form == WEFT_CONVOLUTION_LANES ? weft_shape_of(bins, 2, d)
             : params->length                         ? weft_shape_of(d, bins, 2)
                              : weft_shape_of(weft_toeplitz_lags(params->n, params->causal), d);
    return WEFT_OK;
}

static weft_status kernel_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    weft_lower_toeplitz_kernel_to(lowering, node, weft_lower_value(lowering, node->output));
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

/* ---- toeplitz: by its definition ---- */

static weft_status lower_direct(struct weft_lowering *lowering, const struct weft_node *node) {
    weft_lower_toeplitz_direct(lowering, node, weft_node_shape(lowering->graph, node, 0)->dim[1]);
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
    const uint32_t spectrum = weft_lower_toeplitz_kernel(lowering, node, n, length, form);
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
    .infer = weft_toeplitz_infer,
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
