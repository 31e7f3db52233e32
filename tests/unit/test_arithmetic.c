/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* Arithmetic of any shape: what it refuses, what is not fused, and tensors larger than the device can bind. */
#include <math.h>

#include <weft/arithmetic.h>

#include "device/device.h"
#include "support_graph.h"

#define REFUSED(status, call, ...) WEFT_EXPECT_FAILURE(f, WEFT_##status, call, __VA_ARGS__)

/* ---- refusals ---- */

WEFT_TEST_ON_GRAPH(operators_take_two_of_a_type, f) {
    weft_tensor y;
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(2, 1, 5));
    weft_tensor column = weft_test_input(f->graph, "column", weft_shape_of(7, 1));
    weft_tensor four = weft_test_input(f->graph, "four", weft_shape_of(4));
    weft_tensor whole = weft_test_input_i32(f->graph, "whole", weft_shape_of(5));
    weft_dtype dtype;
    assert_ok(weft_graph_binary(&y, f->graph, WEFT_BINARY_LESS, x, column));
    weft_test_expect_shape(f->graph, y, weft_shape_of(2, 7, 5));
    assert_ok(weft_graph_get_tensor(f->graph, y, NULL, &dtype));
    assert_int_equal(dtype, WEFT_I32);
    REFUSED(SHAPE_MISMATCH, weft_graph_binary(&y, f->graph, WEFT_BINARY_ADD, x, four), "[2, 1, 5]",
            "[4]");
    REFUSED(SHAPE_MISMATCH, weft_graph_binary(&y, f->graph, WEFT_BINARY_ADD, x, whole), "add",
            "f32", "i32");
    REFUSED(SHAPE_MISMATCH, weft_graph_binary(&y, f->graph, WEFT_BINARY_BITWISE_OR, x, x),
            "bitwise_or", "i32");
    REFUSED(INVALID_ARGUMENT, weft_graph_binary(&y, f->graph, WEFT_BINARY_COUNT, x, x), "21");
}

WEFT_TEST_ON_GRAPH(functions_have_their_parameters, f) {
    weft_tensor y;
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(3));
    weft_tensor whole = weft_test_input_i32(f->graph, "whole", weft_shape_of(3));
    assert_ok(weft_graph_clamp(&y, f->graph, x, -INFINITY, 2.0F));
    assert_ok(weft_graph_unary(&y, f->graph, WEFT_UNARY_ABS, whole, 0.0F, 0.0F));
    REFUSED(INVALID_ARGUMENT, weft_graph_clamp(&y, f->graph, x, 2.0F, 1.0F), "2 is above 1");
    REFUSED(INVALID_ARGUMENT, weft_graph_clamp(&y, f->graph, x, NAN, 1.0F), "alpha");
    REFUSED(INVALID_ARGUMENT, weft_graph_unary(&y, f->graph, WEFT_UNARY_SQRT, x, 1.0F, 0.0F),
            "sqrt", "alpha is 1");
    REFUSED(INVALID_ARGUMENT, weft_graph_unary(&y, f->graph, WEFT_UNARY_LEAKY_RELU, x, 1.0F, 2.0F),
            "beta is 2");
    REFUSED(INVALID_ARGUMENT, weft_graph_unary(&y, f->graph, WEFT_UNARY_SELU, x, INFINITY, 2.0F),
            "finite");
    REFUSED(INVALID_ARGUMENT, weft_graph_unary(&y, f->graph, WEFT_UNARY_CELU, x, 0.0F, 0.0F),
            "alpha is 0");
    REFUSED(INVALID_ARGUMENT, weft_graph_unary(&y, f->graph, WEFT_UNARY_COUNT, x, 0.0F, 0.0F),
            "36");
    REFUSED(SHAPE_MISMATCH, weft_graph_unary(&y, f->graph, WEFT_UNARY_SQRT, whole, 0.0F, 0.0F),
            "sqrt", "f32", "i32");
    REFUSED(SHAPE_MISMATCH, weft_graph_unary(&y, f->graph, WEFT_UNARY_LOGICAL_NOT, x, 0.0F, 0.0F),
            "i32");
}

