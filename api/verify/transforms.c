/* SPDX-License-Identifier: MIT */
/* Discrete Fourier transforms of rows by their sums, and products of complex numbers. */
#include <math.h>
#include <stdio.h>

#include "verify/trials.h"

enum kind { RFFT, IRFFT, FFT, IFFT };

static weft_status add(weft_tensor *y, weft_graph *graph, enum kind kind, weft_tensor x,
                       uint32_t n) {
    return kind == RFFT    ? weft_graph_rfft(y, graph, x)
           : kind == IRFFT ? weft_graph_irfft(y, graph, x, n)
           : kind == FFT   ? weft_graph_fft(y, graph, x)
                           : weft_graph_ifft(y, graph, x);
}

/* ---- what is refused ---- */

#define CALL(name, kind)                                                                    \
    static weft_status call_##name(weft_tensor *y, weft_graph *graph, const weft_tensor *x, \
                                   const void *params) {                                    \
        return add(y, graph, kind, x[0], params ? *(const uint32_t *)params : 0);           \
    }
CALL(rfft, RFFT)
CALL(irfft, IRFFT)
CALL(fft, FFT)
CALL(ifft, IFFT)

static weft_status call_complex_multiply(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                         const void *params) {
    (void)params;
    return weft_graph_complex_multiply(y, graph, x[0], x[1]);
}

enum { X, B = 1 };

static const weft_trial rfft_trials[] = {
    {ACCEPTED, GIVES(2, 5, 4, 2)},
    {ACCEPTED, IS(AS(X, 1)), GIVES(1, 2)},
    {ACCEPTED, IS(AS(X, 7)), GIVES(4, 2)},
    {MISMATCH, IS(AS(X, 1, 1, 1, 1, 1, 1, 1, 6)), SAYS("rfft: x must have 1 … 7 axes, not 8")},
    {MISMATCH, IS(AS_I32(X, 2, 6)), SAYS("x must be f32")},
};

#define LENGTH(n)                 \
    .params = &(const uint32_t) { \
        n                         \
    }

static const weft_trial irfft_trials[] = {
    {ACCEPTED, GIVES(2, 5, 6)},
    {ACCEPTED, LENGTH(7), GIVES(2, 5, 7)},
    {ACCEPTED, IS(AS(X, 1, 2)), GIVES(1)},
    {INVALID, LENGTH(8), SAYS("irfft: n 8", "n/2 + 1 = 4")},
    {INVALID, LENGTH(5), SAYS("irfft: n 5")},
    {MISMATCH, IS(AS(X, 2, 5, 4)), SAYS("irfft: x must be […, n, 2], not [2, 5, 4]")},
    {MISMATCH, IS(AS(X, 2)), SAYS("irfft: x must be")},
    {MISMATCH, IS(AS_I32(X, 4, 2)), SAYS("x must be f32")},
};

static const weft_trial fft_trials[] = {
    {ACCEPTED, GIVES(2, 5, 4, 2)},
    {MISMATCH, IS(AS(X, 2, 5, 4)), SAYS("x must be […, n, 2], not [2, 5, 4]")},
    {MISMATCH, IS(AS_I32(X, 4, 2)), SAYS("x must be f32")},
};

static const weft_trial multiply_trials[] = {
    {ACCEPTED, GIVES(2, 5, 4, 2)},
    {ACCEPTED, IS(AS(B, 4, 2)), GIVES(2, 5, 4, 2)},
    {ACCEPTED, IS(AS(B, 2)), GIVES(2, 5, 4, 2)},
    {MISMATCH, IS(AS(B, 5, 1, 2)), SAYS("complex_multiply: a [2, 5, 4, 2]", "[5, 1, 2]")},
    {MISMATCH, IS(AS(X, 4, 3), AS(B, 4, 3)), SAYS("a [4, 3] must be […, 2]")},
    {MISMATCH, IS(AS(X, 4, 2)), SAYS("a [4, 2]", "b [2, 5, 4, 2]")},
    {MISMATCH, IS(AS_I32(B, 4, 2)), SAYS("b must be f32")},
};

#define SHEET(op, trials_, size, ...)                          \
    const weft_sheet weft_sheet_##op = {                       \
        .name = #op,                                           \
        .params_size = (size),                                 \
        .call = call_##op,                                     \
        .operands = {__VA_ARGS__},                             \
        .sizes = {.batch = 2, .n = 5, .heads = 1, .width = 6}, \
        WEFT_SHEET_TRIALS(trials_),                            \
    }

