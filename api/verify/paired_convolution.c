/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "verify/paired.h"

#define PI 3.14159265358979323846

/* Definition for one sequence. */
typedef void (*definition)(weft_reference *ref, double *out, weft_rows rows, const double *x,
                           const void *params);

/* Applies a definition to each sequence of x [batch, n, d]. */
static weft_array mix(weft_case *c, weft_status status, weft_tensor tensor, weft_array x,
                      definition define, const void *params) {
    const uint32_t n = x.shape.dim[1];
    const uint32_t d = x.shape.dim[2];
    double *out;
    weft_array y = weft_case_made(c, status, tensor, x.shape, true, &out);
    const weft_rows rows = c->rows.count > 0 ? c->rows : weft_reference_all(&c->ref, n);
    for (uint64_t batch = 0; out && batch < x.shape.dim[0]; batch++) {
        define(&c->ref, out + batch * rows.count * d, rows, x.value + batch * n * d, params);
    }
    return y;
}

static void define_fourier(weft_reference *ref, double *out, weft_rows rows, const double *x,
                           const void *params) {
    const weft_shape *shape = params;
    weft_reference_fourier(ref, out, rows, x, shape->dim[1], shape->dim[2]);
}

weft_array weft_case_fourier(weft_case *c, weft_array x) {
    weft_tensor tensor = {0};
    const weft_status status = WEFT_CASE_ADD(c, weft_graph_fourier(&tensor, c->graph, x.tensor));
    return mix(c, status, tensor, x, define_fourier, &x.shape);
}

static void define_toeplitz(weft_reference *ref, double *out, weft_rows rows, const double *x,
                            const void *params) {
    weft_reference_toeplitz(ref, out, rows, x, params);
}

weft_array weft_case_toeplitz(weft_case *c, weft_array x, weft_array coefficients,
                              const weft_toeplitz_params *params) {
    const uint32_t lags = coefficients.shape.dim[0];
    const weft_reference_toeplitz_params own = {.n = x.shape.dim[1],
                                                .d = x.shape.dim[2],
                                                .causal = params->causal,
                                                .coefficients = coefficients.value,
                                                .reach = params->causal ? lags : (lags + 1) / 2,
                                                .decay = weft_case_find(c, params->decay).value};
    weft_tensor tensor = {0};
    const weft_status status = WEFT_CASE_ADD(
        c, weft_graph_toeplitz(&tensor, c->graph, x.tensor, coefficients.tensor, params));
    return mix(c, status, tensor, x, define_toeplitz, &own);
}

static void define_toeplitz_fd(weft_reference *ref, double *out, weft_rows rows, const double *x,
                               const void *params) {
    weft_reference_toeplitz_fd(ref, out, rows, x, params);
}

weft_array weft_case_toeplitz_fd(weft_case *c, weft_array x, weft_array response,
                                 const weft_toeplitz_fd_params *params) {
    const weft_reference_fd_params own = {.n = x.shape.dim[1],
                                          .d = x.shape.dim[2],
                                          .grid = response.shape.dim[0] - 1,
                                          .causal = params->causal,
                                          .response = response.value};
    weft_tensor tensor = {0};
    const weft_status status = WEFT_CASE_ADD(
        c, weft_graph_toeplitz_fd(&tensor, c->graph, x.tensor, response.tensor, params));
    return mix(c, status, tensor, x, define_toeplitz_fd, &own);
}

static void define_ski(weft_reference *ref, double *out, weft_rows rows, const double *x,
                       const void *params) {
    weft_reference_ski(ref, out, rows, x, params);
}

weft_array weft_case_ski_toeplitz(weft_case *c, weft_array x,
                                  const weft_ski_toeplitz_params *params) {
    const weft_array rpe = weft_case_find(c, params->rpe);
    const weft_array taps = weft_case_find(c, params->taps);
    const weft_reference_ski_params own = {.n = x.shape.dim[1],
                                           .d = x.shape.dim[2],
                                           .rpe = rpe.value,
                                           .steps = (rpe.shape.dim[0] - 1) / 2,
                                           .taps = taps.value,
                                           .tap_count = taps.shape.dim[0],
                                           .points = params->points,
                                           .gamma = params->gamma,
                                           .interpolation = params->interpolation};
    weft_tensor tensor = {0};
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_ski_toeplitz(&tensor, c->graph, x.tensor, params));
    return mix(c, status, tensor, x, define_ski, &own);
}

