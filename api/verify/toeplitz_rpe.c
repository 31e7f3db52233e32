/* SPDX-License-Identifier: MIT */
/*
 * Relative position encoders and what they feed, from the formulas: the MLP in float64 at every lag or frequency, decay,
 * then the dense matrix or the kernel's cosine sums; and the gated Toeplitz unit around them.
 */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "verify/conformance.h"

#define PI         3.14159265358979323846
#define MOST_STEPS 3 /* layers of an MLP */

enum decay { NO_DECAY, FIXED, LEARNED };
enum norm { NO_NORM, SIMPLE_RMS, LAYER };

/* ---- the MLP ---- */

struct mlp_row {
    uint32_t width, layers;
    enum norm norm;
    weft_activation activation;
    bool residual;
    bool has_bias;
    bool given; /* the parameters are inputs, so that every run evaluates it */
};

struct mlp {
    const struct mlp_row *row;
    uint32_t channels;
    weft_array weight, bias;
    weft_array layer_weight[MOST_STEPS], layer_bias[MOST_STEPS];
    weft_array gamma[MOST_STEPS], beta[MOST_STEPS];
};

#define EPSILON 1e-3F /* of LayerNorm */

static const char *const norm_names[] = {"plain", "simple_rms", "layer_norm"};

static weft_array parameter(weft_case *c, const struct mlp_row *row, const char *name,
                            weft_shape shape) {
    return row->given ? weft_case_input(c, name, shape, WEFT_VALUES_UNIT)
                      : weft_case_weight(c, shape, WEFT_VALUES_UNIT);
}

static void make_mlp(struct mlp *mlp, weft_case *c, const struct mlp_row *row, uint32_t channels) {
    char name[16];
    *mlp = (struct mlp){.row = row, .channels = channels};
    mlp->weight = parameter(c, row, "w", weft_shape_of(row->width, 1));
    if (row->has_bias) {
        mlp->bias = parameter(c, row, "b", weft_shape_of(row->width));
    }
    for (uint32_t i = 0; i < row->layers; i++) {
        uint32_t out = i + 1 < row->layers ? row->width : channels;
        snprintf(name, sizeof name, "w%u", i);
        mlp->layer_weight[i] = parameter(c, row, name, weft_shape_of(out, row->width));
        if (row->has_bias) {
            snprintf(name, sizeof name, "b%u", i);
            mlp->layer_bias[i] = parameter(c, row, name, weft_shape_of(out));
        }
        if (row->norm == LAYER) {
            mlp->gamma[i] = weft_case_weight(c, weft_shape_of(row->width), WEFT_VALUES_UNIT);
            mlp->beta[i] = weft_case_weight(c, weft_shape_of(row->width), WEFT_VALUES_UNIT);
        }
    }
}

/* What the graph calls take; valid as long as `params` is. */
struct mlp_params {
    weft_rpe_params rpe;
    weft_rpe_layer layers[MOST_STEPS];
    weft_norm_params norms[MOST_STEPS];
};

static void params_of(struct mlp_params *params, const struct mlp *mlp) {
    const struct mlp_row *row = mlp->row;
    *params = (struct mlp_params){.rpe = {.weight = mlp->weight.tensor,
                                          .bias = mlp->bias.tensor,
                                          .layers = params->layers,
                                          .layer_count = row->layers,
                                          .activation = row->activation,
                                          .residual = row->residual}};
    for (uint32_t i = 0; i < row->layers; i++) {
        params->norms[i] =
            (weft_norm_params){.kind = row->norm == LAYER ? WEFT_NORM_LAYER : WEFT_NORM_SIMPLE_RMS,
                               .gamma = mlp->gamma[i].tensor,
                               .beta = mlp->beta[i].tensor,
                               .epsilon = EPSILON};
        params->layers[i] = (weft_rpe_layer){.norm = row->norm ? &params->norms[i] : NULL,
                                             .weight = mlp->layer_weight[i].tensor,
                                             .bias = mlp->layer_bias[i].tensor};
    }
}

static void reference_norm(double *y, const double *x, const struct mlp *mlp, uint32_t layer) {
    uint32_t width = mlp->row->width;
    if (mlp->row->norm == LAYER) {
        weft_reference_layer_norm(y, x, mlp->gamma[layer].value, mlp->beta[layer].value, 1, width,
                                  (double)EPSILON);
        return;
    }
    double squares = 0.0;
    for (uint32_t i = 0; i < width; i++) {
        squares += x[i] * x[i];
    }
    for (uint32_t i = 0; i < width; i++) {
        y[i] = mlp->row->norm == SIMPLE_RMS ? x[i] / (sqrt(squares / width) + 1e-8) : x[i];
    }
}

