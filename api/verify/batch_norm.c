/* SPDX-License-Identifier: MIT */
/* BatchNorm with given statistics, in its usual range and where the range of float32 ends. */
#include <math.h>
#include <stdio.h>

#include "verify/bounded.h"
#include "verify/moved.h"
#include "verify/paired.h"

static const struct row {
    weft_shape x;
    float epsilon;
    bool has_gamma, has_beta;
    weft_values values;
    bool channels_first;
} rows[] = {
    {{1, {5}}, 1e-5F, true, true, WEFT_VALUES_UNIT, false},
    {{2, {1, 1}}, 1e-5F, true, true, WEFT_VALUES_UNIT, false},
    {{2, {3, 2}}, 1e-5F, false, false, WEFT_VALUES_UNIT, false},
    {{3, {2, 7, 31}}, 1e-5F, true, false, WEFT_VALUES_UNIT, false},
    {{3, {3, 5, 64}}, 1e-5F, false, true, WEFT_VALUES_UNIT, false},
    {{2, {7, 129}}, 1e-3F, true, true, WEFT_VALUES_UNIT, false},
    {{3, {2, 37, 768}}, 1e-5F, true, true, WEFT_VALUES_UNIT, false},
    {{4, {2, 3, 5, 257}}, 1e-5F, true, true, WEFT_VALUES_UNIT, false},
    {{2, {4099, 3}}, 1e-5F, true, true, WEFT_VALUES_UNIT, false},
    {{2, {11, 100}}, 1e-5F, true, true, WEFT_VALUES_HUNDREDS, false},
    {{2, {11, 100}}, 1e-5F, true, false, WEFT_VALUES_LARGE, false},
    {{2, {11, 100}}, 0.0F, true, false, WEFT_VALUES_SMALL, false},
    {{2, {11, 100}}, 1e-5F, true, true, WEFT_VALUES_MIXED, false},
    {{2, {11, 130}}, 1e-5F, true, true, WEFT_VALUES_ZEROS, false},
    {{2, {11, 130}}, 1e-5F, true, true, WEFT_VALUES_EQUAL, false},
    {{3, {2, 7, 31}}, 1e-5F, true, true, WEFT_VALUES_UNIT, true},
    {{4, {3, 5, 67, 33}}, 1e-5F, false, false, WEFT_VALUES_HUNDREDS, true},
    {{2, {5, 11}}, 1e-5F, true, false, WEFT_VALUES_MIXED, true},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/rank=%u,rows=%u,d=%u,epsilon=%g%s%s%s",
             weft_values_name(row->values), row->x.rank, weft_case_rows(row->x),
             weft_case_columns(row->x), (double)row->epsilon, row->has_gamma ? ",gamma" : "",
             row->has_beta ? ",beta" : "", row->channels_first ? ",channels_first" : "");
}

/* The norm of x [batch, d, …]; its values are those of the last axis, once the channels are there. */
static weft_array norm_first(weft_case *c, weft_array x, const weft_norm_params *norm) {
    const uint32_t rank = x.shape.rank;
    weft_shape there = {.rank = rank}, back = {.rank = rank};
    weft_tensor y = {0};
    for (uint32_t i = 1; i < rank; i++) {
        there.dim[i] = i + 1 < rank ? i + 1 : 1;
        back.dim[there.dim[i]] = i;
    }
    c->only_values = true;
    const weft_array last = weft_case_norm(c, weft_case_permute(c, x, there), norm);
    const weft_array values = weft_case_permute(c, last, back);
    c->only_values = false;
    const weft_status status = WEFT_CASE_ADD(
        c, weft_graph_batch_norm(
               &y, c->graph, x.tensor,
               weft_batch_norm_params(.mean = norm->mean, .variance = norm->variance,
                                      .gamma = norm->gamma, .beta = norm->beta,
                                      .epsilon = norm->epsilon, .channels_first = true)));
    return weft_case_named(c, status, y, values);
}

/* Variances are exp of what they are filled with: positive, and of several sizes. */
static void build(weft_case *c, const struct row *row) {
    const weft_shape shape =
        weft_shape_of(row->channels_first ? row->x.dim[1] : weft_case_columns(row->x));
    weft_array x = weft_case_input(c, "x", row->x, row->values);
    weft_array mean = weft_case_weight(c, shape, WEFT_VALUES_UNIT);
    weft_array variance = weft_case_activate(c, weft_case_input(c, "log", shape, WEFT_VALUES_UNIT),
                                             WEFT_ACTIVATION_EXP);
    weft_array gamma = weft_case_optional_weight(c, row->has_gamma, shape);
    weft_array beta = weft_case_optional_weight(c, row->has_beta, shape);
    const weft_norm_params norm = {.kind = WEFT_NORM_BATCH,
                                   .mean = mean.tensor,
                                   .variance = variance.tensor,
                                   .gamma = gamma.tensor,
                                   .beta = beta.tensor,
                                   .epsilon = row->epsilon};
    weft_case_expect(c, "y",
                     row->channels_first ? norm_first(c, x, &norm) : weft_case_norm(c, x, &norm));
}

