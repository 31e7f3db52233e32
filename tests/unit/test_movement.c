/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* Ops that move elements: what they refuse, when they are views, and tensors larger than the device can bind. */
#include <math.h>

#include <weft/movement.h>

#include "device/device.h"
#include "graph/op.h"
#include "support_graph.h"

#define REFUSED(status, call, ...) WEFT_EXPECT_FAILURE(f, WEFT_##status, call, __VA_ARGS__)

/* ---- refusals ---- */

WEFT_TEST_ON_GRAPH(permutations_have_each_axis_once, f) {
    weft_tensor y;
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(2, 3, 5));
    weft_tensor half;
    assert_ok(weft_graph_permute(&y, f->graph, x, weft_shape_of(2, 0, 1)));
    weft_test_expect_shape(f->graph, y, weft_shape_of(5, 2, 3));
    REFUSED(INVALID_ARGUMENT, weft_graph_permute(&y, f->graph, x, weft_shape_of(0, 1)), "[0, 1]",
            "[2, 3, 5]");
    REFUSED(INVALID_ARGUMENT, weft_graph_permute(&y, f->graph, x, weft_shape_of(0, 1, 1)),
            "[0, 1, 1]");
    REFUSED(INVALID_ARGUMENT, weft_graph_permute(&y, f->graph, x, weft_shape_of(0, 1, 3)),
            "[0, 1, 3]");
    REFUSED(INVALID_ARGUMENT, weft_graph_permute(&y, f->graph, x, weft_shape_of(0, 1, 2, 3)),
            "[0, 1, 2, 3]");
    REFUSED(INVALID_ARGUMENT, weft_graph_permute(&y, f->graph, x, (weft_shape){.rank = 77}), "0");
    assert_ok(weft_graph_input(&half, f->graph, "half", WEFT_F16, weft_shape_of(2, 3)));
    REFUSED(SHAPE_MISMATCH, weft_graph_permute(&y, f->graph, half, weft_shape_of(1, 0)), "f16");
}

WEFT_TEST_ON_GRAPH(slices_stay_inside, f) {
    weft_tensor y;
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(2, 7));
    assert_ok(weft_graph_slice(&y, f->graph, x, 1, 6, 3, -3));
    weft_test_expect_shape(f->graph, y, weft_shape_of(2, 3));
    REFUSED(INVALID_ARGUMENT, weft_graph_slice(&y, f->graph, x, 2, 0, 1, 1), "axis 2", "[2, 7]");
    REFUSED(INVALID_ARGUMENT, weft_graph_slice(&y, f->graph, x, 1, 0, 0, 1), "count of 0");
    REFUSED(INVALID_ARGUMENT, weft_graph_slice(&y, f->graph, x, 1, 0, 1, 0), "step of 0");
    REFUSED(INVALID_ARGUMENT, weft_graph_slice(&y, f->graph, x, 1, 7, 1, 1), "from 7", "with 7");
    REFUSED(INVALID_ARGUMENT, weft_graph_slice(&y, f->graph, x, 1, 1, 4, 2), "4 elements");
    REFUSED(INVALID_ARGUMENT, weft_graph_slice(&y, f->graph, x, 1, 5, 3, -3), "steps of -3");
    REFUSED(INVALID_ARGUMENT, weft_graph_slice(&y, f->graph, x, 1, 0, UINT32_MAX, INT32_MAX),
            "4294967295");
    REFUSED(INVALID_ARGUMENT, weft_graph_slice(&y, f->graph, x, 1, 0, UINT32_MAX, INT32_MIN),
            "4294967295");
}

WEFT_TEST_ON_GRAPH(concatenations_fit_together, f) {
    weft_tensor y;
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(2, 7));
    weft_tensor more = weft_test_input(f->graph, "more", weft_shape_of(5, 7));
    weft_tensor flat = weft_test_input(f->graph, "flat", weft_shape_of(2));
    weft_tensor whole = weft_test_input_i32(f->graph, "whole", weft_shape_of(2, 7));
    weft_tensor vast = weft_test_input(f->graph, "vast", weft_shape_of(1U << 31));
    weft_tensor many[12];
    for (uint32_t i = 0; i < 12; i++) {
        many[i] = i == 11 ? more : x;
    }
    assert_ok(weft_graph_concat(&y, f->graph, many, 12, 0));
    weft_test_expect_shape(f->graph, y, weft_shape_of(27, 7));
    REFUSED(SHAPE_MISMATCH, weft_graph_concat(&y, f->graph, many, 12, 1), "[2, 7]", "[5, 7]");
    REFUSED(INVALID_ARGUMENT, weft_graph_concat(&y, f->graph, many, 2, 2), "axis 2");
    REFUSED(INVALID_ARGUMENT, weft_graph_concat(&y, f->graph, many, 0, 0), "not 0");
    REFUSED(INVALID_ARGUMENT, weft_graph_concat(&y, f->graph, NULL, 1, 0), "null");
    REFUSED(SHAPE_MISMATCH, weft_graph_concat(&y, f->graph, (weft_tensor[]){x, flat}, 2, 1), "[2]");
    REFUSED(SHAPE_MISMATCH, weft_graph_concat(&y, f->graph, (weft_tensor[]){x, whole}, 2, 1), "i32",
            "f32");
    REFUSED(INVALID_ARGUMENT, weft_graph_concat(&y, f->graph, (weft_tensor[]){vast, vast}, 2, 0),
            "4294967296");
    REFUSED(INVALID_ARGUMENT, weft_graph_concat(&y, f->graph, (weft_tensor[]){x, {0}}, 2, 0),
            "tensor 1");
}

