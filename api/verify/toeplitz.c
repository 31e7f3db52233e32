/* SPDX-License-Identifier: MIT */
/* The Toeplitz operator by each implementation, against the product with the dense matrix. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "core/philox.h"
#include "verify/conformance.h"

enum decay { PLAIN = 0, DECAY };

/* Whether the coefficients and the decay are constants or inputs. */
enum source { CONSTANT = 0, GIVEN };

struct row {
    const char *implementation; /* null: the usual choice */
    bool causal;
    enum decay decay;
    enum source source;
    uint32_t n, d, batch;
    uint32_t reach; /* coefficients for lags up to reach - 1; 0: n */
    weft_values values;
};

#define EACH(...)                                           \
    {"direct", __VA_ARGS__}, {"fft_shared", __VA_ARGS__}, { \
        "fft", __VA_ARGS__                                  \
    }
#define ALL(...)          \
    EACH(__VA_ARGS__), {  \
        NULL, __VA_ARGS__ \
    }

/*
 * Other values, decays and sources come on transforms that are there already: drivers take long to compile new ones.
 * The length of a transform follows from n, its batch from d and batch.
 */
static const struct row rows[] = {
    EACH(false, PLAIN, CONSTANT, 1, 1, 1, 0, WEFT_VALUES_UNIT),
    EACH(true, DECAY, GIVEN, 1, 3, 2, 0, WEFT_VALUES_UNIT),
    EACH(false, PLAIN, GIVEN, 2, 5, 1, 0, WEFT_VALUES_UNIT),
    EACH(true, PLAIN, CONSTANT, 7, 4, 3, 0, WEFT_VALUES_UNIT),
    EACH(false, DECAY, CONSTANT, 8, 33, 1, 0, WEFT_VALUES_UNIT),
    EACH(false, DECAY, GIVEN, 31, 37, 2, 0, WEFT_VALUES_UNIT),
    EACH(true, DECAY, CONSTANT, 31, 37, 2, 0, WEFT_VALUES_UNIT),
    EACH(false, PLAIN, CONSTANT, 64, 32, 2, 0, WEFT_VALUES_UNIT),
    EACH(true, PLAIN, GIVEN, 65, 16, 1, 0, WEFT_VALUES_UNIT),
    EACH(false, PLAIN, CONSTANT, 256, 20, 1, 0, WEFT_VALUES_UNIT),
    EACH(false, PLAIN, CONSTANT, 257, 20, 1, 0, WEFT_VALUES_UNIT),
    {"fft_shared", true, DECAY, GIVEN, 3, 2, 1, 0, WEFT_VALUES_UNIT},
    {"fft_shared", false, PLAIN, CONSTANT, 4, 17, 2, 0, WEFT_VALUES_UNIT},
    {"fft_shared", false, DECAY, CONSTANT, 5, 40, 1, 0, WEFT_VALUES_UNIT},
    {"fft_shared", true, PLAIN, CONSTANT, 17, 6, 2, 0, WEFT_VALUES_UNIT},
    {"fft_shared", false, PLAIN, GIVEN, 128, 9, 2, 0, WEFT_VALUES_UNIT},
    {"fft_shared", true, DECAY, CONSTANT, 129, 16, 1, 0, WEFT_VALUES_UNIT},
    {NULL, false, PLAIN, CONSTANT, 96, 20, 1, 0, WEFT_VALUES_UNIT},
    {NULL, false, PLAIN, CONSTANT, 97, 20, 1, 0, WEFT_VALUES_UNIT},
    {NULL, true, DECAY, CONSTANT, 192, 8, 3, 0, WEFT_VALUES_UNIT},
    {NULL, true, DECAY, CONSTANT, 193, 8, 3, 0, WEFT_VALUES_UNIT},
    {NULL, true, DECAY, CONSTANT, 512, 8, 3, 0, WEFT_VALUES_UNIT},
    {NULL, false, DECAY, CONSTANT, 1024, 7, 1, 0, WEFT_VALUES_UNIT},
    EACH(true, DECAY, CONSTANT, 513, 8, 3, 0, WEFT_VALUES_UNIT),
    EACH(false, DECAY, CONSTANT, 509, 5, 1, 0, WEFT_VALUES_UNIT),
    ALL(false, PLAIN, CONSTANT, 1000, 24, 1, 0, WEFT_VALUES_UNIT),
    EACH(true, PLAIN, CONSTANT, 1021, 3, 2, 0, WEFT_VALUES_UNIT),
    ALL(true, DECAY, GIVEN, 2048, 4, 1, 0, WEFT_VALUES_UNIT),
    {"fft", false, DECAY, CONSTANT, 4099, 2, 1, 0, WEFT_VALUES_UNIT},
    {NULL, false, DECAY, CONSTANT, 4099, 2, 1, 0, WEFT_VALUES_UNIT},
    EACH(false, PLAIN, CONSTANT, 31, 37, 2, 40, WEFT_VALUES_UNIT),
    EACH(true, DECAY, CONSTANT, 31, 37, 2, 63, WEFT_VALUES_UNIT),
    EACH(false, DECAY, GIVEN, 64, 32, 2, 65, WEFT_VALUES_UNIT),
    EACH(false, PLAIN, CONSTANT, 64, 32, 2, 0, WEFT_VALUES_LARGE),
    EACH(true, PLAIN, CONSTANT, 64, 32, 2, 0, WEFT_VALUES_SMALL),
    EACH(false, DECAY, CONSTANT, 31, 37, 2, 0, WEFT_VALUES_MIXED),
    EACH(true, PLAIN, GIVEN, 31, 37, 2, 0, WEFT_VALUES_ZEROS),
    EACH(false, PLAIN, CONSTANT, 31, 37, 2, 0, WEFT_VALUES_EQUAL),
    EACH(false, PLAIN, CONSTANT, 64, 32, 2, 0, WEFT_VALUES_IMPULSE),
    EACH(true, DECAY, CONSTANT, 64, 32, 2, 0, WEFT_VALUES_SUBNORMAL),
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index];
    char reach[24] = "";
    if (row->reach != 0) {
        snprintf(reach, sizeof reach, ",reach=%u", row->reach);
    }
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s%s/%s/%s/n=%u,d=%u,batch=%u%s",
             row->implementation == NULL ? "usual" : row->implementation,
             row->causal ? "causal" : "both", row->decay == DECAY ? ",decay" : "",
             row->source == GIVEN ? "given" : "constant", weft_values_name(row->values), row->n,
             row->d, row->batch, reach);
}

