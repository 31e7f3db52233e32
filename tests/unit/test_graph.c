/* SPDX-License-Identifier: MIT */
/* Building graphs: shapes and types are checked at once, messages name both sides, and a failure changes nothing. */
#include <math.h>

#include <weft/mixers.h>

#include "core/math/trig.h"
#include "graph/op.h"
#include "plan/passes.h"
#include "support_graph.h"

struct fixture {
    struct weft_test_host host;
    weft_graph *graph;
};

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    weft_test_host_begin(&fixture->host);
    assert_ok(weft_graph_create(&fixture->graph, &fixture->host.host));
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    weft_graph_destroy(&fixture->graph);
    weft_test_host_end(&fixture->host);
    free(fixture);
    return 0;
}

#define TEST(name, f) WEFT_TEST_WITH(name, struct fixture *f, set_up, tear_down)

TEST(test_matmul_shapes, f) {
    weft_tensor y;
    weft_tensor a = weft_test_input(f->graph, "a", weft_shape_of(2, 3, 5));
    weft_tensor b = weft_test_input(f->graph, "b", weft_shape_of(5, 7));
    weft_tensor c = weft_test_input(f->graph, "c", weft_shape_of(2, 7, 5));
    weft_tensor v = weft_test_input(f->graph, "v", weft_shape_of(5));
    assert_ok(weft_graph_matmul(&y, f->graph, a, b, NULL));
    weft_test_expect_shape(f->graph, y, weft_shape_of(2, 3, 7));
    assert_ok(weft_graph_matmul(&y, f->graph, a, c, weft_matmul_params(.transpose_b = true)));
    weft_test_expect_shape(f->graph, y, weft_shape_of(2, 3, 7));
    assert_ok(weft_graph_matmul(&y, f->graph, b, c, NULL));
    weft_test_expect_shape(f->graph, y, weft_shape_of(2, 5, 5));
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH, weft_graph_matmul(&y, f->graph, a, c, NULL),
                        "[2, 3, 5]", "[2, 7, 5]");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH, weft_graph_matmul(&y, f->graph, a, v, NULL),
                        "[2, 3, 5]", "[5]");
}

#define LAYER_NORM_REFUSED(status, x, gamma, beta, epsilon, ...) \
    WEFT_EXPECT_FAILURE(f, WEFT_##status,                        \
                        weft_graph_layer_norm(&y, f->graph, x, gamma, beta, epsilon), __VA_ARGS__)

TEST(test_layer_norm_shapes, f) {
    weft_tensor y;
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(2, 3, 5));
    weft_tensor good = weft_test_input(f->graph, "good", weft_shape_of(5));
    weft_tensor bad = weft_test_input(f->graph, "bad", weft_shape_of(3));
    assert_ok(weft_graph_layer_norm(&y, f->graph, x, good, good, 1e-5F));
    weft_test_expect_shape(f->graph, y, weft_shape_of(2, 3, 5));
    LAYER_NORM_REFUSED(SHAPE_MISMATCH, x, bad, good, 1e-5F, "gamma", "[5]", "[3]");
    LAYER_NORM_REFUSED(SHAPE_MISMATCH, x, good, bad, 1e-5F, "beta", "[3]");
    LAYER_NORM_REFUSED(INVALID_ARGUMENT, x, good, good, -1.0F, "epsilon");
    /* The mean divides by the number of elements, which must be a float32. */
    weft_tensor long_row = weft_test_input(f->graph, "long_row", weft_shape_of((1U << 24) + 1));
    LAYER_NORM_REFUSED(UNSUPPORTED, long_row, long_row, long_row, 0.0F, "16777217", "16777216");
    LAYER_NORM_REFUSED(INVALID_ARGUMENT, x, good, (weft_tensor){0}, 0.0F, "input 2");
}

