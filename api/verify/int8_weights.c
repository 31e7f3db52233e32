/* SPDX-License-Identifier: MIT */
/*
 * Weights of bytes: docs/reproducibility.md, int8. What is expected of a product of bytes by bytes are the sums of whole numbers, which are
 * exact, times both scales in float64; of one by f32, the sums in float64 times the scale; of a table, bytes times scales.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "verify/bytes.h"
#include "verify/paired.h"

enum work { PRODUCT, LINEAR, EMBEDDING, TIED };

static const struct row {
    enum work work;
    weft_stored stored;
    const char *kernel; /* or implementation; null: the usual one */
    uint32_t m, n, k;   /* tokens, rows of the table and their length, for tables */
    uint32_t batch;     /* of a; 0: rank 2 */
    bool transpose_a, transpose_b;
    weft_values a, b;
    float b_factor; /* 0: 1 */
} rows[] = {
#define ROW(work_, stored_, kernel_, m_, n_, k_)                                                 \
    .work = (work_), .stored = WEFT_STORED_##stored_, .kernel = (kernel_), .m = (m_), .n = (n_), \
    .k = (k_)
#define BYTES(kernel_, m_, n_, k_) ROW(PRODUCT, I8, kernel_, m_, n_, k_), .transpose_b = true
#define ONLY(kernel_, m_, n_, k_)  ROW(PRODUCT, I8_ONLY, kernel_, m_, n_, k_), .transpose_b = true
    {BYTES("int8-panels-2", 1, 1, 1)},
    {BYTES("int8-panels-2", 7, 11, 129)},
    {BYTES("int8-panels-2", 33, 131, 64)},
    {BYTES("int8-panels-2", 5, 64, 4099)},
    {BYTES("int8-panels-6", 1, 1, 1)},
    {BYTES("int8-panels-6", 7, 11, 129)},
    {BYTES("int8-panels-6", 101, 131, 64)},
    {BYTES("int8-panels-6", 5, 64, 4099)},
    {BYTES("int8-pairs", 1, 1, 1)},
    {BYTES("int8-pairs", 7, 11, 129)},
    {BYTES("int8-pairs", 67, 131, 64)},
    {BYTES("int8-pairs", 5, 64, 4099)},
    {BYTES("int8-rows-1", 1, 1, 1)},
    {BYTES("int8-rows-1", 2, 131, 129)},
    {BYTES("int8-rows-2", 3, 64, 4099)},
    {BYTES("int8-rows-4", 7, 11, 129)},
    {BYTES("int8-tiled", 1, 1, 1)},
    {BYTES("int8-tiled", 7, 11, 129)},
    {BYTES("int8-tiled", 97, 131, 64)},
    {BYTES("int8-tiled", 5, 64, 4099)},
    {BYTES(NULL, 64, 256, 768)},
    {BYTES(NULL, 1, 3, 2)},
    {BYTES(NULL, 13, 61, 67), .batch = 3},
    {BYTES(NULL, 13, 61, 68), .batch = 2, .transpose_a = true},
    {BYTES(NULL, 31, 66, 130), .transpose_a = true},
    {ROW(PRODUCT, I8, NULL, 13, 67, 127)},
    {ROW(PRODUCT, I8, NULL, 13, 68, 36), .batch = 2},
    {BYTES(NULL, 17, 19, 23), .a = WEFT_VALUES_ZEROS, .b = WEFT_VALUES_ZEROS},
    {BYTES(NULL, 17, 19, 23), .a = WEFT_VALUES_MIXED, .b = WEFT_VALUES_MIXED},
    {BYTES(NULL, 17, 19, 23), .a = WEFT_VALUES_LARGE, .b = WEFT_VALUES_SMALL},
    {BYTES(NULL, 17, 19, 23), .a = WEFT_VALUES_SUBNORMAL},
    {BYTES(NULL, 17, 19, 23), .a = WEFT_VALUES_TINY, .b = WEFT_VALUES_LARGE},
    {BYTES(NULL, 17, 19, 3), .a = WEFT_VALUES_TINY, .b = WEFT_VALUES_TINY},
    {BYTES(NULL, 17, 19, 23), .a = WEFT_VALUES_HUGE, .b_factor = 0x1p-20F},
    {BYTES(NULL, 37, 19, 5), .a = WEFT_VALUES_INFINITE},
    {BYTES(NULL, 37, 19, 5), .a = WEFT_VALUES_NAN},
    {ONLY("direct", 7, 11, 129)},
    {ONLY("tiled", 70, 132, 196)},
    {ONLY("tiled-128", 7, 132, 20)},
    {ONLY("tiled-32", 33, 68, 68)},
    {ONLY("tiled-32x128", 33, 68, 68)},
    {ONLY("skinny-1", 1, 132, 68)},
    {ONLY("skinny-1", 1, 131, 1021)},
    {ONLY("skinny-2", 2, 7, 67)},
    {ONLY("skinny-4", 4, 36, 33)},
    {ONLY("skinny-8", 5, 64, 68)},
    {ONLY("panels", 1, 190, 68)},
    {ONLY("packed", 37, 33, 129)},
    {ONLY(NULL, 1, 1, 1)},
    {ONLY(NULL, 13, 61, 67), .batch = 3},
    {ONLY(NULL, 31, 66, 130), .transpose_a = true},
    {ROW(PRODUCT, I8_ONLY, "panels", 13, 127, 65)},
    {ROW(PRODUCT, I8_ONLY, "direct", 9, 132, 68)},
    {ROW(PRODUCT, I8_ONLY, "tiled", 9, 131, 67)},
    {ROW(LINEAR, I8, NULL, 37, 97, 127)},
    {ROW(LINEAR, I8, NULL, 12, 64, 64)},
    {ROW(LINEAR, I8_ONLY, NULL, 37, 97, 127)},
    {ROW(LINEAR, I8_ONLY, "panels", 12, 64, 64)},
    {ROW(EMBEDDING, I8, NULL, 5, 7, 31)},
    {ROW(EMBEDDING, I8_ONLY, NULL, 13, 65, 64)},
    {ROW(TIED, I8, NULL, 5, 67, 33)},
    {ROW(TIED, I8, NULL, 3, 128, 36)},
    {ROW(TIED, I8_ONLY, "product", 5, 67, 33)},
    {ROW(TIED, I8_ONLY, "panels", 5, 190, 33)},
    /* Computed in parts where devices bind little. */
    {BYTES(NULL, 7, 607, 129)},
    {ONLY(NULL, 7, 607, 129)},
    {ROW(EMBEDDING, I8, NULL, 37, 1000, 67)},
    {ROW(TIED, I8, NULL, 5, 1000, 67)},
    {ROW(TIED, I8_ONLY, NULL, 5, 1000, 67)},
};

