/* SPDX-License-Identifier: MIT */
#include "bench/suites/mixers.h"

#include <stdio.h>

#include <weft/features.h>
#include <weft/flt.h>
#include <weft/mixers.h>

#include "bench/graph.h"
#include "bench/suites/suites.h"

enum {
    BAND = 30,            /* half-width: FMMformer's */
    RANDOM_FEATURES = 64, /* rows of w */
    FLT_FREQUENCIES = 32, /* r */
    SKI_POINTS = 64,      /* r: that of the long-range arena's SKI models */
    SKI_GRID = 64,        /* g */
    SKI_TAPS = 33,        /* m */
    CAUSAL = 1            /* sizes[2] of builders that have a causal form */
};

#define SKI_GAMMA 0.99F

static uint32_t length_of(const weft_bench_case *bench_case) {
    return bench_case->sizes[0];
}

static bool is_causal(const weft_bench_case *bench_case) {
    return bench_case->sizes[2] == CAUSAL;
}

static weft_status add_tokens(weft_tensor *out, weft_graph *graph, const char *name,
                              const weft_bench_case *bench_case) {
    return weft_bench_input(out, graph, name,
                            weft_shape_of(1, length_of(bench_case), WEFT_BENCH_WIDTH));
}

struct attention_inputs {
    weft_tensor q, k, v;
};

static weft_status add_qkv(struct attention_inputs *in, weft_graph *graph,
                           const weft_bench_case *bench_case) {
    *in = (struct attention_inputs){0};
    weft_status status = add_tokens(&in->q, graph, "q", bench_case);
    if (status == WEFT_OK) {
        status = add_tokens(&in->k, graph, "k", bench_case);
    }
    return status == WEFT_OK ? add_tokens(&in->v, graph, "v", bench_case) : status;
}

static weft_status end(weft_status status, weft_graph *graph, weft_tensor y) {
    return status == WEFT_OK ? weft_graph_output(graph, "y", y) : status;
}

/* ---- softmax ---- */

static weft_status build_attention(weft_graph *graph, const weft_bench_case *bench_case) {
    struct attention_inputs in;
    weft_tensor y = {0};
    weft_status status = add_qkv(&in, graph, bench_case);
    if (status == WEFT_OK) {
        status = weft_graph_attention(&y, graph, in.q, in.k, in.v, NULL);
    }
    return end(status, graph, y);
}

static weft_status add_banded(weft_graph *graph, const weft_bench_case *bench_case,
                              uint32_t half_width) {
    struct attention_inputs in;
    weft_tensor y = {0};
    weft_status status = add_qkv(&in, graph, bench_case);
    if (status == WEFT_OK) {
        status = weft_graph_banded_attention(
            &y, graph, in.q, in.k, in.v,
            weft_banded_attention_params(.half_width = half_width,
                                         .causal = is_causal(bench_case)));
    }
    return end(status, graph, y);
}

static weft_status build_banded(weft_graph *graph, const weft_bench_case *bench_case) {
    return add_banded(graph, bench_case, BAND);
}

/** Softmax attention again, but without the n×n scores in memory. */
static weft_status build_full_band(weft_graph *graph, const weft_bench_case *bench_case) {
    return add_banded(graph, bench_case, length_of(bench_case) - 1);
}

/* ---- Fourier and Toeplitz ---- */

static weft_status build_fourier(weft_graph *graph, const weft_bench_case *bench_case) {
    weft_tensor x = {0};
    weft_status status = add_tokens(&x, graph, "x", bench_case);
    if (status == WEFT_OK) {
        status = weft_graph_fourier(&x, graph, x);
    }
    return end(status, graph, x);
}

static weft_status build_toeplitz(weft_graph *graph, const weft_bench_case *bench_case) {
    const uint32_t n = length_of(bench_case);
    const bool causal = is_causal(bench_case);
    weft_tensor x = {0};
    weft_tensor coefficients = {0};
    weft_status status = add_tokens(&x, graph, "x", bench_case);
    if (status == WEFT_OK) {
        status = weft_bench_weight(&coefficients, graph,
                                   weft_shape_of(causal ? n : 2 * n - 1, WEFT_BENCH_WIDTH), 1);
    }
    if (status == WEFT_OK) {
        status =
            weft_graph_toeplitz(&x, graph, x, coefficients, weft_toeplitz_params(.causal = causal));
    }
    return end(status, graph, x);
}