/* out[channels] at one position; h and y have width elements. */
static void reference_mlp(double *out, double position, const struct mlp *mlp, double *h,
                          double *y) {
    const struct mlp_row *row = mlp->row;
    for (uint32_t i = 0; i < row->width; i++) {
        h[i] = mlp->weight.value[i] * position + (row->has_bias ? mlp->bias.value[i] : 0.0);
    }
    for (uint32_t layer = 0; layer < row->layers; layer++) {
        bool last = layer + 1 == row->layers;
        uint32_t count = last ? mlp->channels : row->width;
        reference_norm(y, h, mlp, layer);
        for (uint32_t i = 0; i < row->width; i++) {
            y[i] = weft_reference_activation(row->activation, y[i]);
        }
        for (uint32_t j = 0; j < count; j++) {
            const double *weight = mlp->layer_weight[layer].value + (uint64_t)j * row->width;
            double sum = row->has_bias ? mlp->layer_bias[layer].value[j] : 0.0;
            for (uint32_t i = 0; i < row->width; i++) {
                sum += weight[i] * y[i];
            }
            out[j] = sum;
        }
        for (uint32_t i = 0; !last && i < row->width; i++) {
            h[i] = out[i] + (row->residual ? h[i] : 0.0);
        }
    }
}

/* ---- coefficients by lag, with the Toeplitz operator behind them ---- */

static const struct lag_row {
    struct mlp_row mlp;
    weft_rpe_lag input;
    uint32_t divisor;
    bool causal;
    enum decay decay;
    uint32_t n, d, batch; /* batch 0: the coefficients alone */
} lag_rows[] = {
    {{1, 1, NO_NORM, WEFT_ACTIVATION_NONE, false, true, false},
     WEFT_RPE_LAG,
     0,
     false,
     NO_DECAY,
     1,
     1,
     1},
    {{8, 3, SIMPLE_RMS, WEFT_ACTIVATION_RELU, false, true, false},
     WEFT_RPE_LAG,
     0,
     false,
     FIXED,
     19,
     5,
     2},
    {{8, 3, SIMPLE_RMS, WEFT_ACTIVATION_RELU, false, true, false},
     WEFT_RPE_LAG,
     0,
     true,
     LEARNED,
     31,
     7,
     2},
    {{16, 3, SIMPLE_RMS, WEFT_ACTIVATION_SILU, true, true, false},
     WEFT_RPE_LAG_FRACTION,
     30,
     false,
     LEARNED,
     31,
     12,
     1},
    {{16, 2, LAYER, WEFT_ACTIVATION_GELU_ERF, true, true, false},
     WEFT_RPE_LAG_FRACTION,
     0,
     true,
     FIXED,
     37,
     9,
     2},
    {{32, 3, SIMPLE_RMS, WEFT_ACTIVATION_RELU, false, false, false},
     WEFT_RPE_LAG_EXP,
     0,
     true,
     NO_DECAY,
     65,
     16,
     1},
    {{33, 2, LAYER, WEFT_ACTIVATION_SILU, false, true, false},
     WEFT_RPE_LAG_EXP,
     4,
     false,
     NO_DECAY,
     13,
     3,
     3},
    {{16, 3, SIMPLE_RMS, WEFT_ACTIVATION_RELU, true, true, false},
     WEFT_RPE_LAG,
     0,
     false,
     LEARNED,
     300,
     4,
     1},
    {{16, 3, SIMPLE_RMS, WEFT_ACTIVATION_SILU, false, true, false},
     WEFT_RPE_LAG,
     0,
     true,
     FIXED,
     521,
     3,
     1},
    {{8, 2, SIMPLE_RMS, WEFT_ACTIVATION_RELU, false, true, true},
     WEFT_RPE_LAG,
     0,
     false,
     LEARNED,
     19,
     5,
     2},
    {{8, 2, NO_NORM, WEFT_ACTIVATION_SIGMOID, true, true, true},
     WEFT_RPE_LAG_FRACTION,
     0,
     true,
     NO_DECAY,
     300,
     6,
     1},
    {{8, 3, SIMPLE_RMS, WEFT_ACTIVATION_RELU, false, true, false},
     WEFT_RPE_LAG,
     0,
     false,
     NO_DECAY,
     64,
     24,
     0},
    {{129, 3, SIMPLE_RMS, WEFT_ACTIVATION_SILU, true, true, false},
     WEFT_RPE_LAG_FRACTION,
     0,
     true,
     NO_DECAY,
     130,
     131,
     0},
    {{24, 2, LAYER, WEFT_ACTIVATION_GELU_TANH, false, false, false},
     WEFT_RPE_LAG_EXP,
     1,
     false,
     NO_DECAY,
     40,
     17,
     0},
};

