/* SPDX-License-Identifier: MIT */
/* Relative position encoders and the Toeplitz operators that they feed. */
#include <stdio.h>

#include <weft/mixers.h>

#include "verify/paired.h"

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
    *mlp = (struct mlp){.row = row};
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

#define LAMBDA 0.875F

static weft_array add_decay(weft_case *c, const struct lag_row *row) {
    if (row->decay == NO_DECAY) {
        return (weft_array){.value = NULL};
    }
    return row->decay == FIXED
               ? weft_case_weight(c, weft_shape_of(row->d), WEFT_VALUES_EQUAL)
               : weft_case_toeplitz_decay(
                     c, parameter(c, &row->mlp, "theta", weft_shape_of(1, row->d)), LAMBDA);
}

static void build_lag(weft_case *c, uint32_t index) {
    const struct lag_row *row = &lag_rows[index];
    struct mlp mlp;
    struct mlp_params params;
    make_mlp(&mlp, c, &row->mlp, row->d);
    params_of(&params, &mlp);
    weft_array decay = add_decay(c, row);
    weft_array y =
        weft_case_toeplitz_rpe(c, row->n, &params.rpe,
                               weft_toeplitz_rpe_params(.causal = row->causal, .input = row->input,
                                                        .divisor = row->divisor));
    if (row->batch) {
        weft_array x =
            weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), WEFT_VALUES_UNIT);
        y = weft_case_toeplitz(c, x, y,
                               weft_toeplitz_params(.causal = row->causal, .decay = decay.tensor));
    }
    weft_case_expect(c, "y", y);
    c->check_fusion = true; /* that plan does not fold constants either */
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

static void build_frequency(weft_case *c, uint32_t index) {
    const struct frequency_row *row = &frequency_rows[index];
    struct mlp mlp;
    struct mlp_params params;
    make_mlp(&mlp, c, &row->mlp, row->causal ? row->d : 2 * row->d);
    params_of(&params, &mlp);
    weft_array y = weft_case_toeplitz_fd_rpe(c, row->grid, &params.rpe, row->input);
    if (row->batch) {
        weft_array x =
            weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), WEFT_VALUES_UNIT);
        y = weft_case_toeplitz_fd(c, x, y, weft_toeplitz_fd_params(.causal = row->causal));
    }
    weft_case_expect(c, "y", y);
    c->check_fusion = true;
}

const weft_case_family weft_family_toeplitz_fd_rpe = {.name = "toeplitz_fd_rpe",
                                                      .count = sizeof frequency_rows /
                                                               sizeof frequency_rows[0],
                                                      .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                                      .name_case = name_frequency,
                                                      .build = build_frequency};