static weft_status build_toeplitz_fd(weft_graph *graph, const weft_bench_case *bench_case) {
    const uint32_t n = length_of(bench_case);
    const bool causal = is_causal(bench_case);
    weft_tensor x = {0};
    weft_tensor response = {0};
    weft_status status = add_tokens(&x, graph, "x", bench_case);
    if (status == WEFT_OK) {
        const uint32_t columns = causal ? WEFT_BENCH_WIDTH : 2 * WEFT_BENCH_WIDTH;
        status = weft_bench_weight(&response, graph, weft_shape_of(n + 1, columns), 1);
    }
    if (status == WEFT_OK) {
        status = weft_graph_toeplitz_fd(&x, graph, x, response,
                                        weft_toeplitz_fd_params(.causal = causal));
    }
    return end(status, graph, x);
}

/** sizes[2]: the interpolation. */
static weft_status build_ski(weft_graph *graph, const weft_bench_case *bench_case) {
    weft_tensor x = {0};
    weft_tensor rpe = {0};
    weft_tensor taps = {0};
    weft_status status = add_tokens(&x, graph, "x", bench_case);
    if (status == WEFT_OK) {
        status =
            weft_bench_weight(&rpe, graph, weft_shape_of(2 * SKI_GRID + 1, WEFT_BENCH_WIDTH), 1);
    }
    if (status == WEFT_OK) {
        status = weft_bench_weight(&taps, graph, weft_shape_of(SKI_TAPS, WEFT_BENCH_WIDTH), 2);
    }
    if (status == WEFT_OK) {
        status = weft_graph_ski_toeplitz(
            &x, graph, x,
            &(weft_ski_toeplitz_params){.rpe = rpe,
                                        .taps = taps,
                                        .points = SKI_POINTS,
                                        .gamma = SKI_GAMMA,
                                        .interpolation = (weft_interpolation)bench_case->sizes[2]});
    }
    return end(status, graph, x);
}

/* ---- feature maps ---- */

static const weft_kernel kernels[] = {{.map = WEFT_FEATURE_ELU1},
                                      {.map = WEFT_FEATURE_ELU1_NEGATED}};

/** sizes[3]: how many kernels. */
static weft_status build_kernel(weft_graph *graph, const weft_bench_case *bench_case) {
    struct attention_inputs in;
    weft_tensor y = {0};
    weft_status status = add_qkv(&in, graph, bench_case);
    if (status == WEFT_OK) {
        status = weft_graph_kernel_attention(
            &y, graph, in.q, in.k, in.v,
            weft_kernel_attention_params(.causal = is_causal(bench_case), .kernels = kernels,
                                         .kernel_count = bench_case->sizes[3]));
    }
    return end(status, graph, y);
}

/** sizes[3]: how many kernels. */
static weft_status build_fmm(weft_graph *graph, const weft_bench_case *bench_case) {
    struct attention_inputs in;
    weft_tensor y = {0};
    weft_status status = add_qkv(&in, graph, bench_case);
    if (status == WEFT_OK) {
        const weft_fmm_attention_params params = {.causal = is_causal(bench_case),
                                                  .half_width = BAND,
                                                  .kernels = kernels,
                                                  .kernel_count = bench_case->sizes[3]};
        status = weft_graph_fmm_attention(&y, graph, in.q, in.k, in.v, &params);
    }
    return end(status, graph, y);
}

static weft_status build_cosformer(weft_graph *graph, const weft_bench_case *bench_case) {
    struct attention_inputs in;
    weft_tensor y = {0};
    weft_status status = add_qkv(&in, graph, bench_case);
    if (status == WEFT_OK) {
        status = weft_graph_cosformer(&y, graph, in.q, in.k, in.v,
                                      weft_cosformer_params(.causal = is_causal(bench_case)));
    }
    return end(status, graph, y);
}

static weft_status build_fast_weight(weft_graph *graph, const weft_bench_case *bench_case) {
    struct attention_inputs in;
    weft_tensor beta = {0};
    weft_tensor y = {0};
    weft_status status = add_qkv(&in, graph, bench_case);
    if (status == WEFT_OK) {
        status = weft_bench_input(&beta, graph, WEFT_BENCH_UNIT_INPUT,
                                  weft_shape_of(1, length_of(bench_case), 1));
    }
    if (status == WEFT_OK) {
        status = weft_graph_fast_weight(&y, graph, in.q, in.k, in.v, beta, NULL);
    }
    return end(status, graph, y);
}

/* ---- random features ---- */