WEFT_TEST_ON_GRAPH(padding_has_a_value_of_the_type, f) {
    weft_tensor y;
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(2, 7));
    weft_tensor whole = weft_test_input_i32(f->graph, "whole", weft_shape_of(2, 7));
    assert_ok(weft_graph_pad(&y, f->graph, x, 1, 2, 3, -INFINITY));
    weft_test_expect_shape(f->graph, y, weft_shape_of(2, 12));
    assert_ok(weft_graph_pad(&y, f->graph, whole, 0, 0, 1, -2147483648.0F));
    REFUSED(INVALID_ARGUMENT, weft_graph_pad(&y, f->graph, x, 2, 0, 1, 0.0F), "axis 2");
    REFUSED(INVALID_ARGUMENT, weft_graph_pad(&y, f->graph, whole, 0, 0, 1, 0.5F), "0.5");
    REFUSED(INVALID_ARGUMENT, weft_graph_pad(&y, f->graph, whole, 0, 0, 1, NAN), "nan");
    REFUSED(INVALID_ARGUMENT, weft_graph_pad(&y, f->graph, whole, 0, 0, 1, 2147483648.0F), "i32");
    REFUSED(INVALID_ARGUMENT, weft_graph_pad(&y, f->graph, x, 0, UINT32_MAX, UINT32_MAX, 0.0F),
            "8589934592");
}

WEFT_TEST_ON_GRAPH(broadcasting_repeats_axes_of_one, f) {
    weft_tensor y;
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(3, 1));
    assert_ok(weft_graph_expand(&y, f->graph, x, weft_shape_of(2, 3, 7)));
    weft_test_expect_shape(f->graph, y, weft_shape_of(2, 3, 7));
    REFUSED(SHAPE_MISMATCH, weft_graph_expand(&y, f->graph, x, weft_shape_of(7)), "[3, 1]", "[7]");
    REFUSED(SHAPE_MISMATCH, weft_graph_expand(&y, f->graph, x, weft_shape_of(6, 7)), "[6, 7]");
    REFUSED(INVALID_ARGUMENT, weft_graph_expand(&y, f->graph, x, weft_shape_of(3, 0)), "axis 1");
    REFUSED(INVALID_ARGUMENT, weft_graph_expand(&y, f->graph, x, (weft_shape){.rank = 9}), "9");
}

WEFT_TEST_ON_GRAPH(indices_are_whole_numbers, f) {
    weft_tensor y;
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(3, 5));
    weft_tensor i = weft_test_input_i32(f->graph, "i", weft_shape_of(2, 5));
    weft_tensor deep = weft_test_input_i32(
        f->graph, "deep", (weft_shape){.rank = 8, .dim = {1, 1, 1, 1, 1, 1, 1, 1}});
    assert_ok(weft_graph_take(&y, f->graph, x, i, 1));
    weft_test_expect_shape(f->graph, y, weft_shape_of(3, 2, 5));
    assert_ok(weft_graph_take_along(&y, f->graph, x, i, 0));
    weft_test_expect_shape(f->graph, y, weft_shape_of(2, 5));
    REFUSED(SHAPE_MISMATCH, weft_graph_take(&y, f->graph, x, x, 0), "take", "f32");
    REFUSED(SHAPE_MISMATCH, weft_graph_take_along(&y, f->graph, x, x, 0), "take_along", "f32");
    REFUSED(INVALID_ARGUMENT, weft_graph_take(&y, f->graph, x, i, 2), "axis 2");
    REFUSED(INVALID_ARGUMENT, weft_graph_take(&y, f->graph, x, deep, 0), "8 axes");
    REFUSED(SHAPE_MISMATCH, weft_graph_take_along(&y, f->graph, x, i, 1), "[2, 5]", "[3, 5]");
    REFUSED(SHAPE_MISMATCH, weft_graph_take_along(&y, f->graph, x, deep, 1), "[3, 5]");
}