WEFT_TEST_ON_GRAPH(choices_are_by_i32, f) {
    weft_tensor y;
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(3));
    weft_tensor whole = weft_test_input_i32(f->graph, "whole", weft_shape_of(3));
    assert_ok(weft_graph_where(&y, f->graph, whole, x, x));
    REFUSED(SHAPE_MISMATCH, weft_graph_where(&y, f->graph, x, x, x), "condition", "i32");
    REFUSED(SHAPE_MISMATCH, weft_graph_where(&y, f->graph, whole, x, whole), "a is f32", "b i32");
}

WEFT_TEST_ON_GRAPH(reductions_are_over_axes, f) {
    weft_tensor y;
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(2, 3, 5));
    weft_tensor whole = weft_test_input_i32(f->graph, "whole", weft_shape_of(2, 3));
    weft_tensor lengths = weft_test_input_i32(f->graph, "lengths", weft_shape_of(2));
    assert_ok(weft_graph_reduce(&y, f->graph, WEFT_REDUCTION_SUM, x, NULL));
    weft_test_expect_shape(f->graph, y, (weft_shape){0});
    assert_ok(
        weft_graph_reduce(&y, f->graph, WEFT_REDUCTION_MAX, x,
                          weft_reduce_params(.axes = {2, 0}, .axis_count = 2, .keep_axes = true)));
    weft_test_expect_shape(f->graph, y, weft_shape_of(1, 3, 1));
    REFUSED(INVALID_ARGUMENT,
            weft_graph_reduce(&y, f->graph, WEFT_REDUCTION_MAX, x,
                              weft_reduce_params(.axes = {3}, .axis_count = 1)),
            "axis 3", "[2, 3, 5]");
    REFUSED(INVALID_ARGUMENT,
            weft_graph_reduce(&y, f->graph, WEFT_REDUCTION_MAX, x,
                              weft_reduce_params(.axes = {1, 1}, .axis_count = 2)),
            "axis 1", "twice");
    REFUSED(
        INVALID_ARGUMENT,
        weft_graph_reduce(&y, f->graph, WEFT_REDUCTION_MAX, x, weft_reduce_params(.axis_count = 9)),
        "9");
    REFUSED(INVALID_ARGUMENT,
            weft_graph_reduce(&y, f->graph, WEFT_REDUCTION_SUM, x,
                              weft_reduce_params(.axes = {2}, .axis_count = 1, .lengths = lengths)),
            "axis 1 is reduced");
    REFUSED(INVALID_ARGUMENT, weft_graph_reduce(&y, f->graph, WEFT_REDUCTION_COUNT, x, NULL), "7");
    REFUSED(SHAPE_MISMATCH, weft_graph_reduce(&y, f->graph, WEFT_REDUCTION_MEAN, whole, NULL),
            "f32");
    REFUSED(INVALID_ARGUMENT, weft_graph_argmax(&y, f->graph, x, 3, false), "axis 3");
    REFUSED(INVALID_ARGUMENT, weft_graph_cumsum(&y, f->graph, x, 4, false, false), "axis 4");
    REFUSED(INVALID_ARGUMENT, weft_graph_softmax_axis(&y, f->graph, x, 3), "axis 3");
    REFUSED(SHAPE_MISMATCH, weft_graph_log_softmax(&y, f->graph, whole, 0), "f32");
}

/* ---- fusing ---- */

