/* SPDX-License-Identifier: MIT */
/* The gated Toeplitz unit with each of its operators, against dense matrices. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "verify/conformance.h"

#define PI    3.14159265358979323846
#define GAMMA 0.75F /* of the warp */

static const struct row {
    weft_gtu_mixer mixer;
    bool causal; /* not with SKI */
    bool has_norm, has_bias;
    weft_activation activation;
    uint32_t batch, n, d, m, d_out;
    uint32_t size; /* TOEPLITZ: reach of the coefficients; SKI: g of the grid; FD: N */
} rows[] = {
    {WEFT_GTU_TOEPLITZ, false, false, true, WEFT_ACTIVATION_SILU, 1, 1, 1, 1, 1, 1},
    {WEFT_GTU_TOEPLITZ, false, true, true, WEFT_ACTIVATION_SILU, 2, 19, 8, 24, 8, 19},
    {WEFT_GTU_TOEPLITZ, true, false, false, WEFT_ACTIVATION_SILU, 1, 37, 13, 39, 13, 40},
    {WEFT_GTU_TOEPLITZ, true, true, true, WEFT_ACTIVATION_RELU, 2, 130, 16, 33, 7, 130},
    {WEFT_GTU_SKI, false, false, true, WEFT_ACTIVATION_SILU, 2, 19, 8, 24, 8, 4},
    {WEFT_GTU_SKI, false, true, false, WEFT_ACTIVATION_NONE, 1, 33, 12, 37, 12, 33},
    {WEFT_GTU_FD, false, false, true, WEFT_ACTIVATION_SILU, 2, 31, 8, 24, 8, 32},
    {WEFT_GTU_FD, true, true, true, WEFT_ACTIVATION_GELU_TANH, 1, 31, 11, 22, 11, 31},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    static const char *const mixers[] = {"toeplitz", "ski", "fd"};
    const struct row *row = &rows[index];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/%s%s%s/n=%u,d=%u,m=%u,out=%u,size=%u,batch=%u",
             mixers[row->mixer], row->causal ? "causal" : "both",
             weft_activation_name(row->activation), row->has_norm ? ",norm" : "",
             row->has_bias ? ",bias" : "", row->n, row->d, row->m, row->d_out, row->size,
             row->batch);
}

/* ---- kernels: t(lag) of one channel; `given` points to the channel in the first row ---- */

static double coefficient(const struct row *row, const double *given, int64_t lag) {
    int64_t zero = row->causal ? 0 : (int64_t)row->size - 1;
    return given[(uint64_t)(zero + lag) * row->m];
}

/* With as many points as positions, W is the identity and A the whole matrix. */
static double warped(const struct row *row, const double *given, int64_t lag) {
    double x = pow((double)GAMMA, (double)(lag < 0 ? -lag : lag));
    double place = ((lag < 0 ? -x : x) + 1.0) * row->size;
    uint64_t at = (uint64_t)place;
    at = at < 2 * (uint64_t)row->size ? at : 2 * (uint64_t)row->size - 1;
    double part = place - (double)at;
    double low = at == row->size ? 0.0 : given[at * row->m];
    double high = at + 1 == row->size ? 0.0 : given[(at + 1) * row->m];
    return low + part * (high - low);
}

static double transformed(const struct row *row, const double *given, int64_t lag) {
    uint64_t columns = (row->causal ? UINT64_C(1) : UINT64_C(2)) * row->m;
    double sum = 0.0;
    for (int64_t k = 0; k <= row->size; k++) {
        bool edge = k == 0 || k == row->size;
        double angle = PI * (double)((k * lag) % (2 * (int64_t)row->size)) / row->size;
        double real = given[(uint64_t)k * columns];
        double imaginary = row->causal || edge ? 0.0 : given[(uint64_t)k * columns + row->m];
        sum += (edge ? 1.0 : 2.0) * (real * cos(angle) - imaginary * sin(angle));
    }
    return sum / (2.0 * row->size) * (row->causal && lag > 0 ? 2.0 : 1.0);
}

static double kernel_at(const struct row *row, const double *given, int64_t lag) {
    if (row->causal && lag < 0) {
        return 0.0;
    }
    return row->mixer == WEFT_GTU_TOEPLITZ ? coefficient(row, given, lag)
           : row->mixer == WEFT_GTU_SKI    ? warped(row, given, lag)
                                           : transformed(row, given, lag);
}

/* ---- the block ---- */

struct gtu {
    weft_array weight[3], bias[3], kernel;
};

/* out[tokens, n] = x Wᵀ + b. */
static void project(double *out, const double *x, const struct gtu *gtu, uint32_t index,
                    weft_reference_product product) {
    product.transpose_b = true;
    product.alpha = 1.0;
    weft_reference_matmul(out, x, gtu->weight[index].value, product);
    const double *bias = gtu->bias[index].value;
    for (uint64_t i = 0; bias != NULL && i < (uint64_t)product.m * product.n; i++) {
        out[i] += bias[i % product.n];
    }
}

