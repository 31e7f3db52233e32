/* SPDX-License-Identifier: MIT */
/* Projections by structured matrices, against their dense products with the expanded matrix. */
#include <math.h>
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(structured_projection, x[0], x[1])

enum { X, DIAGONALS, PERMUTATION };

#define OF(type, count, ...)                                                                   \
    .params = weft_structured_projection_params(.kind = WEFT_FEATURES_##type, .rows = (count), \
                                                __VA_ARGS__)
#define TWO_HEADS .heads = 2

static const weft_trial trials[] = {
    {INVALID, .without_params = true, SAYS("params is null")},
    {INVALID, OF(BASE, 16, TWO_HEADS), SAYS("kind is base", "scrf")},
    {INVALID, OF(P_MODEL, 16, TWO_HEADS), SAYS("kind is p_model", "fastfood")},
    {INVALID, OF(SORF, 0, TWO_HEADS), SAYS("rows", "is 0", "1 to 1048576")},
    {INVALID, OF(SORF, 16, .heads = 3), SAYS("3 heads", "10 channels")},
    {INVALID, OF(SORF, 16, TWO_HEADS, .scale = INFINITY), SAYS("scale inf", "finite")},
    {INVALID, OF(S_HYBRID, 15, TWO_HEADS), SAYS("rows", "15", "even")},
    {INVALID, IS(AS(X, 1, 1, 4097)), OF(SORF, 16, .heads = 1),
     SAYS("columns", "4097", "1 to 4096")},
    {INVALID, IS(AS(DIAGONALS, 1, 17, 8)), OF(ROM, 8, TWO_HEADS), SAYS("factors", "17", "1 to 16")},
    {INVALID, IS(AS(DIAGONALS, 1, 1, 8)), OF(S_HYBRID, 8, TWO_HEADS),
     SAYS("factors", "1", "2 to 16")},
    {INVALID, OF(FASTFOOD, 16, TWO_HEADS), SAYS("permutation is missing", "fastfood")},
    {INVALID, IS(AS_I32(PERMUTATION, 2, 8)), OF(SORF, 16, TWO_HEADS),
     SAYS("permutation is given", "sorf")},
    {INVALID,
     IS(AS_WORDS(PERMUTATION, ((const int32_t[16]){0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 8}), 2,
                 8)),
     OF(FASTFOOD, 16, TWO_HEADS), SAYS("permutation[13] is 8", "0 to 7")},
    {INVALID, IS(AS_WORDS(PERMUTATION, ((const int32_t[16]){0, 1, 2, 3, 4, 5, 6, 7, 0, -1}), 2, 8)),
     OF(FASTFOOD, 16, TWO_HEADS), SAYS("permutation[9] is -1", "0 to 7")},
    {MISMATCH, IS(AS(PERMUTATION, 2, 8)), OF(FASTFOOD, 16, TWO_HEADS),
     SAYS("permutation", "i32 [2, 8]", "f32")},
    {MISMATCH, IS(AS_I32(PERMUTATION, 1, 8)), OF(FASTFOOD, 16, TWO_HEADS),
     SAYS("permutation", "[2, 8]", "[1, 8]")},
    {MISMATCH, OF(SORF, 17, TWO_HEADS), SAYS("diagonals", "[3, 3, 8]", "[2, 3, 8]")},
    {MISMATCH, IS(AS(DIAGONALS, 1, 17, 8)), OF(SORF, 8, TWO_HEADS),
     SAYS("diagonals", "[1, 3, 8]", "[1, 17, 8]")},
    {MISMATCH, OF(SCRF, 10, TWO_HEADS), SAYS("diagonals", "[2, 2, 5]", "[2, 3, 8]")},
    {MISMATCH, IS(AS(DIAGONALS, 3, 8)), OF(SORF, 8, TWO_HEADS),
     SAYS("diagonals", "[3, 8]", "[blocks, diagonals, size]")},
    {MISMATCH, IS(AS(X, 5, 10)), OF(SORF, 16, TWO_HEADS), SAYS("[B, n, d]", "[5, 10]")},
    {MISMATCH, IS(AS_I32(X, 2, 5, 10)), OF(SORF, 16, TWO_HEADS), SAYS("x must be f32")},
    {MISMATCH, IS(AS_I32(DIAGONALS, 2, 5, 10)), OF(SORF, 16, TWO_HEADS),
     SAYS("diagonals must be f32")},
    {ACCEPTED, IS(AS_I32(PERMUTATION, 2, 8)), OF(FASTFOOD, 16, TWO_HEADS), GIVES(2, 5, 32)},
};

