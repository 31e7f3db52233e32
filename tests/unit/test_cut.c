/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/*
 * Tensors larger than the device can bind, which are computed in parts: with limits far below the device's own. The numbers are
 * whole and small, so that what comes out is exact.
 */
#include <math.h>

#include <weft/mixers/attention.h>

#include "core/shape.h"
#include "device/device.h"
#include "graph/graph.h"
#include "support_graph.h"

/** Until the end of the test, bindings of the device have at most so many bytes. */
static void limit_bindings(const struct weft_test_graph *f, uint32_t bytes) {
    f->device->limits.maxStorageBufferRange = bytes;
}

/** A whole number from -4 to 4. */
static float small(uint64_t i, uint32_t salt) {
    return (float)((i * 2654435761u + salt * 40503u) / 977 % 9) - 4.0F;
}

static float *numbers(uint64_t count, uint32_t salt) {
    float *data = malloc(count * sizeof *data);
    assert_non_null(data);
    for (uint64_t i = 0; i < count; i++) {
        data[i] = small(i, salt);
    }
    return data;
}

/** A weight of them, whose element i is small(i, salt). */
static weft_tensor add_weight(weft_graph *graph, weft_shape shape, uint32_t salt) {
    float *data = numbers(weft_shape_elements(shape), salt);
    const weft_tensor weight = weft_test_constant(graph, shape, data);
    free(data);
    return weight;
}

static void expect_equal(const float *found, const float *expected, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        if (found[i] != expected[i] && !(isnan(found[i]) && isnan(expected[i]))) {
            fail_msg("element %llu is %g, expected %g", (unsigned long long)i, (double)found[i],
                     (double)expected[i]);
        }
    }
}

/* ---- embedding ---- */

enum { VOCABULARY = 301, WIDTH = 36, LENGTH = 131, KINDS = 3 };

static int32_t token_at(uint32_t i) {
    return i == 5 ? -1 : i == 7 ? VOCABULARY : (int32_t)(i * 137 % VOCABULARY);
}

/** What tables of small numbers give; NaN for tokens outside the table. */
static void embed(float *result, uint32_t tokens, bool types, bool positions) {
    for (uint32_t i = 0; i < tokens; i++) {
        const int32_t token = token_at(i);
        const uint32_t s = i % LENGTH;
        for (uint32_t c = 0; c < WIDTH; c++) {
            float value = small((uint64_t)token * WIDTH + c, 1);
            value += types ? small(i % KINDS * WIDTH + c, 2) : 0.0F;
            value += positions ? small(s * WIDTH + c, 3) : 0.0F;
            result[i * WIDTH + c] = token < 0 || token >= VOCABULARY ? NAN : value;
        }
    }
}

struct embedding {
    uint32_t batch;
    bool types, positions;
    uint32_t limit;
};

static void check_embedding(struct weft_test_graph *f, const struct embedding *e) {
    const uint32_t count = e->batch * LENGTH;
    int32_t tokens[3 * LENGTH], types[3 * LENGTH];
    float found[3 * LENGTH * WIDTH], expected[3 * LENGTH * WIDTH];
    for (uint32_t i = 0; i < count; i++) {
        tokens[i] = token_at(i);
        types[i] = (int32_t)(i % KINDS);
    }
    struct weft_test_run run = weft_test_begin(f->device);
    const weft_shape shape = weft_shape_of(e->batch, LENGTH);
    weft_embedding_params params = {.tokens = weft_test_feed_i32(&run, "tokens", shape, tokens),
                                    .table =
                                        add_weight(run.graph, weft_shape_of(VOCABULARY, WIDTH), 1)};
    if (e->types) {
        params.types = weft_test_feed_i32(&run, "types", shape, types);
        params.type_table = add_weight(run.graph, weft_shape_of(KINDS, WIDTH), 2);
    }
    if (e->positions) { /* more than there are tokens */
        params.positions = add_weight(run.graph, weft_shape_of(LENGTH + 3, WIDTH), 3);
    }
    weft_tensor out;
    assert_ok(weft_graph_embedding(&out, run.graph, &params));
    weft_test_take(&run, "y", out, found);
    weft_test_execute_in_parts(&run, e->limit);
    embed(expected, count, e->types, e->positions);
    expect_equal(found, expected, (uint64_t)count * WIDTH);
}

