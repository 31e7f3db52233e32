/* SPDX-License-Identifier: MIT */
/* FNet's Fourier sublayer by each implementation. */
#include <stdio.h>

#include "verify/trials.h"

static weft_status call_fourier(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                const void *params) {
    (void)params;
    return weft_graph_fourier(y, graph, x[0]);
}

static weft_array mix_fourier(weft_case *c, const weft_array *x, const void *params) {
    (void)params;
    return weft_case_fourier(c, x[0]);
}

static const weft_use uses[] = {
    {.name = "Fourier by FFT", .implementation = "fft"},
    {.name = "Fourier by matrices", .implementation = "matrix"},
    {.name = "Fourier by FFT and matrices", .implementation = "fft_matrix"}};

const weft_sheet weft_sheet_fourier = {
    .name = "fourier",
    .operands = {WEFT_OPERAND_X},
    .call = call_fourier,
    .mix = mix_fourier,
    WEFT_SHEET_USES(uses),
    .sizes = {.batch = 1, .n = 5, .heads = 1, .width = 6},
};

/* ---- cases ---- */

struct row {
    const char *implementation; /* null: the usual choice */
    uint32_t n, d, batch;
    weft_values values;
};

#define USUAL(...) \
    { NULL, __VA_ARGS__ }
#define FFT(...) \
    { "fft", __VA_ARGS__ }
#define MATRIX(...) \
    { "matrix", __VA_ARGS__ }
#define FFT_MATRIX(...) \
    { "fft_matrix", __VA_ARGS__ }
#define BOTH(...) FFT(__VA_ARGS__), MATRIX(__VA_ARGS__)
#define ALL(...)  BOTH(__VA_ARGS__), USUAL(__VA_ARGS__)

