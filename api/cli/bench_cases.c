/* SPDX-License-Identifier: MIT */
#include "bench_cases.h"

#include <stdio.h>
#include <string.h>

#include <weft/mixers.h>

#include "bench_decode.h"
#include "bench_graph.h"
#include "bench_mixers.h"
#include "core/host.h"

static weft_status add_input(weft_tensor *out, weft_graph *graph, weft_shape shape) {
    return weft_bench_input(out, graph, "x", shape);
}

/** sizes: m, n, k. x [m, k] times a weight [n, k] transposed, as a linear layer has it. */
static weft_status build_matmul(weft_graph *graph, const weft_bench_case *bench_case) {
    const uint32_t *sizes = bench_case->sizes;
    weft_tensor x = {0};
    weft_tensor w = {0};
    weft_status status = add_input(&x, graph, weft_shape_of(1, sizes[0], sizes[2]));
    if (status == WEFT_OK) {
        status = weft_bench_weight(&w, graph, weft_shape_of(sizes[1], sizes[2]), 1);
    }
    if (status == WEFT_OK) {
        status = weft_graph_linear(&x, graph, x, w, (weft_tensor){0});
    }
    return status == WEFT_OK ? weft_graph_output(graph, "y", x) : status;
}

/** sizes: n, d. */
static weft_status build_layer_norm(weft_graph *graph, const weft_bench_case *bench_case) {
    weft_tensor x = {0};
    weft_tensor w = {0};
    weft_status status =
        add_input(&x, graph, weft_shape_of(1, bench_case->sizes[0], bench_case->sizes[1]));
    if (status == WEFT_OK) {
        status = weft_bench_weight(&w, graph, weft_shape_of(bench_case->sizes[1]), 1);
    }
    if (status == WEFT_OK) {
        status = weft_graph_layer_norm(&x, graph, x, w, w, 1e-12F);
    }
    return status == WEFT_OK ? weft_graph_output(graph, "y", x) : status;
}

/** sizes: n, d, activation. */
static weft_status build_activation(weft_graph *graph, const weft_bench_case *bench_case) {
    weft_tensor x = {0};
    weft_status status =
        add_input(&x, graph, weft_shape_of(1, bench_case->sizes[0], bench_case->sizes[1]));
    if (status == WEFT_OK) {
        status = weft_graph_activate(&x, graph, x, (weft_activation)bench_case->sizes[2]);
    }
    return status == WEFT_OK ? weft_graph_output(graph, "y", x) : status;
}

/** sizes: rows, columns. */
static weft_status build_softmax(weft_graph *graph, const weft_bench_case *bench_case) {
    weft_tensor x = {0};
    weft_status status =
        add_input(&x, graph, weft_shape_of(bench_case->sizes[0], bench_case->sizes[1]));
    if (status == WEFT_OK) {
        status = weft_graph_softmax(&x, graph, x);
    }
    return status == WEFT_OK ? weft_graph_output(graph, "y", x) : status;
}

/** sizes: n, d. */
static weft_status build_fourier(weft_graph *graph, const weft_bench_case *bench_case) {
    weft_tensor x = {0};
    weft_status status =
        add_input(&x, graph, weft_shape_of(1, bench_case->sizes[0], bench_case->sizes[1]));
    if (status == WEFT_OK) {
        status = weft_graph_fourier(&x, graph, x);
    }
    return status == WEFT_OK ? weft_graph_output(graph, "y", x) : status;
}

/** sizes: n, d, heads. */
static weft_status build_attention(weft_graph *graph, const weft_bench_case *bench_case) {
    weft_tensor x = {0};
    weft_status status =
        add_input(&x, graph, weft_shape_of(1, bench_case->sizes[0], bench_case->sizes[1]));
    if (status == WEFT_OK) {
        status = weft_graph_attention(&x, graph, x, x, x,
                                      weft_attention_params(.heads = bench_case->sizes[2]));
    }
    return status == WEFT_OK ? weft_graph_output(graph, "y", x) : status;
}

struct layer_weights {
    weft_tensor norm, up, up_bias, down;
};

static weft_status add_layer_weights(struct layer_weights *weights, weft_graph *graph, uint32_t d,
                                     uint32_t layer) {
    uint64_t stream = 4 * (uint64_t)layer;
    weft_status status = weft_bench_weight(&weights->norm, graph, weft_shape_of(d), stream);
    if (status == WEFT_OK) {
        status = weft_bench_weight(&weights->up, graph, weft_shape_of(4 * d, d), stream + 1);
    }
    if (status == WEFT_OK) {
        status = weft_bench_weight(&weights->up_bias, graph, weft_shape_of(4 * d), stream + 2);
    }
    return status == WEFT_OK
               ? weft_bench_weight(&weights->down, graph, weft_shape_of(d, 4 * d), stream + 3)
               : status;
}

static weft_status norm_of_sum(weft_tensor *x, weft_graph *graph, weft_tensor y, weft_tensor norm) {
    weft_status status = weft_graph_binary(&y, graph, WEFT_BINARY_ADD, *x, y);
    return status == WEFT_OK ? weft_graph_layer_norm(x, graph, y, norm, norm, 1e-12F) : status;
}