/** A bias of one number, or one that makes the product larger, is no bias of the product's. */
WEFT_TEST_ON_GRAPH(only_biases_of_the_shape_are_fused, f) {
    enum { ROWS = 3, COLUMNS = 4 };
    const float x[ROWS] = {1, 2, 3};
    const float w[COLUMNS] = {1, 2, 3, 4};
    const float one[] = {10};
    float found[ROWS * COLUMNS], wide[ROWS * ROWS];
    struct weft_test_run run = weft_test_begin(f->device);
    const weft_tensor in = weft_test_feed(&run, "x", weft_shape_of(ROWS, 1), x);
    const weft_tensor bias = weft_test_constant(run.graph, weft_shape_of(1), one);
    const weft_tensor row = weft_test_constant(run.graph, weft_shape_of(ROWS), x);
    const weft_tensor weight = weft_test_constant(run.graph, weft_shape_of(1, COLUMNS), w);
    const weft_tensor unit = weft_test_constant(run.graph, weft_shape_of(1, 1), one);
    weft_tensor y, z;
    assert_ok(weft_graph_matmul(&y, run.graph, in, weight, NULL));
    assert_ok(weft_graph_binary(&y, run.graph, WEFT_BINARY_ADD, y, bias));
    assert_ok(weft_graph_matmul(&z, run.graph, in, unit, NULL));
    assert_ok(weft_graph_binary(&z, run.graph, WEFT_BINARY_ADD, z, row));
    weft_test_take(&run, "y", y, found);
    weft_test_take(&run, "z", z, wide);
    weft_plan *plan = weft_test_plan(&run, NULL);
    weft_test_run_plan(&run, plan);
    weft_plan_destroy(&plan);
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++) {
        assert_true(found[i] == x[i / COLUMNS] * w[i % COLUMNS] + 10.0F);
    }
    for (uint32_t i = 0; i < ROWS * ROWS; i++) {
        assert_true(wide[i] == 10.0F * x[i / ROWS] + x[i % ROWS]);
    }
}

/* ---- tensors in parts ---- */

enum { BATCH = 61, N = 6, D = 4, COUNT = BATCH * N * D };

static float element(uint32_t i) {
    return (float)(i * 7 % 11) - 5.0F;
}

/** Of x [BATCH, N, D] by that function, where the device binds 2 KiB at once. */
static void run_in_parts(struct weft_test_graph *f, float *found,
                         weft_tensor (*build)(struct weft_test_run *run, weft_tensor x)) {
    static float x[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        x[i] = element(i);
    }
    struct weft_test_run run = weft_test_begin(f->device);
    const weft_tensor in = weft_test_feed(&run, "x", weft_shape_of(BATCH, N, D), x);
    weft_test_take(&run, "y", build(&run, in), found);
    /* Parts of sums begin at multiples of 256 bytes, which some devices ask for. */
    weft_test_execute_in_parts(&run, 2048);
}

static weft_tensor less_one(struct weft_test_run *run, weft_tensor x) {
    static const float ones[N] = {1, 2, 3, 4, 5, 6};
    const weft_tensor column = weft_test_constant(run->graph, weft_shape_of(1, N, 1), ones);
    weft_tensor y;
    assert_ok(weft_graph_binary(&y, run->graph, WEFT_BINARY_SUBTRACT, column, x));
    return y;
}

static weft_tensor sum_of_tokens(struct weft_test_run *run, weft_tensor x) {
    weft_tensor y;
    assert_ok(weft_graph_reduce(&y, run->graph, WEFT_REDUCTION_SUM, x,
                                weft_reduce_params(.axes = {1}, .axis_count = 1)));
    return y;
}

static weft_tensor sums_up_to(struct weft_test_run *run, weft_tensor x) {
    weft_tensor y;
    assert_ok(weft_graph_cumsum(&y, run->graph, x, 1, false, false));
    return y;
}

WEFT_TEST_ON_GRAPH(operators_and_sums_in_parts, f) {
    static float y[COUNT];
    run_in_parts(f, y, less_one);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(y[i] == (float)(i / D % N + 1) - element(i));
    }
    run_in_parts(f, y, sum_of_tokens);
    for (uint32_t i = 0; i < BATCH * D; i++) {
        float sum = 0.0F;
        for (uint32_t n = 0; n < N; n++) {
            sum += element((i / D * N + n) * D + i % D);
        }
        assert_true(y[i] == sum);
    }
    run_in_parts(f, y, sums_up_to);
    for (uint32_t i = 0; i < COUNT; i++) {
        const float before = i / D % N == 0 ? 0.0F : y[i - D];
        assert_true(y[i] == before + element(i));
    }
}
