/* SPDX-License-Identifier: MIT */
/*
 * The Toeplitz operator of FD-TNN: the kernel is given by its frequency response, whole, or the real part alone, to
 * which causality adds the imaginary part. As in toeplitz.c, what is made of the response is an op of its own.
 */
#include <inttypes.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "graph/prepared.h"
#include "mixers/shared_convolution.h"

struct weft_toeplitz_fd_node {
    uint32_t causal;
};

struct weft_toeplitz_fd_kernel_node {
    uint32_t causal;
    uint32_t shared; /* the transforms are for shared_convolution.h */
};

weft_status weft_graph_toeplitz_fd(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                   weft_tensor response, const weft_toeplitz_fd_params *params) {
    struct weft_toeplitz_fd_node node = {.causal = params && params->causal};
    weft_tensor inputs[] = {x, response};
    return weft_graph_add(out, graph, &weft_op_toeplitz_fd, inputs, 2, &node, sizeof node);
}

#define MAX_BINS ((UINT32_C(1) << 27) + 1)

/* A response, [bins, 2 d] or, causal, [bins, d], at the frequencies of transforms of 2 (bins - 1) points. */
struct response {
    uint32_t value;
    uint32_t bins, channels;
    bool causal;
    bool shared; /* for shared_convolution.h */
};

static uint32_t length_of(const struct response *response) {
    return 2 * (response->bins - 1);
}

static uint64_t spectrum_bytes(const struct response *response) {
    return UINT64_C(8) * response->channels * response->bins;
}

static uint64_t kernel_bytes(const struct response *response) {
    return response->shared ? weft_shared_kernel_bytes(length_of(response), response->channels)
                            : spectrum_bytes(response);
}

static struct response response_of(const weft_graph *graph, const struct weft_node *node,
                                   uint32_t input, bool causal, bool shared) {
    const weft_shape *shape = weft_node_shape(graph, node, input);
    return (struct response){.value = node->input[input],
                             .bins = shape->dim[0],
                             .channels = causal ? shape->dim[1] : shape->dim[1] / 2,
                             .causal = causal,
                             .shared = shared};
}

/* ---- toeplitz_fd_kernel ---- */

static void lower_response(struct weft_lowering *lowering, const struct response *response,
                           uint32_t result) {
    uint32_t source = weft_lower_value(lowering, response->value);
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "toeplitz_fd/response");
    weft_dispatch_read(dispatch, source);
    weft_dispatch_write(dispatch, result);
    weft_dispatch_specialize(dispatch, response->causal);
    weft_dispatch_transpose(dispatch, response->channels, 2 * response->bins);
    weft_dispatch_push_u32(dispatch, response->channels);
    weft_dispatch_push_u32(dispatch, response->bins);
    weft_dispatch_push_f32(dispatch, 1.0F / (float)length_of(response));
}

/* The even kernel made causal, in place, and divided by its length for the transforms that will use it. */
static void lower_causal(struct weft_lowering *lowering, const struct response *response,
                         uint32_t kernel) {
    uint64_t count = (uint64_t)response->channels * length_of(response);
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "toeplitz_fd/causal");
    weft_dispatch_write(dispatch, kernel);
    weft_dispatch_items(dispatch, count);
    weft_dispatch_push_u32(dispatch, length_of(response));
    weft_dispatch_push_f32(dispatch, 1.0F / (float)length_of(response));
    dispatch->bytes = 8.0 * (double)count;
}

static void lower_spectrum(struct weft_lowering *lowering, const struct response *response,
                           uint32_t result) {
    if (!response->causal) {
        lower_response(lowering, response, result);
        return;
    }
    uint32_t length = length_of(response);
    uint32_t even = weft_lower_scratch(lowering, spectrum_bytes(response));
    uint32_t kernel = weft_lower_scratch(lowering, UINT64_C(4) * response->channels * length);
    lower_response(lowering, response, even);
    weft_lower_row_inverse(lowering, length, response->channels, even, kernel);
    lower_causal(lowering, response, kernel);
    weft_lower_row_transform(lowering, length, response->channels, kernel, result);
}

static void lower_shared_spectrum(struct weft_lowering *lowering, const struct response *response,
                                  uint32_t result) {
    uint32_t length = length_of(response);
    uint64_t count = (uint64_t)response->channels * (length / 4);
    uint32_t spectrum = weft_lower_scratch(lowering, spectrum_bytes(response));
    lower_spectrum(lowering, response, spectrum);
    uint32_t twiddles = weft_lower_twiddles(lowering, length);
    uint32_t log_half = 0;
    while (length >> (log_half + 2)) {
        log_half++;
    }
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "toeplitz_fd/shared_spectrum");
    weft_dispatch_read(dispatch, spectrum);
    weft_dispatch_read(dispatch, twiddles);
    weft_dispatch_write(dispatch, result);
    weft_dispatch_specialize(dispatch, log_half);
    weft_dispatch_items(dispatch, count);
    dispatch->bytes = 32.0 * (double)count;
}

static void lower_kernel_to(struct weft_lowering *lowering, const struct response *response,
                            uint32_t result) {
    if (response->shared) {
        lower_shared_spectrum(lowering, response, result);
    } else {
        lower_spectrum(lowering, response, result);
    }
}

