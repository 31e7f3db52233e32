/* SPDX-License-Identifier: MIT */
/* The example mixer's conformance cases: Σ_j α (1 - α)^(i - j) x_j, straight from the formula, in float64. */
#include <math.h>
#include <stdio.h>

#include "example_mixer/moving_average.h"
#include "verify/conformance.h"

struct row {
    uint32_t batch, n, d;
    bool reverse;
    bool computed; /* alpha is the sigmoid of another weight; otherwise it is given as one */
    weft_values x, alpha;
};

static const struct row rows[] = {
    /* around the ends of chunks of 64 and of groups of 128 */
    {1, 1, 1, false, true, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {1, 2, 3, false, true, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {2, 63, 5, false, true, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {2, 64, 5, false, true, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {2, 65, 5, false, true, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {3, 128, 43, false, true, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {1, 521, 131, false, true, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {1, 4099, 2, false, true, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {1, 1, 1, true, true, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {2, 65, 5, true, true, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {1, 257, 131, true, true, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    /* slow and fast ones: sigmoids of -16 … 16 */
    {1, 1009, 31, false, true, WEFT_VALUES_UNIT, WEFT_VALUES_TENS},
    {1, 200, 7, false, true, WEFT_VALUES_TENS, WEFT_VALUES_ZEROS},
    {1, 200, 7, false, true, WEFT_VALUES_ZEROS, WEFT_VALUES_UNIT},
    {1, 200, 7, false, true, WEFT_VALUES_MIXED, WEFT_VALUES_UNIT},
    {1, 200, 7, false, true, WEFT_VALUES_LARGE, WEFT_VALUES_UNIT},
    {1, 200, 7, false, true, WEFT_VALUES_SMALL, WEFT_VALUES_UNIT},
    {1, 200, 7, false, true, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_UNIT},
    {1, 200, 7, false, false, WEFT_VALUES_UNIT, WEFT_VALUES_EQUAL},
    {1, 200, 7, true, false, WEFT_VALUES_UNIT, WEFT_VALUES_EQUAL},
    {1, 200, 1, false, false, WEFT_VALUES_IMPULSE, WEFT_VALUES_EQUAL},
};

static double alpha_of(const struct row *row, double value) {
    return row->computed ? 1.0 / (1.0 + exp(-value)) : value;
}

static void reference(double *out, const double *x, const double *alpha, const struct row *row) {
    for (uint64_t index = 0; index < (uint64_t)row->batch * row->n * row->d; index++) {
        uint64_t i = index / row->d % row->n;
        uint64_t first = index - i * row->d; /* of the sequence and channel */
        double a = alpha_of(row, alpha[index % row->d]);
        uint64_t count = row->reverse ? row->n - i : i + 1;
        for (uint64_t distance = 0; distance < count; distance++) {
            uint64_t j = row->reverse ? i + distance : i - distance;
            out[index] += a * pow(1.0 - a, (double)distance) * x[first + j * row->d];
        }
    }
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s/%s%s/n=%u,d=%u,batch=%u",
             row->reverse ? "reverse-" : "", weft_values_name(row->x),
             row->computed ? "sigmoid-" : "", weft_values_name(row->alpha), row->n, row->d,
             row->batch);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index];
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->batch, row->n, row->d), row->x);
    weft_array given = weft_case_weight(c, weft_shape_of(row->d), row->alpha);
    weft_tensor alpha = given.tensor;
    weft_tensor y = {0};
    c->only_reproducible = row->x == WEFT_VALUES_SUBNORMAL; /* fast math does not flush */
    if (row->computed) {
        weft_case_check(
            c, weft_graph_activate(&alpha, c->graph, given.tensor, WEFT_ACTIVATION_SIGMOID));
    }
    weft_case_check(c,
                    weft_graph_moving_average(&y, c->graph, x.tensor, alpha,
                                              weft_moving_average_params(.reverse = row->reverse)));
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        reference(expected, x.value, given.value, row);
    }
}

const weft_case_family weft_family_moving_average = {.name = "moving_average",
                                                     .count = sizeof rows / sizeof rows[0],
                                                     .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                                     .name_case = name_case,
                                                     .build = build};