/** ORF of `columns` columns. */
static weft_status add_orf(weft_tensor *out, weft_graph *graph, uint32_t columns) {
    float data[RANDOM_FEATURES * (WEFT_BENCH_WIDTH + 2 * FLT_FREQUENCIES)];
    weft_status status =
        weft_features_fill(data, NULL,
                           weft_features_params(.kind = WEFT_FEATURES_ORF, .rows = RANDOM_FEATURES,
                                                .columns = columns, .seed = WEFT_BENCH_SEED),
                           NULL);
    return status == WEFT_OK
               ? weft_bench_weight_of(out, graph, weft_shape_of(RANDOM_FEATURES, columns), data)
               : status;
}

/** PosRF of queries and keys and their linear attention. scale as weft_random_features_params. */
static weft_status add_positive_attention(weft_tensor *y, weft_graph *graph,
                                          const struct attention_inputs *in, weft_tensor w,
                                          float scale, bool causal) {
    weft_random_features_params params = {.component = WEFT_COMPONENT_POSITIVE,
                                          .stabilizer = WEFT_STABILIZER_QUERY,
                                          .scale = scale,
                                          .epsilon = 1e-6F};
    weft_tensor queries = {0};
    weft_tensor keys = {0};
    weft_status status = weft_graph_random_features(&queries, graph, in->q, w, &params);
    if (status == WEFT_OK) {
        params.stabilizer = WEFT_STABILIZER_KEY;
        status = weft_graph_random_features(&keys, graph, in->k, w, &params);
    }
    return status == WEFT_OK
               ? weft_graph_linear_attention(y, graph, queries, keys, in->v,
                                             weft_linear_attention_params(.causal = causal))
               : status;
}

static weft_status build_positive(weft_graph *graph, const weft_bench_case *bench_case) {
    struct attention_inputs in;
    weft_tensor w = {0};
    weft_tensor y = {0};
    weft_status status = add_qkv(&in, graph, bench_case);
    if (status == WEFT_OK) {
        status = add_orf(&w, graph, WEFT_BENCH_WIDTH);
    }
    if (status == WEFT_OK) {
        status = add_positive_attention(&y, graph, &in, w, 0.0F, is_causal(bench_case));
    }
    return end(status, graph, y);
}

static weft_status build_rfa(weft_graph *graph, const weft_bench_case *bench_case) {
    struct attention_inputs in;
    weft_tensor w = {0};
    weft_tensor y = {0};
    weft_status status = add_qkv(&in, graph, bench_case);
    if (status == WEFT_OK) {
        status = add_orf(&w, graph, WEFT_BENCH_WIDTH);
    }
    if (status == WEFT_OK) {
        status =
            weft_graph_rfa_attention(&y, graph, in.q, in.k, in.v, w,
                                     weft_rfa_attention_params(.causal = is_causal(bench_case)));
    }
    return end(status, graph, y);
}

/** A Gaussian function of the distance: its frequencies and their weights. */
static weft_status add_frequencies(weft_tensor out[2], weft_graph *graph) {
    static const float width = 16.0F; /* tokens */
    float frequencies[FLT_FREQUENCIES];
    float weights[FLT_FREQUENCIES];
    weft_status status =
        weft_flt_fill(frequencies, weights,
                      weft_flt_params(.kind = WEFT_FLT_GAUSSIAN_KERNEL, .count = FLT_FREQUENCIES,
                                      .dimensions = 1, .widths = &width, .seed = WEFT_BENCH_SEED),
                      NULL);
    if (status == WEFT_OK) {
        status =
            weft_bench_weight_of(&out[0], graph, weft_shape_of(FLT_FREQUENCIES, 1), frequencies);
    }
    return status == WEFT_OK
               ? weft_bench_weight_of(&out[1], graph, weft_shape_of(FLT_FREQUENCIES), weights)
               : status;
}

/** Queries or keys with relative positions, in place. */
static weft_status add_positions(weft_tensor *x, weft_graph *graph, weft_tensor frequencies[2],
                                 weft_flt_side side) {
    return weft_graph_flt_features(x, graph, *x, frequencies[0], frequencies[1],
                                   weft_flt_features_params(.side = side));
}

