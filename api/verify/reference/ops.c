/* SPDX-License-Identifier: MIT */
#include "verify/reference/ops.h"

#include <math.h>

#define SQRT_2_OVER_PI 0.79788456080286535588
#define SQRT_HALF      0.70710678118654752440

/* ---- products ---- */

void weft_reference_matmul(double *out, const double *a, const double *b,
                           weft_reference_product p) {
    for (uint64_t row = 0; row < p.m; row++) {
        for (uint64_t column = 0; column < p.n; column++) {
            double sum = 0.0;
            for (uint64_t k = 0; k < p.k; k++) {
                double x = p.transpose_a ? a[k * p.m + row] : a[row * p.k + k];
                double y = p.transpose_b ? b[column * p.k + k] : b[k * p.n + column];
                sum += x * y;
            }
            out[row * p.n + column] = p.alpha * sum;
        }
    }
}

/** Four sums rather than one, which a processor adds at the same time. */
static double dot(const double *a, const double *b, uint32_t count) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (uint32_t lane = 0; lane < 4; lane++) {
            sums[lane] += a[i + lane] * b[i + lane];
        }
    }
    for (; i < count; i++) {
        sums[0] += a[i] * b[i];
    }
    return sums[0] + sums[1] + sums[2] + sums[3];
}

void weft_reference_linear(weft_reference *ref, double *out, weft_rows rows, const double *x,
                           uint32_t k, const double *w, uint32_t channels, const double *bias) {
    if (!weft_reference_spend(ref, (double)rows.count * k * channels)) {
        return;
    }
    for (uint32_t r = 0; r < rows.count; r++) {
        const double *token = x + (uint64_t)rows.at[r] * k;
        for (uint32_t c = 0; c < channels; c++) {
            out[(uint64_t)r * channels + c] =
                dot(token, w + (uint64_t)c * k, k) + (bias ? bias[c] : 0.0);
        }
    }
}

/* ---- elementwise ---- */

/* The formulas of graph.h; erfc and a quotient where 1 + erf and 1 + tanh would cancel. */
double weft_reference_activation(weft_activation activation, double x) {
    switch (activation) {
    case WEFT_ACTIVATION_GELU_TANH:
        return x / (1.0 + exp(-2.0 * SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)));
    case WEFT_ACTIVATION_GELU_ERF:
        return 0.5 * x * erfc(-x * SQRT_HALF);
    case WEFT_ACTIVATION_TANH:
        return tanh(x);
    case WEFT_ACTIVATION_RELU:
        return x > 0.0 ? x : 0.0;
    case WEFT_ACTIVATION_SIGMOID:
        return 1.0 / (1.0 + exp(-x));
    case WEFT_ACTIVATION_SILU:
        return x / (1.0 + exp(-x));
    case WEFT_ACTIVATION_ELU1:
        return x > 0.0 ? x + 1.0 : exp(x);
    case WEFT_ACTIVATION_EXP:
        return exp(x);
    default:
        return x;
    }
}

/* ---- rows ---- */

/* exp(x_i) / Σ_j exp(x_j); the largest is subtracted so that float64 does not overflow either. */
void weft_reference_softmax(double *out, const double *x, uint32_t rows, uint32_t columns) {
    for (uint32_t row = 0; row < rows; row++, x += columns, out += columns) {
        double largest = x[0];
        for (uint32_t column = 1; column < columns; column++) {
            largest = x[column] > largest ? x[column] : largest;
        }
        double sum = 0.0;
        for (uint32_t column = 0; column < columns; column++) {
            out[column] = exp(x[column] - largest);
            sum += out[column];
        }
        for (uint32_t column = 0; column < columns; column++) {
            out[column] /= sum;
        }
    }
}

static double squares_of(const double *x, double mean, uint32_t columns) {
    double sum = 0.0;
    for (uint32_t i = 0; i < columns; i++) {
        sum += (x[i] - mean) * (x[i] - mean);
    }
    return sum;
}

static double mean_of(const double *x, uint32_t columns) {
    double sum = 0.0;
    for (uint32_t i = 0; i < columns; i++) {
        sum += x[i];
    }
    return sum / columns;
}

/**
 * Divisor of a row. LayerNorm: Ba et al., 2016, with the biased variance; RMSNorm: Zhang and Sennrich, 2019, (4);
 * ScaleNorm: Nguyen and Salazar, 2019, (5); SimpleRMSNorm: Qin et al., 2023, with TNN's epsilon.
 */
static double length_of(const weft_reference_norm *norm, const double *x, double mean,
                        uint32_t columns) {
    const double squares = squares_of(x, mean, columns);
    switch (norm->kind) {
    case WEFT_NORM_SIMPLE_RMS:
        return sqrt(squares / columns) + 1e-8;
    case WEFT_NORM_SCALE:
        return fmax(sqrt(squares), norm->epsilon);
    default:
        return sqrt(squares / columns + norm->epsilon);
    }
}

static void normalize_row(double *x, const weft_reference_norm *norm, uint32_t columns) {
    const bool batch = norm->kind == WEFT_NORM_BATCH;
    const double mean = norm->kind == WEFT_NORM_LAYER ? mean_of(x, columns) : 0.0;
    const double length = batch ? 0.0 : length_of(norm, x, mean, columns);
    for (uint32_t i = 0; i < columns; i++) {
        const double centred = x[i] - (batch ? norm->mean[i] : mean);
        x[i] = centred / (batch ? sqrt(norm->variance[i] + norm->epsilon) : length);
        x[i] *= norm->gamma ? norm->gamma[norm->kind == WEFT_NORM_SCALE ? 0 : i] : 1.0;
        x[i] += norm->beta ? norm->beta[i] : 0.0;
    }
}

void weft_reference_normalize(double *x, const weft_reference_norm *norm, uint64_t rows,
                              uint32_t columns) {
    for (uint64_t row = 0; row < rows; row++) {
        normalize_row(x + row * columns, norm, columns);
    }
}

/* ---- tables ---- */

/* out[b, s] = table[tokens[b, s]] + type_table[types[b, s]] + positions[s]. */
void weft_reference_embedding(double *out, const weft_reference_tables *t) {
    for (uint32_t row = 0; row < t->batch * t->n; row++) {
        double token = t->tokens[row];
        double type = !t->types ? 0.0 : t->types[row];
        bool outside = token < 0.0 || token >= t->vocabulary || type < 0.0 ||
                       (t->type_table && type >= t->type_count);
        for (uint32_t column = 0; column < t->d; column++) {
            double sum = outside ? NAN : t->table[(uint64_t)token * t->d + column];
            if (!outside && t->type_table) {
                sum += t->type_table[(uint64_t)type * t->d + column];
            }
            if (t->positions) {
                sum += t->positions[(uint64_t)(row % t->n) * t->d + column];
            }
            out[(uint64_t)row * t->d + column] = sum;
        }
    }
}
