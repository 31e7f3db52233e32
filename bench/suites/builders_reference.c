/* SPDX-License-Identifier: MIT */
/* The float64 references of the cases that weft_bench_build_mixer builds. */
#include <math.h>

#include "bench/graph.h"
#include "bench/suites/builders.h"
#include "verify/conformance.h"

/* ---- softmax, kernels ---- */

static const weft_bench_mixer *mixer_of(const weft_bench_case *bench_case) {
    return bench_case->data;
}

static weft_bench_attention inputs_of(weft_bench_reference *ref,
                                      const weft_bench_case *bench_case) {
    const uint32_t heads = bench_case->sizes[2];
    return (weft_bench_attention){.q = weft_bench_reference_input(ref, "q"),
                                  .k = weft_bench_reference_input(ref, "k"),
                                  .v = weft_bench_reference_input(ref, "v"),
                                  .n = ref->n,
                                  .heads = heads,
                                  .width = ref->width / heads,
                                  .causal = mixer_of(bench_case)->causal};
}

static void refer_attention(weft_bench_reference *ref, const weft_bench_case *bench_case) {
    const weft_bench_mixer *mixer = mixer_of(bench_case);
    const weft_bench_attention in = inputs_of(ref, bench_case);
    const bool banded = mixer->kind == WEFT_BENCH_BANDED && !mixer->full_band;
    double *out = ref->expected;
    switch (mixer->kind) {
    case WEFT_BENCH_KERNEL:
        weft_bench_reference_kernel_attention(ref, out, ref->rows, &in, weft_bench_kernels,
                                              mixer->kernel_count, 0.0);
        break;
    case WEFT_BENCH_FMM:
        ref->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
        weft_bench_reference_fmm_attention(ref, out, ref->rows, &in, WEFT_BENCH_BAND,
                                           weft_bench_kernels, mixer->kernel_count, NULL, NULL,
                                           NULL);
        break;
    case WEFT_BENCH_FAST_WEIGHT:
        weft_bench_reference_fast_weight(ref, out, ref->rows, &in,
                                         weft_bench_reference_input(ref, WEFT_BENCH_UNIT_INPUT));
        break;
    case WEFT_BENCH_COSFORMER:
        weft_bench_reference_cosformer(ref, out, ref->rows, &in, 0, 0.0);
        break;
    default:
        ref->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
        weft_bench_reference_softmax_attention(ref, out, ref->rows, &in,
                                               banded ? WEFT_BENCH_BAND : UINT32_MAX, 0.0);
    }
}

/* ---- Fourier and Toeplitz ---- */

/** What the RPE of the case makes of these numbers. */
static const double *by_rpe(weft_bench_reference *ref, const double *inputs, uint32_t count,
                            uint32_t channels) {
    const double *weights[2 + 2 * WEFT_BENCH_RPE_LAYERS];
    const uint64_t width = WEFT_BENCH_RPE_WIDTH;
    for (uint32_t i = 0; i < 2 + 2 * WEFT_BENCH_RPE_LAYERS; i++) {
        const uint64_t rows = i < 2 * WEFT_BENCH_RPE_LAYERS ? width : channels;
        const uint64_t columns = i < 2 || i % 2 == 1 ? 1 : width;
        weights[i] = weft_bench_reference_weight(ref, rows * columns, WEFT_BENCH_STREAM_RPE + i);
    }
    const weft_bench_rpe rpe = {.width = WEFT_BENCH_RPE_WIDTH,
                                .layers = WEFT_BENCH_RPE_LAYERS,
                                .channels = channels,
                                .weights = weights,
                                .activation = WEFT_ACTIVATION_RELU};
    return ref->status == WEFT_OK ? weft_bench_reference_rpe(ref, inputs, count, &rpe) : NULL;
}

/** first, first + step …: lags or frequencies. */
static const double *progression(weft_bench_reference *ref, uint32_t count, double first,
                                 double step) {
    double *out = weft_bench_reference_array(ref, count);
    for (uint32_t i = 0; out && i < count; i++) {
        out[i] = first + i * step;
    }
    return out;
}