static weft_status build_flt(weft_graph *graph, const weft_bench_case *bench_case) {
    struct attention_inputs in;
    weft_tensor frequencies[2] = {{0}};
    weft_tensor w = {0};
    weft_tensor y = {0};
    weft_status status = add_qkv(&in, graph, bench_case);
    if (status == WEFT_OK) {
        status = add_frequencies(frequencies, graph);
    }
    if (status == WEFT_OK) {
        status = add_positions(&in.q, graph, frequencies, WEFT_FLT_QUERY);
    }
    if (status == WEFT_OK) {
        status = add_positions(&in.k, graph, frequencies, WEFT_FLT_KEY);
    }
    if (status == WEFT_OK) {
        status = add_orf(&w, graph, WEFT_BENCH_WIDTH + 2 * FLT_FREQUENCIES);
    }
    if (status == WEFT_OK) {
        status = add_positive_attention(&y, graph, &in, w, 1.0F, is_causal(bench_case));
    }
    return end(status, graph, y);
}

/* ---- the table ---- */

enum growth { DENSE, LINEAR, OTHER };

struct mixer {
    const char *name;
    const char *implementation;
    enum growth growth;
    uint32_t options[2]; /* sizes[2] and sizes[3] */
    weft_status (*build)(weft_graph *graph, const weft_bench_case *bench_case);
};

static const struct mixer mixers[] = {
    {"attention", NULL, DENSE, {0}, build_attention},
    {"attention/full_band", NULL, DENSE, {0}, build_full_band},
    {"fourier", NULL, OTHER, {0}, build_fourier},
    {"toeplitz", NULL, OTHER, {0}, build_toeplitz},
    {"toeplitz/causal", NULL, OTHER, {CAUSAL}, build_toeplitz},
    {"toeplitz/direct", "direct", OTHER, {0}, build_toeplitz},
    {"toeplitz_fd", NULL, OTHER, {0}, build_toeplitz_fd},
    {"toeplitz_fd/causal", NULL, OTHER, {CAUSAL}, build_toeplitz_fd},
    {"ski_toeplitz/linear", NULL, LINEAR, {WEFT_INTERPOLATION_LINEAR}, build_ski},
    {"ski_toeplitz/cubic", NULL, LINEAR, {WEFT_INTERPOLATION_CUBIC}, build_ski},
    {"banded_attention", NULL, LINEAR, {0}, build_banded},
    {"banded_attention/causal", NULL, LINEAR, {CAUSAL}, build_banded},
    {"kernel_attention/1", NULL, LINEAR, {0, 1}, build_kernel},
    {"kernel_attention/2", NULL, LINEAR, {0, 2}, build_kernel},
    {"kernel_attention/2,causal", NULL, LINEAR, {CAUSAL, 2}, build_kernel},
    {"fmm_attention/2", NULL, LINEAR, {0, 2}, build_fmm},
    {"fast_weight", NULL, LINEAR, {CAUSAL}, build_fast_weight},
    {"cosformer", NULL, LINEAR, {0}, build_cosformer},
    {"cosformer/causal", NULL, LINEAR, {CAUSAL}, build_cosformer},
    {"random_features", NULL, LINEAR, {0}, build_positive},
    {"random_features/causal", NULL, LINEAR, {CAUSAL}, build_positive},
    {"rfa_attention", NULL, LINEAR, {0}, build_rfa},
    {"rfa_attention/causal", NULL, LINEAR, {CAUSAL}, build_rfa},
    {"flt", NULL, LINEAR, {0}, build_flt},
    {"flt/causal", NULL, LINEAR, {CAUSAL}, build_flt},
};

uint32_t weft_bench_mixer_count(void) {
    return (uint32_t)(sizeof mixers / sizeof mixers[0]);
}

weft_bench_case weft_bench_mixer_case(uint32_t index, uint32_t length) {
    const struct mixer *mixer = &mixers[index];
    weft_bench_case result = {
        .suite = "mixers",
        .implementation = mixer->implementation,
        .sizes = {length, WEFT_BENCH_WIDTH, mixer->options[0], mixer->options[1]},
        .build = mixer->build,
        .series = mixer->name,
        .length = length,
        .linear = mixer->growth == LINEAR,
        .dense = mixer->growth == DENSE};
    snprintf(result.name, sizeof result.name, "%s/n=%u,d=%u", mixer->name, length,
             WEFT_BENCH_WIDTH);
    return result;
}

void weft_bench_add_mixers(weft_bench_list *list, const weft_bench_scope *scope) {
    weft_bench_add_wide_mixers(list, scope);
    weft_bench_list_add_series(list, scope,
                               scope->size == WEFT_BENCH_SMALLEST ? 1 : weft_bench_mixer_count(),
                               weft_bench_mixer_case);
}