/* ---- relative position encoders ---- */

#define MOST_LAYERS 8

/* The encoder at each of these positions, in `out` [count, channels]. */
static void define_rpe(weft_case *c, double *out, const double *positions, uint32_t count,
                       uint32_t channels, const weft_rpe_params *rpe) {
    weft_reference_rpe_layer layers[MOST_LAYERS];
    weft_reference_norm norms[MOST_LAYERS];
    const weft_array first = weft_case_find(c, rpe->weight);
    for (uint32_t i = 0; i < rpe->layer_count; i++) {
        const weft_rpe_layer *layer = &rpe->layers[i];
        if (layer->norm) {
            norms[i] = weft_case_norm_of(c, layer->norm);
        }
        layers[i] = (weft_reference_rpe_layer){.weight = weft_case_find(c, layer->weight).value,
                                               .bias = weft_case_find(c, layer->bias).value,
                                               .norm = layer->norm ? &norms[i] : NULL};
    }
    weft_reference_rpe(&c->ref, out, positions, count,
                       &(weft_reference_rpe_params){.width = first.shape.dim[0],
                                                    .layer_count = rpe->layer_count,
                                                    .channels = channels,
                                                    .weight = first.value,
                                                    .bias = weft_case_find(c, rpe->bias).value,
                                                    .layers = layers,
                                                    .activation = rpe->activation,
                                                    .residual = rpe->residual});
}

static uint32_t channels_of(const weft_case *c, const weft_rpe_params *rpe) {
    return weft_case_find(c, rpe->layers[rpe->layer_count - 1].weight).shape.dim[0];
}

static double position_of(int64_t lag, uint32_t n, const weft_toeplitz_rpe_params *params) {
    const double fraction = (double)lag / (params->divisor != 0 ? params->divisor : n);
    return params->input == WEFT_RPE_LAG            ? (double)lag
           : params->input == WEFT_RPE_LAG_FRACTION ? fraction
                                                    : exp(fraction);
}

weft_array weft_case_toeplitz_rpe(weft_case *c, uint32_t n, const weft_rpe_params *rpe,
                                  const weft_toeplitz_rpe_params *params) {
    const uint32_t channels = channels_of(c, rpe);
    const int64_t first = params->causal ? 0 : 1 - (int64_t)n;
    const uint32_t lags = params->causal ? n : 2 * n - 1;
    weft_tensor tensor = {0};
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_toeplitz_rpe(&tensor, c->graph, n, rpe, params));
    weft_array y = weft_case_made(c, status, tensor, weft_shape_of(lags, channels), false, &out);
    double *positions = out ? weft_case_scratch(c, lags) : NULL;
    for (uint32_t i = 0; positions && i < lags; i++) {
        positions[i] = position_of(first + i, n, params);
    }
    if (positions) {
        define_rpe(c, out, positions, lags, channels, rpe);
    }
    return y;
}

weft_array weft_case_toeplitz_fd_rpe(weft_case *c, uint32_t grid, const weft_rpe_params *rpe,
                                     weft_rpe_frequency input) {
    const uint32_t channels = channels_of(c, rpe);
    weft_tensor tensor = {0};
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_toeplitz_fd_rpe(&tensor, c->graph, grid, rpe, input));
    weft_array y =
        weft_case_made(c, status, tensor, weft_shape_of(grid + 1, channels), false, &out);
    double *positions = out ? weft_case_scratch(c, grid + UINT64_C(1)) : NULL;
    for (uint32_t m = 0; positions && m <= grid; m++) {
        const double omega = PI * m / grid;
        positions[m] = input == WEFT_RPE_COSINE ? cos(omega) : omega;
    }
    if (positions) {
        define_rpe(c, out, positions, grid + 1, channels, rpe);
    }
    return y;
}

weft_array weft_case_toeplitz_decay(weft_case *c, weft_array theta, float lambda) {
    const uint32_t d = (uint32_t)weft_shape_elements(theta.shape);
    const double least = (double)lambda;
    weft_tensor tensor = {0};
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_toeplitz_decay(&tensor, c->graph, theta.tensor, lambda));
    weft_array y = weft_case_made(c, status, tensor, weft_shape_of(d), false, &out);
    for (uint32_t i = 0; out && i < d; i++) {
        out[i] = least + (1.0 - least) / (1.0 + exp(-theta.value[i]));
    }
    return y;
}