const weft_sheet weft_sheet_structured_projection = {
    WEFT_SHEET_OP(structured_projection),
    .operands = {WEFT_OPERAND_X, WEFT_INPUT("diagonals", .shape = {3, {2, 3, 8}}),
                 WEFT_OPTIONAL("permutation", weft_structured_projection_params, permutation,
                               .shape = {0})},
    .sizes = {.batch = 2, .n = 5, .heads = 2, .width = 5},
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

struct row {
    weft_features_kind kind;
    uint32_t factors; /* ROM, S_HYBRID */
    uint32_t batch, n, heads, width, features;
    float scale;
    bool learned; /* parts of no distribution: signs and all are uniform numbers */
    const char *implementation;
    weft_values values;
};

#define SORF     WEFT_FEATURES_SORF
#define ROM      WEFT_FEATURES_ROM
#define HYBRID   WEFT_FEATURES_S_HYBRID
#define FASTFOOD WEFT_FEATURES_FASTFOOD
#define SCRF     WEFT_FEATURES_SCRF
#define UNIT     WEFT_VALUES_UNIT
#define DIRECT   "circulant"
#define FFT      "circulant_fft"
#define WIDE     "wide"
#define ROLLED   "rolled"

static const struct row rows[] = {
    {SORF, 0, 1, 1, 1, 1, 1, 0.0F, false, NULL, UNIT},
    {SORF, 0, 2, 7, 3, 2, 5, 0.0F, false, NULL, UNIT},
    {SORF, 0, 1, 131, 2, 3, 4, 0.0F, true, NULL, WEFT_VALUES_MIXED},
    {SORF, 0, 2, 9, 4, 5, 16, 0.5F, false, NULL, UNIT},
    {SORF, 0, 1, 17, 2, 31, 33, 0.0F, false, NULL, WEFT_VALUES_TENS},
    {SORF, 0, 2, 5, 4, 64, 256, 0.0F, false, NULL, UNIT},
    {SORF, 0, 1, 5, 1, 64, 63, 0.0F, true, NULL, WEFT_VALUES_ZEROS},
    {SORF, 0, 1, 3, 3, 100, 130, 0.0F, false, NULL, UNIT},
    {SORF, 0, 1, 4, 2, 256, 257, 0.0F, false, NULL, WEFT_VALUES_LARGE},
    {SORF, 0, 1, 2, 1, 520, 40, 0.0F, false, NULL, UNIT},
    {SORF, 0, 1, 1, 1, 2049, 24, -1.0F, false, NULL, UNIT},
    {ROM, 1, 1, 6, 1, 1, 3, 0.0F, false, NULL, UNIT},
    {ROM, 1, 1, 6, 2, 100, 128, 0.0F, false, NULL, UNIT},
    {ROM, 2, 3, 5, 1, 31, 31, 0.0F, true, NULL, UNIT},
    {ROM, 5, 1, 9, 4, 5, 70, 0.0F, false, NULL, WEFT_VALUES_EQUAL},
    {ROM, 16, 1, 3, 2, 64, 65, 0.0F, false, NULL, WEFT_VALUES_SMALL},
    {ROM, 16, 1, 2, 1, 1024, 17, 0.0F, false, NULL, WEFT_VALUES_LARGE},
    {HYBRID, 2, 1, 3, 2, 1, 2, 0.0F, false, NULL, UNIT},
    {HYBRID, 2, 2, 7, 1, 2, 6, 0.0F, false, NULL, UNIT},
    {HYBRID, 3, 1, 9, 3, 5, 16, 0.0F, true, NULL, UNIT},
    {HYBRID, 3, 2, 3, 4, 31, 130, 0.0F, false, NULL, UNIT},
    {HYBRID, 4, 1, 5, 2, 64, 100, 0.0F, false, NULL, WEFT_VALUES_MIXED},
    {HYBRID, 3, 1, 2, 1, 300, 62, 0.0F, false, NULL, UNIT},
    {HYBRID, 3, 1, 2, 1, 4096, 12, 0.0F, false, NULL, UNIT},
    {FASTFOOD, 0, 1, 3, 1, 1, 2, 0.0F, false, NULL, UNIT},
    {FASTFOOD, 0, 2, 7, 2, 2, 2, 0.0F, true, NULL, UNIT},
    {FASTFOOD, 0, 1, 67, 3, 3, 7, 0.0F, false, NULL, UNIT},
    {FASTFOOD, 0, 2, 9, 4, 5, 20, 0.0F, true, NULL, WEFT_VALUES_TENS},
    {FASTFOOD, 0, 1, 9, 2, 31, 32, 0.0F, false, NULL, UNIT},
    {FASTFOOD, 0, 1, 6, 2, 64, 200, 0.0F, true, NULL, UNIT},
    {FASTFOOD, 0, 1, 4, 1, 100, 99, 0.0F, false, NULL, WEFT_VALUES_IMPULSE},
    {FASTFOOD, 0, 1, 2, 1, 256, 300, 2.0F, false, NULL, UNIT},
    {FASTFOOD, 0, 1, 2, 1, 2500, 30, 0.0F, false, NULL, UNIT},
    {SORF, 0, 2, 5, 4, 64, 256, 0.0F, false, WIDE, UNIT},
    {SORF, 0, 1, 1, 1, 2049, 24, -1.0F, false, WIDE, UNIT},
    {ROM, 2, 3, 5, 1, 31, 31, 0.0F, true, WIDE, UNIT},
    {HYBRID, 3, 1, 2, 1, 4096, 12, 0.0F, false, WIDE, UNIT},
    {FASTFOOD, 0, 1, 2, 1, 2500, 30, 0.0F, false, WIDE, UNIT},
    {SORF, 0, 2, 5, 4, 64, 256, 0.0F, false, ROLLED, UNIT},
    {SORF, 0, 1, 1, 1, 2049, 24, -1.0F, false, ROLLED, UNIT},
    {ROM, 2, 3, 5, 1, 31, 31, 0.0F, true, ROLLED, UNIT},
    {ROM, 5, 1, 9, 4, 5, 70, 0.0F, false, ROLLED, WEFT_VALUES_EQUAL},
    {HYBRID, 3, 2, 3, 4, 31, 130, 0.0F, false, ROLLED, UNIT},
    {HYBRID, 3, 1, 2, 1, 4096, 12, 0.0F, false, ROLLED, UNIT},
    {FASTFOOD, 0, 2, 7, 2, 2, 2, 0.0F, true, ROLLED, UNIT},
    {FASTFOOD, 0, 1, 2, 1, 2500, 30, 0.0F, false, ROLLED, UNIT},
    {SCRF, 0, 1, 3, 1, 1, 5, 0.0F, false, DIRECT, UNIT},
    {SCRF, 0, 2, 7, 2, 2, 3, 0.0F, false, DIRECT, UNIT},
    {SCRF, 0, 1, 65, 3, 3, 3, 0.0F, true, DIRECT, WEFT_VALUES_TENS},
    {SCRF, 0, 2, 9, 4, 5, 12, 0.5F, false, DIRECT, UNIT},
    {SCRF, 0, 1, 9, 2, 31, 30, 0.0F, false, NULL, UNIT},
    {SCRF, 0, 1, 6, 2, 64, 200, 0.0F, true, NULL, UNIT},
    {SCRF, 0, 1, 4, 1, 100, 199, 0.0F, false, NULL, WEFT_VALUES_MIXED},
    {SCRF, 0, 1, 3, 1, 257, 300, 0.0F, false, DIRECT, UNIT},
    {SCRF, 0, 1, 3, 1, 1, 5, 0.0F, false, FFT, UNIT},
    {SCRF, 0, 2, 7, 2, 2, 3, 0.0F, true, FFT, UNIT},
    {SCRF, 0, 1, 13, 3, 3, 3, 0.0F, false, FFT, WEFT_VALUES_ZEROS},
    {SCRF, 0, 2, 9, 4, 5, 12, -0.5F, false, FFT, UNIT},
    {SCRF, 0, 1, 9, 2, 31, 70, 0.0F, false, FFT, UNIT},
    {SCRF, 0, 1, 5, 2, 64, 30, 0.0F, true, FFT, UNIT},
    {SCRF, 0, 1, 3, 1, 256, 256, 0.0F, false, FFT, UNIT},
    {SCRF, 0, 1, 3, 1, 257, 300, 0.0F, false, NULL, WEFT_VALUES_TENS},
};

/* Their positive features: weft_graph_random_features with the projection in place of the matrix. */
static const struct row featured[] = {
    {SORF, 0, 2, 9, 2, 8, 20, 0.0F, false, NULL, UNIT},
    {ROM, 2, 1, 33, 1, 5, 16, 0.0F, false, NULL, UNIT},
    {HYBRID, 3, 1, 5, 3, 16, 40, 0.25F, false, NULL, UNIT},
    {FASTFOOD, 0, 1, 17, 2, 13, 130, 0.0F, false, NULL, UNIT},
    {SCRF, 0, 2, 7, 2, 10, 25, 0.0F, false, NULL, UNIT},
    {SCRF, 0, 1, 3, 1, 130, 140, 0.0F, false, NULL, UNIT},
};

#define ROW_COUNT      WEFT_COUNT(rows)
#define FEATURED_COUNT WEFT_COUNT(featured)

static const struct row *row_at(uint32_t index) {
    return index < ROW_COUNT ? &rows[index] : &featured[index - ROW_COUNT];
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = row_at(index);
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s%s%s%s/%s/n=%u,d=%u,s=%u,heads=%u,batch=%u",
             index < ROW_COUNT ? "" : "features-", weft_features_name(row->kind),
             WEFT_CASE_PART(row->factors != 0, "-%u", row->factors), row->learned ? "-learned" : "",
             row->implementation ? "-" : "", row->implementation ? row->implementation : "",
             weft_values_name(row->values), row->n, row->width, row->features, row->heads,
             row->batch);
}

