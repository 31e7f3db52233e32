/* SPDX-License-Identifier: MIT */
/* Linear maps of experts by their formula: each row by the matrix that it chooses. */
#include <math.h>
#include <stdio.h>

#include "verify/paired.h"

static const struct row {
    uint32_t batch, n, chosen; /* chosen 0: rows have one choice each, without an axis for it */
    uint32_t experts, k, m;
    weft_stored stored; /* F16 and BF16 */
    bool own_rows;      /* of each choice */
    bool missing;       /* some choices are no experts */
    weft_values values;
    const char *kernel; /* null: the usual one */
} rows[] = {
#define ROW(batch_, n_, chosen_, experts_, k_, m_)                                       \
    .batch = (batch_), .n = (n_), .chosen = (chosen_), .experts = (experts_), .k = (k_), \
    .m = (m_), .values = WEFT_VALUES_UNIT
    {ROW(1, 1, 1, 1, 1, 1)},
    {ROW(1, 1, 2, 8, 64, 64)},
    {ROW(2, 1, 8, 60, 131, 190)},
    {ROW(1, 37, 2, 4, 129, 64)},
    {ROW(2, 19, 3, 7, 65, 31), .missing = true},
    {ROW(1, 67, 2, 5, 64, 130), .own_rows = true},
    {ROW(3, 5, 2, 16, 33, 17), .own_rows = true, .missing = true},
    {ROW(1, 41, 0, 3, 96, 65)},
    {ROW(1, 129, 8, 128, 32, 48)},
    {ROW(1, 3, 4, 9, 200, 96), .stored = WEFT_STORED_BF16},
    {ROW(2, 23, 2, 6, 68, 67), .stored = WEFT_STORED_F16},
    {ROW(1, 21, 2, 4, 67, 66), .kernel = "choices"},
    {ROW(1, 2, 2, 24, 67, 66), .kernel = "experts", .missing = true},
    {ROW(1, 33, 2, 3, 100, 700)}, /* in parts where devices bind little */
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    static const char *const stored[] = {"f32", "f16", "bf16"};
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s/%s/n=%u,chosen=%u,experts=%u,k=%u,m=%u,batch=%u",
             row->kernel ? row->kernel : "any", row->own_rows ? ",own" : "",
             row->missing ? ",missing" : "", stored[row->stored], row->n, row->chosen, row->experts,
             row->k, row->m, row->batch);
}

static weft_array weight_of(weft_case *c, const struct row *row) {
    const weft_shape shape = weft_shape_of(row->experts * row->m, row->k);
    return row->stored == WEFT_STORED_WHOLE
               ? weft_case_weight(c, shape, row->values)
               : weft_case_weight_rounded(c, shape, 1.0F, row->stored, false);
}

/* W[choice] x, or NaN. */
static void multiply(double *out, const double *x, double choice, const struct row *row,
                     const double *weight) {
    const bool is_expert = choice >= 0.0 && choice < row->experts;
    for (uint32_t i = 0; i < row->m; i++) {
        double sum = is_expert ? 0.0 : (double)NAN;
        for (uint32_t k = 0; is_expert && k < row->k; k++) {
            sum += weight[((uint64_t)choice * row->m + i) * row->k + k] * x[k];
        }
        out[i] = sum;
    }
}

static void build(weft_case *c, const struct row *row) {
    const uint32_t each = row->chosen > 0 ? row->chosen : 1;
    const bool own = row->own_rows || row->chosen == 0;
    weft_shape choices_shape = weft_shape_of(row->batch, row->n);
    if (row->chosen > 0) {
        choices_shape = weft_shape_of(row->batch, row->n, row->chosen);
    }
    weft_shape x_shape = weft_shape_of(row->batch, row->n, row->k);
    if (row->own_rows) {
        x_shape = weft_shape_of(row->batch, row->n, row->chosen, row->k);
    }
    const weft_array x = weft_case_input(c, "x", x_shape, row->values);
    const weft_array choices = weft_case_indices(c, "choices", choices_shape, row->missing ? -1 : 0,
                                                 (int32_t)row->experts - (row->missing ? 0 : 1));
    const weft_array weight = weight_of(c, row);
    weft_shape shape = choices_shape;
    weft_tensor tensor = {0};
    double *out;
    c->implementation = row->kernel;
    shape.dim[shape.rank++] = row->m;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_expert_linear(&tensor, c->graph, x.tensor, choices.tensor,
                                                  weight.tensor, row->experts));
    weft_array y = weft_case_made(c, status, tensor, shape, false, &out);
    for (uint64_t i = 0; out && i < (uint64_t)row->batch * row->n * each; i++) {
        multiply(out + i * row->m, x.value + (own ? i : i / each) * row->k, choices.value[i], row,
                 weight.value);
    }
    weft_case_expect(c, "y", y);
}

WEFT_CASE_TABLE(expert_linear, rows, WEFT_TOLERANCE_LINEAR, name_case, build);
