/* SPDX-License-Identifier: MIT */
/*
 * FLT's queries and keys of special x and weights; positions and frequencies of that kind are in the
 * family "flt_features", where they make no other numbers than NaN.
 */
#include <math.h>
#include <stdio.h>

#include "verify/bounded.h"
#include "verify/paired.h"

#define WAVE_ERROR 1.5e-7 /* of cosine and sine, as weft_graph_flt_features states it */

static const struct row {
    weft_flt_side side;
    uint32_t n, heads, width, r;
    weft_values x, weight;
} rows[] = {
    {WEFT_FLT_QUERY, 9, 2, 3, 16, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_TINY},
    {WEFT_FLT_KEY, 9, 2, 3, 32, WEFT_VALUES_INFINITE, WEFT_VALUES_INFINITE},
    {WEFT_FLT_KEY, 9, 2, 3, 61, WEFT_VALUES_HUGE, WEFT_VALUES_NAN},

};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s,%s/n=%u,d=%u,r=%u,heads=%u",
             row->side == WEFT_FLT_KEY ? "keys" : "queries", weft_values_name(row->x),
             weft_values_name(row->weight), row->n, row->heads * row->width, row->r, row->heads);
}

/* √(|w| / r), with the sign of w on keys. */
static weft_bounded amplitude_of(const struct row *row, double weight) {
    weft_bounded share =
        weft_bounded_divide(weft_bounded_exact(fabs(weight)), weft_bounded_exact(row->r));
    weft_bounded amplitude = weft_bounded_sqrt(share);
    bool is_negative = row->side == WEFT_FLT_KEY && signbit(weight);
    amplitude.value = is_negative ? -amplitude.value : amplitude.value;
    return amplitude;
}

/* The phase of token 0 is 0, so its cosine and sine are exact. */
static weft_bounded wave(double x, uint64_t token) {
    return (weft_bounded){.value = x, .error = token == 0 ? 0.0 : WAVE_ERROR};
}

/* One head of a token. */
static void expect_head(weft_bounded *out, const struct row *row, const double *x,
                        const double *frequencies, const double *weights, uint64_t token) {
    const weft_bounded scale = weft_bounded_parameter((float)pow(row->width, -0.25));
    for (uint32_t i = 0; i < row->width; i++) {
        out[i] = weft_bounded_multiply(scale, weft_bounded_exact(x[i]));
    }
    for (uint32_t k = 0; k < row->r; k++) {
        double turns = 0.0 + remainder((double)token * frequencies[k], 1.0); /* no -0 */
        double radians = 2.0 * acos(-1.0) * turns;
        weft_bounded amplitude = amplitude_of(row, weights[k]);
        out[row->width + k] = weft_bounded_multiply(amplitude, wave(cos(radians), token));
        out[row->width + row->r + k] = weft_bounded_multiply(amplitude, wave(sin(radians), token));
    }
}

static void build(weft_case *c, const struct row *row) {
    const uint64_t columns = (uint64_t)row->width + 2 * (uint64_t)row->r;
    weft_array x =
        weft_case_input(c, "x", weft_shape_of(1, row->n, row->heads * row->width), row->x);
    weft_array frequencies = weft_case_weight(c, weft_shape_of(row->r, 1), WEFT_VALUES_UNIT);
    weft_array weights = weft_case_weight(c, weft_shape_of(row->r), row->weight);
    weft_case_expect(
        c, "y",
        weft_case_flt_features(c, x, frequencies, weights,
                               weft_flt_features_params(.side = row->side, .heads = row->heads)));
    weft_bounded *out = weft_bounded_scratch(c, (uint64_t)row->n * row->heads * columns);
    for (uint64_t head = 0; c->ref.status == WEFT_OK && head < (uint64_t)row->n * row->heads;
         head++) {
        expect_head(out + head * columns, row, x.value + head * row->width, frequencies.value,
                    weights.value, head / row->heads);
    }
    weft_bounded_expect(c, out);
}

WEFT_SPECIAL_TABLE(flt_features, rows, WEFT_TOLERANCE_LINEAR, name_case, build);