/* A response for sequences of n elements. */
static weft_status check_response(const weft_graph *graph, const struct weft_node *node,
                                  uint32_t input, uint32_t n, bool causal) {
    const char *op = node->op->name;
    const weft_shape *shape = weft_node_shape(graph, node, input);
    char text[WEFT_SHAPE_TEXT_SIZE];
    weft_status status = weft_expect_f32(graph, node, input, "response");
    if (status != WEFT_OK) {
        return status;
    }
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
    weft_status status = check_response(graph, node, 0, 1, params->causal);
    if (status == WEFT_OK) {
        struct response response = response_of(graph, node, 0, params->causal, params->shared);
        *dtype = WEFT_F32;
        *shape = response.shared ? weft_shape_of(response.channels, length_of(&response))
                                 : weft_shape_of(response.channels, response.bins, 2);
    }
    return status;
}

static weft_status kernel_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_toeplitz_fd_kernel_node *params = (const void *)node->params.bytes;
    struct response response =
        response_of(lowering->graph, node, 0, params->causal, params->shared);
    lower_kernel_to(lowering, &response, weft_lower_value(lowering, node->output));
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

/* ---- kernels of weights: made once ---- */

struct constant_response {
    const struct response *response;
    weft_weight *weight;
};

static weft_status build_constant(weft_tensor *out, weft_graph *graph, void *user) {
    const struct constant_response *constant = user;
    const struct response *response = constant->response;
    struct weft_toeplitz_fd_kernel_node node = {.causal = response->causal,
                                                .shared = response->shared};
    weft_tensor tensor = {0};
    weft_status status = weft_prepare_weight(
        &tensor, graph, constant->weight,
        weft_shape_of(response->bins, response->channels * (response->causal ? 1 : 2)));
    return status == WEFT_OK ? weft_graph_add(out, graph, &weft_op_toeplitz_fd_kernel, &tensor, 1,
                                              &node, sizeof node)
                             : status;
}

/* The storage of the kernel's spectrum: a constant where the response is a weight, otherwise scratch. */
static uint32_t lower_kernel(struct weft_lowering *lowering, const struct response *response) {
    struct constant_response constant = {.response = response,
                                         .weight = weft_lower_weight_of(lowering, response->value)};
    if (constant.weight) {
        char key[96];
        snprintf(key, sizeof key, "toeplitz_fd/%" PRIu64 " %ux%u/%s%s", constant.weight->uid,
                 response->bins, response->channels, response->causal ? "causal" : "both",
                 response->shared ? " shared" : "");
        return weft_lower_prepared(lowering, key, kernel_bytes(response), build_constant,
                                   &constant);
    }
    uint32_t storage = weft_lower_scratch(lowering, kernel_bytes(response));
    lower_kernel_to(lowering, response, storage);
    return storage;
}

/* ---- toeplitz_fd ---- */

static weft_status toeplitz_fd_infer(const weft_graph *graph, struct weft_node *node,
                                     weft_dtype *dtype, weft_shape *shape) {
    const struct weft_toeplitz_fd_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(graph, node, 0);
    char text[2][WEFT_SHAPE_TEXT_SIZE];
    weft_status status = weft_expect_f32(graph, node, 0, "x");
    if (status == WEFT_OK && x->rank != 3) {
        status =
            weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "toeplitz_fd: x must be [B, n, d], not %s",
                      weft_shape_text(*x, text[0]));
    }
    if (status == WEFT_OK) {
        status = check_response(graph, node, 1, x->dim[1], params->causal);
    }
    if (status == WEFT_OK &&
        response_of(graph, node, 1, params->causal, false).channels != x->dim[2]) {
        status = weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                           "toeplitz_fd: %sresponse %s is not for the channels of x %s",
                           params->causal ? "causal " : "",
                           weft_shape_text(*weft_node_shape(graph, node, 1), text[0]),
                           weft_shape_text(*x, text[1]));
    }
    *dtype = WEFT_F32;
    *shape = *x;
    return status;
}

static weft_status lower_by(struct weft_lowering *lowering, const struct weft_node *node,
                            bool shared) {
    const struct weft_toeplitz_fd_node *params = (const void *)node->params.bytes;
    struct response response = response_of(lowering->graph, node, 1, params->causal, shared);
    uint32_t source = weft_lower_value(lowering, node->input[0]);
    uint32_t spectrum = lower_kernel(lowering, &response);
    struct weft_convolution convolution = {.x = source,
                                           .result = weft_lower_value(lowering, node->output),
                                           .spectrum = spectrum,
                                           .shape = *weft_node_shape(lowering->graph, node, 0),
                                           .length = length_of(&response)};
    if (shared) {
        weft_lower_shared_convolution(lowering, &convolution);
    } else {
        weft_lower_convolution(lowering, &convolution);
    }
    return weft_lower_status(lowering);
}

static weft_status lower_fft(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_by(lowering, node, false);
}

static weft_status lower_shared(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower_by(lowering, node, true);
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

static void toeplitz_fd_describe(const struct weft_node *node, char *text, size_t size) {
    const struct weft_toeplitz_fd_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "%s", params->causal ? "[causal]" : "");
}

const struct weft_op weft_op_toeplitz_fd = {
    .name = "toeplitz_fd",
    .min_inputs = 2,
    .max_inputs = 2,
    .params_size = sizeof(struct weft_toeplitz_fd_node),
    .infer = toeplitz_fd_infer,
    .choose = toeplitz_fd_choose,
    .describe = toeplitz_fd_describe,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "fft_shared",
                                             .supports = shared_supports,
                                             .limits = "an N that is a power of two from 4 to 2048",
                                             .lower = lower_shared},
                                            {.name = "fft", .bits = 1, .lower = lower_fft}),
};
