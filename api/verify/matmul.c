/* SPDX-License-Identifier: MIT */
/* Matrix products: transposed, batched, of inputs and of constants. */
#include <stdio.h>

#include "core/math/philox.h"
#include "verify/paired.h"

struct row {
    uint32_t m, n, k;
    uint32_t outer, inner; /* batch axes: 0, 0 for rank 2; 0, i for rank 3; o, i for rank 4 */
    bool transpose_a, transpose_b;
    char shared; /* which side has rank 2 all the same: 'a', 'b', or 0 */
    bool weight; /* b is a constant */
    double alpha;
    weft_values values;
};

static const struct row fixed[] = {
    {1, 1, 1, 0, 0, false, false, 0, false, 1.0, WEFT_VALUES_UNIT},
    {1, 129, 1, 0, 0, false, false, 0, false, 1.0, WEFT_VALUES_UNIT},
    {129, 1, 37, 0, 0, false, false, 0, false, 1.0, WEFT_VALUES_UNIT},
    {1, 1, 1021, 0, 0, false, true, 0, false, 1.0, WEFT_VALUES_UNIT},
    {32, 64, 64, 0, 0, false, false, 0, false, 1.0, WEFT_VALUES_UNIT},
    {64, 64, 16, 0, 0, false, false, 0, false, 1.0, WEFT_VALUES_UNIT},
    {33, 65, 63, 0, 0, false, false, 0, false, 1.0, WEFT_VALUES_UNIT},
    {33, 65, 65, 0, 0, true, false, 0, false, 1.0, WEFT_VALUES_UNIT},
    {65, 67, 129, 0, 0, false, true, 0, false, 1.0, WEFT_VALUES_UNIT},
    {31, 66, 130, 0, 0, true, true, 0, false, 1.0, WEFT_VALUES_UNIT},
    {36, 68, 132, 0, 0, true, false, 0, false, 1.0, WEFT_VALUES_UNIT},
    {37, 37, 129, 0, 3, false, true, 0, false, 1.0, WEFT_VALUES_UNIT},
    {5, 7, 11, 0, 3, false, false, 0, false, 1.0, WEFT_VALUES_UNIT},
    {36, 68, 20, 0, 3, false, false, 0, false, 1.0, WEFT_VALUES_UNIT},
    {35, 66, 19, 2, 3, true, false, 0, false, 1.0, WEFT_VALUES_UNIT},
    {12, 16, 40, 2, 3, true, true, 0, false, 1.0, WEFT_VALUES_UNIT},
    {34, 31, 127, 2, 3, false, true, 0, false, 1.0, WEFT_VALUES_UNIT},
    {29, 65, 31, 0, 3, false, false, 'b', false, 1.0, WEFT_VALUES_UNIT},
    {29, 65, 31, 0, 3, false, true, 'b', false, 1.0, WEFT_VALUES_UNIT},
    {29, 65, 31, 0, 3, true, false, 'b', false, 1.0, WEFT_VALUES_UNIT},
    {28, 64, 32, 2, 2, true, true, 'b', false, 1.0, WEFT_VALUES_UNIT},
    {29, 65, 31, 0, 3, false, false, 'a', false, 1.0, WEFT_VALUES_UNIT},
    {40, 68, 36, 2, 3, true, false, 'a', false, 1.0, WEFT_VALUES_UNIT},
    {29, 65, 31, 2, 2, false, true, 'a', false, 1.0, WEFT_VALUES_UNIT},
    {7, 130, 100, 0, 0, false, true, 0, true, 1.0, WEFT_VALUES_UNIT},
    {13, 128, 64, 0, 2, false, true, 'b', true, 1.0, WEFT_VALUES_UNIT},
    {13, 61, 67, 0, 2, false, true, 'b', true, 1.0, WEFT_VALUES_UNIT},
    {13, 61, 67, 0, 2, true, true, 'b', true, 1.0, WEFT_VALUES_UNIT},
    {13, 61, 68, 0, 2, false, false, 'b', true, 1.0, WEFT_VALUES_UNIT},
    {17, 19, 23, 0, 3, false, true, 0, true, 1.0, WEFT_VALUES_UNIT},
    {64, 256, 768, 0, 0, false, true, 0, true, 1.0, WEFT_VALUES_UNIT},
    {33, 70, 1021, 0, 0, false, false, 0, false, 1.0, WEFT_VALUES_UNIT},
    {37, 67, 129, 0, 2, false, true, 0, false, 0.125, WEFT_VALUES_UNIT},
    {37, 67, 129, 0, 0, false, false, 0, false, -3.3125, WEFT_VALUES_UNIT},
    {37, 67, 129, 0, 0, false, true, 0, false, 1.0, WEFT_VALUES_LARGE},
    {37, 67, 129, 0, 0, false, true, 0, false, 1.0, WEFT_VALUES_SMALL},
    {37, 67, 129, 0, 0, false, true, 0, false, 1.0, WEFT_VALUES_MIXED},
    {37, 67, 129, 0, 0, false, false, 0, false, 1.0, WEFT_VALUES_ZEROS},
    {36, 68, 128, 0, 0, false, false, 0, false, 1.0, WEFT_VALUES_MIXED},
};