SHEET(rfft, rfft_trials, 0, WEFT_OPERAND_X);
SHEET(irfft, irfft_trials, sizeof(uint32_t), WEFT_INPUT("x", .shape = {4, {2, 5, 4, 2}}));
SHEET(fft, fft_trials, 0, WEFT_INPUT("x", .shape = {4, {2, 5, 4, 2}}));
SHEET(ifft, fft_trials, 0, WEFT_INPUT("x", .shape = {4, {2, 5, 4, 2}}));
SHEET(complex_multiply, multiply_trials, 0, WEFT_INPUT("a", .shape = {4, {2, 5, 4, 2}}),
      WEFT_INPUT("b", .shape = {4, {2, 5, 4, 2}}));

/* ---- cases ---- */

struct row {
    weft_shape rows; /* all axes but those of the transform */
    uint32_t n;
    const char *implementation; /* null: the usual choice */
    weft_values kind;
};

static const struct row rows[] = {
    {{0}, 1, NULL, WEFT_VALUES_UNIT},           {{1, {3}}, 1, NULL, WEFT_VALUES_UNIT},
    {{1, {3}}, 2, NULL, WEFT_VALUES_UNIT},      {{2, {2, 5}}, 7, NULL, WEFT_VALUES_UNIT},
    {{2, {2, 37}}, 64, NULL, WEFT_VALUES_UNIT}, {{1, {131}}, 100, NULL, WEFT_VALUES_UNIT},
    {{1, {5}}, 255, NULL, WEFT_VALUES_UNIT},    {{1, {5}}, 256, NULL, WEFT_VALUES_UNIT},
    {{1, {3}}, 257, NULL, WEFT_VALUES_UNIT},    {{2, {2, 5}}, 1000, NULL, WEFT_VALUES_UNIT},
    {{0}, 512, NULL, WEFT_VALUES_UNIT},         {{1, {5}}, 100, "fft", WEFT_VALUES_UNIT},
    {{1, {5}}, 7, "fft", WEFT_VALUES_UNIT},     {{1, {5}}, 300, "matrix", WEFT_VALUES_UNIT},
    {{1, {5}}, 30, NULL, WEFT_VALUES_ZEROS},    {{1, {5}}, 30, NULL, WEFT_VALUES_EQUAL},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/n=%u,rows=%u,rank=%u",
             row->implementation ? row->implementation : "usual", weft_values_name(row->kind),
             row->n, row->rows.rank > 0 ? (uint32_t)weft_shape_elements(row->rows) : 1,
             row->rows.rank);
}

static weft_shape with(weft_shape shape, uint32_t last, bool is_complex) {
    shape.dim[shape.rank++] = last;
    if (is_complex) {
        shape.dim[shape.rank++] = 2;
    }
    return shape;
}

/* A complex number of a row: of real rows without, and of half spectra with the conjugates of what is not there. */
static void read_number(double number[2], enum kind kind, const double *x, uint32_t j, uint32_t n) {
    const bool is_other = kind == IRFFT && j > n / 2;
    const uint32_t at = is_other ? n - j : j;
    number[0] = x[kind == RFFT ? at : 2 * at];
    number[1] = kind == RFFT || (kind == IRFFT && (at == 0 || 2 * at == n)) ? 0.0 : x[2 * at + 1];
    number[1] = is_other ? -number[1] : number[1];
}

/* Number k of a row's transform. */
static void transform(double sum[2], enum kind kind, const double *x, uint32_t k, uint32_t n) {
    const bool is_inverse = kind == IRFFT || kind == IFFT;
    sum[0] = 0.0;
    sum[1] = 0.0;
    for (uint32_t j = 0; j < n; j++) {
        const double turn = 2.0 * 3.14159265358979323846 * (double)((uint64_t)j * k % n) / n;
        const double cosine = cos(turn);
        const double sine = is_inverse ? sin(turn) : -sin(turn);
        double number[2];
        read_number(number, kind, x, j, n);
        sum[0] += number[0] * cosine - number[1] * sine;
        sum[1] += number[0] * sine + number[1] * cosine;
    }
    sum[0] /= is_inverse ? n : 1.0;
    sum[1] /= is_inverse ? n : 1.0;
}

