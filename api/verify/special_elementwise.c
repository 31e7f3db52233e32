/* SPDX-License-Identifier: MIT */
/* Ops of one element each: correctly rounded but for the activation functions. */
#include <math.h>
#include <stdio.h>

#include "verify/bounded.h"
#include "verify/paired.h"

/* ---- binary ---- */

static const struct binary_row {
    weft_shape a, b;
    weft_values a_values, b_values;
} binary_rows[] = {
    {{2, {WEFT_EDGE_COUNT, WEFT_EDGE_COUNT}},
     {2, {WEFT_EDGE_COUNT, WEFT_EDGE_COUNT}},
     WEFT_VALUES_EDGES_HELD,
     WEFT_VALUES_EDGES},
    {{2, {3, 129}}, {1, {129}}, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL},
    {{1, {300}}, {1, {300}}, WEFT_VALUES_TINY, WEFT_VALUES_TINY},
    {{1, {300}}, {1, {300}}, WEFT_VALUES_HUGE, WEFT_VALUES_HUGE},
    {{2, {5, 67}}, {1, {67}}, WEFT_VALUES_TINY, WEFT_VALUES_HUGE},
};

#define BINARY_ROWS WEFT_COUNT(binary_rows)

static void name_binary(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct binary_row *row = &binary_rows[index % BINARY_ROWS];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s,%s/a-elements=%u,b-elements=%u",
             weft_binary_name((weft_binary)(index / BINARY_ROWS)), weft_values_name(row->a_values),
             weft_values_name(row->b_values), (uint32_t)weft_shape_elements(row->a),
             (uint32_t)weft_shape_elements(row->b));
}

static void build_binary(weft_case *c, uint32_t index) {
    const struct binary_row *row = &binary_rows[index % BINARY_ROWS];
    weft_binary op = (weft_binary)(index / BINARY_ROWS);
    weft_array a = weft_case_input(c, "a", row->a, row->a_values);
    weft_array b = weft_case_input(c, "b", row->b, row->b_values);
    if (op == WEFT_BINARY_POWER) {
        c->tolerance = WEFT_TOLERANCE_LINEAR; /* the only one that is not correctly rounded */
    }
    weft_case_expect(c, "y", weft_case_binary(c, op, a, b));
    uint64_t count = weft_shape_elements(row->a);
    weft_bounded *expected = weft_bounded_scratch(c, count);
    for (uint64_t i = 0; expected && i < count; i++) {
        weft_bounded second = weft_bounded_exact(b.value[i % weft_shape_elements(row->b)]);
        expected[i] = weft_bounded_binary(op, weft_bounded_exact(a.value[i]), second);
    }
    weft_bounded_expect(c, expected);
}

WEFT_SPECIAL_FAMILY(binary, BINARY_ROWS *WEFT_BINARY_LOGICAL_AND, WEFT_TOLERANCE_BITS, name_binary,
                    build_binary);

/* ---- affine: the product is rounded, then the sum ---- */

static const struct affine_row {
    weft_shape x;
    float scale, offset;
    weft_values values;
} affine_rows[] = {
    {{1, {WEFT_EDGE_COUNT}}, 1.0F, 0.0F, WEFT_VALUES_EDGES},
    {{2, {2, WEFT_EDGE_COUNT}}, -1.0F, -0.0F, WEFT_VALUES_EDGES},
    {{2, {3, WEFT_EDGE_COUNT}}, 0x1p-100F, -0.0F, WEFT_VALUES_EDGES},
    {{2, {2, WEFT_EDGE_COUNT}}, 1e-40F, 1.0F, WEFT_VALUES_EDGES}, /* subnormal parameters */
    {{2, {2, WEFT_EDGE_COUNT}}, 1.0F, -1e-40F, WEFT_VALUES_EDGES},
    {{1, {300}}, 16.0F, -1e38F, WEFT_VALUES_HUGE},
    {{2, {129, 3}}, 0x1p-40F, 0x1p-120F, WEFT_VALUES_TINY},
};

static void name_affine(char text[WEFT_CASE_NAME_SIZE], const struct affine_row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/elements=%u,scale=%g,offset=%g",
             weft_values_name(row->values), (uint32_t)weft_shape_elements(row->x),
             (double)row->scale, (double)row->offset);
}

static void build_affine(weft_case *c, const struct affine_row *row) {
    weft_array x = weft_case_input(c, "x", row->x, row->values);
    weft_case_expect(c, "y", weft_case_affine(c, x, row->scale, row->offset));
    uint64_t count = weft_shape_elements(row->x);
    weft_bounded *expected = weft_bounded_scratch(c, count);
    weft_bounded scale = weft_bounded_parameter(row->scale);
    weft_bounded offset = weft_bounded_parameter(row->offset);
    for (uint64_t i = 0; expected && i < count; i++) {
        weft_bounded product = weft_bounded_multiply(scale, weft_bounded_exact(x.value[i]));
        expected[i] = weft_bounded_add(product, offset);
    }
    weft_bounded_expect(c, expected);
}

