/* SPDX-License-Identifier: MIT */
/* The Toeplitz operator by its frequency response, against the kernel's cosine sums and the dense matrix. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "verify/conformance.h"

#define PI 3.14159265358979323846

struct row {
    const char *implementation; /* null: the usual choice */
    bool causal;
    bool given; /* the response is an input, and not a constant */
    uint32_t n, grid, d, batch;
    weft_values values;
};

#define BY(implementation, ...)             \
    {implementation, false, __VA_ARGS__}, { \
        implementation, true, __VA_ARGS__   \
    }
#define BOTH(...) BY(NULL, __VA_ARGS__)

static const struct row rows[] = {
    BOTH(false, 1, 1, 1, 1, WEFT_VALUES_UNIT),
    BOTH(true, 1, 3, 3, 2, WEFT_VALUES_UNIT),
    BOTH(false, 2, 2, 5, 1, WEFT_VALUES_UNIT),
    BOTH(true, 5, 7, 4, 3, WEFT_VALUES_UNIT),
    BOTH(false, 31, 31, 37, 2, WEFT_VALUES_UNIT),
    BOTH(true, 31, 32, 37, 2, WEFT_VALUES_UNIT),
    BOTH(false, 64, 64, 33, 1, WEFT_VALUES_UNIT),
    BOTH(false, 65, 127, 16, 2, WEFT_VALUES_UNIT),
    BOTH(true, 100, 128, 12, 1, WEFT_VALUES_UNIT),
    BOTH(false, 300, 521, 3, 2, WEFT_VALUES_UNIT),
    BOTH(false, 500, 512, 8, 1, WEFT_VALUES_UNIT),
    BOTH(true, 1000, 1000, 4, 2, WEFT_VALUES_UNIT),
    BOTH(false, 1021, 1021, 2, 1, WEFT_VALUES_UNIT),
    BY("fft", false, 2048, 2048, 2, 1, WEFT_VALUES_UNIT),
    BY("fft_shared", false, 3, 4, 5, 2, WEFT_VALUES_UNIT),
    BY("fft_shared", true, 8, 8, 19, 1, WEFT_VALUES_UNIT),
    BY("fft", false, 60, 64, 33, 1, WEFT_VALUES_UNIT),
    BOTH(false, 700, 1024, 3, 2, WEFT_VALUES_UNIT),
    BOTH(true, 2048, 2048, 2, 1, WEFT_VALUES_UNIT),
    BOTH(false, 31, 31, 37, 2, WEFT_VALUES_LARGE),
    BOTH(true, 31, 32, 37, 2, WEFT_VALUES_SMALL),
    BOTH(false, 31, 32, 37, 2, WEFT_VALUES_MIXED),
    BOTH(true, 31, 31, 37, 2, WEFT_VALUES_ZEROS),
    BOTH(false, 31, 32, 37, 2, WEFT_VALUES_EQUAL),
    BOTH(false, 64, 64, 33, 1, WEFT_VALUES_IMPULSE),
    BOTH(true, 64, 64, 33, 1, WEFT_VALUES_SUBNORMAL),
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s/%s/%s/n=%u,grid=%u,d=%u,batch=%u",
             row->implementation ? row->implementation : "", row->implementation ? "/" : "",
             row->causal ? "causal" : "both", row->given ? "given" : "constant",
             weft_values_name(row->values), row->n, row->grid, row->d, row->batch);
}

/* Element `lag` of the inverse real transform of one channel's response, over 2 grid points. */
static double even_or_whole(const struct row *row, const double *response, const double *cosine,
                            const double *sine, int64_t lag) {
    int64_t points = 2 * (int64_t)row->grid;
    uint64_t width = (row->causal ? UINT64_C(1) : UINT64_C(2)) * row->d;
    double last = response[row->grid * width];
    double sum = response[0] + (lag % 2 == 0 ? last : -last);
    for (int64_t m = 1; m < row->grid; m++) {
        int64_t at = ((m * lag) % points + points) % points;
        const double *bin = response + (uint64_t)m * width;
        double imaginary = row->causal ? 0.0 : bin[row->d];
        sum += 2.0 * (bin[0] * cosine[at] - imaginary * sine[at]);
    }
    return sum / (double)points;
}

/* kernel[n - 1 + k], one channel. */
static void dense_kernel(double *kernel, const struct row *row, const double *response,
                         const double *cosine, const double *sine) {
    int64_t n = row->n;
    for (int64_t k = 1 - n; k < n; k++) {
        double value = 0.0;
        if (!row->causal || k >= 0) {
            value = even_or_whole(row, response, cosine, sine, k);
            value *= row->causal && k > 0 ? 2.0 : 1.0;
        }
        kernel[n - 1 + k] = value;
    }
}

static void multiply(double *y, const double *kernel, const double *x, const struct row *row) {
    for (int64_t i = 0; i < row->n; i++) {
        double sum = 0.0;
        for (int64_t j = 0; j < row->n; j++) {
            sum += kernel[row->n - 1 + i - j] * x[j * row->d];
        }
        y[i * row->d] = sum;
    }
}

static void reference(weft_case *c, double *y, const double *x, const double *response,
                      const struct row *row) {
    uint64_t points = UINT64_C(2) * row->grid;
    double *cosine = weft_case_scratch(c, points);
    double *sine = weft_case_scratch(c, points);
    double *kernel = weft_case_scratch(c, UINT64_C(2) * row->n);
    for (uint64_t i = 0; c->status == WEFT_OK && i < points; i++) {
        cosine[i] = cos(2.0 * PI * (double)i / (double)points);
        sine[i] = sin(2.0 * PI * (double)i / (double)points);
    }
    for (uint32_t channel = 0; c->status == WEFT_OK && channel < row->d; channel++) {
        dense_kernel(kernel, row, response + channel, cosine, sine);
        for (uint64_t batch = 0; batch < row->batch; batch++) {
            uint64_t at = batch * row->n * row->d + channel;
            multiply(y + at, kernel, x + at, row);
        }
    }
    weft_case_scratch_free(c, kernel);
    weft_case_scratch_free(c, sine);
    weft_case_scratch_free(c, cosine);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index];
    c->implementation = row->implementation;
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), row->values);
    weft_shape shape = weft_shape_of(row->grid + 1, row->causal ? row->d : 2 * row->d);
    /* The impulse is to meet a response that is not mostly zeros. */
    weft_values values = row->values == WEFT_VALUES_IMPULSE ? WEFT_VALUES_UNIT : row->values;
    weft_array response = row->given ? weft_case_input(c, "response", shape, values)
                                     : weft_case_weight(c, shape, values);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_toeplitz_fd(&y, c->graph, x.tensor, response.tensor,
                                              weft_toeplitz_fd_params(.causal = row->causal)));
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        reference(c, expected, x.value, response.value, row);
    }
}

const weft_case_family weft_family_toeplitz_fd = {.name = "toeplitz_fd",
                                                  .count = sizeof rows / sizeof rows[0],
                                                  .tolerance = WEFT_TOLERANCE_LINEAR,
                                                  .name_case = name_case,
                                                  .build = build};