WEFT_TEST_ON_GRAPH(indices_outside_are_refused_or_missing, f) {
    const int32_t indices[] = {2, -1, 3, 0};
    const float x[] = {1.0F, 2.0F, 3.0F};
    const int32_t whole[] = {7, 8, 9};
    const float expected[] = {3.0F, NAN, NAN, 1.0F};
    float found[4];
    int32_t found_whole[4];
    struct weft_test_run run = weft_test_begin(f->device);
    weft_tensor y;
    weft_tensor i = weft_test_feed_i32(&run, "i", weft_shape_of(4), indices);
    assert_ok(weft_graph_take(&y, run.graph, weft_test_feed(&run, "x", weft_shape_of(3), x), i, 0));
    weft_test_take(&run, "y", y, found);
    assert_ok(weft_graph_take_along(
        &y, run.graph, weft_test_feed_i32(&run, "whole", weft_shape_of(3), whole), i, 0));
    weft_test_take(&run, "z", y, (float *)found_whole);
    weft_plan *plan = weft_test_plan(&run, NULL);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_execute(plan, run.tensors, run.count), "'i'", "-1", "0 to 2");
    weft_test_run_plan(&run, plan);
    for (uint32_t k = 0; k < 4; k++) {
        assert_true(found[k] == expected[k] || (isnan(found[k]) && isnan(expected[k])));
    }
    assert_int_equal(found_whole[0], 9);
    assert_int_equal(found_whole[1], 0);
    assert_int_equal(found_whole[2], 0);
    assert_int_equal(found_whole[3], 7);
    weft_plan_destroy(&plan);
}

/* ---- views ---- */

WEFT_TEST_ON_GRAPH(what_moves_nothing_is_a_view, f) {
    weft_graph *graph = f->graph;
    weft_tensor y = weft_test_input(graph, "x", weft_shape_of(4, 1, 6));
    weft_plan_info info;
    weft_plan *plan = NULL;
    assert_ok(weft_graph_affine(&y, graph, y, 2.0F, 0.0F));
    assert_ok(weft_graph_permute(&y, graph, y, weft_shape_of(1, 0, 2)));
    assert_ok(weft_graph_slice(&y, graph, y, 1, 0, 4, 1));
    assert_ok(weft_graph_slice(&y, graph, y, 0, 0, 1, -3));
    assert_ok(weft_graph_pad(&y, graph, y, 1, 0, 0, 1.0F));
    assert_ok(weft_graph_concat(&y, graph, &y, 1, 2));
    assert_ok(weft_graph_expand(&y, graph, y, weft_shape_of(1, 1, 4, 6)));
    weft_test_expect_shape(graph, y, weft_shape_of(1, 1, 4, 6));
    assert_ok(weft_graph_output(graph, "y", y));
    assert_ok(weft_plan_compile(&plan, f->device, graph, NULL));
    assert_ok(weft_plan_get_info(plan, &info));
    assert_int_equal(info.dispatches, 1);
    weft_plan_destroy(&plan);
}

/** Rows from the third on of twice x [5, 64], plus 1: in the memory of twice x, where every device can bind them. */
WEFT_TEST_ON_GRAPH(rows_are_read_where_they_are, f) {
    float x[5 * 64], found[2 * 64], rows[2 * 64], single[64];
    for (uint32_t i = 0; i < 5 * 64; i++) {
        x[i] = (float)i;
    }
    struct weft_test_run run = weft_test_begin(f->device);
    weft_tensor in = weft_test_feed(&run, "x", weft_shape_of(5, 64), x);
    weft_tensor twice, y, row;
    weft_plan_info info;
    assert_ok(weft_graph_affine(&twice, run.graph, in, 2.0F, 0.0F));
    assert_ok(weft_graph_slice(&y, run.graph, twice, 0, 2, 3, 1));
    assert_ok(weft_graph_slice(&y, run.graph, y, 0, 1, 2, 1));
    assert_ok(weft_graph_affine(&row, run.graph, y, 1.0F, 1.0F));
    weft_test_take(&run, "found", row, found);
    weft_test_take(&run, "rows", y, rows);
    assert_ok(weft_graph_slice(&row, run.graph, in, 0, 4, 1, 1));
    assert_ok(weft_graph_affine(&row, run.graph, row, 1.0F, 1.0F));
    weft_test_take(&run, "single", row, single);
    weft_plan *plan = weft_test_plan(&run, NULL);
    assert_ok(weft_plan_get_info(plan, &info));
    assert_int_equal(info.dispatches, 4); /* three affine ones, and an output that is a copy */
    weft_test_run_plan(&run, plan);
    weft_plan_destroy(&plan);
    for (uint32_t i = 0; i < 2 * 64; i++) {
        assert_true(rows[i] == 2.0F * x[3 * 64 + i] && found[i] == rows[i] + 1.0F);
    }
    for (uint32_t i = 0; i < 64; i++) {
        assert_true(single[i] == x[4 * 64 + i] + 1.0F);
    }
}

