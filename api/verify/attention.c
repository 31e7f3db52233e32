/* SPDX-License-Identifier: MIT */
/* Softmax attention, head by head. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "verify/conformance.h"

struct row {
    uint32_t batch, n, m, d, heads;
    float scale; /* 0: the usual 1/sqrt(d/heads) */
    weft_values values;
};

/* Vaswani et al., 2017, equation (1), for one query and one head; weights holds m values. */
static void attend(double *out, const double *q, const double *k, const double *v, double *weights,
                   const struct row *row) {
    uint32_t width = row->d / row->heads;
    double scale = row->scale != 0.0F ? (double)row->scale : 1.0 / sqrt((double)width);
    for (uint64_t j = 0; j < row->m; j++) {
        double sum = 0.0;
        for (uint32_t i = 0; i < width; i++) {
            sum += q[i] * k[j * row->d + i];
        }
        weights[j] = scale * sum;
    }
    weft_reference_softmax(weights, weights, 1, row->m);
    for (uint32_t i = 0; i < width; i++) {
        double sum = 0.0;
        for (uint64_t j = 0; j < row->m; j++) {
            sum += weights[j] * v[j * row->d + i];
        }
        out[i] = sum;
    }
}

static void reference(weft_case *c, double *out, const double *q, const double *k, const double *v,
                      const struct row *row) {
    double *weights = weft_case_scratch(c, row->m);
    for (uint64_t query = 0; weights != NULL && query < row->batch * row->n; query++) {
        uint64_t sequence = query / row->n * row->m * row->d;
        for (uint32_t head = 0; head < row->heads; head++) {
            uint64_t first = (uint64_t)head * (row->d / row->heads);
            uint64_t at = query * row->d + first;
            attend(out + at, q + at, k + sequence + first, v + sequence + first, weights, row);
        }
    }
    weft_case_scratch_free(c, weights);
}

static const struct row rows[] = {
    {1, 1, 1, 1, 1, 0.0F, WEFT_VALUES_UNIT},       {1, 7, 7, 8, 2, 0.0F, WEFT_VALUES_UNIT},
    {2, 37, 37, 64, 4, 0.0F, WEFT_VALUES_UNIT},    {3, 64, 64, 32, 8, 0.0F, WEFT_VALUES_UNIT},
    {1, 129, 129, 48, 3, 0.0F, WEFT_VALUES_UNIT},  {2, 5, 97, 12, 3, 0.0F, WEFT_VALUES_UNIT},
    {2, 97, 5, 12, 3, 0.0F, WEFT_VALUES_UNIT},     {1, 100, 31, 40, 5, 0.0F, WEFT_VALUES_UNIT},
    {1, 257, 257, 16, 1, 0.0F, WEFT_VALUES_UNIT},  {2, 33, 65, 127, 1, 0.0F, WEFT_VALUES_UNIT},
    {2, 128, 128, 128, 2, 0.0F, WEFT_VALUES_UNIT}, {1, 31, 31, 7, 7, 0.0F, WEFT_VALUES_UNIT},
    {2, 19, 1, 20, 4, 0.0F, WEFT_VALUES_UNIT},     {2, 1, 130, 20, 4, 0.0F, WEFT_VALUES_UNIT},
    {1, 37, 37, 24, 2, 0.75F, WEFT_VALUES_UNIT},   {1, 36, 40, 24, 2, -0.5F, WEFT_VALUES_UNIT},
    {1, 37, 41, 24, 2, 0.0F, WEFT_VALUES_MIXED},   {1, 37, 41, 24, 2, 0.0F, WEFT_VALUES_SMALL},
    {2, 37, 41, 24, 2, 0.0F, WEFT_VALUES_ZEROS},   {2, 37, 41, 24, 2, 0.0F, WEFT_VALUES_EQUAL},
    {1, 65, 67, 33, 3, 0.0F, WEFT_VALUES_TENS},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index];
    char scale[32] = "";
    if (row->scale != 0.0F) {
        snprintf(scale, sizeof scale, ",scale=%g", (double)row->scale);
    }
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/n=%u,m=%u,d=%u,heads=%u,batch=%u%s",
             weft_values_name(row->values), row->n, row->m, row->d, row->heads, row->batch, scale);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index];
    weft_shape keys = weft_shape_of(row->batch, row->m, row->d);
    weft_array q = weft_case_input(c, "q", weft_shape_of(row->batch, row->n, row->d), row->values);
    weft_array k = weft_case_input(c, "k", keys, row->values);
    weft_array v = weft_case_input(c, "v", keys, row->values);
    weft_tensor y = {0};
    weft_case_check(
        c, weft_graph_attention(&y, c->graph, q.tensor, k.tensor, v.tensor,
                                weft_attention_params(.heads = row->heads, .scale = row->scale)));
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        reference(c, expected, q.value, k.value, v.value, row);
    }
}

const weft_case_family weft_family_attention = {.name = "attention",
                                                .count = sizeof rows / sizeof rows[0],
                                                .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                                .name_case = name_case,
                                                .build = build};
