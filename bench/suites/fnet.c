/* SPDX-License-Identifier: MIT */
#include <weft/mixers.h>

#include "bench/graph.h"
#include "bench/suites/fixed.h"
#include "bench/suites/suites.h"

static weft_status add_input(weft_tensor *out, weft_graph *graph, weft_shape shape) {
    return weft_bench_input(out, graph, "x", shape);
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

static const weft_bench_fixed cases[] = {
    {"encoder/n=128,d=768,layers=12", NULL, {128, 768, 12}, build_encoder, NULL, WEFT_BENCH_SHORT},
    {"encoder/n=512,d=768,layers=12", NULL, {512, 768, 12}, build_encoder, NULL, WEFT_BENCH_FULL},
    {"encoder/n=32,d=64,layers=2", NULL, {32, 64, 2}, build_encoder, NULL, WEFT_BENCH_SMALLEST},
};

void weft_bench_add_fnet(weft_bench_list *list, const weft_bench_scope *scope) {
    weft_bench_list_add_fixed(list, scope, "fnet", cases, sizeof cases / sizeof cases[0]);
}