/* ---- the parts ---- */

/* In the memory of the case; the dense matrix follows once the diagonals are known. */
struct matrix {
    weft_features_params params;
    weft_features_structure structure;
    uint32_t *permutation; /* of FASTFOOD */
    float *diagonals;      /* drawn ones */
    float *w;
};

static struct matrix draw_matrix(weft_case *c, const struct row *row) {
    struct matrix matrix = {.params = {.kind = row->kind,
                                       .rows = row->features,
                                       .columns = row->width,
                                       .factors = row->factors,
                                       .seed = c->seed}};
    const weft_features_structure *structure = &matrix.structure;
    weft_case_check(c,
                    weft_features_get_structure(&matrix.structure, &matrix.params, &c->ref.host));
    const uint64_t elements = (uint64_t)structure->blocks * structure->size;
    matrix.permutation = weft_reference_memory(&c->ref, elements, sizeof *matrix.permutation);
    matrix.diagonals =
        weft_reference_memory(&c->ref, elements * structure->diagonals, sizeof *matrix.diagonals);
    matrix.w = weft_reference_memory(&c->ref, (uint64_t)row->features * row->width, sizeof(float));
    if (c->ref.status == WEFT_OK) {
        weft_case_check(c, weft_features_parts(matrix.diagonals, matrix.permutation, &matrix.params,
                                               &c->ref.host));
    }
    return matrix;
}