/* Parts may begin at a multiple of 256 bytes, as far as is known here: at every 64th token, and every 16th row of a table. */
WEFT_TEST_ON_GRAPH(embeddings_by_rows_of_the_table, f) {
    check_embedding(f, &(struct embedding){.batch = 1, .limit = 20480});
    check_embedding(f, &(struct embedding){.batch = 1, .types = true, .limit = 20480});
    check_embedding(f, &(struct embedding){.batch = 1, .positions = true, .limit = 20480});
}

WEFT_TEST_ON_GRAPH(embeddings_by_tokens, f) {
    check_embedding(f, &(struct embedding){.batch = 1, .limit = 12288});
    check_embedding(
        f, &(struct embedding){.batch = 1, .types = true, .positions = true, .limit = 12288});
    check_embedding(f, &(struct embedding){.batch = 3, .types = true, .limit = 12288});
}

WEFT_TEST_ON_GRAPH(parts_begin_where_the_device_can_bind, f) {
    f->device->limits.minStorageBufferOffsetAlignment = 256;
    check_embedding(f, &(struct embedding){.batch = 1, .types = true, .limit = 12288 + 255});
}

/* ---- products ---- */

/** Element (row, column) of pair z of a product of small numbers. */
struct factors {
    uint32_t batch, m, n, k;
    bool transpose_a, transpose_b, one_b, bias, residual, relu;
};

static float product_at(const struct factors *f, const uint32_t at[3]) {
    const uint64_t z = at[0], row = at[1], column = at[2];
    double sum = 0.0;
    for (uint64_t i = 0; i < f->k; i++) {
        const uint64_t a = z * f->m * f->k + (f->transpose_a ? i * f->m + row : row * f->k + i);
        const uint64_t b = (f->one_b ? 0 : z * f->k * f->n) +
                           (f->transpose_b ? column * f->k + i : i * f->n + column);
        sum += (double)small(a, 1) * (double)small(b, 2);
    }
    sum += f->bias ? (double)small(column, 3) : 0.0;
    sum = f->relu && sum < 0.0 ? 0.0 : sum;
    sum += f->residual ? (double)small((z * f->m + row) * f->n + column, 4) : 0.0;
    return (float)sum;
}

/** What goes into a product; b is a constant or an input. */
struct operands {
    float *a, *b, *residual;
    bool constant;
};

static weft_tensor build_product(struct weft_test_run *run, const struct factors *f,
                                 const struct operands *o) {
    const weft_shape a =
        f->transpose_a ? weft_shape_of(f->batch, f->k, f->m) : weft_shape_of(f->batch, f->m, f->k);
    const uint32_t rows = f->transpose_b ? f->n : f->k;
    const uint32_t columns = f->transpose_b ? f->k : f->n;
    const weft_shape b =
        f->one_b ? weft_shape_of(rows, columns) : weft_shape_of(f->batch, rows, columns);
    const weft_tensor left = weft_test_feed(run, "a", a, o->a);
    const weft_tensor right =
        o->constant ? weft_test_constant(run->graph, b, o->b) : weft_test_feed(run, "b", b, o->b);
    weft_tensor y;
    assert_ok(weft_graph_matmul(
        &y, run->graph, left, right,
        weft_matmul_params(.transpose_a = f->transpose_a, .transpose_b = f->transpose_b)));
    if (f->bias) {
        const weft_tensor bias = add_weight(run->graph, weft_shape_of(f->n), 3);
        assert_ok(weft_graph_binary(&y, run->graph, WEFT_BINARY_ADD, y, bias));
    }
    if (f->relu) {
        assert_ok(weft_graph_activate(&y, run->graph, y, WEFT_ACTIVATION_RELU));
    }
    if (f->residual) {
        const weft_tensor more =
            weft_test_feed(run, "residual", weft_shape_of(f->batch, f->m, f->n), o->residual);
        assert_ok(weft_graph_binary(&y, run->graph, WEFT_BINARY_ADD, y, more));
    }
    return y;
}