static void refer_toeplitz(weft_bench_reference *ref, const weft_bench_mixer *mixer,
                           const double *x) {
    const uint32_t n = ref->n;
    const uint32_t lags = mixer->causal ? n : 2 * n - 1;
    weft_bench_toeplitz params = {.n = n, .d = ref->width, .causal = mixer->causal};
    if (mixer->rpe) {
        double *decay = weft_bench_reference_array(ref, ref->width);
        for (uint32_t c = 0; decay && c < ref->width; c++) {
            decay[c] = (double)WEFT_BENCH_TNN_DECAY;
        }
        const double first = mixer->causal ? 0.0 : 1.0 - n;
        params.decay = decay;
        params.coefficients = by_rpe(ref, progression(ref, lags, first, 1.0), lags, ref->width);
        ref->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    } else {
        params.coefficients =
            weft_bench_reference_weight(ref, (uint64_t)lags * ref->width, WEFT_BENCH_STREAM_KERNEL);
    }
    weft_bench_reference_toeplitz(ref, ref->expected, ref->rows, x, &params);
}

static void refer_toeplitz_fd(weft_bench_reference *ref, const weft_bench_mixer *mixer,
                              const double *x) {
    const uint32_t n = ref->n;
    const uint32_t columns = mixer->causal ? ref->width : 2 * ref->width;
    const double *response;
    if (mixer->rpe) {
        const double step = acos(-1.0) / n;
        response = by_rpe(ref, progression(ref, n + 1, 0.0, step), n + 1, columns);
        ref->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    } else {
        response =
            weft_bench_reference_weight(ref, (n + UINT64_C(1)) * columns, WEFT_BENCH_STREAM_KERNEL);
    }
    weft_bench_reference_toeplitz_fd(ref, ref->expected, ref->rows, x, n, ref->width, response, n,
                                     mixer->causal);
}

static void refer_ski(weft_bench_reference *ref, const weft_bench_mixer *mixer, const double *x) {
    const uint64_t d = ref->width;
    const weft_bench_ski params = {
        .n = ref->n,
        .d = ref->width,
        .rpe = weft_bench_reference_weight(ref, (2 * WEFT_BENCH_SKI_GRID + 1) * d,
                                           WEFT_BENCH_STREAM_KERNEL),
        .steps = WEFT_BENCH_SKI_GRID,
        .taps = weft_bench_reference_weight(ref, WEFT_BENCH_SKI_TAPS * d, WEFT_BENCH_STREAM_TAPS),
        .tap_count = WEFT_BENCH_SKI_TAPS,
        .points = WEFT_BENCH_SKI_POINTS,
        .gamma = WEFT_BENCH_SKI_GAMMA,
        .interpolation = mixer->interpolation};
    weft_bench_reference_ski(ref, ref->expected, ref->rows, x, &params);
}

static void refer_convolution(weft_bench_reference *ref, const weft_bench_case *bench_case) {
    const weft_bench_mixer *mixer = mixer_of(bench_case);
    const double *x = weft_bench_reference_input(ref, "x");
    switch (mixer->kind) {
    case WEFT_BENCH_TOEPLITZ:
        refer_toeplitz(ref, mixer, x);
        break;
    case WEFT_BENCH_TOEPLITZ_FD:
        refer_toeplitz_fd(ref, mixer, x);
        break;
    case WEFT_BENCH_SKI:
        refer_ski(ref, mixer, x);
        break;
    default:
        weft_bench_reference_fourier(ref, ref->expected, ref->rows, x, ref->n, ref->width);
    }
}

/* ---- relative positions ---- */