static weft_array coefficients(weft_case *c, const struct row *row) {
    uint32_t reach = row->reach == 0 ? row->n : row->reach;
    weft_shape shape = weft_shape_of(row->causal ? reach : 2 * reach - 1, row->d);
    /* The impulse is to meet coefficients that are not mostly zeros. */
    weft_values values = row->values == WEFT_VALUES_IMPULSE ? WEFT_VALUES_UNIT : row->values;
    return row->source == GIVEN ? weft_case_input(c, "t", shape, values)
                                : weft_case_weight(c, shape, values);
}

/* ---- decay ---- */

#define DECAY_STREAM 100 /* beyond those of the arrays */

/* In (0, 1], and mostly near 1, as trained ones are. */
static void fill_decay(const weft_case *c, float *gamma, double *value, uint32_t d) {
    weft_philox_uniform(gamma, d, c->seed, DECAY_STREAM);
    for (uint32_t i = 0; i < d; i++) {
        double u = gamma[i];
        gamma[i] = (float)(1.0 - 0.9 * u * u * u * u);
        value[i] = (double)gamma[i];
    }
}

static weft_array given_decay(weft_case *c, uint32_t d) {
    weft_array array = weft_case_input(c, "decay", weft_shape_of(d), WEFT_VALUES_EQUAL);
    if (array.value != NULL) {
        weft_case_port *port = &c->inputs[c->input_count - 1];
        fill_decay(c, port->data, port->value, d);
    }
    return array;
}

static weft_array constant_decay(weft_case *c, uint32_t d) {
    weft_array array = {.value = NULL};
    double *value = weft_case_scratch(c, d);
    float *gamma = value == NULL ? NULL : weft_alloc_zero(&c->host, d, sizeof *gamma);
    if (gamma == NULL) {
        weft_case_check(c, weft_fail_memory(&c->host, "a decay"));
        weft_case_scratch_free(c, value);
        return array;
    }
    fill_decay(c, gamma, value, d);
    uint32_t index = c->weight_count++;
    c->weight_data[index] = gamma;
    c->weight_values[index] = value;
    weft_case_check(c, weft_weight_create(
                           &c->weights[index],
                           weft_weight_params(.shape = weft_shape_of(d), .data = gamma), &c->host));
    if (c->status == WEFT_OK) {
        weft_case_check(c, weft_graph_weight(&array.tensor, c->graph, c->weights[index]));
    }
    array.value = value;
    return array;
}

static weft_array decay(weft_case *c, const struct row *row) {
    if (row->decay == PLAIN) {
        return (weft_array){.value = NULL};
    }
    return row->source == GIVEN ? given_decay(c, row->d) : constant_decay(c, row->d);
}

/* ---- the definition ---- */

/* kernel[n - 1 + k] = t(k) gamma^|k| of one channel, 0 for the lags that a causal kernel lacks. */
static void dense_kernel(double *kernel, const struct row *row, const double *t,
                         const double *gamma, uint32_t channel) {
    int64_t n = row->n;
    int64_t zero = row->causal ? 0 : (row->reach == 0 ? row->n : row->reach) - 1;
    for (int64_t k = 1 - n; k < n; k++) {
        double power = gamma == NULL ? 1.0 : pow(gamma[channel], (double)(k < 0 ? -k : k));
        kernel[n - 1 + k] = row->causal && k < 0 ? 0.0 : power * t[(zero + k) * row->d + channel];
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

static void reference(weft_case *c, double *y, const double *x, const double *t,
                      const double *gamma, const struct row *row) {
    double *kernel = weft_case_scratch(c, UINT64_C(2) * row->n - 1);
    for (uint32_t channel = 0; kernel != NULL && channel < row->d; channel++) {
        dense_kernel(kernel, row, t, gamma, channel);
        for (uint64_t batch = 0; batch < row->batch; batch++) {
            uint64_t at = batch * row->n * row->d + channel;
            multiply(y + at, kernel, x + at, row);
        }
    }
    weft_case_scratch_free(c, kernel);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index];
    c->implementation = row->implementation;
    /* The same input for every implementation. */
    c->seed = (uint64_t)row->n << 32 | (uint64_t)row->d << 8 | row->batch;
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), row->values);
    weft_array t = coefficients(c, row);
    weft_array gamma = decay(c, row);
    weft_tensor y = {0};
    weft_case_check(
        c, weft_graph_toeplitz(&y, c->graph, x.tensor, t.tensor,
                               weft_toeplitz_params(.causal = row->causal, .decay = gamma.tensor)));
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        reference(c, expected, x.value, t.value, gamma.value, row);
    }
}

const weft_case_family weft_family_toeplitz = {.name = "toeplitz",
                                               .count = sizeof rows / sizeof rows[0],
                                               .tolerance = WEFT_TOLERANCE_LINEAR,
                                               .name_case = name_case,
                                               .build = build};