static void name_row(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    static const char *const works[] = {"product", "linear", "embedding", "tied"};
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s%s%s/%s/%s,%s/m=%u,n=%u,k=%u%s",
             row->stored == WEFT_STORED_I8 ? "int8" : "only", works[row->work],
             row->transpose_a ? ",aT" : "", row->transpose_b ? ",bT" : "",
             row->kernel ? row->kernel : "any", weft_values_name(row->a), weft_values_name(row->b),
             row->m, row->n, row->k, WEFT_CASE_PART(row->batch > 0, ",batch=%u", row->batch));
}

/* A matrix as bytes: b, whose columns have scales, as [k, n]. */
struct bytes {
    weft_array array;
    const double *byte;
    const float *scale;
};

static weft_tensor add_weight(weft_case *c, const struct row *row, weft_shape shape,
                              const int8_t *data, const float *scales) {
    weft_tensor tensor = {0};
    weft_weight *weight = NULL;
    const weft_weight_params *params =
        weft_weight_params(.shape = shape, .data = data, .stored = row->stored, .scales = scales,
                           .scale_columns = row->work == PRODUCT && !row->transpose_b);
    weft_case_check(c, weft_weight_create(&weight, params, &c->ref.host));
    if (c->ref.status == WEFT_OK) {
        weft_case_check(c, weft_graph_weight(&tensor, c->graph, weight));
    }
    weft_weight_destroy(&weight);
    return tensor;
}

static struct bytes make_bytes(weft_case *c, const struct row *row) {
    const bool columns = row->work == PRODUCT && !row->transpose_b;
    const uint32_t n = row->n, k = row->k;
    const weft_shape shape = columns ? weft_shape_of(k, n) : weft_shape_of(n, k);
    const uint64_t count = weft_shape_elements(shape);
    float *x = weft_reference_memory(&c->ref, count, sizeof *x);
    float *scale = weft_reference_memory(&c->ref, n, sizeof *scale);
    int8_t *data = weft_reference_memory(&c->ref, count, sizeof *data);
    double *byte = weft_case_scratch(c, count);
    double *value = weft_case_scratch(c, count);
    if (c->ref.status != WEFT_OK) {
        return (struct bytes){.array = {.shape = shape}};
    }
    weft_values_fill(x, count, row->b, c->seed, (uint64_t)c->input_count + c->weight_count++);
    for (uint64_t i = 0; i < count; i++) {
        x[i] *= row->b_factor != 0.0F ? row->b_factor : 1.0F;
    }
    for (uint32_t j = 0; j < n; j++) {
        const size_t first = columns ? j : (size_t)j * k;
        const size_t step = columns ? n : 1;
        const struct weft_ref_scaling scaling = weft_ref_scaling_of(x + first, k, step);
        scale[j] = scaling.scale;
        for (uint32_t i = 0; i < k; i++) {
            const double q = weft_ref_byte_of(x[first + i * step], scaling);
            byte[(size_t)i * n + j] = q;
            data[first + i * step] = (int8_t)q;
            value[first + i * step] = q * (double)scaling.scale;
        }
    }
    struct bytes bytes = {.byte = byte, .scale = scale};
    bytes.array = weft_case_named(c, c->ref.status, add_weight(c, row, shape, data, scale),
                                  (weft_array){.shape = shape, .value = value});
    return bytes;
}