/** Queries and keys longer by those of their positions. */
static void add_positions(weft_bench_attention *in, weft_bench_reference *ref,
                          const weft_bench_mixer *mixer) {
    enum { COUNT = WEFT_BENCH_FLT_FREQUENCIES };
    const weft_flt_params params = weft_bench_mixer_flt(mixer);
    const uint32_t l = params.dimensions;
    float frequencies[COUNT * WEFT_FLT_MAX_DIMENSIONS];
    float weights[COUNT];
    float *places = l > 1 ? weft_alloc(&ref->host, (size_t)in->n * l * sizeof *places) : NULL;
    if (ref->status == WEFT_OK) {
        ref->status = l > 1 && !places ? weft_fail_memory(&ref->host, "the positions")
                                       : weft_flt_fill(frequencies, weights, &params, &ref->host);
    }
    if (ref->status == WEFT_OK) {
        if (places) {
            weft_bench_mixer_positions(places, mixer, in->n);
        }
        weft_bench_flt flt = {
            .side = WEFT_FLT_QUERY,
            .x = in->q,
            .n = in->n,
            .heads = in->heads,
            .width = in->width,
            .r = COUNT,
            .l = l,
            .frequencies = weft_bench_reference_weight_of(ref, frequencies, (uint64_t)COUNT * l),
            .weights = weft_bench_reference_weight_of(ref, weights, COUNT),
            .positions =
                places ? weft_bench_reference_weight_of(ref, places, (uint64_t)in->n * l) : NULL};
        in->q = weft_bench_reference_flt(ref, &flt);
        flt.side = WEFT_FLT_KEY;
        flt.x = in->k;
        in->k = weft_bench_reference_flt(ref, &flt);
    }
    weft_free(&ref->host, places);
    in->values = in->width;
    in->width += 2 * COUNT;
}

/* ---- random features ---- */

/** √|weight| of the rows, of keys with the weight's sign; null where they have none. */
static const double *coefficients_of(weft_bench_reference *ref, const weft_bench_mixer *mixer,
                                     const weft_features_params *params, bool keys) {
    const uint64_t count = (uint64_t)params->rows * params->columns;
    if (!weft_bench_mixer_is_weighted(mixer) || ref->status != WEFT_OK) {
        return NULL;
    }
    float *w = weft_alloc(&ref->host, (size_t)(count + params->rows) * sizeof *w);
    if (!w) {
        ref->status = weft_fail_memory(&ref->host, "the weights of features");
        return NULL;
    }
    float *weights = w + count;
    ref->status = weft_features_fill(w, weights, params, &ref->host);
    for (uint32_t i = 0; i < params->rows; i++) {
        const float root = sqrtf(fabsf(weights[i]));
        weights[i] = keys ? copysignf(root, weights[i]) : root;
    }
    const double *out = weft_bench_reference_weight_of(ref, weights, params->rows);
    weft_free(&ref->host, w);
    return out;
}

/**
 * How much larger the sum of the rows' weights is without their signs. A quadrature whose weights cancel (SGQ's centre has
 * 1 - d/3) has sums of products of features that cancel as much, and their rounding errors grow by this.
 */
static double cancellation_of(weft_bench_reference *ref, const weft_bench_mixer *mixer,
                              const weft_features_params *params) {
    const double *queries = coefficients_of(ref, mixer, params, false);
    const double *keys = coefficients_of(ref, mixer, params, true);
    double sum = 0.0;
    double size = 0.0;
    for (uint32_t i = 0; queries && keys && i < params->rows; i++) {
        sum += queries[i] * keys[i];
        size += fabs(queries[i] * keys[i]);
    }
    return size > 0.0 ? size / fabs(sum) : 1.0;
}

