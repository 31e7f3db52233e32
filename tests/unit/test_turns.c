/* SPDX-License-Identifier: MIT */
/* weft-test: every device */
/*
 * Loops of more turns than some drivers make (shaders/probe/turns.comp): a sum of ones is their number, or the plan is refused. Recurrences,
 * which are cut, have no such end.
 */
#include <weft/arithmetic.h>
#include <weft/mixers/conv.h>
#include <weft/mixers/kernels.h>
#include <weft/mixers/recurrent.h>
#include <weft/movement.h>

#include "device/device.h"
#include "support_graph.h"

enum { LONG = 1 << 18, ROW = 1 << 23, EDGE = 512, STEPS = 12000, WIDE = 64 };

static float *ones(size_t count) {
    float *x = malloc(count * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < count; i++) {
        x[i] = 1.0F;
    }
    return x;
}

static weft_tensor sum_of_products(struct weft_test_run *run, const float *x) {
    weft_tensor out, a = weft_test_feed(run, "a", weft_shape_of(1, LONG), x);
    weft_tensor b = weft_test_feed(run, "b", weft_shape_of(LONG, 1), x);
    assert_ok(weft_graph_matmul(&out, run->graph, a, b, NULL));
    return out;
}

static weft_tensor sum_of_row(struct weft_test_run *run, const float *x) {
    weft_tensor out, in = weft_test_feed(run, "x", weft_shape_of(1, ROW), x);
    assert_ok(weft_graph_reduce(&out, run->graph, WEFT_REDUCTION_SUM, in,
                                weft_reduce_params(.axes = {1}, .axis_count = 1)));
    return out;
}

/* Of equal numbers each is one of that many. */
static weft_tensor softmax_of_columns(struct weft_test_run *run, const float *x) {
    weft_tensor out, in = weft_test_feed(run, "x", weft_shape_of(LONG, 2), x);
    assert_ok(weft_graph_softmax_axis(&out, run->graph, in, 0));
    assert_ok(weft_graph_slice(&out, run->graph, out, 0, 0, 1, 1));
    assert_ok(weft_graph_affine(&out, run->graph, out, LONG, 0.0F));
    return out;
}

static weft_tensor sum_of_window(struct weft_test_run *run, const float *x) {
    const weft_shape shape = weft_shape_of(1, 1, EDGE, EDGE);
    weft_tensor out, in = weft_test_feed(run, "x", shape, x);
    weft_tensor weight = weft_test_feed(run, "weight", shape, x);
    assert_ok(weft_graph_conv(&out, run->graph, in, weight, NULL));
    return out;
}

static weft_tensor mean_of_window(struct weft_test_run *run, const float *x) {
    weft_tensor out, in = weft_test_feed(run, "x", weft_shape_of(1, 1, EDGE, EDGE), x);
    assert_ok(weft_graph_pool(&out, run->graph, WEFT_POOL_AVERAGE, in,
                              weft_pool_params(.sizes = {EDGE, EDGE})));
    return out;
}

/* With one feature, what is written replaces what was there: each token reads its own value. */
static weft_tensor rule_of_chunks(struct weft_test_run *run, const float *x) {
    weft_tensor in = weft_test_feed(run, "x", weft_shape_of(1, LONG, 1), x), out;
    assert_ok(weft_graph_fast_weight(&out, run->graph, in, in, in, in, NULL));
    assert_ok(weft_graph_slice(&out, run->graph, out, 1, LONG - 1, 1, 1));
    return out;
}

static const struct {
    const char *name;
    weft_tensor (*build)(struct weft_test_run *run, const float *x);
    size_t count;
    float expected;
} sums[] = {
    {"matmul", sum_of_products, LONG, LONG},      {"reduce", sum_of_row, ROW, ROW},
    {"softmax", softmax_of_columns, LONG * 2, 1}, {"conv", sum_of_window, EDGE *EDGE, EDGE *EDGE},
    {"pool", mean_of_window, EDGE *EDGE, 1},      {"fast_weight", rule_of_chunks, LONG, 1},
};

