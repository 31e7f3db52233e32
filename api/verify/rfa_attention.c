/* SPDX-License-Identifier: MIT */
/* RFA by its n × m matrix of weights Σ_f cos(w_f·(q_i - k_j)) / s of queries and keys of length 1. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "verify/dense_attention.h"

struct row {
    uint32_t batch, n, m; /* m 0: causal */
    uint32_t heads, width, values, features;
    float epsilon; /* 0: the default */
    weft_values kind;
};

static const struct row rows[] = {
    {1, 1, 0, 1, 1, 1, 1, 0.0F, WEFT_VALUES_UNIT},
    {1, 2, 0, 1, 3, 2, 5, 0.0F, WEFT_VALUES_UNIT},
    {2, 63, 0, 2, 8, 8, 16, 0.0F, WEFT_VALUES_UNIT},
    {2, 64, 0, 2, 8, 8, 16, 0.0F, WEFT_VALUES_UNIT},
    {2, 65, 0, 2, 8, 8, 16, 0.0F, WEFT_VALUES_UNIT},
    {1, 97, 0, 3, 7, 5, 9, 0.0F, WEFT_VALUES_UNIT},
    {1, 130, 0, 1, 64, 64, 64, 0.0F, WEFT_VALUES_UNIT},
    {1, 521, 0, 1, 12, 20, 8, 0.0F, WEFT_VALUES_UNIT},
    {1, 70, 0, 1, 131, 3, 129, 0.0F, WEFT_VALUES_UNIT},
    {1, 70, 0, 13, 2, 3, 6, 0.0F, WEFT_VALUES_TENS},
    {1, 70, 0, 2, 1, 3, 6, 0.0F, WEFT_VALUES_ZEROS},
    {1, 100, 0, 2, 8, 8, 16, 0.0F, WEFT_VALUES_EQUAL},
    {1, 100, 0, 2, 8, 8, 16, 40.0F, WEFT_VALUES_UNIT},
    {1, 100, 0, 1, 9, 4, 16, 0.0F, WEFT_VALUES_MIXED},
    {1, 100, 0, 1, 8, 8, 16, 0.0F, WEFT_VALUES_SMALL},
    {1, 1, 1, 1, 1, 1, 1, 0.0F, WEFT_VALUES_UNIT},
    {1, 7, 3, 1, 5, 3, 8, 0.0F, WEFT_VALUES_UNIT},
    {1, 3, 7, 1, 5, 3, 8, 0.0F, WEFT_VALUES_UNIT},
    {2, 63, 255, 2, 8, 8, 16, 0.0F, WEFT_VALUES_UNIT},
    {2, 64, 256, 2, 8, 8, 16, 0.0F, WEFT_VALUES_UNIT},
    {3, 65, 257, 3, 7, 5, 9, 0.0F, WEFT_VALUES_UNIT},
    {1, 129, 513, 1, 64, 64, 64, 0.0F, WEFT_VALUES_UNIT},
    {1, 5, 1009, 2, 12, 20, 8, 0.0F, WEFT_VALUES_UNIT},
    {1, 33, 300, 2, 8, 8, 16, 0.0F, WEFT_VALUES_TENS},
    {1, 33, 300, 2, 1, 8, 16, 0.0F, WEFT_VALUES_ZEROS},
    {1, 33, 300, 2, 8, 8, 16, 1000.0F, WEFT_VALUES_UNIT},
    {1, 33, 300, 2, 8, 8, 16, 0.0F, WEFT_VALUES_LARGE},
    {1, 33, 300, 2, 8, 8, 257, 0.0F, WEFT_VALUES_UNIT},
};

struct kernel {
    const struct row *row;
    const double *w;
};

/* 1/‖x‖, and 1e12 for what is shorter than 1e-12. */
static double scale_of(const double *x, uint32_t width) {
    double squares = 0.0;
    for (uint32_t c = 0; c < width; c++) {
        squares += x[c] * x[c];
    }
    return 1.0 / fmax(sqrt(squares), (double)1e-12F);
}

static double weight_of(const void *user, const double *q, const double *k, uint32_t i,
                        uint32_t j) {
    (void)i;
    (void)j;
    const struct kernel *kernel = user;
    const struct row *row = kernel->row;
    double q_scale = scale_of(q, row->width);
    double k_scale = scale_of(k, row->width);
    double sum = 0.0;
    for (uint32_t f = 0; f < row->features; f++) {
        double angle = 0.0;
        for (uint32_t c = 0; c < row->width; c++) {
            angle += kernel->w[(uint64_t)f * row->width + c] * (q_scale * q[c] - k_scale * k[c]);
        }
        sum += cos(angle);
    }
    return sum / row->features;
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index];
    char keys[24] = "";
    if (row->m != 0) {
        snprintf(keys, sizeof keys, ",m=%u", row->m);
    }
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s%s/n=%u%s,d=%u,dv=%u,s=%u,heads=%u,batch=%u",
             row->m == 0 ? "causal" : "full", weft_values_name(row->kind),
             row->epsilon > 0.0F ? "-guarded" : "", row->n, keys, row->heads * row->width,
             row->heads * row->values, row->features, row->heads, row->batch);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index];
    uint32_t keys = row->m != 0 ? row->m : row->n;
    uint32_t d = row->heads * row->width;
    weft_array q = weft_case_input(c, "q", weft_shape_of(row->batch, row->n, d), row->kind);
    weft_array k = weft_case_input(c, "k", weft_shape_of(row->batch, keys, d), row->kind);
    weft_array v = weft_case_input(
        c, "v", weft_shape_of(row->batch, keys, row->heads * row->values), row->kind);
    weft_array w = weft_case_weight(c, weft_shape_of(row->features, row->width), WEFT_VALUES_UNIT);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_rfa_attention(
                           &y, c->graph, q.tensor, k.tensor, v.tensor, w.tensor,
                           weft_rfa_attention_params(.heads = row->heads, .causal = row->m == 0,
                                                     .epsilon = row->epsilon)));
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        const struct kernel kernel = {.row = row, .w = w.value};
        const struct weft_dense_attention attention = {
            .batch = row->batch,
            .n = row->n,
            .m = row->m,
            .heads = row->heads,
            .width = row->width,
            .values = row->values,
            .factor = 1.0,
            .least = row->epsilon > 0.0F ? (double)row->epsilon : (double)1e-6F,
            .weight = weight_of,
            .user = &kernel};
        weft_add_dense_attention(c, expected, q.value, k.value, v.value, &attention);
    }
}

const weft_case_family weft_family_rfa_attention = {.name = "rfa_attention",
                                                    .count = sizeof rows / sizeof rows[0],
                                                    .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                                    .name_case = name_case,
                                                    .build = build};