WEFT_CASE_TABLE(batch_norm, rows, WEFT_TOLERANCE_LINEAR, name_case, build);

/* ---- where the range of float32 ends ---- */

static const struct special_row {
    uint32_t rows, columns;
    float epsilon;
    weft_values x, mean, variance, gamma, beta;
} special_rows[] = {
    {7, 129, 1e-5F, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_EQUAL,
     WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL},
    {5, 300, 1e-5F, WEFT_VALUES_TINY, WEFT_VALUES_TINY, WEFT_VALUES_TINY, WEFT_VALUES_UNIT,
     WEFT_VALUES_TINY},
    {5, 130, 1e-5F, WEFT_VALUES_HUGE, WEFT_VALUES_HUGE, WEFT_VALUES_EQUAL, WEFT_VALUES_UNIT,
     WEFT_VALUES_UNIT},
    {40, 5, 1e-5F, WEFT_VALUES_INFINITE, WEFT_VALUES_UNIT, WEFT_VALUES_EQUAL, WEFT_VALUES_UNIT,
     WEFT_VALUES_UNIT},
    {20, 9, 1e-5F, WEFT_VALUES_NAN, WEFT_VALUES_UNIT, WEFT_VALUES_EQUAL, WEFT_VALUES_UNIT,
     WEFT_VALUES_UNIT},
    {9, 37, 1e-5F, WEFT_VALUES_UNIT, WEFT_VALUES_INFINITE, WEFT_VALUES_EQUAL, WEFT_VALUES_INFINITE,
     WEFT_VALUES_NAN},
    {3, WEFT_EDGE_COUNT, 1e-5F, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT, WEFT_VALUES_EDGES,
     WEFT_VALUES_UNIT, WEFT_VALUES_UNIT}, /* negative variances too */
    {3, WEFT_EDGE_COUNT, 0.0F, WEFT_VALUES_UNIT, WEFT_VALUES_EDGES, WEFT_VALUES_EDGES,
     WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
};

static void name_special(char text[WEFT_CASE_NAME_SIZE], const struct special_row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s,%s,%s,%s,%s/rows=%u,d=%u,epsilon=%g",
             weft_values_name(row->x), weft_values_name(row->mean), weft_values_name(row->variance),
             weft_values_name(row->gamma), weft_values_name(row->beta), row->rows, row->columns,
             (double)row->epsilon);
}

static void build_special(weft_case *c, const struct special_row *row) {
    const uint64_t count = (uint64_t)row->rows * row->columns;
    const weft_shape shape = weft_shape_of(row->columns);
    weft_array x = weft_case_input(c, "x", weft_shape_of(row->rows, row->columns), row->x);
    weft_array mean = weft_case_weight(c, shape, row->mean);
    weft_array variance = weft_case_weight(c, shape, row->variance);
    weft_array gamma = weft_case_weight(c, shape, row->gamma);
    weft_array beta = weft_case_weight(c, shape, row->beta);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_batch_norm(
                           &y, c->graph, x.tensor,
                           weft_batch_norm_params(.mean = mean.tensor, .variance = variance.tensor,
                                                  .gamma = gamma.tensor, .beta = beta.tensor,
                                                  .epsilon = row->epsilon)));
    weft_case_output(c, "y", y);
    weft_bounded *out = weft_bounded_scratch(c, count);
    for (uint64_t i = 0; out && i < count; i++) {
        uint64_t j = i % row->columns;
        weft_bounded deviation = weft_bounded_sqrt(weft_bounded_add(
            weft_bounded_exact(variance.value[j]), weft_bounded_parameter(row->epsilon)));
        weft_bounded centred = weft_bounded_subtract(weft_bounded_exact(x.value[i]),
                                                     weft_bounded_exact(mean.value[j]));
        out[i] = weft_bounded_multiply(weft_bounded_divide(centred, deviation),
                                       weft_bounded_exact(gamma.value[j]));
        out[i] = weft_bounded_add(out[i], weft_bounded_exact(beta.value[j]));
    }
    if (out) {
        weft_bounded_expect(c, out);
    }
}

WEFT_SPECIAL_TABLE(batch_norm, special_rows, WEFT_TOLERANCE_LINEAR, name_special, build_special);
