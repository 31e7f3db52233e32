/* SPDX-License-Identifier: MIT */
/* Softmax attention within a band, by each implementation. */
#include <stdio.h>

#include "verify/paired.h"

struct row {
    uint32_t batch, n, d, heads, half_width;
    bool causal;
    float scale; /* 0: the usual 1/sqrt(d/heads) */
    weft_values values;
};

static const struct row rows[] = {
    {1, 1, 1, 1, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 1, 6, 2, 0, true, 0.0F, WEFT_VALUES_UNIT},
    {2, 7, 8, 2, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {2, 7, 8, 2, 1, true, 0.0F, WEFT_VALUES_UNIT},
    {1, 37, 24, 3, 5, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 37, 24, 3, 5, true, 0.0F, WEFT_VALUES_UNIT},
    {1, 37, 24, 3, 36, false, 0.0F, WEFT_VALUES_UNIT}, /* full: softmax attention */
    {1, 37, 24, 3, 36, true, 0.0F, WEFT_VALUES_UNIT},  /* full: causal softmax attention */
    {1, 257, 64, 1, 256, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 257, 64, 1, 256, true, 0.0F, WEFT_VALUES_UNIT},
    {3, 64, 32, 8, 16, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 129, 48, 3, 15, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 129, 48, 3, 17, true, 0.0F, WEFT_VALUES_UNIT},
    {2, 199, 64, 2, 30, false, 0.0F, WEFT_VALUES_UNIT},
    {2, 199, 64, 2, 64, true, 0.0F, WEFT_VALUES_UNIT},
    {1, 67, 7, 7, 9, false, 0.0F, WEFT_VALUES_UNIT}, /* heads of one channel */
    {1, 67, 63, 1, 20, true, 0.0F, WEFT_VALUES_UNIT},
    {1, 41, 127, 1, 11, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 70, 256, 2, 33, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 71, 256, 1, 33, true, 0.0F, WEFT_VALUES_UNIT}, /* the widest heads of usual models */
    {1, 19, 530, 2, 7, false, 0.0F, WEFT_VALUES_UNIT}, /* wider still, and odd */
    {1, 1021, 16, 2, 40, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 1021, 16, 2, 500, true, 0.0F, WEFT_VALUES_UNIT},
    {1, 83, 24, 2, 12, false, 0.75F, WEFT_VALUES_UNIT},
    {1, 83, 24, 2, 12, true, -0.5F, WEFT_VALUES_UNIT},
    {1, 97, 24, 2, 40, false, 0.0F, WEFT_VALUES_MIXED},
    {1, 97, 24, 2, 40, true, 0.0F, WEFT_VALUES_SMALL},
    {2, 97, 24, 2, 40, false, 0.0F, WEFT_VALUES_ZEROS},
    {2, 97, 24, 2, 40, true, 0.0F, WEFT_VALUES_EQUAL},
    {1, 131, 33, 3, 60, false, 0.0F, WEFT_VALUES_TENS}, /* the largest score moves often */
    {1, 131, 32, 1, 60, true, 0.0F, WEFT_VALUES_TENS},
};

#define ROWS WEFT_COUNT(rows)

static const char *const implementations[] = {"direct", "tiled"};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index % ROWS];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s%s/n=%u,d=%u,heads=%u,k=%u,batch=%u%s",
             implementations[index / ROWS], row->causal ? "causal/" : "",
             weft_values_name(row->values), row->n, row->d, row->heads, row->half_width, row->batch,
             WEFT_CASE_PART(row->scale != 0.0F, ",scale=%g", (double)row->scale));
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index % ROWS];
    weft_shape shape = weft_shape_of(row->batch, row->n, row->d);
    c->implementation = implementations[index / ROWS];
    c->seed = index % ROWS; /* the same input for both */
    weft_array q = weft_case_input(c, "q", shape, row->values);
    weft_array k = weft_case_input(c, "k", shape, row->values);
    weft_array v = weft_case_input(c, "v", shape, row->values);
    weft_case_expect(
        c, "y",
        weft_case_banded_attention(
            c, q, k, v,
            weft_banded_attention_params(.heads = row->heads, .half_width = row->half_width,
                                         .causal = row->causal, .scale = row->scale)));
}

WEFT_CASE_FAMILY(banded_attention, ROWS *WEFT_COUNT(implementations), WEFT_TOLERANCE_EXPONENTIAL,
                 name_case, build);