WEFT_SPECIAL_TABLE(affine, affine_rows, WEFT_TOLERANCE_BITS, name_affine, build_affine);

/* ---- activation ---- */

/* Fours of elements, and what is left of them, have kernels of their own. */
static const struct activation_row {
    const char *kernel; /* null: the usual choice */
    weft_shape x;
    weft_values values;
} activation_rows[] = {
    {NULL, {2, {2, WEFT_EDGE_COUNT}}, WEFT_VALUES_EDGES},
    {NULL, {1, {300}}, WEFT_VALUES_TINY},
    {"four", {2, {2, WEFT_EDGE_COUNT}}, WEFT_VALUES_EDGES},
    {"four", {1, {299}}, WEFT_VALUES_TINY},
};

#define ACTIVATION_ROWS WEFT_COUNT(activation_rows)

static void name_activation(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct activation_row *row = &activation_rows[index % ACTIVATION_ROWS];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s/%s/elements=%u",
             weft_activation_name((weft_activation)(index / ACTIVATION_ROWS)),
             WEFT_CASE_PART(row->kernel, "-%s", row->kernel), weft_values_name(row->values),
             (uint32_t)weft_shape_elements(row->x));
}

static void build_activation(weft_case *c, uint32_t index) {
    const struct activation_row *row = &activation_rows[index % ACTIVATION_ROWS];
    weft_activation activation = (weft_activation)(index / ACTIVATION_ROWS);
    c->implementation = row->kernel;
    weft_array x = weft_case_input(c, "x", row->x, row->values);
    weft_case_expect(c, "y", weft_case_activate(c, x, activation));
    uint64_t count = weft_shape_elements(row->x);
    weft_bounded *expected = weft_bounded_of(c, x.value, count);
    for (uint64_t i = 0; expected && i < count; i++) {
        expected[i] = weft_bounded_activation(activation, expected[i]);
    }
    weft_bounded_expect(c, expected);
}

WEFT_SPECIAL_FAMILY(activation, ACTIVATION_ROWS *WEFT_ACTIVATION_COUNT, WEFT_TOLERANCE_EXPONENTIAL,
                    name_activation, build_activation);

/* ---- embedding ---- */

static const struct embedding_row {
    uint32_t n, d, vocabulary;
    bool sums; /* with types and positions */
    weft_values values;
} embedding_rows[] = {
    {5, WEFT_EDGE_COUNT, 3, false, WEFT_VALUES_EDGES},
    {5, 129, 7, true, WEFT_VALUES_SUBNORMAL},
    {7, 37, 11, true, WEFT_VALUES_HUGE},
    {3, 300, 4, true, WEFT_VALUES_NAN},
};

static void name_embedding(char text[WEFT_CASE_NAME_SIZE], const struct embedding_row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/n=%u,d=%u,vocabulary=%u",
             row->sums ? "types,positions" : "tokens", weft_values_name(row->values), row->n,
             row->d, row->vocabulary);
}

/* Element i of the rows of `table` that the indices choose. */
static weft_bounded row_element(const weft_array *indices, const weft_array *table, uint64_t d,
                                uint64_t i) {
    uint64_t row = (uint64_t)indices->value[i / d];
    return weft_bounded_exact(table->value[row * d + i % d]);
}

static void build_embedding(weft_case *c, const struct embedding_row *row) {
    const uint32_t type_count = 3;
    const bool sums = row->sums;
    weft_shape sequence = weft_shape_of(1, row->n);
    weft_array tokens = weft_case_indices(c, "tokens", sequence, 0, (int32_t)row->vocabulary - 1);
    weft_array table = weft_case_weight(c, weft_shape_of(row->vocabulary, row->d), row->values);
    weft_array types = {.value = NULL};
    weft_array type_table = {.value = NULL};
    weft_array positions = {.value = NULL};
    if (sums) {
        types = weft_case_indices(c, "types", sequence, 0, (int32_t)type_count - 1);
        type_table = weft_case_weight(c, weft_shape_of(type_count, row->d), row->values);
        positions = weft_case_weight(c, weft_shape_of(row->n, row->d), row->values);
    }
    weft_case_expect(
        c, "y",
        weft_case_embedding(c, weft_embedding_params(.tokens = tokens.tensor, .table = table.tensor,
                                                     .types = types.tensor,
                                                     .type_table = type_table.tensor,
                                                     .positions = positions.tensor)));
    weft_bounded *expected = weft_bounded_scratch(c, (uint64_t)row->n * row->d);
    for (uint64_t i = 0; expected && i < (uint64_t)row->n * row->d; i++) {
        expected[i] = row_element(&tokens, &table, row->d, i);
        if (sums) {
            expected[i] =
                weft_bounded_add(expected[i], row_element(&types, &type_table, row->d, i));
            expected[i] = weft_bounded_add(expected[i], weft_bounded_exact(positions.value[i]));
        }
    }
    weft_bounded_expect(c, expected);
}

WEFT_SPECIAL_TABLE(embedding, embedding_rows, WEFT_TOLERANCE_BITS, name_embedding, build_embedding);
