/* SPDX-License-Identifier: MIT */
/* FNet's Fourier sublayer by each implementation, against the sums of the definition. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "verify/conformance.h"

#define TWO_PI 6.28318530717958647693

/* The powers of exp(-2πi/size), exponents 0 … size - 1; one allocation, sine behind cosine. */
struct roots {
    double *cosine, *sine;
};

static struct roots make_roots(weft_case *c, uint32_t size) {
    double *memory = weft_case_scratch(c, UINT64_C(2) * size);
    struct roots table = {memory, memory == NULL ? NULL : memory + size};
    for (uint32_t k = 0; memory != NULL && k < size; k++) {
        table.cosine[k] = cos(TWO_PI * k / size);
        table.sine[k] = -sin(TWO_PI * k / size);
    }
    return table;
}

/* re + i im = Σ_j x[t, j] exp(-2πi jk/d), of one t and k. */
static void hidden_sum(double *re, double *im, const double *x, uint32_t k, uint32_t d,
                       const struct roots *table) {
    uint64_t exponent = 0;
    for (uint32_t j = 0; j < d; j++) {
        *re += x[j] * table->cosine[exponent];
        *im += x[j] * table->sine[exponent];
        exponent += k;
        exponent -= exponent >= d ? d : 0;
    }
}

/* out[s, k] = Re Σ_t hidden[t, k] exp(-2πi st/n), of one k. */
static void sequence_sums(double *out, const double *re, const double *im, uint32_t n, uint32_t d,
                          const struct roots *table) {
    for (uint64_t s = 0; s < n; s++) {
        double sum = 0.0;
        uint64_t exponent = 0;
        for (uint32_t t = 0; t < n; t++) {
            sum += re[t] * table->cosine[exponent] - im[t] * table->sine[exponent];
            exponent += s;
            exponent -= exponent >= n ? n : 0;
        }
        out[s * d] = sum;
    }
}

void weft_reference_fourier(weft_case *c, double *out, const double *x, uint32_t n, uint32_t d,
                            uint32_t column_step) {
    struct roots of_n = make_roots(c, n);
    struct roots of_d = make_roots(c, d);
    double *column = weft_case_scratch(c, UINT64_C(2) * n);
    for (uint32_t k = 0; c->status == WEFT_OK && k < d; k += column_step) {
        double *re = column;
        double *im = column + n;
        for (uint64_t t = 0; t < n; t++) {
            re[t] = 0.0;
            im[t] = 0.0;
            hidden_sum(&re[t], &im[t], x + t * d, k, d, &of_d);
        }
        sequence_sums(out + k, re, im, n, d, &of_n);
    }
    weft_case_scratch_free(c, column);
    weft_case_scratch_free(c, of_n.cosine);
    weft_case_scratch_free(c, of_d.cosine);
}

struct row {
    const char *implementation; /* null: the usual choice */
    uint32_t n, d, batch;
    weft_values values;
    uint32_t column_step; /* only every so many columns are compared; 0: all of them */
};

#define USUAL(...) \
    { NULL, __VA_ARGS__ }
#define FFT(...) \
    { "fft", __VA_ARGS__ }
#define MATRIX(...) \
    { "matrix", __VA_ARGS__ }
#define BOTH(...) FFT(__VA_ARGS__), MATRIX(__VA_ARGS__)
#define ALL(...)  BOTH(__VA_ARGS__), USUAL(__VA_ARGS__)

/*
 * The definition's cost, about 4 n d (n + d) a sequence, stays below 5e7 for all of a case. Other
 * values come on shapes that are there already: drivers take long to compile the FFT of a new one.
 */