static void name_lag(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    static const char *const inputs[] = {"lag", "fraction", "exp"};
    static const char *const decays[] = {"", ",fixed", ",learned"};
    const struct lag_row *row = &lag_rows[index];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s%s/%s,%s/n=%u,d=%u,batch=%u,width=%u%s",
             row->causal ? "causal" : "both", inputs[row->input], decays[row->decay],
             norm_names[row->mlp.norm], weft_activation_name(row->mlp.activation), row->n, row->d,
             row->batch, row->mlp.width, row->mlp.given ? ",given" : "");
}

static double position_of(const struct lag_row *row, int64_t lag) {
    double fraction = (double)lag / (row->divisor ? row->divisor : row->n);
    return row->input == WEFT_RPE_LAG            ? (double)lag
           : row->input == WEFT_RPE_LAG_FRACTION ? fraction
                                                 : exp(fraction);
}

static void reference_coefficients(double *t, const struct lag_row *row, const struct mlp *mlp,
                                   double *h, double *y, double *out) {
    int64_t first = row->causal ? 0 : 1 - (int64_t)row->n;
    for (int64_t lag = first; lag < row->n; lag++) {
        reference_mlp(out, position_of(row, lag), mlp, h, y);
        for (uint32_t channel = 0; channel < row->d; channel++) {
            t[(uint64_t)(lag - first) * row->d + channel] = out[channel];
        }
    }
}

/* y[b, i, c] = sum over j of gamma_c^|i - j| t_c(i - j) x[b, j, c]. */
static void reference_toeplitz(double *y, const double *x, const double *t, const double *gamma,
                               const struct lag_row *row) {
    int64_t n = row->n;
    int64_t first = row->causal ? 0 : 1 - n;
    for (uint64_t at = 0; at < (uint64_t)row->batch * row->n * row->d; at++) {
        uint64_t channel = at % row->d;
        int64_t i = (int64_t)(at / row->d % row->n);
        const double *sequence = x + (at / row->d / row->n) * row->n * row->d + channel;
        double sum = 0.0;
        for (int64_t j = 0; j < (row->causal ? i + 1 : n); j++) {
            double decay = pow(gamma[channel], (double)(i < j ? j - i : i - j));
            sum += decay * t[(uint64_t)(i - j - first) * row->d + channel] *
                   sequence[(uint64_t)j * row->d];
        }
        y[at] = sum;
    }
}

#define LAMBDA 0.875F

/* The decay's tensor, or none, and its values. */
static weft_tensor add_decay(weft_case *c, const struct lag_row *row, weft_array *source) {
    weft_tensor decay = {0};
    *source = (weft_array){.value = NULL};
    if (row->decay == FIXED) {
        *source = weft_case_weight(c, weft_shape_of(row->d), WEFT_VALUES_EQUAL);
        decay = source->tensor;
    } else if (row->decay == LEARNED) {
        *source = parameter(c, &row->mlp, "theta", weft_shape_of(1, row->d));
        weft_case_check(c, weft_graph_toeplitz_decay(&decay, c->graph, source->tensor, LAMBDA));
    }
    return decay;
}

static void fill_gamma(double *gamma, const struct lag_row *row, const weft_array *source) {
    for (uint32_t i = 0; i < row->d; i++) {
        gamma[i] = row->decay == NO_DECAY ? 1.0
                   : row->decay == FIXED
                       ? source->value[i]
                       : (double)LAMBDA + (1.0 - (double)LAMBDA) / (1.0 + exp(-source->value[i]));
    }
}

