/* SPDX-License-Identifier: MIT */
/* Relative position encoders and the Toeplitz operators that they feed. */
#include <stdio.h>

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

#define EPSILON 1e-3F /* of LayerNorm */

static const char *const norm_names[] = {"plain", "simple_rms", "layer_norm"};

static weft_array parameter(weft_case *c, const struct mlp_row *row, const char *name,
                            weft_shape shape) {
    return row->given ? weft_case_input(c, name, shape, WEFT_VALUES_UNIT)
                      : weft_case_weight(c, shape, WEFT_VALUES_UNIT);
}

/* Arguments of the graph calls. */
struct mlp {
    weft_rpe_params rpe;
    weft_rpe_layer layers[MOST_STEPS];
    weft_norm_params norms[MOST_STEPS];
};

/* W and, where the row has them, b: their names end with `number`. */
static void add_layer(weft_tensor *weight, weft_tensor *bias, weft_case *c,
                      const struct mlp_row *row, const char *number, weft_shape shape) {
    char name[16];
    snprintf(name, sizeof name, "w%s", number);
    *weight = parameter(c, row, name, shape).tensor;
    if (row->has_bias) {
        snprintf(name, sizeof name, "b%s", number);
        *bias = parameter(c, row, name, weft_shape_of(shape.dim[0])).tensor;
    }
}

static void make_mlp(struct mlp *mlp, weft_case *c, const struct mlp_row *row, uint32_t channels) {
    const weft_shape width = weft_shape_of(row->width);
    *mlp = (struct mlp){.rpe = {.layers = mlp->layers,
                                .layer_count = row->layers,
                                .activation = row->activation,
                                .residual = row->residual}};
    add_layer(&mlp->rpe.weight, &mlp->rpe.bias, c, row, "", weft_shape_of(row->width, 1));
    for (uint32_t i = 0; i < row->layers; i++) {
        const char number[] = {(char)('0' + i), '\0'};
        const uint32_t rows = i + 1 < row->layers ? row->width : channels;
        weft_rpe_layer *layer = &mlp->layers[i];
        weft_norm_params *norm = &mlp->norms[i];
        add_layer(&layer->weight, &layer->bias, c, row, number, weft_shape_of(rows, row->width));
        layer->norm = row->norm != NO_NORM ? norm : NULL;
        norm->kind = row->norm == LAYER ? WEFT_NORM_LAYER : WEFT_NORM_SIMPLE_RMS;
        norm->epsilon = EPSILON;
        if (row->norm == LAYER) {
            norm->gamma = weft_case_weight(c, width, WEFT_VALUES_UNIT).tensor;
            norm->beta = weft_case_weight(c, width, WEFT_VALUES_UNIT).tensor;
        }
    }
}

/* ---- coefficients by lag, with the Toeplitz operator behind them ---- */

#define NONE      WEFT_ACTIVATION_NONE
#define RELU      WEFT_ACTIVATION_RELU
#define SILU      WEFT_ACTIVATION_SILU
#define SIGMOID   WEFT_ACTIVATION_SIGMOID
#define GELU_ERF  WEFT_ACTIVATION_GELU_ERF
#define GELU_TANH WEFT_ACTIVATION_GELU_TANH
#define LAG       WEFT_RPE_LAG
#define FRACTION  WEFT_RPE_LAG_FRACTION
#define EXP       WEFT_RPE_LAG_EXP
#define FREQUENCY WEFT_RPE_FREQUENCY
#define COSINE    WEFT_RPE_COSINE

