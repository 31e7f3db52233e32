/* SPDX-License-Identifier: MIT */
#include "bench/suites/builders.h"

#include <stdio.h>

#include "bench/graph.h"
#include "bench/suites/builders_features.h"
#include "verify/paired.h"

/**
 * elu(x) + 1, elu(-x) + 1 and tanh(x) + 1: a far field of rank r has the first r. FMMformer's third is tanh(x), which is as
 * much work, but whose denominators of random inputs come arbitrarily close to 0.
 */
static const weft_kernel kernels[] = {
    {.map = WEFT_FEATURE_ELU1}, {.map = WEFT_FEATURE_ELU1_NEGATED}, {.map = WEFT_FEATURE_TANH1}};

/* ---- softmax attention, dense and banded, and what has elementwise feature maps ---- */

static weft_array banded(weft_case *c, const weft_bench_mixer *mixer, const weft_bench_qkv *in) {
    const uint32_t n = in->q.shape.dim[1];
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    return weft_case_banded_attention(
        c, in->q, in->k, in->v,
        weft_banded_attention_params(.heads = in->heads,
                                     .half_width = mixer->full_band ? n - 1 : WEFT_BENCH_BAND,
                                     .causal = mixer->causal));
}

static weft_array fmm(weft_case *c, const weft_bench_mixer *mixer, const weft_bench_qkv *in) {
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    return weft_case_fmm_attention(
        c, in->q, in->k, in->v,
        &(weft_fmm_attention_params){.heads = in->heads,
                                     .causal = mixer->causal,
                                     .half_width = WEFT_BENCH_BAND,
                                     .kernels = kernels,
                                     .kernel_count = mixer->kernel_count});
}

static weft_array attention(weft_case *c, const weft_bench_mixer *mixer, const weft_bench_qkv *in) {
    weft_array beta;
    switch (mixer->kind) {
    case WEFT_BENCH_BANDED:
        return banded(c, mixer, in);
    case WEFT_BENCH_KERNEL:
        return weft_case_kernel_attention(
            c, in->q, in->k, in->v,
            weft_kernel_attention_params(.heads = in->heads, .causal = mixer->causal,
                                         .kernels = kernels, .kernel_count = mixer->kernel_count),
            NULL);
    case WEFT_BENCH_FMM:
        return fmm(c, mixer, in);
    case WEFT_BENCH_FAST_WEIGHT:
        beta = weft_case_input(c, WEFT_BENCH_UNIT_INPUT,
                               weft_shape_of(1, in->q.shape.dim[1], in->heads), WEFT_VALUES_UNIT);
        return weft_case_fast_weight(c, in->q, in->k, in->v, beta,
                                     weft_fast_weight_params(.heads = in->heads));
    case WEFT_BENCH_COSFORMER:
        return weft_case_cosformer(
            c, in->q, in->k, in->v,
            weft_cosformer_params(.heads = in->heads, .causal = mixer->causal));
    default:
        c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
        return weft_case_attention(c, in->q, in->k, in->v,
                                   weft_attention_params(.heads = in->heads));
    }
}

/* ---- relative position encoders ---- */

struct rpe {
    weft_norm_params norm;
    weft_rpe_layer layers[WEFT_BENCH_RPE_LAYERS];
    weft_rpe_params params;
};