/** Dispatches of a plan for x Wᵀ and x xᵀ, which permutations transpose. */
static uint32_t dispatches_of_products(struct weft_test_graph *f, bool no_fusion) {
    static const float numbers[5 * 7] = {1.0F};
    struct weft_test_run run = weft_test_begin(f->device);
    weft_tensor x = weft_test_input(run.graph, "x", weft_shape_of(2, 3, 7));
    weft_tensor w = weft_test_constant(run.graph, weft_shape_of(5, 7), numbers);
    weft_tensor y[2];
    weft_plan_info info;
    weft_plan *plan = NULL;
    assert_ok(weft_graph_permute(&w, run.graph, w, weft_shape_of(1, 0)));
    assert_ok(weft_graph_matmul(&y[0], run.graph, x, w, NULL));
    assert_ok(weft_graph_permute(&y[1], run.graph, x, weft_shape_of(0, 2, 1)));
    assert_ok(weft_graph_matmul(&y[1], run.graph, x, y[1], NULL));
    assert_ok(weft_graph_output(run.graph, "a", y[0]));
    assert_ok(weft_graph_output(run.graph, "b", y[1]));
    assert_ok(
        weft_plan_compile(&plan, f->device, run.graph, weft_plan_params(.no_fusion = no_fusion)));
    assert_ok(weft_plan_get_info(plan, &info));
    weft_plan_destroy(&plan);
    weft_graph_destroy(&run.graph);
    return info.dispatches;
}

WEFT_TEST_ON_GRAPH(products_read_transposed_matrices_as_they_are, f) {
    assert_int_equal(dispatches_of_products(f, false), 2);
    assert_int_equal(dispatches_of_products(f, true), 4);
}

/* ---- shapes ---- */

/** Every op once, of sequences of that shape. */
static uint32_t pipelines_compiled(struct weft_test_graph *f, uint32_t batch, uint32_t length) {
    struct weft_test_run run = weft_test_begin(f->device);
    weft_graph *graph = run.graph;
    weft_tensor x = weft_test_input(graph, "x", weft_shape_of(batch, length, 4, 8));
    weft_tensor i = weft_test_input_i32(graph, "i", weft_shape_of(batch, 3));
    weft_tensor heads, rows, y[6];
    weft_plan_info info;
    weft_plan *plan = NULL;
    assert_ok(weft_graph_reshape(&rows, graph, x, weft_shape_of(batch, length, 32)));
    assert_ok(weft_graph_permute(&heads, graph, x, weft_shape_of(0, 2, 1, 3)));
    assert_ok(weft_graph_permute(&y[0], graph, rows, weft_shape_of(0, 2, 1)));
    assert_ok(weft_graph_slice(&y[1], graph, rows, 2, 8, 16, 1));
    assert_ok(weft_graph_concat(&y[2], graph, (weft_tensor[]){rows, rows}, 2, 1));
    assert_ok(weft_graph_pad(&y[3], graph, rows, 1, 2, 0, 0.0F));
    assert_ok(weft_graph_expand(&y[4], graph, rows, weft_shape_of(2, batch, length, 32)));
    assert_ok(weft_graph_take(&y[5], graph, rows, i, 1));
    assert_ok(weft_graph_output(graph, "heads", heads));
    for (uint32_t k = 0; k < 6; k++) {
        assert_ok(weft_graph_output(graph, weft_test_text("y%u", k), y[k]));
    }
    assert_ok(weft_plan_compile(&plan, f->device, graph, NULL));
    assert_ok(weft_plan_get_info(plan, &info));
    weft_plan_destroy(&plan);
    weft_graph_destroy(&run.graph);
    return info.pipelines_compiled;
}

WEFT_TEST_ON_FRESH_GRAPH(shapes_are_no_reason_to_compile, f) {
    static const uint32_t batches[] = {1, 2, 7, 64};
    assert_true(pipelines_compiled(f, 3, 33) > 0);
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t length = 40; length <= 120; length += 16) {
            assert_int_equal(pipelines_compiled(f, batches[i], length + i), 0);
        }
    }
}