#define FIXED_COUNT  WEFT_COUNT(fixed)
#define RANDOM_COUNT 16
#define RANDOM_SEED  20

/* A whole number from 1 to `limit`. */
static uint32_t random_size(uint32_t which, uint32_t index, uint32_t limit) {
    return 1 + weft_philox_u32(RANDOM_SEED, which, index) % limit;
}

static struct row row_at(uint32_t index) {
    if (index < FIXED_COUNT) {
        return fixed[index];
    }
    uint32_t which = index - FIXED_COUNT;
    uint32_t flags = weft_philox_u32(RANDOM_SEED, which, 0);
    return (struct row){.m = random_size(which, 1, 140),
                        .n = random_size(which, 2, 140),
                        .k = random_size(which, 3, 300),
                        .inner = (flags & 1) != 0 ? random_size(which, 4, 3) : 0,
                        .transpose_a = (flags & 2) != 0,
                        .transpose_b = (flags & 4) != 0,
                        .weight = (flags & 8) != 0,
                        .alpha = 1.0,
                        .values = WEFT_VALUES_UNIT};
}

static uint32_t batches_of(const struct row *row) {
    return (row->outer > 0 ? row->outer : 1) * (row->inner > 0 ? row->inner : 1);
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    struct row row = row_at(index);
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s%s%s%s/%s/m=%u,n=%u,k=%u,batch=%u%s",
             index < FIXED_COUNT ? "" : "random,", row.transpose_a ? "aT" : "a",
             row.transpose_b ? ",bT" : ",b", row.shared == 'a' ? ",one-a" : "",
             row.shared == 'b' ? ",one-b" : "", row.weight ? ",constant" : "",
             weft_values_name(row.values), row.m, row.n, row.k, batches_of(&row),
             WEFT_CASE_PART(row.alpha != 1.0, ",alpha=%g", row.alpha));
}

static weft_shape shape_of(const struct row *row, bool shared, uint32_t rows, uint32_t columns) {
    if (shared || row->inner == 0) {
        return weft_shape_of(rows, columns);
    }
    return row->outer == 0 ? weft_shape_of(row->inner, rows, columns)
                           : weft_shape_of(row->outer, row->inner, rows, columns);
}

static void build(weft_case *c, uint32_t index) {
    struct row row = row_at(index);
    weft_shape a_shape = shape_of(&row, row.shared == 'a', row.transpose_a ? row.k : row.m,
                                  row.transpose_a ? row.m : row.k);
    weft_shape b_shape = shape_of(&row, row.shared == 'b', row.transpose_b ? row.n : row.k,
                                  row.transpose_b ? row.k : row.n);
    weft_array a = weft_case_input(c, "a", a_shape, row.values);
    weft_array b = row.weight ? weft_case_weight(c, b_shape, row.values)
                              : weft_case_input(c, "b", b_shape, row.values);
    weft_case_expect(c, "y",
                     weft_case_matmul(c, a, b,
                                      weft_matmul_params(.transpose_a = row.transpose_a,
                                                         .transpose_b = row.transpose_b,
                                                         .alpha = (float)row.alpha)));
}

WEFT_CASE_FAMILY(matmul, FIXED_COUNT + RANDOM_COUNT, WEFT_TOLERANCE_LINEAR, name_case, build);