static void reference_lag(weft_case *c, double *expected, const struct lag_row *row,
                          const struct mlp *mlp, const double *x, const weft_array *decay) {
    uint64_t lags = row->causal ? row->n : 2 * (uint64_t)row->n - 1;
    uint32_t widest = row->mlp.width > row->d ? row->mlp.width : row->d;
    double *t = row->batch ? weft_case_scratch(c, lags * row->d) : expected;
    double *work = weft_case_scratch(c, 4 * (uint64_t)widest);
    if (t != NULL && work != NULL) {
        reference_coefficients(t, row, mlp, work, work + widest, work + 2 * (uint64_t)widest);
        fill_gamma(work + 3 * (uint64_t)widest, row, decay);
        if (row->batch) {
            reference_toeplitz(expected, x, t, work + 3 * (uint64_t)widest, row);
        }
    }
    weft_case_scratch_free(c, work);
    weft_case_scratch_free(c, row->batch ? t : NULL);
}

static void build_lag(weft_case *c, uint32_t index) {
    const struct lag_row *row = &lag_rows[index];
    struct mlp mlp;
    struct mlp_params params;
    weft_array x = {.value = NULL};
    weft_array decay_source;
    weft_tensor y = {0};
    make_mlp(&mlp, c, &row->mlp, row->d);
    params_of(&params, &mlp);
    weft_tensor decay = add_decay(c, row, &decay_source);
    weft_case_check(c, weft_graph_toeplitz_rpe(&y, c->graph, row->n, &params.rpe,
                                               weft_toeplitz_rpe_params(.causal = row->causal,
                                                                        .input = row->input,
                                                                        .divisor = row->divisor)));
    if (row->batch) {
        x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), WEFT_VALUES_UNIT);
        weft_case_check(
            c, weft_graph_toeplitz(&y, c->graph, x.tensor, y,
                                   weft_toeplitz_params(.causal = row->causal, .decay = decay)));
    }
    double *expected = weft_case_output(c, "y", y);
    c->check_fusion = true; /* that plan does not fold constants either */
    if (expected != NULL) {
        reference_lag(c, expected, row, &mlp, x.value, &decay_source);
    }
}

const weft_case_family weft_family_toeplitz_rpe = {.name = "toeplitz_rpe",
                                                   .count = sizeof lag_rows / sizeof lag_rows[0],
                                                   .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                                   .name_case = name_lag,
                                                   .build = build_lag};

/* ---- responses by frequency ---- */

static const struct frequency_row {
    struct mlp_row mlp;
    weft_rpe_frequency input;
    bool causal;
    uint32_t n, grid, d, batch; /* batch 0: the response alone */
} frequency_rows[] = {
    {{8, 2, SIMPLE_RMS, WEFT_ACTIVATION_RELU, false, true, false},
     WEFT_RPE_FREQUENCY,
     false,
     1,
     1,
     1,
     1},
    {{16, 3, LAYER, WEFT_ACTIVATION_GELU_ERF, false, true, false},
     WEFT_RPE_FREQUENCY,
     false,
     31,
     32,
     5,
     2},
    {{16, 3, SIMPLE_RMS, WEFT_ACTIVATION_SILU, true, true, false},
     WEFT_RPE_FREQUENCY,
     true,
     31,
     31,
     5,
     2},
    {{16, 2, NO_NORM, WEFT_ACTIVATION_RELU, false, true, true},
     WEFT_RPE_COSINE,
     true,
     65,
     128,
     3,
     1},
    {{16, 2, NO_NORM, WEFT_ACTIVATION_SILU, false, false, false},
     WEFT_RPE_COSINE,
     false,
     100,
     127,
     4,
     1},
    {{24, 3, SIMPLE_RMS, WEFT_ACTIVATION_GELU_TANH, false, true, false},
     WEFT_RPE_FREQUENCY,
     false,
     1,
     64,
     17,
     0},
    {{24, 3, LAYER, WEFT_ACTIVATION_RELU, true, true, false}, WEFT_RPE_COSINE, true, 1, 131, 33, 0},
};

static void name_frequency(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct frequency_row *row = &frequency_rows[index];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/%s,%s/n=%u,grid=%u,d=%u,batch=%u,width=%u%s",
             row->causal ? "causal" : "both",
             row->input == WEFT_RPE_COSINE ? "cosine" : "frequency", norm_names[row->mlp.norm],
             weft_activation_name(row->mlp.activation), row->n, row->grid, row->d, row->batch,
             row->mlp.width, row->mlp.given ? ",given" : "");
}

static uint32_t columns_of(const struct frequency_row *row) {
    return row->causal ? row->d : 2 * row->d;
}