static const struct row rows[] = {
    MATRIX(1, 1, 1, WEFT_VALUES_UNIT, 0),    USUAL(1, 1, 1, WEFT_VALUES_UNIT, 0),
    MATRIX(7, 1, 2, WEFT_VALUES_UNIT, 0),    USUAL(7, 1, 2, WEFT_VALUES_UNIT, 0),
    MATRIX(1024, 1, 1, WEFT_VALUES_UNIT, 0), USUAL(1024, 1, 1, WEFT_VALUES_UNIT, 0),
    BOTH(1, 2, 1, WEFT_VALUES_UNIT, 0),      BOTH(1, 3, 2, WEFT_VALUES_UNIT, 0),
    BOTH(2, 2, 3, WEFT_VALUES_UNIT, 0),      BOTH(3, 2, 1, WEFT_VALUES_UNIT, 0),
    BOTH(3, 3, 2, WEFT_VALUES_UNIT, 0),      ALL(5, 7, 3, WEFT_VALUES_UNIT, 0),
    BOTH(7, 5, 1, WEFT_VALUES_UNIT, 0),      BOTH(8, 8, 2, WEFT_VALUES_UNIT, 0),
    BOTH(16, 16, 3, WEFT_VALUES_UNIT, 0),    ALL(31, 37, 2, WEFT_VALUES_UNIT, 0),
    BOTH(37, 31, 1, WEFT_VALUES_UNIT, 0),    ALL(64, 64, 3, WEFT_VALUES_UNIT, 0),
    USUAL(64, 65, 1, WEFT_VALUES_UNIT, 0),   USUAL(65, 64, 1, WEFT_VALUES_UNIT, 0),
    BOTH(97, 100, 2, WEFT_VALUES_UNIT, 0),   BOTH(100, 64, 3, WEFT_VALUES_UNIT, 0),
    BOTH(127, 128, 1, WEFT_VALUES_UNIT, 0),  ALL(128, 127, 2, WEFT_VALUES_UNIT, 0),
    BOTH(129, 128, 1, WEFT_VALUES_UNIT, 0),  BOTH(257, 16, 2, WEFT_VALUES_UNIT, 0),
    BOTH(16, 257, 3, WEFT_VALUES_UNIT, 0),   BOTH(500, 8, 3, WEFT_VALUES_UNIT, 0),
    BOTH(8, 500, 2, WEFT_VALUES_UNIT, 0),    BOTH(509, 5, 1, WEFT_VALUES_UNIT, 0),
    BOTH(512, 16, 1, WEFT_VALUES_UNIT, 0),   BOTH(521, 3, 2, WEFT_VALUES_UNIT, 0),
    ALL(7, 521, 1, WEFT_VALUES_UNIT, 0),     BOTH(768, 7, 1, WEFT_VALUES_UNIT, 0),
    BOTH(8, 768, 2, WEFT_VALUES_UNIT, 0),    BOTH(1021, 2, 3, WEFT_VALUES_UNIT, 0),
    BOTH(3, 1021, 2, WEFT_VALUES_UNIT, 0),   BOTH(1024, 3, 1, WEFT_VALUES_UNIT, 0),
    BOTH(2, 1024, 3, WEFT_VALUES_UNIT, 0),   BOTH(1, 1024, 2, WEFT_VALUES_UNIT, 0),
    BOTH(1, 509, 1, WEFT_VALUES_UNIT, 0),    ALL(512, 768, 1, WEFT_VALUES_UNIT, 97),
    FFT(500, 512, 2, WEFT_VALUES_UNIT, 129), FFT(509, 521, 1, WEFT_VALUES_UNIT, 97),
    BOTH(100, 64, 3, WEFT_VALUES_LARGE, 0),  BOTH(37, 31, 1, WEFT_VALUES_SMALL, 0),
    BOTH(97, 100, 2, WEFT_VALUES_MIXED, 0),  BOTH(16, 257, 3, WEFT_VALUES_ZEROS, 0),
    BOTH(1, 2, 1, WEFT_VALUES_IMPULSE, 0),   ALL(37, 31, 1, WEFT_VALUES_IMPULSE, 0),
    ALL(100, 64, 3, WEFT_VALUES_IMPULSE, 0), BOTH(521, 3, 2, WEFT_VALUES_IMPULSE, 0),
    BOTH(3, 2, 1, WEFT_VALUES_EQUAL, 0),     ALL(37, 31, 1, WEFT_VALUES_EQUAL, 0),
    ALL(100, 64, 3, WEFT_VALUES_EQUAL, 0),   BOTH(521, 3, 2, WEFT_VALUES_EQUAL, 0),
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/n=%u,d=%u,batch=%u",
             row->implementation == NULL ? "usual" : row->implementation,
             weft_values_name(row->values), row->n, row->d, row->batch);
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

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index];
    uint64_t size = (uint64_t)row->n * row->d;
    c->implementation = row->implementation;
    /* The same input for every implementation. */
    c->seed = (uint64_t)row->n << 32 | (uint64_t)row->d << 8 | row->batch;
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), row->values);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_fourier(&y, c->graph, x.tensor));
    double *expected = weft_case_output(c, "y", y);
    if (expected == NULL) {
        return;
    }
    if (row->values == WEFT_VALUES_IMPULSE || row->values == WEFT_VALUES_EQUAL) {
        expect_known(expected, row);
        return;
    }
    uint32_t step = row->column_step == 0 ? 1 : row->column_step;
    c->outputs[0].column_step = step;
    for (uint64_t batch = 0; batch < row->batch; batch++) {
        weft_reference_fourier(c, expected + batch * size, x.value + batch * size, row->n, row->d,
                               step);
    }
}

const weft_case_family weft_family_fourier = {.name = "fourier",
                                              .count = sizeof rows / sizeof rows[0],
                                              .tolerance = WEFT_TOLERANCE_LINEAR,
                                              .name_case = name_case,
                                              .build = build};
