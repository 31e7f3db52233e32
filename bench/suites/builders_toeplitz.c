/* SPDX-License-Identifier: MIT */
/* FNet's Fourier sublayer and Toeplitz operators: by coefficients, by a frequency response, by interpolation. */
#include "bench/suites/builders_internal.h"
#include "core/host.h"

/* ---- relative position encoders ---- */

struct rpe {
    weft_norm_params norm;
    weft_rpe_layer layers[WEFT_BENCH_RPE_LAYERS];
    weft_rpe_params params;
};

/** TNN's: ReLU and its own norm in front of each layer, the last of which gives `channels`. */
static void make_rpe(struct rpe *rpe, weft_bench_builder *b, uint32_t channels) {
    const uint32_t width = WEFT_BENCH_RPE_WIDTH;
    uint64_t stream = WEFT_BENCH_STREAM_RPE;
    *rpe = (struct rpe){.norm = {.kind = WEFT_NORM_SIMPLE_RMS},
                        .params = {.layers = rpe->layers,
                                   .layer_count = WEFT_BENCH_RPE_LAYERS,
                                   .activation = WEFT_ACTIVATION_RELU}};
    rpe->params.weight = weft_bench_builder_weight(b, weft_shape_of(width, 1), stream++);
    rpe->params.bias = weft_bench_builder_weight(b, weft_shape_of(width), stream++);
    for (uint32_t i = 0; i < WEFT_BENCH_RPE_LAYERS; i++) {
        const uint32_t rows = i + 1 == WEFT_BENCH_RPE_LAYERS ? channels : width;
        weft_rpe_layer *layer = &rpe->layers[i];
        layer->norm = &rpe->norm;
        layer->weight = weft_bench_builder_weight(b, weft_shape_of(rows, width), stream++);
        layer->bias = weft_bench_builder_weight(b, weft_shape_of(rows), stream++);
    }
}

/* ---- by coefficients ---- */

static weft_tensor add_coefficients(weft_bench_builder *b) {
    const bool causal = b->mixer->causal;
    if (!b->mixer->rpe) {
        return weft_bench_builder_weight(b, weft_shape_of(causal ? b->n : 2 * b->n - 1, b->d),
                                         WEFT_BENCH_STREAM_KERNEL);
    }
    struct rpe rpe;
    weft_tensor out = {0};
    make_rpe(&rpe, b, b->d);
    if (b->status == WEFT_OK) {
        b->status = weft_graph_toeplitz_rpe(&out, b->graph, b->n, &rpe.params,
                                            weft_toeplitz_rpe_params(.causal = causal));
    }
    return out;
}

/** None without an RPE, whose coefficients do not decay by themselves. */
static weft_tensor add_decay(weft_bench_builder *b) {
    weft_tensor out = {0};
    float *decay = b->mixer->rpe ? weft_bench_builder_memory(b, b->d, sizeof *decay) : NULL;
    if (decay) {
        for (uint32_t i = 0; i < b->d; i++) {
            decay[i] = WEFT_BENCH_TNN_DECAY;
        }
        out = weft_bench_builder_weight_of(b, weft_shape_of(b->d), decay);
    }
    weft_free(NULL, decay);
    return out;
}

static weft_tensor add_toeplitz(weft_bench_builder *b, weft_tensor x) {
    const weft_tensor coefficients = add_coefficients(b);
    const weft_tensor decay = add_decay(b);
    weft_tensor y = {0};
    if (b->status == WEFT_OK) {
        b->status =
            weft_graph_toeplitz(&y, b->graph, x, coefficients,
                                weft_toeplitz_params(.causal = b->mixer->causal, .decay = decay));
    }
    return y;
}

/* ---- by a frequency response ---- */

static weft_tensor add_response(weft_bench_builder *b) {
    const uint32_t columns = b->mixer->causal ? b->d : 2 * b->d;
    if (!b->mixer->rpe) {
        return weft_bench_builder_weight(b, weft_shape_of(b->n + 1, columns),
                                         WEFT_BENCH_STREAM_KERNEL);
    }
    struct rpe rpe;
    weft_tensor out = {0};
    make_rpe(&rpe, b, columns);
    if (b->status == WEFT_OK) {
        b->status =
            weft_graph_toeplitz_fd_rpe(&out, b->graph, b->n, &rpe.params, WEFT_RPE_FREQUENCY);
    }
    return out;
}

static weft_tensor add_toeplitz_fd(weft_bench_builder *b, weft_tensor x) {
    const weft_tensor response = add_response(b);
    weft_tensor y = {0};
    if (b->status == WEFT_OK) {
        b->status = weft_graph_toeplitz_fd(&y, b->graph, x, response,
                                           weft_toeplitz_fd_params(.causal = b->mixer->causal));
    }
    return y;
}

/* ---- by interpolation ---- */

static weft_tensor add_ski(weft_bench_builder *b, weft_tensor x) {
    const weft_ski_toeplitz_params params = {
        .rpe = weft_bench_builder_weight(b, weft_shape_of(2 * WEFT_BENCH_SKI_GRID + 1, b->d),
                                         WEFT_BENCH_STREAM_KERNEL),
        .taps = weft_bench_builder_weight(b, weft_shape_of(WEFT_BENCH_SKI_TAPS, b->d),
                                          WEFT_BENCH_STREAM_TAPS),
        .points = WEFT_BENCH_SKI_POINTS,
        .gamma = WEFT_BENCH_SKI_GAMMA,
        .interpolation = b->mixer->interpolation};
    weft_tensor y = {0};
    if (b->status == WEFT_OK) {
        b->status = weft_graph_ski_toeplitz(&y, b->graph, x, &params);
    }
    return y;
}

static weft_tensor add_fourier(weft_bench_builder *b, weft_tensor x) {
    weft_tensor y = {0};
    if (b->status == WEFT_OK) {
        b->status = weft_graph_fourier(&y, b->graph, x);
    }
    return y;
}

weft_tensor weft_bench_build_toeplitz(weft_bench_builder *b) {
    const weft_tensor x = weft_bench_builder_tokens(b, "x");
    switch (b->mixer->kind) {
    case WEFT_BENCH_TOEPLITZ:
        return add_toeplitz(b, x);
    case WEFT_BENCH_TOEPLITZ_FD:
        return add_toeplitz_fd(b, x);
    case WEFT_BENCH_SKI:
        return add_ski(b, x);
    default:
        return add_fourier(b, x);
    }
}