static void reference_response(double *response, const struct frequency_row *row,
                               const struct mlp *mlp, double *h, double *y, double *out) {
    uint32_t columns = columns_of(row);
    for (uint64_t m = 0; m <= row->grid; m++) {
        double omega = PI * (double)m / row->grid;
        reference_mlp(out, row->input == WEFT_RPE_COSINE ? cos(omega) : omega, mlp, h, y);
        for (uint32_t j = 0; j < columns; j++) {
            response[m * columns + j] = out[j];
        }
    }
}

/* k(lag) by the inverse transform's sum; causal kernels have twice the even part at lags above 0. */
static double kernel_at(const double *response, const struct frequency_row *row, uint32_t channel,
                        int64_t lag) {
    if (row->causal && lag < 0) {
        return 0.0;
    }
    uint32_t columns = columns_of(row);
    double sum = 0.0;
    for (int64_t m = 0; m <= row->grid; m++) {
        const double *bin = response + (uint64_t)m * columns + channel;
        bool edge = m == 0 || m == row->grid;
        double angle = PI * (double)((m * lag) % (2 * (int64_t)row->grid)) / row->grid;
        double imaginary = row->causal || edge ? 0.0 : bin[row->d];
        sum += (edge ? 1.0 : 2.0) * (bin[0] * cos(angle) - imaginary * sin(angle));
    }
    return sum / (2.0 * row->grid) * (row->causal && lag > 0 ? 2.0 : 1.0);
}

static void reference_convolution(double *y, const double *x, const double *response,
                                  double *kernel, const struct frequency_row *row) {
    int64_t n = row->n;
    for (uint32_t channel = 0; channel < row->d; channel++) {
        for (int64_t lag = 1 - n; lag < n; lag++) {
            kernel[n - 1 + lag] = kernel_at(response, row, channel, lag);
        }
        for (uint64_t at = 0; at < (uint64_t)row->batch * row->n; at++) {
            int64_t i = (int64_t)(at % row->n);
            uint64_t start = (at - (uint64_t)i) * row->d + channel;
            double sum = 0.0;
            for (int64_t j = 0; j < n; j++) {
                sum += kernel[n - 1 + i - j] * x[start + (uint64_t)j * row->d];
            }
            y[at * row->d + channel] = sum;
        }
    }
}

static void reference_frequency(weft_case *c, double *expected, const struct frequency_row *row,
                                const struct mlp *mlp, const double *x) {
    uint32_t columns = columns_of(row);
    uint32_t widest = row->mlp.width > columns ? row->mlp.width : columns;
    uint64_t size = ((uint64_t)row->grid + 1) * columns;
    double *response = row->batch ? weft_case_scratch(c, size) : expected;
    double *work = weft_case_scratch(c, 3 * (uint64_t)widest);
    double *kernel = weft_case_scratch(c, 2 * (uint64_t)row->n);
    if (response != NULL && work != NULL && kernel != NULL) {
        reference_response(response, row, mlp, work, work + widest, work + 2 * (uint64_t)widest);
        if (row->batch) {
            reference_convolution(expected, x, response, kernel, row);
        }
    }
    weft_case_scratch_free(c, kernel);
    weft_case_scratch_free(c, work);
    weft_case_scratch_free(c, row->batch ? response : NULL);
}

static void build_frequency(weft_case *c, uint32_t index) {
    const struct frequency_row *row = &frequency_rows[index];
    struct mlp mlp;
    struct mlp_params params;
    weft_array x = {.value = NULL};
    weft_tensor y = {0};
    make_mlp(&mlp, c, &row->mlp, columns_of(row));
    params_of(&params, &mlp);
    weft_case_check(c,
                    weft_graph_toeplitz_fd_rpe(&y, c->graph, row->grid, &params.rpe, row->input));
    if (row->batch) {
        x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), WEFT_VALUES_UNIT);
        weft_case_check(c, weft_graph_toeplitz_fd(&y, c->graph, x.tensor, y,
                                                  weft_toeplitz_fd_params(.causal = row->causal)));
    }
    double *expected = weft_case_output(c, "y", y);
    c->check_fusion = true;
    if (expected != NULL) {
        reference_frequency(c, expected, row, &mlp, x.value);
    }
}

const weft_case_family weft_family_toeplitz_fd_rpe = {.name = "toeplitz_fd_rpe",
                                                      .count = sizeof frequency_rows /
                                                               sizeof frequency_rows[0],
                                                      .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                                      .name_case = name_frequency,
                                                      .build = build_frequency};
