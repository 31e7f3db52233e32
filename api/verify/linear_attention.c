/* SPDX-License-Identifier: MIT */
/* Linear attention over given features. */
#include <stdio.h>

#include "verify/paired.h"

struct row {
    uint32_t batch, n, keys; /* keys 0: causal, as many as queries */
    uint32_t heads, features, values;
    float shift;   /* added to the features: above 1 makes them positive */
    float epsilon; /* where they are not, large enough to replace most denominators */
    weft_values kind;
};

#define SHIFT 1.25F

static const struct row rows[] = {
    /* causal: around the ends of chunks of 64 */
    {1, 1, 0, 1, 1, 1, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 2, 0, 1, 3, 2, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {2, 63, 0, 2, 8, 8, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {2, 64, 0, 2, 8, 8, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {2, 65, 0, 2, 8, 8, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 97, 0, 3, 7, 5, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 127, 0, 1, 64, 64, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 128, 0, 1, 32, 16, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 129, 0, 2, 12, 20, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 257, 0, 1, 16, 1, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 509, 0, 2, 4, 4, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 1201, 0, 1, 8, 8, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    /* causal: wide heads, more features than a partial sum, more values than a workgroup */
    {1, 70, 0, 1, 130, 4, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 70, 0, 1, 5, 131, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 131, 0, 1, 256, 12, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 66, 0, 13, 2, 3, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    /* causal: values and features of other kinds */
    {1, 100, 0, 2, 8, 8, 16.5F, 0.0F, WEFT_VALUES_TENS},
    {1, 100, 0, 2, 8, 8, SHIFT, 0.0F, WEFT_VALUES_ZEROS},
    {1, 100, 0, 2, 8, 8, 0.0F, 0.0F, WEFT_VALUES_EQUAL},
    {1, 100, 0, 2, 8, 8, 0.0F, 1e4F, WEFT_VALUES_UNIT},
    {1, 131, 0, 1, 9, 7, 0.0F, 1e4F, WEFT_VALUES_UNIT},
    {1, 100, 0, 2, 8, 8, 0.0F, 1e12F, WEFT_VALUES_MIXED},
    {1, 130, 0, 1, 4, 4, SHIFT, 0.0F, WEFT_VALUES_SMALL},
    /* bidirectional: around the ends of chunks of 256 keys and of 64 queries */
    {1, 1, 1, 1, 1, 1, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 7, 3, 1, 5, 3, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {2, 63, 255, 2, 8, 8, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {2, 64, 256, 2, 8, 8, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {2, 65, 257, 2, 8, 8, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {3, 37, 97, 3, 7, 5, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 129, 513, 1, 64, 64, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 5, 1009, 2, 12, 20, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 257, 2, 1, 16, 1, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 31, 70, 1, 130, 4, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 31, 70, 1, 5, 131, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 33, 300, 2, 8, 8, 16.5F, 0.0F, WEFT_VALUES_TENS},
    {1, 33, 300, 2, 8, 8, 0.0F, 0.0F, WEFT_VALUES_EQUAL},
    {1, 33, 300, 2, 8, 8, 0.0F, 1e4F, WEFT_VALUES_UNIT},
    {1, 33, 300, 2, 8, 8, 0.0F, 1e12F, WEFT_VALUES_MIXED},
    {1, 33, 2500, 1, 4, 4, SHIFT, 0.0F, WEFT_VALUES_UNIT},
};

/* By the kernels for GPUs, in tiles of 64 tokens, 64 features and 64 values, and 8 terms at a time. */
static const struct row tiled_rows[] = {
    {1, 1, 0, 1, 1, 1, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {2, 65, 0, 2, 8, 8, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 97, 0, 3, 7, 5, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 131, 0, 1, 64, 64, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 150, 0, 1, 132, 68, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 150, 0, 1, 67, 131, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 100, 0, 2, 8, 8, 0.0F, 1e12F, WEFT_VALUES_MIXED},
    {1, 1, 1, 1, 1, 1, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {3, 37, 97, 3, 7, 5, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 65, 513, 1, 68, 68, SHIFT, 0.0F, WEFT_VALUES_UNIT},
    {1, 31, 70, 1, 130, 7, SHIFT, 0.0F, WEFT_VALUES_UNIT},
};

#define ROWS       WEFT_COUNT(rows)
#define TILED_ROWS WEFT_COUNT(tiled_rows)

static const struct row *row_at(uint32_t index) {
    return index < ROWS ? &rows[index] : &tiled_rows[(index - ROWS) % TILED_ROWS];
}

/* Null: what is chosen. */
static const char *implementation_at(uint32_t index) {
    return index < ROWS ? NULL : index < ROWS + TILED_ROWS ? "tiled" : "wide";
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = row_at(index);
    const char *implementation = implementation_at(index);
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s/%s%s/n=%u%s,m=%u,d=%u,heads=%u,batch=%u",
             implementation ? implementation : "", implementation ? "/" : "",
             row->keys == 0 ? "causal" : "full", weft_values_name(row->kind),
             row->epsilon > 0.0F ? "-guarded" : "", row->n,
             WEFT_CASE_PART(row->keys != 0, ",k=%u", row->keys), row->features, row->values,
             row->heads, row->batch);
}

static weft_array features(weft_case *c, const char *name, uint32_t tokens, const struct row *row) {
    weft_shape shape = weft_shape_of(row->batch, tokens, row->heads * row->features);
    weft_array x = weft_case_input(c, name, shape, row->kind);
    return row->shift != 0.0F ? weft_case_affine(c, x, 1.0F, row->shift) : x;
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = row_at(index);
    c->implementation = implementation_at(index);
    uint32_t keys = row->keys != 0 ? row->keys : row->n;
    weft_array phi = features(c, "q", row->n, row);
    weft_array psi = features(c, "k", keys, row);
    weft_array v = weft_case_input(
        c, "v", weft_shape_of(row->batch, keys, row->heads * row->values), row->kind);
    weft_case_expect(c, "y",
                     weft_case_linear_attention(
                         c, phi, psi, v,
                         weft_linear_attention_params(.heads = row->heads, .causal = row->keys == 0,
                                                      .epsilon = row->epsilon)));
}

WEFT_CASE_FAMILY(linear_attention, ROWS + 2 * TILED_ROWS, WEFT_TOLERANCE_LINEAR, name_case, build);
