/* SPDX-License-Identifier: MIT */
/*
 * What compiling takes grows with a graph's nodes, and not with their square. Counted is what the passes look at that look for what is
 * nearby, and processor time for all the rest, with so much room that only another power is found. The device runs nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "plan/plan.h"
#include "support_graph.h"

enum { FEW = 1000, TIMES = 16, CLASSES = 37 };

static int set_up(void **state) {
    return weft_test_graph_set_up_null(state, (weft_device_params){.math = WEFT_MATH_FAST});
}

#define TEST(name, f) \
    WEFT_TEST_WITH(name, struct weft_test_graph *f, set_up, weft_test_graph_tear_down)

/* ---- graphs of about n nodes ---- */

static weft_tensor input(weft_graph *graph, uint32_t index, uint32_t columns) {
    char name[16];
    snprintf(name, sizeof name, "x%u", index);
    return weft_test_input(graph, name, weft_shape_of(3, columns));
}

static weft_tensor shift(weft_graph *graph, weft_tensor x, uint32_t by) {
    weft_tensor y = {0};
    assert_ok(weft_graph_affine(&y, graph, x, 1.0F, (float)by));
    return y;
}

static weft_tensor sum(weft_graph *graph, weft_tensor a, weft_tensor b) {
    weft_tensor y = {0};
    assert_ok(weft_graph_binary(&y, graph, WEFT_BINARY_ADD, a, b));
    return y;
}

static void output(weft_graph *graph, weft_tensor tensor, uint32_t index) {
    char name[16];
    snprintf(name, sizeof name, "y%u", index);
    assert_ok(weft_graph_output(graph, name, tensor));
}

static void add_chain(weft_graph *graph, uint32_t n) {
    weft_tensor x = input(graph, 0, 16);
    for (uint32_t i = 0; i < n; i++) {
        x = shift(graph, x, i);
    }
    output(graph, x, 0);
}

/* Tensors of several sizes that all live at once, and then end one by one. */
static void add_wide(weft_graph *graph, uint32_t n) {
    weft_tensor x[CLASSES], sums[CLASSES];
    weft_tensor *all = weft_test_keep(n * sizeof *all);
    for (uint32_t i = 0; i < CLASSES; i++) {
        x[i] = sums[i] = input(graph, i, 1 + 29 * i);
    }
    for (uint32_t i = 0; i < n / 2; i++) {
        all[i] = shift(graph, x[i % CLASSES], i);
    }
    for (uint32_t i = 0; i < n / 2; i++) {
        sums[i % CLASSES] = sum(graph, sums[i % CLASSES], all[i]);
    }
    for (uint32_t i = 0; i < CLASSES; i++) {
        output(graph, sums[i], i);
    }
}

/* As of a U-Net: what is made first is read last. */
static void add_nested(weft_graph *graph, uint32_t n) {
    weft_tensor *all = weft_test_keep((n / 2 + 1) * sizeof *all);
    all[0] = input(graph, 0, 16);
    for (uint32_t i = 0; i < n / 2; i++) {
        all[i + 1] = shift(graph, all[i], i);
    }
    weft_tensor x = all[n / 2];
    for (uint32_t i = n / 2; i-- > 0;) {
        x = sum(graph, x, all[i]);
    }
    output(graph, x, 0);
}

static void add_outputs(weft_graph *graph, uint32_t n) {
    const weft_tensor x = input(graph, 0, 16);
    for (uint32_t i = 0; i < n; i++) {
        output(graph, shift(graph, x, i), i);
    }
}

static void add_views(weft_graph *graph, uint32_t n) {
    weft_tensor x = input(graph, 0, 16);
    for (uint32_t i = 0; i < n; i++) {
        const weft_shape shape = i % 2 ? weft_shape_of(3, 16) : weft_shape_of(6, 8);
        assert_ok(weft_graph_reshape(&x, graph, x, shape));
    }
    output(graph, x, 0);
}