static const struct lag_row {
    struct mlp_row mlp;
    weft_rpe_lag input;
    uint32_t divisor;
    bool causal;
    enum decay decay;
    uint32_t n, d, batch; /* batch 0: the coefficients alone */
} lag_rows[] = {
    {{1, 1, NO_NORM, NONE, false, true, false}, LAG, 0, false, NO_DECAY, 1, 1, 1},
    {{8, 3, SIMPLE_RMS, RELU, false, true, false}, LAG, 0, false, FIXED, 19, 5, 2},
    {{8, 3, SIMPLE_RMS, RELU, false, true, false}, LAG, 0, true, LEARNED, 31, 7, 2},
    {{16, 3, SIMPLE_RMS, SILU, true, true, false}, FRACTION, 30, false, LEARNED, 31, 12, 1},
    {{16, 2, LAYER, GELU_ERF, true, true, false}, FRACTION, 0, true, FIXED, 37, 9, 2},
    {{32, 3, SIMPLE_RMS, RELU, false, false, false}, EXP, 0, true, NO_DECAY, 65, 16, 1},
    {{33, 2, LAYER, SILU, false, true, false}, EXP, 4, false, NO_DECAY, 13, 3, 3},
    {{16, 3, SIMPLE_RMS, RELU, true, true, false}, LAG, 0, false, LEARNED, 300, 4, 1},
    {{16, 3, SIMPLE_RMS, SILU, false, true, false}, LAG, 0, true, FIXED, 521, 3, 1},
    {{8, 2, SIMPLE_RMS, RELU, false, true, true}, LAG, 0, false, LEARNED, 19, 5, 2},
    {{8, 2, NO_NORM, SIGMOID, true, true, true}, FRACTION, 0, true, NO_DECAY, 300, 6, 1},
    {{8, 3, SIMPLE_RMS, RELU, false, true, false}, LAG, 0, false, NO_DECAY, 64, 24, 0},
    {{129, 3, SIMPLE_RMS, SILU, true, true, false}, FRACTION, 0, true, NO_DECAY, 130, 131, 0},
    {{24, 2, LAYER, GELU_TANH, false, false, false}, EXP, 1, false, NO_DECAY, 40, 17, 0},
};

static void name_lag(char text[WEFT_CASE_NAME_SIZE], const struct lag_row *row) {
    static const char *const inputs[] = {"lag", "fraction", "exp"};
    static const char *const decays[] = {"", ",fixed", ",learned"};
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

static void build_lag(weft_case *c, const struct lag_row *row) {
    struct mlp mlp;
    make_mlp(&mlp, c, &row->mlp, row->d);
    weft_array decay = add_decay(c, row);
    weft_array y =
        weft_case_toeplitz_rpe(c, row->n, &mlp.rpe,
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

WEFT_CASE_TABLE(toeplitz_rpe, lag_rows, WEFT_TOLERANCE_EXPONENTIAL, name_lag, build_lag);

/* ---- responses by frequency ---- */

static const struct frequency_row {
    struct mlp_row mlp;
    weft_rpe_frequency input;
    bool causal;
    uint32_t n, grid, d, batch; /* batch 0: the response alone */
} frequency_rows[] = {
    {{8, 2, SIMPLE_RMS, RELU, false, true, false}, FREQUENCY, false, 1, 1, 1, 1},
    {{16, 3, LAYER, GELU_ERF, false, true, false}, FREQUENCY, false, 31, 32, 5, 2},
    {{16, 3, SIMPLE_RMS, SILU, true, true, false}, FREQUENCY, true, 31, 31, 5, 2},
    {{16, 2, NO_NORM, RELU, false, true, true}, COSINE, true, 65, 128, 3, 1},
    {{16, 2, NO_NORM, SILU, false, false, false}, COSINE, false, 100, 127, 4, 1},
    {{24, 3, SIMPLE_RMS, GELU_TANH, false, true, false}, FREQUENCY, false, 1, 64, 17, 0},
    {{24, 3, LAYER, RELU, true, true, false}, COSINE, true, 1, 131, 33, 0},
};

static void name_frequency(char text[WEFT_CASE_NAME_SIZE], const struct frequency_row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/%s,%s/n=%u,grid=%u,d=%u,batch=%u,width=%u%s",
             row->causal ? "causal" : "both",
             row->input == WEFT_RPE_COSINE ? "cosine" : "frequency", norm_names[row->mlp.norm],
             weft_activation_name(row->mlp.activation), row->n, row->grid, row->d, row->batch,
             row->mlp.width, row->mlp.given ? ",given" : "");
}

static void build_frequency(weft_case *c, const struct frequency_row *row) {
    struct mlp mlp;
    make_mlp(&mlp, c, &row->mlp, row->causal ? row->d : 2 * row->d);
    weft_array y = weft_case_toeplitz_fd_rpe(c, row->grid, &mlp.rpe, row->input);
    if (row->batch) {
        weft_array x =
            weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), WEFT_VALUES_UNIT);
        y = weft_case_toeplitz_fd(c, x, y, weft_toeplitz_fd_params(.causal = row->causal));
    }
    weft_case_expect(c, "y", y);
    c->check_fusion = true;
}

WEFT_CASE_TABLE(toeplitz_fd_rpe, frequency_rows, WEFT_TOLERANCE_EXPONENTIAL, name_frequency,
                build_frequency);