#define EMBEDDING_REFUSED(status, params, ...) \
    WEFT_EXPECT_FAILURE(f, WEFT_##status, weft_graph_embedding(&y, f->graph, params), __VA_ARGS__)
#define EMBEDDING_WITH(...) weft_embedding_params(__VA_ARGS__)

TEST(test_embedding_shapes, f) {
    weft_tensor y;
    weft_tensor tokens = weft_test_input_i32(f->graph, "tokens", weft_shape_of(2, 9));
    weft_tensor types = weft_test_input_i32(f->graph, "types", weft_shape_of(2, 8));
    weft_tensor table = weft_test_input(f->graph, "table", weft_shape_of(11, 4));
    weft_tensor short_table = weft_test_input(f->graph, "short", weft_shape_of(8, 4));
    weft_tensor wide = weft_test_input(f->graph, "wide", weft_shape_of(11, 5));
    assert_ok(weft_graph_embedding(&y, f->graph,
                                   weft_embedding_params(.tokens = tokens, .table = table)));
    weft_test_expect_shape(f->graph, y, weft_shape_of(2, 9, 4));
    EMBEDDING_REFUSED(SHAPE_MISMATCH, EMBEDDING_WITH(.tokens = table, .table = table), "tokens",
                      "f32");
    EMBEDDING_REFUSED(SHAPE_MISMATCH,
                      EMBEDDING_WITH(.tokens = tokens, .table = table, .positions = short_table),
                      "9 tokens", "8 positions");
    EMBEDDING_REFUSED(SHAPE_MISMATCH,
                      EMBEDDING_WITH(.tokens = tokens, .table = table, .type_table = wide),
                      "type_table", "[11, 5]");
    EMBEDDING_REFUSED(INVALID_ARGUMENT,
                      EMBEDDING_WITH(.tokens = tokens, .table = table, .types = types),
                      "type_table");
    EMBEDDING_REFUSED(
        SHAPE_MISMATCH,
        EMBEDDING_WITH(.tokens = tokens, .table = table, .types = types, .type_table = table),
        "[2, 9]", "[2, 8]");
}

TEST(test_other_ops, f) {
    weft_tensor y;
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(2, 3, 6));
    weft_tensor flat = weft_test_input(f->graph, "flat", weft_shape_of(3, 6));
    weft_tensor odd = weft_test_input(f->graph, "odd", weft_shape_of(2, 3));
    assert_ok(weft_graph_binary(&y, f->graph, WEFT_BINARY_ADD, x, flat));
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_binary(&y, f->graph, WEFT_BINARY_ADD, x, odd), "add", "[2, 3]",
                        "[2, 3, 6]");
    assert_ok(weft_graph_binary(&y, f->graph, WEFT_BINARY_MULTIPLY, flat, x));
    weft_test_expect_shape(f->graph, y, weft_shape_of(2, 3, 6));
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT, weft_graph_gather(&y, f->graph, x, 3),
                        "position 3", "[2, 3, 6]");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH, weft_graph_gather(&y, f->graph, flat, 0), "[3, 6]");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH, weft_graph_fourier(&y, f->graph, flat), "[3, 6]");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_reshape(&y, f->graph, x, weft_shape_of(5, 7)), "[5, 7]");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_reshape(&y, f->graph, x, weft_shape_of(36, 0)), "axis 1");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_affine(&y, f->graph, x, 1.0F / 0.0F, 0.0F), "finite");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_activate(&y, f->graph, x, WEFT_ACTIVATION_COUNT), "9");
    WEFT_EXPECT_FAILURE(
        f, WEFT_INVALID_ARGUMENT,
        weft_graph_attention(&y, f->graph, x, x, x, weft_attention_params(.heads = 4)), "4 heads",
        "6");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_attention(&y, f->graph, x, flat, flat, NULL), "[3, 6]");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_softmax(&y, f->graph, (weft_tensor){99}), "99");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_add(&y, f->graph, &weft_op_softmax, &x, 1, &y, sizeof y),
                        "softmax");
}

#define INPUT_REFUSED(status, name, dtype, shape, ...)                                        \
    WEFT_EXPECT_FAILURE(f, WEFT_##status, weft_graph_input(&y, f->graph, name, dtype, shape), \
                        __VA_ARGS__)

TEST(test_names, f) {
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(4));
    weft_tensor y;
    INPUT_REFUSED(INVALID_ARGUMENT, "x", WEFT_F32, weft_shape_of(4), "'x'");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT, weft_graph_output(f->graph, "x", x), "'x'");
    assert_ok(weft_graph_output(f->graph, "y", x));
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT, weft_graph_output(f->graph, "y", x), "'y'");
    INPUT_REFUSED(INVALID_ARGUMENT, "", WEFT_F32, weft_shape_of(4), "name");
    INPUT_REFUSED(INVALID_ARGUMENT, "big", WEFT_F32, weft_shape_of(1U << 20, 1U << 20), "2^31");
}