static weft_tensor add_diagonals(weft_case *c, const struct row *row, struct matrix *matrix) {
    const weft_features_structure *structure = &matrix->structure;
    const weft_shape shape =
        weft_shape_of(structure->blocks, structure->diagonals, structure->size);
    if (c->ref.status != WEFT_OK || !row->learned) {
        return weft_case_weight_of(c, shape, matrix->diagonals).tensor;
    }
    const weft_array given = weft_case_weight(c, shape, UNIT);
    for (uint64_t i = 0; c->ref.status == WEFT_OK && i < weft_shape_elements(shape); i++) {
        matrix->diagonals[i] = (float)given.value[i];
    }
    return given.tensor;
}

/* ---- the projection, by the dense matrix ---- */

/* The default is d^(-1/4) rounded to float32, as it is multiplied with. */
static double scale_of(const struct row *row) {
    return row->scale != 0.0F ? (double)row->scale
                              : (double)(float)(1.0 / sqrt(sqrt((double)row->width)));
}

static weft_array add_projection(weft_case *c, const struct row *row, weft_array x,
                                 struct matrix *matrix) {
    const weft_features_structure *structure = &matrix->structure;
    const weft_tensor diagonals = add_diagonals(c, row, matrix);
    weft_tensor permutation = {0};
    weft_tensor y = {0};
    double *out;
    if (structure->permuted) {
        permutation = weft_case_indices_of(c, weft_shape_of(structure->blocks, structure->size),
                                           (const int32_t *)matrix->permutation);
    }
    const weft_status status = WEFT_CASE_ADD(
        c, weft_graph_structured_projection(
               &y, c->graph, x.tensor, diagonals,
               weft_structured_projection_params(.kind = row->kind, .rows = row->features,
                                                 .heads = row->heads, .scale = row->scale,
                                                 .permutation = permutation)));
    weft_array projection = weft_case_made(
        c, status, y, weft_shape_of(row->batch, row->n, row->heads * row->features), false, &out);
    if (out) {
        weft_case_check(c, weft_features_expand(matrix->w, matrix->diagonals, matrix->permutation,
                                                &matrix->params, &c->ref.host));
    }
    const double *w = weft_reference_of(&c->ref, matrix->w, (uint64_t)row->features * row->width);
    if (w) {
        weft_reference_matmul(out, x.value, w,
                              (weft_reference_product){.m = row->batch * row->n * row->heads,
                                                       .n = row->features,
                                                       .k = row->width,
                                                       .transpose_b = true,
                                                       .alpha = scale_of(row)});
    }
    return projection;
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = row_at(index);
    struct matrix matrix = draw_matrix(c, row);
    c->implementation = row->implementation;
    weft_array x = weft_case_input(
        c, "x", weft_shape_of(row->batch, row->n, row->heads * row->width), row->values);
    weft_array y = add_projection(c, row, x, &matrix);
    if (index >= ROW_COUNT) {
        const weft_array w = {
            .shape = weft_shape_of(row->features, row->width),
            .value = weft_reference_of(&c->ref, matrix.w, (uint64_t)row->features * row->width)};
        c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
        y = weft_case_random_features(
            c, x, w,
            weft_random_features_params(.component = WEFT_COMPONENT_POSITIVE, .heads = row->heads,
                                        .scale = row->scale, .projection = y.tensor));
    }
    weft_case_expect(c, "y", y);
}

WEFT_CASE_FAMILY(structured_projection, ROW_COUNT + FEATURED_COUNT, WEFT_TOLERANCE_LINEAR,
                 name_case, build);