static void define(double *y, enum kind kind, const double *x, uint64_t count, uint32_t n) {
    const uint32_t bins = n / 2 + 1;
    const uint32_t from = kind == RFFT ? n : kind == IRFFT ? 2 * bins : 2 * n;
    const uint32_t numbers = kind == RFFT ? bins : n;
    for (uint64_t r = 0; r < count; r++, x += from) {
        for (uint32_t k = 0; k < numbers; k++) {
            double sum[2];
            transform(sum, kind, x, k, n);
            *y++ = sum[0];
            if (kind != IRFFT) {
                *y++ = sum[1];
            }
        }
    }
}

static void build(weft_case *c, const struct row *row, enum kind kind) {
    const uint32_t bins = row->n / 2 + 1;
    const weft_shape real = with(row->rows, row->n, false);
    const weft_shape half = with(row->rows, bins, true);
    const weft_shape full = with(row->rows, row->n, true);
    const weft_array x = weft_case_input(c, "x",
                                         kind == RFFT    ? real
                                         : kind == IRFFT ? half
                                                         : full,
                                         row->kind);
    weft_tensor tensor = {0};
    double *y;
    c->implementation = row->implementation;
    const weft_status status = WEFT_CASE_ADD(c, add(&tensor, c->graph, kind, x.tensor, row->n));
    const weft_array made = weft_case_made(c, status, tensor,
                                           kind == RFFT    ? half
                                           : kind == IRFFT ? real
                                                           : full,
                                           false, &y);
    if (y) {
        define(y, kind, x.value, row->rows.rank > 0 ? weft_shape_elements(row->rows) : 1, row->n);
    }
    weft_case_expect(c, "y", made);
}

#define FAMILY(op, kind)                                          \
    static void build_##op(weft_case *c, const struct row *row) { \
        build(c, row, kind);                                      \
    }                                                             \
    WEFT_CASE_TABLE(op, rows, WEFT_TOLERANCE_LINEAR, name_case, build_##op)

FAMILY(rfft, RFFT);
FAMILY(irfft, IRFFT);
FAMILY(fft, FFT);
FAMILY(ifft, IFFT);

/* ---- products ---- */

static const struct product_row {
    weft_shape a;
    uint32_t b_rank;
    weft_values kind;
} product_rows[] = {
    {{1, {2}}, 1, WEFT_VALUES_UNIT},           {{3, {2, 37, 2}}, 3, WEFT_VALUES_UNIT},
    {{4, {2, 5, 33, 2}}, 3, WEFT_VALUES_UNIT}, {{4, {3, 131, 7, 2}}, 2, WEFT_VALUES_UNIT},
    {{2, {1021, 2}}, 1, WEFT_VALUES_UNIT},     {{3, {2, 37, 2}}, 2, WEFT_VALUES_MIXED},
    {{3, {2, 37, 2}}, 2, WEFT_VALUES_ZEROS},
};

static void name_product(char text[WEFT_CASE_NAME_SIZE], const struct product_row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/elements=%u,a-rank=%u,b-rank=%u",
             weft_values_name(row->kind), (uint32_t)weft_shape_elements(row->a), row->a.rank,
             row->b_rank);
}

static void build_product(weft_case *c, const struct product_row *row) {
    weft_shape shape = {.rank = row->b_rank};
    for (uint32_t i = 0; i < row->b_rank; i++) {
        shape.dim[i] = row->a.dim[row->a.rank - row->b_rank + i];
    }
    const weft_array a = weft_case_input(c, "a", row->a, row->kind);
    const weft_array b = weft_case_input(c, "b", shape, row->kind);
    weft_tensor tensor = {0};
    double *y;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_complex_multiply(&tensor, c->graph, a.tensor, b.tensor));
    const weft_array made = weft_case_made(c, status, tensor, row->a, false, &y);
    for (uint64_t i = 0; y && i < weft_shape_elements(row->a); i += 2) {
        const double *p = a.value + i;
        const double *q = b.value + i % weft_shape_elements(shape);
        y[i] = p[0] * q[0] - p[1] * q[1];
        y[i + 1] = p[0] * q[1] + p[1] * q[0];
    }
    weft_case_expect(c, "y", made);
}

WEFT_CASE_TABLE(complex_multiply, product_rows, WEFT_TOLERANCE_LINEAR, name_product, build_product);