/* gate[b, i, c] times the sum over j of t_c(i - j) v[b, j, c], in place. */
static void mix(double *gate, const double *v, const double *given, double *t,
                const struct row *row) {
    int64_t n = row->n;
    for (uint64_t channel = 0; channel < row->m; channel++) {
        for (int64_t lag = 1 - n; lag < n; lag++) {
            t[n - 1 + lag] = kernel_at(row, given + channel, lag);
        }
        for (uint64_t token = 0; token < (uint64_t)row->batch * row->n; token++) {
            int64_t i = (int64_t)(token % row->n);
            const double *sequence = v + (token - (uint64_t)i) * row->m + channel;
            double sum = 0.0;
            for (int64_t j = 0; j < n; j++) {
                sum += t[n - 1 + i - j] * sequence[(uint64_t)j * row->m];
            }
            gate[token * row->m + channel] *= sum;
        }
    }
}

static void normalize(double *x, const struct row *row) {
    for (uint64_t token = 0; token < (uint64_t)row->batch * row->n; token++) {
        double *y = x + token * row->m;
        double squares = 0.0;
        for (uint32_t i = 0; i < row->m; i++) {
            squares += y[i] * y[i];
        }
        for (uint32_t i = 0; i < row->m; i++) {
            y[i] /= sqrt(squares / row->m) + 1e-8;
        }
    }
}

static void reference(weft_case *c, double *out, const double *x, const struct gtu *gtu,
                      const struct row *row) {
    const uint32_t tokens = row->batch * row->n;
    const uint64_t count = (uint64_t)tokens * row->m;
    double *gate = weft_case_scratch(c, count);
    double *v = weft_case_scratch(c, count);
    double *t = weft_case_scratch(c, 2 * (uint64_t)row->n);
    if (gate != NULL && v != NULL && t != NULL) {
        weft_reference_product in = {.m = tokens, .n = row->m, .k = row->d};
        project(gate, x, gtu, 0, in);
        project(v, x, gtu, 1, in);
        for (uint64_t i = 0; i < count; i++) {
            gate[i] = weft_reference_activation(row->activation, gate[i]);
            v[i] = weft_reference_activation(row->activation, v[i]);
        }
        mix(gate, v, gtu->kernel.value, t, row);
        if (row->has_norm) {
            normalize(gate, row);
        }
        project(out, gate, gtu, 2,
                (weft_reference_product){.m = tokens, .n = row->d_out, .k = row->m});
    }
    weft_case_scratch_free(c, t);
    weft_case_scratch_free(c, v);
    weft_case_scratch_free(c, gate);
}

static weft_shape kernel_shape(const struct row *row) {
    uint32_t two_sided = 2 * row->size;
    return row->mixer == WEFT_GTU_TOEPLITZ
               ? weft_shape_of(row->causal ? row->size : two_sided - 1, row->m)
           : row->mixer == WEFT_GTU_SKI
               ? weft_shape_of(two_sided + 1, row->m)
               : weft_shape_of(row->size + 1, row->causal ? row->m : 2 * row->m);
}

static weft_tensor add_gtu(weft_case *c, weft_tensor x, const struct gtu *gtu,
                           const struct row *row) {
    const weft_norm_params norm = {.kind = WEFT_NORM_SIMPLE_RMS};
    const weft_toeplitz_params toeplitz = {.causal = row->causal};
    const weft_toeplitz_fd_params fd = {.causal = row->causal};
    const weft_ski_toeplitz_params ski = {
        .rpe = gtu->kernel.tensor, .points = row->n, .gamma = GAMMA};
    weft_gtu_params params = {.activation = row->activation,
                              .mixer = row->mixer,
                              .toeplitz = row->mixer == WEFT_GTU_TOEPLITZ ? &toeplitz : NULL,
                              .ski = row->mixer == WEFT_GTU_SKI ? &ski : NULL,
                              .fd = row->mixer == WEFT_GTU_FD ? &fd : NULL,
                              .norm = row->has_norm ? &norm : NULL};
    for (uint32_t i = 0; i < 3; i++) {
        params.weight[i] = gtu->weight[i].tensor;
        params.bias[i] = gtu->bias[i].tensor;
    }
    if (row->mixer != WEFT_GTU_SKI) {
        params.kernel = gtu->kernel.tensor;
    }
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_gtu(&y, c->graph, x, &params));
    return y;
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index];
    struct gtu gtu = {.bias = {{.value = NULL}}};
    weft_array x =
        weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), WEFT_VALUES_UNIT);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t out = i < 2 ? row->m : row->d_out;
        gtu.weight[i] =
            weft_case_weight(c, weft_shape_of(out, i < 2 ? row->d : row->m), WEFT_VALUES_UNIT);
        if (row->has_bias) {
            gtu.bias[i] = weft_case_weight(c, weft_shape_of(out), WEFT_VALUES_UNIT);
        }
    }
    gtu.kernel = weft_case_weight(c, kernel_shape(row), WEFT_VALUES_UNIT);
    double *expected = weft_case_output(c, "y", add_gtu(c, x.tensor, &gtu, row));
    c->check_fusion = true;
    if (expected != NULL) {
        reference(c, expected, x.value, &gtu, row);
    }
}

const weft_case_family weft_family_gtu = {.name = "gtu",
                                          .count = sizeof rows / sizeof rows[0],
                                          .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                          .name_case = name_case,
                                          .build = build};