TEST(test_weights_are_shared_and_counted, f) {
    float data[6] = {1, 2, 3, 4, 5, 6};
    weft_weight *weight = NULL;
    weft_tensor first;
    weft_tensor second;
    assert_ok(weft_weight_create(
        &weight, weft_weight_params(.shape = weft_shape_of(2, 3), .data = data), &f->host.host));
    assert_ok(weft_graph_weight(&first, f->graph, weight));
    assert_ok(weft_graph_weight(&second, f->graph, weight));
    assert_int_equal(first.id, second.id);
    weft_weight_destroy(&weight);
    assert_null(weight);
    /* the graph's own reference keeps it */
    weft_test_expect_shape(f->graph, first, weft_shape_of(2, 3));
    assert_int_equal(
        weft_weight_create(&weight, weft_weight_params(.shape = weft_shape_of(2)), &f->host.host),
        WEFT_INVALID_ARGUMENT);
}

static void build_block(struct fixture *f, weft_tensor *y, bool *failed) {
    float data[8] = {0};
    weft_weight *weight = NULL;
    weft_tensor x = {0};
    weft_tensor w = {0};
    weft_status status = weft_weight_create(
        &weight, weft_weight_params(.shape = weft_shape_of(8), .data = data), &f->host.host);
    status =
        status ? status : weft_graph_input(&x, f->graph, "x", WEFT_F32, weft_shape_of(1, 4, 8));
    status = status ? status : weft_graph_weight(&w, f->graph, weight);
    status = status ? status : weft_graph_fourier(y, f->graph, x);
    status = status ? status : weft_graph_binary(y, f->graph, WEFT_BINARY_ADD, x, *y);
    status = status ? status : weft_graph_layer_norm(y, f->graph, *y, w, w, 1e-5F);
    status = status ? status : weft_graph_output(f->graph, "y", *y);
    weft_weight_destroy(&weight);
    assert_true(status == WEFT_OK || status == WEFT_OUT_OF_HOST_MEMORY);
    *failed = status != WEFT_OK;
}

TEST(test_out_of_memory_at_every_allocation, f) {
    bool failed = true;
    for (long at = 1; failed; at++) {
        weft_tensor y;
        weft_graph_destroy(&f->graph);
        assert_ok(weft_graph_create(&f->graph, &f->host.host));
        weft_test_host_reset(&f->host);
        f->host.fail_at = at;
        build_block(f, &y, &failed);
        weft_test_host_reset(&f->host);
        assert_in_range(at, 1, 1000);
    }
}

/** The fuse pass folds LayerNorm(x + fourier(x)) into one node, and leaves alone what is read twice. */
TEST(test_fusion, f) {
    weft_tensor y;
    bool failed;
    build_block(f, &y, &failed);
    assert_false(failed);
    assert_ok(weft_pass_fuse(f->graph));
    uint32_t left = 0;
    for (uint32_t i = 0; i < f->graph->node_count; i++) {
        const struct weft_node *node = &f->graph->nodes[i];
        if (node->op) {
            left++;
            assert_string_equal(node->op->name, "fourier");
            assert_int_not_equal(node->epilogue.residual, 0);
            assert_int_not_equal(node->epilogue.gamma, 0);
            assert_int_equal(node->output, y.id);
        }
    }
    assert_int_equal(left, 1);
}

TEST(test_fusion_keeps_values_that_are_read_twice, f) {
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(1, 4, 8));
    weft_tensor mixed;
    weft_tensor sum;
    assert_ok(weft_graph_fourier(&mixed, f->graph, x));
    assert_ok(weft_graph_binary(&sum, f->graph, WEFT_BINARY_ADD, x, mixed));
    assert_ok(weft_graph_output(f->graph, "mixed", mixed));
    assert_ok(weft_graph_output(f->graph, "sum", sum));
    assert_ok(weft_pass_fuse(f->graph));
    assert_non_null(f->graph->nodes[0].op);
    assert_non_null(f->graph->nodes[1].op);
}

WEFT_TEST(test_unit_roots) {
    const uint64_t lengths[] = {1, 2, 3, 4, 7, 8, 12, 509, 512, 768, 65536, 1000003};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        uint64_t n = lengths[i];
        for (uint64_t k = 0; k < 3 * n; k += 1 + n / 500) {
            double c;
            double s;
            weft_unit_root(&c, &s, k, n);
            long double angle =
                6.283185307179586476925286766559L * (long double)(k % n) / (long double)n;
            assert_true(fabsl((long double)c - cosl(angle)) < 4e-16L);
            assert_true(fabsl((long double)s - sinl(angle)) < 4e-16L);
        }
    }
    double c;
    double s;
    weft_unit_root(&c, &s, 1, 4);
    assert_true(c == 0.0 && s == 1.0);
    weft_unit_root(&c, &s, 4, 8);
    assert_true(c == -1.0 && s == 0.0);
}
