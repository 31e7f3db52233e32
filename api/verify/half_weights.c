/* SPDX-License-Identifier: MIT */
/*
 * Constants of 16-bit elements, and the same ones widened: of each pair of cases, called "stored" and "widened", the bits are equal
 * (tests/unit/test_stored_weights.c). Products by each kernel, embeddings, and tables that both read.
 */
#include <stdio.h>
#include <string.h>

#include "core/math/half.h"
#include "verify/paired.h"

enum work { PRODUCT, EMBEDDING, TIED };

static const struct row {
    enum work work;
    const char *kernel; /* or implementation; null: the usual one */
    uint32_t m, n, k;   /* tokens, rows of the table and their length, for tables */
    bool transposed;    /* b of a product */
    float scale;        /* of the elements: 2^-14 makes f16 subnormal */
} rows[] = {
    {PRODUCT, "direct", 7, 11, 129, true, 1.0F},
    {PRODUCT, "direct", 9, 132, 68, false, 0x1p-14F},
    {PRODUCT, "tiled", 7, 11, 129, true, 0x1p-14F},
    {PRODUCT, "tiled", 70, 132, 196, false, 1.0F},
    {PRODUCT, "tiled-128", 7, 132, 20, true, 1.0F},
    {PRODUCT, "tiled-32", 33, 68, 68, true, 0x1p-14F},
    {PRODUCT, "tiled-32x128", 33, 68, 68, true, 1.0F},
    {PRODUCT, "skinny-1", 1, 132, 68, true, 1.0F},
    {PRODUCT, "skinny-1", 1, 131, 1021, true, 0x1p-14F},
    {PRODUCT, "skinny-2", 2, 7, 67, false, 1.0F},
    {PRODUCT, "skinny-4", 4, 36, 33, true, 1.0F},
    {PRODUCT, "skinny-8", 5, 64, 68, true, 1.0F},
    {PRODUCT, "panels", 1, 190, 68, true, 0x1p-14F},
    {PRODUCT, "panels", 13, 127, 65, false, 1.0F},
    {PRODUCT, "packed", 37, 33, 129, true, 1.0F},
    {PRODUCT, "packed", 5, 64, 68, false, 0x1p-14F},
    {PRODUCT, NULL, 1, 1, 1, true, 1.0F},
    {PRODUCT, NULL, 37, 97, 127, true, 1.0F},
    {PRODUCT, NULL, 3, 5, 7, false, 0x1p-14F},
    {EMBEDDING, NULL, 5, 7, 31, false, 1.0F},
    {EMBEDDING, NULL, 13, 65, 64, false, 0x1p-14F},
    {TIED, "product", 5, 67, 33, false, 1.0F},
    {TIED, "product", 3, 68, 36, false, 0x1p-14F},
    {TIED, "panels", 5, 190, 33, false, 0x1p-14F},
    {TIED, "panels", 3, 64, 36, false, 1.0F},
    /* Computed in parts where devices bind little. */
    {PRODUCT, NULL, 7, 607, 129, true, 1.0F},
    {EMBEDDING, NULL, 37, 1000, 67, false, 1.0F},
    {TIED, NULL, 5, 1000, 67, false, 0x1p-14F},
    {PRODUCT, "panel-rows-1", 1, 190, 1021, true, 0x1p-14F},
    {PRODUCT, "panel-rows-2", 2, 127, 65, false, 1.0F},
    {PRODUCT, "panel-rows-4", 7, 64, 130, true, 1.0F},
};

/* How elements are rounded, and whether they are stored so. */
enum { TYPES = 2, FORMS = 2 };
static const weft_stored types[TYPES] = {WEFT_STORED_F16, WEFT_STORED_BF16};
#define EACH (TYPES * FORMS)

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    static const char *const works[] = {"product", "embedding", "tied"};
    const struct row *row = &rows[index / EACH];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s,%s/%s%s/%s/m=%u,n=%u,k=%u%s",
             index % FORMS ? "widened" : "stored", index / FORMS % TYPES ? "bf16" : "f16",
             works[row->work], row->work == PRODUCT && row->transposed ? ",bT" : "",
             row->kernel ? row->kernel : "any", row->m, row->n, row->k,
             row->scale != 1.0F ? ",small" : "");
}

static weft_array tokens_of(weft_case *c, const struct row *row) {
    return weft_case_indices(c, "tokens", weft_shape_of(1, row->m), 0, (int32_t)row->n - 1);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index / EACH];
    const weft_stored type = types[index / FORMS % TYPES];
    const bool widened = index % FORMS != 0;
    c->implementation = row->kernel;
    c->invocations = row->kernel && strcmp(row->kernel, "packed") == 0 ? 512 : 0;
    c->seed = index / EACH;
    if (row->work == PRODUCT) {
        const weft_shape shape =
            row->transposed ? weft_shape_of(row->n, row->k) : weft_shape_of(row->k, row->n);
        const weft_array a =
            weft_case_input(c, "a", weft_shape_of(row->m, row->k), WEFT_VALUES_UNIT);
        const weft_array b = weft_case_weight_rounded(c, shape, row->scale, type, widened);
        weft_case_expect(
            c, "y", weft_case_matmul(c, a, b, weft_matmul_params(.transpose_b = row->transposed)));
        return;
    }
    const weft_array tokens = tokens_of(c, row);
    const weft_array table =
        weft_case_weight_rounded(c, weft_shape_of(row->n, row->k), row->scale, type, widened);
    const weft_array x = weft_case_embedding(
        c, weft_embedding_params(.tokens = tokens.tensor, .table = table.tensor));
    weft_case_expect(c, "y",
                     row->work == TIED ? weft_case_linear(c, x, table, (weft_array){0}) : x);
}

const weft_case_family weft_case_family_half_weights = {.name = "half_weights",
                                                        .count = WEFT_COUNT(rows) * EACH,
                                                        .tolerance = WEFT_TOLERANCE_LINEAR,
                                                        .name_case = name_case,
                                                        .build = build};