/* A chain of constants, of which each is read by a node that is none, the last first. */
static void add_constants(weft_graph *graph, uint32_t n) {
    static const float data[4] = {1, 2, 3, 4};
    weft_tensor *all = weft_test_keep((n / 2 + 1) * sizeof *all);
    weft_tensor x = weft_test_input(graph, "x", weft_shape_of(4));
    all[0] = weft_test_constant(graph, weft_shape_of(4), data);
    for (uint32_t i = 0; i < n / 2; i++) {
        all[i + 1] = shift(graph, all[i], i);
    }
    for (uint32_t i = n / 2; i-- > 0;) {
        x = sum(graph, x, all[i + 1]);
    }
    output(graph, x, 0);
}

/* ---- what it takes ---- */

struct cost {
    uint64_t steps;
    double seconds; /* of the processor */
};

static struct cost cost_of(struct weft_test_graph *f, void (*add)(weft_graph *graph, uint32_t n),
                           uint32_t n) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    const clock_t start = clock();
    assert_ok(weft_graph_create(&graph, &f->host.host));
    add(graph, n);
    assert_ok(weft_plan_compile(&plan, f->device, graph, NULL));
    const uint64_t steps = plan->lowering.steps;
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
    return (struct cost){.steps = steps,
                         .seconds = (double)(clock() - start) / (double)CLOCKS_PER_SEC};
}

/* Sixteen times the nodes take 16 times as long, where 256 times would be the square. */
static void expect_linear(struct weft_test_graph *f, void (*add)(weft_graph *graph, uint32_t n)) {
    (void)cost_of(f, add, FEW); /* makes kernels */
    const struct cost few = cost_of(f, add, FEW);
    const struct cost many = cost_of(f, add, TIMES * FEW);
    if (many.steps > 3 * TIMES * (few.steps + FEW)) {
        fail_msg("%llu steps for %d nodes, %llu for %d", (unsigned long long)few.steps, FEW,
                 (unsigned long long)many.steps, TIMES * FEW);
    }
    if (many.seconds > 5 * TIMES * (few.seconds + 0.002)) {
        fail_msg("%g s of the processor for %d nodes, %g for %d", few.seconds, FEW, many.seconds,
                 TIMES * FEW);
    }
}

TEST(chains, f) {
    expect_linear(f, add_chain);
}

TEST(wide_graphs, f) {
    expect_linear(f, add_wide);
}

TEST(nested_lives, f) {
    expect_linear(f, add_nested);
}

TEST(outputs, f) {
    expect_linear(f, add_outputs);
}

TEST(views, f) {
    expect_linear(f, add_views);
}

TEST(constants, f) {
    expect_linear(f, add_constants);
}

/* ---- bindings ---- */

TEST(bindings_go_in_the_order_in_which_they_came, f) {
    enum { BINDINGS = 20000 };
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_bindings **all = weft_test_keep(BINDINGS * sizeof(weft_bindings *));
    assert_ok(weft_graph_create(&graph, &f->host.host));
    add_chain(graph, 1);
    assert_ok(weft_plan_compile(&plan, f->device, graph, NULL));
    for (uint32_t i = 0; i < BINDINGS; i++) {
        assert_ok(weft_bindings_create(&all[i], plan));
    }
    for (uint32_t i = 0; i < BINDINGS; i++) {
        assert_true(all[i]->next == (i == 0 ? NULL : all[i - 1]));
        assert_true(all[i]->previous == (i + 1 == BINDINGS ? NULL : all[i + 1]));
    }
    for (uint32_t i = 0; i < BINDINGS; i += 2) {
        weft_bindings_destroy(&all[i]);
    }
    uint32_t left = 0;
    for (const weft_bindings *bindings = plan->bindings; bindings; bindings = bindings->next) {
        assert_true(!bindings->next || bindings->next->previous == bindings);
        left++;
    }
    assert_int_equal(left, BINDINGS / 2);
    for (uint32_t i = 1; i < BINDINGS; i += 2) {
        weft_bindings_destroy(&all[i]);
    }
    assert_null(plan->bindings);
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
}
