/* SPDX-License-Identifier: MIT */
/* Matrix products by each kernel, which must give the same bits here too. */
#include <stdio.h>

#include "verify/bounded.h"
#include "verify/paired.h"

static const struct row {
    uint32_t m, n, k;
    uint32_t batch; /* 0: rank 2 */
    bool transpose_a, transpose_b;
    bool weight; /* b is a constant */
    float alpha;
    weft_values a, b;
} rows[] = {
    {13, 17, 129, 0, false, false, false, 1.0F, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_UNIT},
    {12, 16, 132, 0, true, false, false, 1.0F, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL},
    {7, 11, 129, 0, false, true, true, 1.0F, WEFT_VALUES_TINY, WEFT_VALUES_TINY},
    {9, 13, 31, 0, true, true, true, 1.0F, WEFT_VALUES_TINY, WEFT_VALUES_HUGE},
    {5, 129, 6, 2, false, false, false, 1.0F, WEFT_VALUES_HUGE, WEFT_VALUES_UNIT},
    {37, 5, 7, 0, false, true, false, 1.0F, WEFT_VALUES_INFINITE, WEFT_VALUES_UNIT},
    {31, 33, 5, 3, false, false, false, 1.0F, WEFT_VALUES_ZEROS, WEFT_VALUES_INFINITE},
    {29, 7, 9, 0, true, true, false, 1.0F, WEFT_VALUES_NAN, WEFT_VALUES_UNIT},
    {5, 300, 8, 0, false, true, true, 1.0F, WEFT_VALUES_UNIT, WEFT_VALUES_NAN},
    {11, 13, 65, 0, false, false, false, -2.0F, WEFT_VALUES_ZEROS, WEFT_VALUES_ZEROS},
    {11, 13, 65, 0, false, false, false, 0x1p-120F, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {11, 13, 65, 0, false, true, false, 1e-40F, WEFT_VALUES_UNIT, WEFT_VALUES_INFINITE},
    /* Whole tiles and parts of them, all in fours; the last tile of k has 4 steps. */
    {70, 132, 196, 0, false, false, false, 1.0F, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {65, 68, 20, 2, false, true, true, 0.5F, WEFT_VALUES_HUGE, WEFT_VALUES_UNIT},
};

#define ROW_COUNT WEFT_COUNT(rows)

static const char *const kernels[] = {
    "direct",       "tiled",     "tiled-128",     "tiled-32",
    "tiled-32x128", "tiled-sum", "tiled-128-sum", "tiled-128x128-sum",
    "skinny-1",     "skinny-2",  "skinny-4",      "skinny-8"};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s,%s%s/%s,%s/m=%u,n=%u,k=%u,batch=%u%s",
             kernels[index / ROW_COUNT], row->transpose_a ? "aT" : "a",
             row->transpose_b ? "bT" : "b", row->weight ? ",constant" : "",
             weft_values_name(row->a), weft_values_name(row->b), row->m, row->n, row->k,
             row->batch == 0 ? 1 : row->batch,
             WEFT_CASE_PART(row->alpha != 1.0F, ",alpha=%g", (double)row->alpha));
}

static weft_shape shape_of(const struct row *row, bool transpose, uint32_t height, uint32_t width) {
    uint32_t first = transpose ? width : height;
    uint32_t second = transpose ? height : width;
    return row->batch == 0 ? weft_shape_of(first, second)
                           : weft_shape_of(row->batch, first, second);
}

static void expect(weft_case *c, const struct row *row, const double *a_value,
                   const double *b_value) {
    const uint64_t batches = row->batch == 0 ? 1 : row->batch;
    weft_reference_product product = {row->m,           row->n,           row->k,
                                      row->transpose_a, row->transpose_b, (double)row->alpha};
    weft_bounded *a = weft_bounded_of(c, a_value, batches * row->m * row->k);
    weft_bounded *b = weft_bounded_of(c, b_value, batches * row->k * row->n);
    weft_bounded *out = weft_bounded_scratch(c, batches * row->m * row->n);
    for (uint64_t batch = 0; c->ref.status == WEFT_OK && batch < batches; batch++) {
        weft_bounded_matmul(out + batch * row->m * row->n, a + batch * row->m * row->k,
                            b + batch * row->k * row->n, product);
    }
    weft_bounded_expect(c, out);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index % ROW_COUNT];
    c->implementation = kernels[index / ROW_COUNT];
    c->seed = index % ROW_COUNT; /* the same input for all kernels */
    weft_shape b_shape = shape_of(row, row->transpose_b, row->k, row->n);
    weft_array a = weft_case_input(c, "a", shape_of(row, row->transpose_a, row->m, row->k), row->a);
    weft_array b = row->weight ? weft_case_weight(c, b_shape, row->b)
                               : weft_case_input(c, "b", b_shape, row->b);
    weft_case_expect(
        c, "y",
        weft_case_matmul(c, a, b,
                         weft_matmul_params(.transpose_a = row->transpose_a,
                                            .transpose_b = row->transpose_b, .alpha = row->alpha)));
    expect(c, row, a.value, b.value);
}

WEFT_SPECIAL_FAMILY(matmul, ROW_COUNT *WEFT_COUNT(kernels), WEFT_TOLERANCE_LINEAR, name_case,
                    build);
