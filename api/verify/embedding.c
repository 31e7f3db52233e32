/* SPDX-License-Identifier: MIT */
/* Sums of embedding tables; indices outside their table. */
#include <stdio.h>

#include "verify/paired.h"

enum tables { TOKENS = 0, TYPES = 1, TYPE_0 = 2, POSITIONS = 4 };

static const struct row {
    uint32_t batch, n, d, vocabulary;
    int with; /* a sum of enum tables */
    weft_values values;
    bool outside; /* some indices are below 0 or past the last row */
} rows[] = {
    {1, 1, 1, 1, TOKENS, WEFT_VALUES_UNIT, false},
    {2, 7, 31, 5, TOKENS, WEFT_VALUES_UNIT, false},
    {1, 3, 129, 257, TYPES | POSITIONS, WEFT_VALUES_UNIT, false},
    {3, 37, 127, 1000, TYPES, WEFT_VALUES_UNIT, false},
    {2, 128, 64, 100, POSITIONS, WEFT_VALUES_UNIT, false},
    {1, 129, 257, 33, TYPE_0 | POSITIONS, WEFT_VALUES_UNIT, false},
    {1, 5, 768, 101, TYPES | POSITIONS, WEFT_VALUES_MIXED, false},
    {2, 11, 5, 7, TYPE_0, WEFT_VALUES_ZEROS, false},
    {1, 9, 1021, 3, TYPES | POSITIONS, WEFT_VALUES_LARGE, false},
    {2, 13, 130, 6, TYPES | POSITIONS, WEFT_VALUES_SMALL, false},
    {2, 37, 12, 9, TOKENS, WEFT_VALUES_UNIT, true},
    {1, 64, 131, 17, TYPES | POSITIONS, WEFT_VALUES_UNIT, true},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s%s/%s/n=%u,d=%u,vocabulary=%u,batch=%u",
             row->outside ? "outside," : "", (row->with & TYPES) != 0 ? "types," : "",
             (row->with & TYPE_0) != 0 ? "type-0," : "",
             (row->with & POSITIONS) != 0 ? "positions" : "tokens", weft_values_name(row->values),
             row->n, row->d, row->vocabulary, row->batch);
}

static void build(weft_case *c, const struct row *row) {
    const uint32_t type_count = 3;
    weft_shape tokens_shape = weft_shape_of(row->batch, row->n);
    int32_t first = row->outside ? -2 : 0;
    int32_t beyond = row->outside ? 2 : -1;
    weft_array tokens =
        weft_case_indices(c, "tokens", tokens_shape, first, (int32_t)row->vocabulary + beyond);
    weft_array table = weft_case_weight(c, weft_shape_of(row->vocabulary, row->d), row->values);
    weft_array types = {.value = NULL};
    weft_array type_table = {.value = NULL};
    weft_array positions = {.value = NULL};
    if ((row->with & TYPES) != 0) {
        types = weft_case_indices(c, "types", tokens_shape, first, (int32_t)type_count + beyond);
    }
    if ((row->with & (TYPES | TYPE_0)) != 0) {
        type_table = weft_case_weight(c, weft_shape_of(type_count, row->d), row->values);
    }
    if ((row->with & POSITIONS) != 0) {
        positions = weft_case_weight(c, weft_shape_of(row->n + 2, row->d), row->values);
    }
    weft_case_expect(
        c, "y",
        weft_case_embedding(c, weft_embedding_params(.tokens = tokens.tensor, .table = table.tensor,
                                                     .types = types.tensor,
                                                     .type_table = type_table.tensor,
                                                     .positions = positions.tensor)));
}

WEFT_CASE_TABLE(embedding, rows, WEFT_TOLERANCE_LINEAR, name_case, build);