static void check_product(struct weft_test_graph *g, const struct factors *f, bool constant,
                          uint32_t limit) {
    const uint64_t count = (uint64_t)f->batch * f->m * f->n;
    struct operands o = {.a = numbers((uint64_t)f->batch * f->m * f->k, 1),
                         .b = numbers((uint64_t)f->batch * f->k * f->n, 2),
                         .residual = numbers(count, 4),
                         .constant = constant};
    float *found = malloc(count * sizeof *found);
    float *expected = malloc(count * sizeof *expected);
    assert_non_null(found);
    assert_non_null(expected);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at[] = {i / f->n / f->m, i / f->n % f->m, i % f->n};
        expected[i] = product_at(f, at);
    }
    struct weft_test_run run = weft_test_begin(g->device);
    weft_test_take(&run, "y", build_product(&run, f, &o), found);
    weft_test_execute_in_parts(&run, limit);
    expect_equal(found, expected, count);
    free(o.a);
    free(o.b);
    free(o.residual);
    free(found);
    free(expected);
}

WEFT_TEST_ON_GRAPH(products_by_rows, f) {
    check_product(
        f, &(struct factors){.batch = 3, .m = 37, .n = 20, .k = 18, .one_b = true, .bias = true},
        true, 4096);
    check_product(f, &(struct factors){.batch = 1, .m = 90, .n = 20, .k = 16, .residual = true},
                  false, 4096);
}

WEFT_TEST_ON_GRAPH(products_by_columns, f) {
    const struct factors odd = {.batch = 2,
                                .m = 5,
                                .n = 301,
                                .k = 19,
                                .transpose_b = true,
                                .one_b = true,
                                .bias = true,
                                .residual = true,
                                .relu = true};
    struct factors even = odd;
    even.n = 320;
    even.k = 20;
    check_product(f, &odd, true, 16384);
    check_product(f, &odd, false, 16384);
    check_product(f, &even, true, 16384);
}

WEFT_TEST_ON_GRAPH(products_by_rows_and_columns, f) {
    check_product(f,
                  &(struct factors){.batch = 1,
                                    .m = 33,
                                    .n = 200,
                                    .k = 32,
                                    .transpose_b = true,
                                    .one_b = true,
                                    .bias = true,
                                    .residual = true},
                  true, 8192);
}

WEFT_TEST_ON_GRAPH(products_by_pairs, f) {
    check_product(f, &(struct factors){.batch = 7, .m = 12, .n = 64, .k = 16, .transpose_a = true},
                  false, 4096);
    check_product(
        f,
        &(struct factors){.batch = 6, .m = 20, .n = 12, .k = 24, .transpose_b = true, .relu = true},
        false, 8192);
}

/* ---- others ---- */

enum { ROWS = 61, COLUMNS = 24 };

WEFT_TEST_ON_GRAPH(elements_and_copies, f) {
    float *x = numbers((uint64_t)ROWS * COLUMNS, 1);
    float sums[ROWS * COLUMNS], scaled[ROWS * COLUMNS], same[ROWS * COLUMNS];
    float expected[2][ROWS * COLUMNS];
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++) {
        expected[0][i] = x[i] + small(i % COLUMNS, 2);
        expected[1][i] = 2.0F * (x[i] * x[i]) + 1.0F;
    }
    struct weft_test_run run = weft_test_begin(f->device);
    const weft_tensor in = weft_test_feed(&run, "x", weft_shape_of(ROWS, COLUMNS), x);
    const weft_tensor row = add_weight(run.graph, weft_shape_of(COLUMNS), 2);
    weft_tensor sum, square;
    assert_ok(weft_graph_binary(&sum, run.graph, WEFT_BINARY_ADD, in, row));
    assert_ok(weft_graph_binary(&square, run.graph, WEFT_BINARY_MULTIPLY, in, in));
    assert_ok(weft_graph_affine(&square, run.graph, square, 2.0F, 1.0F));
    weft_test_take(&run, "sums", sum, sums);
    weft_test_take(&run, "scaled", square, scaled);
    weft_test_take(&run, "same", in, same);
    weft_test_execute_in_parts(&run, 1024);
    expect_equal(sums, expected[0], ROWS * COLUMNS);
    expect_equal(scaled, expected[1], ROWS * COLUMNS);
    expect_equal(same, x, ROWS * COLUMNS);
    free(x);
}