/** TNN's: ReLU and its own norm in front of each layer, the last of which gives `channels`. */
static void make_rpe(struct rpe *rpe, weft_case *c, uint32_t channels) {
    const uint32_t width = WEFT_BENCH_RPE_WIDTH;
    uint64_t stream = WEFT_BENCH_STREAM_RPE;
    *rpe = (struct rpe){.norm = {.kind = WEFT_NORM_SIMPLE_RMS},
                        .params = {.layers = rpe->layers,
                                   .layer_count = WEFT_BENCH_RPE_LAYERS,
                                   .activation = WEFT_ACTIVATION_RELU}};
    rpe->params.weight = weft_bench_weight(c, weft_shape_of(width, 1), stream++).tensor;
    rpe->params.bias = weft_bench_weight(c, weft_shape_of(width), stream++).tensor;
    for (uint32_t i = 0; i < WEFT_BENCH_RPE_LAYERS; i++) {
        const uint32_t rows = i + 1 == WEFT_BENCH_RPE_LAYERS ? channels : width;
        weft_rpe_layer *layer = &rpe->layers[i];
        layer->norm = &rpe->norm;
        layer->weight = weft_bench_weight(c, weft_shape_of(rows, width), stream++).tensor;
        layer->bias = weft_bench_weight(c, weft_shape_of(rows), stream++).tensor;
    }
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
}

/* ---- FNet's Fourier sublayer and Toeplitz operators ---- */

/** By an RPE's coefficients, which do not decay by themselves. */
static weft_array toeplitz_of_rpe(weft_case *c, const weft_bench_mixer *mixer, weft_array x) {
    const uint32_t d = x.shape.dim[2];
    struct rpe rpe;
    float *decay = weft_reference_memory(&c->ref, d, sizeof *decay);
    for (uint32_t i = 0; decay && i < d; i++) {
        decay[i] = WEFT_BENCH_TNN_DECAY;
    }
    make_rpe(&rpe, c, d);
    weft_array coefficients = weft_case_toeplitz_rpe(
        c, x.shape.dim[1], &rpe.params, weft_toeplitz_rpe_params(.causal = mixer->causal));
    weft_array gamma = weft_case_weight_of(c, weft_shape_of(d), decay);
    return weft_case_toeplitz(c, x, coefficients,
                              weft_toeplitz_params(.causal = mixer->causal, .decay = gamma.tensor));
}

static weft_array toeplitz(weft_case *c, const weft_bench_mixer *mixer, weft_array x) {
    const uint32_t n = x.shape.dim[1];
    const weft_shape shape = weft_shape_of(mixer->causal ? n : 2 * n - 1, x.shape.dim[2]);
    return weft_case_toeplitz(c, x, weft_bench_weight(c, shape, WEFT_BENCH_STREAM_KERNEL),
                              weft_toeplitz_params(.causal = mixer->causal));
}

static weft_array toeplitz_fd(weft_case *c, const weft_bench_mixer *mixer, weft_array x) {
    const uint32_t n = x.shape.dim[1];
    const uint32_t columns = (mixer->causal ? 1U : 2U) * x.shape.dim[2];
    struct rpe rpe;
    weft_array response;
    if (mixer->rpe) {
        make_rpe(&rpe, c, columns);
        response = weft_case_toeplitz_fd_rpe(c, n, &rpe.params, WEFT_RPE_FREQUENCY);
    } else {
        response = weft_bench_weight(c, weft_shape_of(n + 1, columns), WEFT_BENCH_STREAM_KERNEL);
    }
    return weft_case_toeplitz_fd(c, x, response, weft_toeplitz_fd_params(.causal = mixer->causal));
}

static weft_array ski(weft_case *c, const weft_bench_mixer *mixer, weft_array x) {
    const uint32_t d = x.shape.dim[2];
    const weft_array rpe = weft_bench_weight(c, weft_shape_of(2 * WEFT_BENCH_SKI_GRID + 1, d),
                                             WEFT_BENCH_STREAM_KERNEL);
    const weft_array taps =
        weft_bench_weight(c, weft_shape_of(WEFT_BENCH_SKI_TAPS, d), WEFT_BENCH_STREAM_TAPS);
    return weft_case_ski_toeplitz(c, x,
                                  weft_ski_toeplitz_params(.rpe = rpe.tensor, .taps = taps.tensor,
                                                           .points = WEFT_BENCH_SKI_POINTS,
                                                           .gamma = WEFT_BENCH_SKI_GAMMA,
                                                           .interpolation = mixer->interpolation));
}