/** One side's features, as the builder has them. */
static weft_bench_features side_of(weft_bench_reference *ref, const weft_bench_mixer *mixer,
                                   const weft_bench_attention *in,
                                   const weft_bench_random_features *shared,
                                   const weft_features_params *matrix, bool keys) {
    const bool pairs = mixer->component == WEFT_COMPONENT_TRIGONOMETRIC;
    weft_bench_random_features p = *shared;
    p.x = keys ? in->k : in->q;
    p.other = keys ? in->q : in->k;
    p.stabilizer = keys ? WEFT_STABILIZER_KEY : WEFT_STABILIZER_QUERY;
    p.scale = mixer->positions != WEFT_BENCH_POSITIONS_NONE ? 1.0 : 0.0;
    p.coefficients = coefficients_of(ref, mixer, matrix, keys);
    p.component = mixer->component;
    p.epsilon = pairs ? 0.0 : (double)WEFT_BENCH_FEATURES_EPSILON;
    p.a = (double)WEFT_BENCH_GENERALIZED_A;
    p.s = 1;
    p.keys = keys;
    return weft_bench_reference_features(ref, &p);
}

static void refer_features(weft_bench_reference *ref, const weft_bench_mixer *mixer,
                           const weft_bench_attention *in, const weft_features_params *matrix,
                           const double *w) {
    weft_bench_random_features shared = {.n = in->n,
                                         .m = in->n,
                                         .heads = in->heads,
                                         .width = in->width,
                                         .w = w,
                                         .count = matrix->rows};
    if (mixer->family == WEFT_BENCH_FAMILY_HYBRID) {
        const weft_features_params directions = weft_bench_mixer_directions(in->width);
        shared.family = WEFT_BENCH_HYBRID;
        shared.directions = weft_bench_reference_matrix(ref, &directions);
        shared.direction_count = directions.rows;
    } else if (mixer->family == WEFT_BENCH_FAMILY_DISCRETE) {
        shared.family = WEFT_BENCH_DISCRETE;
    }
    const weft_bench_features phi = side_of(ref, mixer, in, &shared, matrix, false);
    const weft_bench_features psi = side_of(ref, mixer, in, &shared, matrix, true);
    const weft_bench_feature_attention attention = {.v = in->v,
                                                    .m = in->n,
                                                    .heads = in->heads,
                                                    .values =
                                                        in->values != 0 ? in->values : in->width,
                                                    .causal = in->causal};
    double *out = ref->expected;
    if (mixer->log_linear) {
        const uint64_t lags = in->causal ? in->n : 2 * (uint64_t)in->n - 1;
        const double *bias =
            weft_bench_reference_weight(ref, lags * in->heads, WEFT_BENCH_STREAM_BIAS);
        weft_bench_reference_toeplitz_attention(ref, out, ref->rows, &phi, &psi, &attention, bias,
                                                in->n);
    } else {
        weft_bench_reference_feature_attention(ref, out, ref->rows, &phi, &psi, &attention);
    }
}

static void refer_random(weft_bench_reference *ref, const weft_bench_case *bench_case) {
    const weft_bench_mixer *mixer = mixer_of(bench_case);
    weft_bench_attention in = inputs_of(ref, bench_case);
    ref->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    if (mixer->positions != WEFT_BENCH_POSITIONS_NONE) {
        add_positions(&in, ref, mixer);
    }
    const weft_features_params matrix = weft_bench_mixer_features(mixer, in.width);
    const double *w = weft_bench_reference_matrix(ref, &matrix);
    ref->tolerance *= cancellation_of(ref, mixer, &matrix);
    if (mixer->kind == WEFT_BENCH_RFA) {
        weft_bench_reference_rfa(ref, ref->expected, ref->rows, &in, w, matrix.rows, 0.0);
    } else {
        refer_features(ref, mixer, &in, &matrix, w);
    }
}

void weft_bench_refer_mixer(weft_bench_reference *ref, const weft_bench_case *bench_case) {
    switch (mixer_of(bench_case)->kind) {
    case WEFT_BENCH_FOURIER:
    case WEFT_BENCH_TOEPLITZ:
    case WEFT_BENCH_TOEPLITZ_FD:
    case WEFT_BENCH_SKI:
        refer_convolution(ref, bench_case);
        break;
    case WEFT_BENCH_RFA:
    case WEFT_BENCH_FEATURES:
        refer_random(ref, bench_case);
        break;
    default:
        refer_attention(ref, bench_case);
    }
}