WEFT_TEST_ON_GRAPH(test_long_sums_are_whole_or_refused, f) {
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        float *x = ones(sums[i].count), y[2] = {0};
        struct weft_test_run run = weft_test_begin(f->device);
        weft_plan *plan = NULL;
        const weft_tensor out = sums[i].build(&run, x);
        weft_test_take(&run, "y", out, y);
        const weft_status status = weft_plan_compile(&plan, f->device, run.graph, NULL);
        if (status == WEFT_UNSUPPORTED) {
            assert_true(f->device->most_turns > 0);
            weft_test_expect_log(&f->host, sums[i].name, "turns", "ends loops after");
        } else {
            assert_ok(status);
            weft_test_run_plan(&run, plan);
            if (y[0] != sums[i].expected) {
                fail_msg("%s: %g, expected %g", sums[i].name, (double)y[0],
                         (double)sums[i].expected);
            }
        }
        weft_plan_destroy(&plan);
        weft_graph_destroy(&run.graph);
        free(x);
    }
}

/* h + 1 in each step: the weight is the identity. */
static void count_steps(struct weft_test_graph *f, weft_cell cell, uint32_t width) {
    const size_t count = (size_t)STEPS * width;
    float *gates = ones(count), *weight = calloc((size_t)width * width, sizeof *weight);
    float *y = malloc(count * sizeof *y);
    assert_true(weight && y);
    for (uint32_t i = 0; i < width; i++) {
        weight[(size_t)i * width + i] = 1.0F;
    }
    struct weft_test_run run = weft_test_begin(f->device);
    weft_tensor out, in = weft_test_feed(&run, "gates", weft_shape_of(1, STEPS, width), gates);
    weft_tensor matrix = weft_test_feed(&run, "weight", weft_shape_of(width, width), weight);
    assert_ok(
        weft_graph_recurrence(&out, run.graph, in, matrix, weft_recurrence_params(.cell = cell)));
    weft_test_execute_to(&run, out, y);
    for (size_t i = 0; i < count; i++) {
        assert_true(y[i] == (float)(i / width + 1));
    }
    free(gates);
    free(weight);
    free(y);
}

WEFT_TEST_ON_GRAPH(test_recurrences_have_no_end, f) {
    count_steps(f, WEFT_CELL_RELU, 1);
    count_steps(f, WEFT_CELL_RELU, WIDE);
}

/* Each step adds its key to the state's rows, and reads as many as there are. */
WEFT_TEST_ON_GRAPH(test_states_have_no_end, f) {
    float *x = ones((size_t)STEPS * WIDE), *y = malloc(STEPS * sizeof *y);
    assert_non_null(y);
    struct weft_test_run run = weft_test_begin(f->device);
    weft_tensor q = weft_test_feed(&run, "q", weft_shape_of(1, STEPS, WIDE), x);
    weft_tensor k = weft_test_feed(&run, "k", weft_shape_of(1, STEPS, WIDE), x);
    weft_tensor v = weft_test_feed(&run, "v", weft_shape_of(1, STEPS, 1), x), out;
    assert_ok(
        weft_graph_gated_state(&out, run.graph, q, k, v, weft_gated_state_params(.scale = 1)));
    weft_test_execute_to(&run, out, y);
    for (uint32_t i = 0; i < STEPS; i++) {
        assert_true(y[i] == (float)((i + 1) * WIDE));
    }
    free(x);
    free(y);
}

/* Each step adds as much to each state, of which none decays. */
WEFT_TEST_ON_GRAPH(test_scans_have_no_end, f) {
    enum { STATES = 64 };
    float *x = ones((size_t)STEPS * STATES), *y = malloc(STEPS * sizeof *y);
    float *a = calloc(STATES, sizeof *a);
    assert_true(y && a);
    struct weft_test_run run = weft_test_begin(f->device);
    const weft_shape of_x = weft_shape_of(1, STEPS, 1), of_states = weft_shape_of(1, STEPS, STATES);
    weft_tensor out;
    assert_ok(weft_graph_selective_scan(
        &out, run.graph, weft_test_feed(&run, "x", of_x, x), weft_test_feed(&run, "delta", of_x, x),
        weft_test_feed(&run, "a", weft_shape_of(STATES, 1), a),
        weft_test_feed(&run, "b", of_states, x), weft_test_feed(&run, "c", of_states, x), NULL));
    weft_test_execute_to(&run, out, y);
    for (uint32_t i = 0; i < STEPS; i++) {
        assert_true(y[i] == (float)((i + 1) * STATES));
    }
    free(x);
    free(y);
    free(a);
}