static weft_array convolution(weft_case *c, const weft_bench_mixer *mixer, weft_array x) {
    switch (mixer->kind) {
    case WEFT_BENCH_TOEPLITZ:
        return mixer->rpe ? toeplitz_of_rpe(c, mixer, x) : toeplitz(c, mixer, x);
    case WEFT_BENCH_TOEPLITZ_FD:
        return toeplitz_fd(c, mixer, x);
    case WEFT_BENCH_SKI:
        return ski(c, mixer, x);
    default:
        return weft_case_fourier(c, x);
    }
}

/* ---- cases ---- */

static weft_array tokens(weft_case *c, const weft_bench_case *bench_case, const char *name) {
    return weft_case_input(c, name, weft_shape_of(1, bench_case->sizes[0], bench_case->sizes[1]),
                           WEFT_VALUES_UNIT);
}

static weft_bench_qkv qkv(weft_case *c, const weft_bench_case *bench_case) {
    weft_bench_qkv in = {.heads = bench_case->sizes[2]};
    in.q = tokens(c, bench_case, "q");
    in.k = tokens(c, bench_case, "k");
    in.v = tokens(c, bench_case, "v");
    return in;
}

static void define(weft_case *c, const weft_bench_case *bench_case) {
    const weft_bench_mixer *mixer = bench_case->data;
    weft_bench_qkv in;
    weft_array y;
    switch (mixer->kind) {
    case WEFT_BENCH_FOURIER:
    case WEFT_BENCH_TOEPLITZ:
    case WEFT_BENCH_TOEPLITZ_FD:
    case WEFT_BENCH_SKI:
        y = convolution(c, mixer, tokens(c, bench_case, "x"));
        break;
    case WEFT_BENCH_RFA:
    case WEFT_BENCH_FEATURES:
        in = qkv(c, bench_case);
        y = weft_bench_feature_attention(c, mixer, &in);
        break;
    default:
        in = qkv(c, bench_case);
        y = attention(c, mixer, &in);
    }
    weft_case_expect(c, "y", y);
}

weft_bench_case weft_bench_mixer_case_of(const weft_bench_mixer *mixer, const char *suite,
                                         const char *series, const uint32_t sizes[3]) {
    weft_bench_case made = {.suite = suite,
                            .implementation = mixer->implementation,
                            .sizes = {sizes[0], sizes[1], sizes[2]},
                            .data = mixer,
                            .define = define,
                            .series = series ? series : mixer->name,
                            .length = sizes[0],
                            .width = sizes[1],
                            .linear = mixer->growth == WEFT_BENCH_GROWTH_LINEAR,
                            .dense = mixer->growth == WEFT_BENCH_GROWTH_DENSE};
    const int end =
        snprintf(made.name, sizeof made.name, "%s/n=%u,d=%u", mixer->name, sizes[0], sizes[1]);
    if (sizes[2] > 1 && end > 0 && (size_t)end < sizeof made.name) {
        snprintf(made.name + end, sizeof made.name - (size_t)end, ",heads=%u", sizes[2]);
    }
    return made;
}

void weft_bench_list_add_mixers(weft_bench_list *list, const weft_bench_scope *scope,
                                const weft_bench_mixers *series) {
    const bool smallest = scope->size == WEFT_BENCH_SMALLEST;
    const uint32_t first = smallest ? series->smallest : 0;
    const uint32_t end = smallest                          ? first + 1
                         : scope->size == WEFT_BENCH_SHORT ? series->short_count
                                                           : series->count;
    const uint32_t width = series->width == 0 ? WEFT_BENCH_WIDTH : series->width;
    for (uint32_t i = first; i < end; i++) {
        for (uint32_t k = 0; k < scope->length_count; k++) {
            const weft_bench_case made = weft_bench_mixer_case_of(
                &series->mixers[i], series->suite, series->names ? series->names[i] : NULL,
                (uint32_t[]){scope->lengths[k], width, 1});
            weft_bench_list_add(list, &made);
        }
    }
}