/* ---- tensors in windows ---- */

enum { ROWS = 61, COLUMNS = 48, COUNT = ROWS * COLUMNS };

static void fill(float *x, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        x[i] = (float)i;
    }
}

/** Of x [ROWS, COLUMNS] by that function, with windows of 1 KiB. */
static void run_windows(struct weft_test_graph *f, float *found,
                        weft_tensor (*build)(struct weft_test_run *run, weft_tensor x)) {
    static float x[COUNT];
    fill(x, COUNT);
    struct weft_test_run run = weft_test_begin(f->device);
    const weft_tensor in = weft_test_feed(&run, "x", weft_shape_of(ROWS, COLUMNS), x);
    weft_test_take(&run, "y", build(&run, in), found);
    weft_test_execute_in_parts(&run, 1024);
}

static weft_tensor transpose(struct weft_test_run *run, weft_tensor x) {
    weft_tensor y;
    assert_ok(weft_graph_permute(&y, run->graph, x, weft_shape_of(1, 0)));
    return y;
}

static weft_tensor mirror(struct weft_test_run *run, weft_tensor x) {
    weft_tensor y;
    assert_ok(weft_graph_slice(&y, run->graph, x, 1, COLUMNS - 1, COLUMNS, -1));
    return y;
}

static weft_tensor double_it(struct weft_test_run *run, weft_tensor x) {
    weft_tensor y;
    assert_ok(weft_graph_concat(&y, run->graph, (weft_tensor[]){x, x}, 2, 1));
    return y;
}

static weft_tensor pad_it(struct weft_test_run *run, weft_tensor x) {
    weft_tensor y;
    assert_ok(weft_graph_pad(&y, run->graph, x, 1, 3, 1, -1.0F));
    return y;
}

static weft_tensor take_some(struct weft_test_run *run, weft_tensor x) {
    int32_t rows[ROWS];
    weft_tensor y;
    for (int32_t i = 0; i < ROWS; i++) {
        rows[i] = i == 5 ? -1 : i * 7 % ROWS;
    }
    const weft_tensor indices = weft_test_constant_i32(run->graph, weft_shape_of(ROWS), rows);
    assert_ok(weft_graph_take(&y, run->graph, x, indices, 0));
    return y;
}

static weft_tensor take_mirrored(struct weft_test_run *run, weft_tensor x) {
    static int32_t indices[COUNT];
    weft_tensor y;
    for (int32_t i = 0; i < COUNT; i++) {
        indices[i] = i == 100 ? COLUMNS : COLUMNS - 1 - i % COLUMNS;
    }
    const weft_tensor along =
        weft_test_constant_i32(run->graph, weft_shape_of(ROWS, COLUMNS), indices);
    assert_ok(weft_graph_take_along(&y, run->graph, x, along, 1));
    return y;
}

WEFT_TEST_ON_GRAPH(permutations_and_slices_in_windows, f) {
    static float y[COUNT];
    run_windows(f, y, transpose);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(y[i] == (float)(i % ROWS * COLUMNS + i / ROWS));
    }
    run_windows(f, y, mirror);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(y[i] == (float)(i / COLUMNS * COLUMNS + COLUMNS - 1 - i % COLUMNS));
    }
}

WEFT_TEST_ON_GRAPH(rows_put_together_in_windows, f) {
    static float y[ROWS * 2 * COLUMNS];
    run_windows(f, y, double_it);
    for (uint32_t i = 0; i < 2 * COUNT; i++) {
        assert_true(y[i] == (float)(i / (2 * COLUMNS) * COLUMNS + i % COLUMNS));
    }
    run_windows(f, y, pad_it);
    for (uint32_t i = 0; i < ROWS * (COLUMNS + 4); i++) {
        const uint32_t column = i % (COLUMNS + 4) - 3;
        const float own = (float)(i / (COLUMNS + 4) * COLUMNS + column);
        assert_true(y[i] == (column < COLUMNS ? own : -1.0F));
    }
}

WEFT_TEST_ON_GRAPH(elements_by_indices_in_windows, f) {
    static float y[COUNT];
    run_windows(f, y, take_some);
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t row = i / COLUMNS;
        assert_true(row == 5 ? isnan(y[i])
                             : y[i] == (float)(row * 7 % ROWS * COLUMNS + i % COLUMNS));
    }
    run_windows(f, y, take_mirrored);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(i == 100 ? isnan(y[i])
                             : y[i] == (float)(i / COLUMNS * COLUMNS + COLUMNS - 1 - i % COLUMNS));
    }
}