/* Other values come on shapes that are there already: drivers take long to compile the FFT of a new one. */
static const struct row rows[] = {
    MATRIX(1, 1, 1, WEFT_VALUES_UNIT),         USUAL(1, 1, 1, WEFT_VALUES_UNIT),
    MATRIX(7, 1, 2, WEFT_VALUES_UNIT),         USUAL(7, 1, 2, WEFT_VALUES_UNIT),
    MATRIX(1024, 1, 1, WEFT_VALUES_UNIT),      USUAL(1024, 1, 1, WEFT_VALUES_UNIT),
    BOTH(1, 2, 1, WEFT_VALUES_UNIT),           BOTH(1, 3, 2, WEFT_VALUES_UNIT),
    BOTH(2, 2, 3, WEFT_VALUES_UNIT),           BOTH(3, 2, 1, WEFT_VALUES_UNIT),
    BOTH(3, 3, 2, WEFT_VALUES_UNIT),           ALL(5, 7, 3, WEFT_VALUES_UNIT),
    BOTH(7, 5, 1, WEFT_VALUES_UNIT),           BOTH(8, 8, 2, WEFT_VALUES_UNIT),
    BOTH(16, 16, 3, WEFT_VALUES_UNIT),         ALL(31, 37, 2, WEFT_VALUES_UNIT),
    BOTH(37, 31, 1, WEFT_VALUES_UNIT),         ALL(64, 64, 3, WEFT_VALUES_UNIT),
    USUAL(64, 65, 1, WEFT_VALUES_UNIT),        USUAL(65, 64, 1, WEFT_VALUES_UNIT),
    BOTH(97, 100, 2, WEFT_VALUES_UNIT),        BOTH(100, 64, 3, WEFT_VALUES_UNIT),
    BOTH(127, 128, 1, WEFT_VALUES_UNIT),       ALL(128, 127, 2, WEFT_VALUES_UNIT),
    BOTH(129, 128, 1, WEFT_VALUES_UNIT),       BOTH(257, 16, 2, WEFT_VALUES_UNIT),
    BOTH(16, 257, 3, WEFT_VALUES_UNIT),        BOTH(500, 8, 3, WEFT_VALUES_UNIT),
    BOTH(8, 500, 2, WEFT_VALUES_UNIT),         BOTH(509, 5, 1, WEFT_VALUES_UNIT),
    BOTH(512, 16, 1, WEFT_VALUES_UNIT),        BOTH(521, 3, 2, WEFT_VALUES_UNIT),
    ALL(7, 521, 1, WEFT_VALUES_UNIT),          BOTH(768, 7, 1, WEFT_VALUES_UNIT),
    BOTH(8, 768, 2, WEFT_VALUES_UNIT),         BOTH(1021, 2, 3, WEFT_VALUES_UNIT),
    BOTH(3, 1021, 2, WEFT_VALUES_UNIT),        BOTH(1024, 3, 1, WEFT_VALUES_UNIT),
    BOTH(2, 1024, 3, WEFT_VALUES_UNIT),        BOTH(1, 1024, 2, WEFT_VALUES_UNIT),
    BOTH(1, 509, 1, WEFT_VALUES_UNIT),         ALL(512, 768, 1, WEFT_VALUES_UNIT),
    FFT(500, 512, 2, WEFT_VALUES_UNIT),        FFT(509, 521, 1, WEFT_VALUES_UNIT),
    BOTH(100, 64, 3, WEFT_VALUES_LARGE),       BOTH(37, 31, 1, WEFT_VALUES_SMALL),
    BOTH(97, 100, 2, WEFT_VALUES_MIXED),       BOTH(16, 257, 3, WEFT_VALUES_ZEROS),
    BOTH(1, 2, 1, WEFT_VALUES_IMPULSE),        ALL(37, 31, 1, WEFT_VALUES_IMPULSE),
    ALL(100, 64, 3, WEFT_VALUES_IMPULSE),      BOTH(521, 3, 2, WEFT_VALUES_IMPULSE),
    FFT_MATRIX(1, 2, 1, WEFT_VALUES_UNIT),     FFT_MATRIX(2, 3, 1, WEFT_VALUES_UNIT),
    FFT_MATRIX(3, 7, 2, WEFT_VALUES_UNIT),     FFT_MATRIX(5, 16, 3, WEFT_VALUES_UNIT),
    FFT_MATRIX(16, 16, 3, WEFT_VALUES_UNIT),   FFT_MATRIX(31, 37, 2, WEFT_VALUES_UNIT),
    FFT_MATRIX(64, 64, 3, WEFT_VALUES_UNIT),   FFT_MATRIX(97, 100, 2, WEFT_VALUES_UNIT),
    FFT_MATRIX(100, 64, 3, WEFT_VALUES_UNIT),  FFT_MATRIX(129, 128, 1, WEFT_VALUES_UNIT),
    FFT_MATRIX(127, 127, 1, WEFT_VALUES_UNIT), FFT_MATRIX(256, 16, 2, WEFT_VALUES_UNIT),
    FFT_MATRIX(257, 16, 2, WEFT_VALUES_UNIT),  FFT_MATRIX(8, 768, 2, WEFT_VALUES_UNIT),
    FFT_MATRIX(3, 1021, 1, WEFT_VALUES_UNIT),  FFT_MATRIX(100, 64, 3, WEFT_VALUES_LARGE),
    FFT_MATRIX(37, 31, 1, WEFT_VALUES_SMALL),  FFT_MATRIX(97, 100, 2, WEFT_VALUES_MIXED),
    FFT_MATRIX(16, 16, 3, WEFT_VALUES_ZEROS),  FFT_MATRIX(100, 64, 3, WEFT_VALUES_IMPULSE),
    FFT_MATRIX(37, 31, 1, WEFT_VALUES_EQUAL),  USUAL(255, 65, 1, WEFT_VALUES_UNIT),
    USUAL(256, 65, 1, WEFT_VALUES_UNIT),       USUAL(1, 65, 3, WEFT_VALUES_UNIT),
    BOTH(3, 2, 1, WEFT_VALUES_EQUAL),          ALL(37, 31, 1, WEFT_VALUES_EQUAL),
    ALL(100, 64, 3, WEFT_VALUES_EQUAL),        BOTH(521, 3, 2, WEFT_VALUES_EQUAL),
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/n=%u,d=%u,batch=%u",
             !row->implementation ? "usual" : row->implementation, weft_values_name(row->values),
             row->n, row->d, row->batch);
}

/* Known by hand: the first sequence's impulse gives ones, a constant c gives c n d and zeros. */
static void expect_known(double *expected, const struct row *row) {
    uint64_t size = (uint64_t)row->n * row->d;
    for (uint64_t i = 0; i < size * row->batch; i++) {
        if (row->values == WEFT_VALUES_IMPULSE) {
            expected[i] = i < size ? 1.0 : 0.0;
        } else {
            expected[i] = i % size == 0 ? 0.5 * (double)size : 0.0;
        }
    }
}

static void build(weft_case *c, const struct row *row) {
    c->implementation = row->implementation;
    /* Every implementation gets the same input. */
    c->seed = (uint64_t)row->n << 32 | (uint64_t)row->d << 8 | row->batch;
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), row->values);
    weft_case_expect(c, "y", weft_case_fourier(c, x));
    if (c->ref.status == WEFT_OK &&
        (row->values == WEFT_VALUES_IMPULSE || row->values == WEFT_VALUES_EQUAL)) {
        expect_known(c->outputs[0].value, row);
    }
}

WEFT_CASE_TABLE(fourier, rows, WEFT_TOLERANCE_LINEAR, name_case, build);