/** One FNet layer: norm(x + fourier(x)), then norm(x + W2 gelu(W1 x + b)). */
static weft_status add_encoder_layer(weft_tensor *x, weft_graph *graph, uint32_t d,
                                     uint32_t layer) {
    struct layer_weights weights;
    weft_tensor y = {0};
    weft_status status = add_layer_weights(&weights, graph, d, layer);
    if (status == WEFT_OK) {
        status = weft_graph_fourier(&y, graph, *x);
    }
    if (status == WEFT_OK) {
        status = norm_of_sum(x, graph, y, weights.norm);
    }
    if (status == WEFT_OK) {
        status = weft_graph_linear(&y, graph, *x, weights.up, weights.up_bias);
    }
    if (status == WEFT_OK) {
        status = weft_graph_activate(&y, graph, y, WEFT_ACTIVATION_GELU_TANH);
    }
    if (status == WEFT_OK) {
        status = weft_graph_linear(&y, graph, y, weights.down, weights.norm);
    }
    return status == WEFT_OK ? norm_of_sum(x, graph, y, weights.norm) : status;
}

/** sizes: n, d, layers. */
static weft_status build_encoder(weft_graph *graph, const weft_bench_case *bench_case) {
    weft_tensor x = {0};
    weft_status status =
        add_input(&x, graph, weft_shape_of(1, bench_case->sizes[0], bench_case->sizes[1]));
    for (uint32_t i = 0; i < bench_case->sizes[2] && status == WEFT_OK; i++) {
        status = add_encoder_layer(&x, graph, bench_case->sizes[1], i);
    }
    return status == WEFT_OK ? weft_graph_output(graph, "y", x) : status;
}

struct fixed_case {
    const char *suite, *name, *implementation;
    uint32_t sizes[4];
    weft_status (*build)(weft_graph *graph, const weft_bench_case *bench_case);
};

static const struct fixed_case fixed_cases[] = {
    {"ops", "matmul/512x3072x768", NULL, {512, 3072, 768}, build_matmul},
    {"ops", "matmul/512x768x3072", NULL, {512, 768, 3072}, build_matmul},
    {"ops", "matmul/509x769x767", NULL, {509, 769, 767}, build_matmul},
    {"ops", "layer_norm/512x768", NULL, {512, 768}, build_layer_norm},
    {"ops", "gelu_tanh/512x3072", NULL, {512, 3072, WEFT_ACTIVATION_GELU_TANH}, build_activation},
    {"ops", "gelu_erf/512x3072", NULL, {512, 3072, WEFT_ACTIVATION_GELU_ERF}, build_activation},
    {"ops", "softmax/6144x512", NULL, {6144, 512}, build_softmax},
    {"mixers", "fourier/fft/n=128,d=768", "fft", {128, 768}, build_fourier},
    {"mixers", "fourier/matrix/n=128,d=768", "matrix", {128, 768}, build_fourier},
    {"mixers", "attention/n=128,d=768,heads=12", NULL, {128, 768, 12}, build_attention},
    {"mixers", "fourier/fft/n=512,d=768", "fft", {512, 768}, build_fourier},
    {"mixers", "fourier/matrix/n=512,d=768", "matrix", {512, 768}, build_fourier},
    {"mixers", "attention/n=512,d=768,heads=12", NULL, {512, 768, 12}, build_attention},
    {"mixers", "fourier/fft/n=2048,d=768", "fft", {2048, 768}, build_fourier},
    {"mixers", "attention/n=2048,d=768,heads=12", NULL, {2048, 768, 12}, build_attention},
    {"fnet", "encoder/n=128,d=768,layers=12", NULL, {128, 768, 12}, build_encoder},
    {"fnet", "encoder/n=512,d=768,layers=12", NULL, {512, 768, 12}, build_encoder},
};

static weft_bench_case make_case(const struct fixed_case *fixed) {
    weft_bench_case result = {
        .suite = fixed->suite, .implementation = fixed->implementation, .build = fixed->build};
    memcpy(result.sizes, fixed->sizes, sizeof result.sizes);
    snprintf(result.name, sizeof result.name, "%s", fixed->name);
    return result;
}

/** A case for each length of each of `count` series; returns what is behind them. */
static weft_bench_case *add_series(weft_bench_case *next, const uint32_t *lengths,
                                   uint32_t length_count, uint32_t count,
                                   weft_bench_case (*make)(uint32_t index, uint32_t length)) {
    for (uint32_t index = 0; index < count; index++) {
        for (uint32_t i = 0; i < length_count; i++) {
            *next++ = make(index, lengths[i]);
        }
    }
    return next;
}

weft_status weft_bench_cases(weft_bench_case **cases, uint32_t *count, const uint32_t *lengths,
                             uint32_t length_count, const weft_host *host) {
    const uint32_t fixed = (uint32_t)(sizeof fixed_cases / sizeof fixed_cases[0]);
    const uint32_t series = weft_bench_mixer_count() + weft_bench_decode_count();
    const uint32_t total = fixed + series * length_count;
    weft_bench_case *list = weft_alloc_zero(host, total, sizeof *list);
    if (!list) {
        return weft_fail_memory(host, "the list of cases");
    }
    for (uint32_t i = 0; i < fixed; i++) {
        list[i] = make_case(&fixed_cases[i]);
    }
    weft_bench_case *next = &list[fixed];
    next = add_series(next, lengths, length_count, weft_bench_mixer_count(), weft_bench_mixer_case);
    add_series(next, lengths, length_count, weft_bench_decode_count(), weft_bench_decode_case);
    *cases = list;
    *count = total;
    return WEFT_OK;
}