/* ---- what is expected ---- */

/* c = a b of a row of k numbers, with its bytes or without. */
static void expect_row(double *out, const double *a, size_t step, const struct row *row,
                       const struct bytes *b, float *line) {
    for (uint32_t i = 0; i < row->k; i++) {
        line[i] = (float)a[i * step];
    }
    const bool bytes = row->stored == WEFT_STORED_I8;
    const struct weft_ref_steps steps = weft_ref_steps_of(line, row->k);
    for (uint32_t j = 0; j < row->n; j++) {
        double sum = 0.0;
        for (uint32_t i = 0; i < row->k; i++) {
            sum += (bytes ? weft_ref_step_of(line[i], steps) : (double)line[i]) *
                   b->byte[(size_t)i * row->n + j];
        }
        out[j] = sum * (double)b->scale[j] * (bytes ? (double)steps.scale : 1.0);
        out[j] = bytes && fabs(out[j]) < (double)FLT_MIN ? copysign(0.0, out[j]) : out[j];
    }
}

static weft_array product(weft_case *c, const struct row *row, weft_array a,
                          const struct bytes *b) {
    const bool transpose_a = row->transpose_a;
    const uint32_t batches = row->batch > 0 ? row->batch : 1;
    weft_tensor tensor = {0};
    double *out;
    weft_status status = c->ref.status;
    if (status == WEFT_OK) {
        const bool transposed = row->work != PRODUCT || row->transpose_b;
        status = weft_graph_matmul(
            &tensor, c->graph, a.tensor, b->array.tensor,
            weft_matmul_params(.transpose_a = transpose_a, .transpose_b = transposed));
    }
    weft_shape shape = a.shape;
    shape.dim[shape.rank - 2] = row->m;
    shape.dim[shape.rank - 1] = row->n;
    weft_array y = weft_case_made(c, status, tensor, shape, false, &out);
    float *line = weft_reference_memory(&c->ref, row->k, sizeof *line);
    for (uint32_t i = 0; out && line && i < batches * row->m; i++) {
        const size_t matrix = (size_t)(i / row->m) * row->m * row->k;
        const size_t first = transpose_a ? i % row->m : (size_t)(i % row->m) * row->k;
        expect_row(out + (size_t)i * row->n, a.value + matrix + first, transpose_a ? row->m : 1,
                   row, b, line);
    }
    return y;
}

static weft_array input_a(weft_case *c, const struct row *row) {
    const uint32_t height = row->transpose_a ? row->k : row->m;
    const uint32_t width = row->transpose_a ? row->m : row->k;
    return weft_case_input(c, "a",
                           row->batch > 0 ? weft_shape_of(row->batch, height, width)
                                          : weft_shape_of(height, width),
                           row->a);
}

/* With all that can be fused into it. */
static weft_array linear(weft_case *c, const struct row *row) {
    const weft_array x = input_a(c, row);
    const weft_array residual =
        weft_case_input(c, "r", weft_shape_of(row->m, row->n), WEFT_VALUES_UNIT);
    const struct bytes b = make_bytes(c, row);
    const weft_array bias = weft_case_weight(c, weft_shape_of(row->n), WEFT_VALUES_UNIT);
    weft_array y = product(c, row, x, &b);
    y = weft_case_binary(c, WEFT_BINARY_ADD, y, bias);
    y = weft_case_activate(c, y, WEFT_ACTIVATION_GELU_ERF);
    y = weft_case_binary(c, WEFT_BINARY_ADD, y, residual);
    c->check_fusion = true;
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    return y;
}

/* Rows of a table, each element rounded to f32; of a TIED one its product with the table, too. */
static weft_array table(weft_case *c, const struct row *row) {
    const weft_array tokens =
        weft_case_indices(c, "tokens", weft_shape_of(1, row->m), 0, (int32_t)row->n - 1);
    const struct bytes b = make_bytes(c, row);
    const weft_array x = weft_case_embedding(
        c, weft_embedding_params(.tokens = tokens.tensor, .table = b.array.tensor));
    return row->work == TIED ? product(c, row, x, &b) : x;
}

static void build_row(weft_case *c, const struct row *row) {
    const bool only = row->stored == WEFT_STORED_I8_ONLY;
    c->implementation = row->kernel;
    c->invocations = row->kernel && row->kernel[0] == 'p' && row->kernel[2] == 'c' ? 512 : 0;
    c->tolerance = only ? WEFT_TOLERANCE_LINEAR : c->tolerance;
    c->has_bytes = true;
    c->only_reproducible = row->a >= WEFT_VALUES_SUBNORMAL;
    if (row->work == PRODUCT) {
        const weft_array a = input_a(c, row);
        const struct bytes b = make_bytes(c, row);
        weft_case_expect(c, "y", product(c, row, a, &b));
    } else {
        weft_case_expect(c, "y", row->work == LINEAR ? linear(c, row) : table(c, row));
    }
}

/* Three roundings, where whole numbers are added up. */
WEFT_CASE_TABLE(int8_weights, rows, 2e-7, name_row, build_row);