/** Of equal scores: the mean of the values, which are whole multiples of the number of keys. */
WEFT_TEST_ON_GRAPH(attention_by_sequences_and_queries, f) {
    enum { BATCH = 2, QUERIES = 40, KEYS = 16, D = 8 };
    float *q = numbers((uint64_t)BATCH * QUERIES * D, 1);
    float k[BATCH * KEYS * D] = {0};
    float v[BATCH * KEYS * D], found[BATCH * QUERIES * D], expected[BATCH * QUERIES * D];
    for (uint32_t i = 0; i < BATCH * KEYS * D; i++) {
        v[i] = KEYS * small(i, 2);
    }
    for (uint32_t i = 0; i < BATCH * QUERIES * D; i++) {
        expected[i] = 0.0F;
        for (uint32_t j = 0; j < KEYS; j++) {
            expected[i] += small((i / (QUERIES * D) * KEYS + j) * D + i % D, 2);
        }
    }
    struct weft_test_run run = weft_test_begin(f->device);
    weft_tensor y;
    assert_ok(weft_graph_attention(&y, run.graph,
                                   weft_test_feed(&run, "q", weft_shape_of(BATCH, QUERIES, D), q),
                                   weft_test_feed(&run, "k", weft_shape_of(BATCH, KEYS, D), k),
                                   weft_test_feed(&run, "v", weft_shape_of(BATCH, KEYS, D), v),
                                   &(weft_attention_params){.heads = 1}));
    weft_test_take(&run, "y", y, found);
    /* Of this the scores of a sequence have 2560, and its queries 1280. */
    weft_test_execute_in_parts(&run, 1536);
    expect_equal(found, expected, BATCH * QUERIES * D);
    free(q);
}

/* ---- what the device keeps ---- */

static void count_release(void *user) {
    ++*(uint32_t *)user;
}

/** A plan of a table of its own rows, which are borrowed. */
static weft_plan *plan_of(weft_device *device, weft_weight *table) {
    struct weft_test_run run = weft_test_begin(device);
    weft_embedding_params params = {
        .tokens = weft_test_input_i32(run.graph, "tokens", weft_shape_of(1, 2))};
    weft_tensor y;
    assert_ok(weft_graph_weight(&params.table, run.graph, table));
    assert_ok(weft_graph_embedding(&y, run.graph, &params));
    return weft_test_plan_to(&run, "y", y, NULL);
}

WEFT_TEST_ON_GRAPH(parts_of_weights_are_kept_once, f) {
    uint32_t released = 0;
    float *data = numbers((uint64_t)VOCABULARY * WIDTH, 1);
    weft_weight *table = NULL;
    assert_ok(weft_weight_create(&table,
                                 weft_weight_params(.name = "table", .dtype = WEFT_F32,
                                                    .shape = weft_shape_of(VOCABULARY, WIDTH),
                                                    .data = data, .release = count_release,
                                                    .release_user = &released),
                                 &f->host.host));
    limit_bindings(f, 8192);
    weft_plan *first = plan_of(f->device, table);
    const uint64_t bytes = f->device->stats.bytes_in_use;
    weft_plan *second = plan_of(f->device, table);
    weft_plan_info info;
    weft_plan_get_info(second, &info);
    assert_int_equal(info.weight_bytes, VOCABULARY * WIDTH * sizeof(float));
    assert_true(f->device->stats.bytes_in_use - bytes < 8192); /* an arena, but no table */
    weft_plan_destroy(&first);
    weft_plan_destroy(&second);
    assert_int_equal(released, 0);
    weft_weight_destroy(&table);
    assert_int_equal(released, 1);
    free(data);
}

/* ---- what cannot be cut ---- */

WEFT_TEST_ON_GRAPH(what_cannot_be_cut_is_named, f) {
    limit_bindings(f, 4096);
    struct weft_test_run run = weft_test_begin(f->device);
    weft_tensor y;
    const weft_tensor x = weft_test_input(run.graph, "scores", weft_shape_of(2, 2048));
    assert_ok(weft_graph_softmax(&y, run.graph, x));
    WEFT_EXPECT_NO_PLAN(f, &run, y, NULL, WEFT_UNSUPPORTED, "softmax", "[1, 2048]", "8192 bytes",
                        "4096");
    run = weft_test_begin(f->device);
    const weft_tensor a = weft_test_input(run.graph, "a", weft_shape_of(1, 40));
    const weft_tensor b = weft_test_input(run.graph, "wide", weft_shape_of(40, 100));
    assert_ok(weft_graph_matmul(&y, run.graph, a, b, NULL));
    WEFT_EXPECT_NO_PLAN(f, &run, y, NULL, WEFT_UNSUPPORTED, "matmul", "'wide'", "16000 bytes",
                        "4096");
}
