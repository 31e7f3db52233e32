/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Constant folding: what depends on weights alone is run once, and nothing else changes. */
#include <weft/mixers.h>

#include "core/math/philox.h"
#include "support_graph.h"

enum { ROWS = 9, COLUMNS = 12, ELEMENTS = ROWS * COLUMNS };

static weft_weight *make_weight(weft_shape shape, uint64_t stream) {
    float data[ELEMENTS];
    weft_weight *weight = NULL;
    weft_philox_uniform(data, ELEMENTS, 2026, stream);
    assert_ok(weft_weight_create(&weight, weft_weight_params(.shape = shape, .data = data), NULL));
    return weight;
}

static weft_tensor weight_tensor(weft_graph *graph, weft_weight *weight) {
    weft_tensor tensor;
    assert_ok(weft_graph_weight(&tensor, graph, weight));
    return tensor;
}

static weft_plan *compile(struct weft_test_graph *f, const weft_graph *graph,
                          const weft_plan_params *params) {
    weft_plan *plan = NULL;
    assert_ok(weft_plan_compile(&plan, f->device, graph, params));
    return plan;
}

static uint32_t dispatches(const weft_plan *plan) {
    weft_plan_info info;
    assert_ok(weft_plan_get_info(plan, &info));
    return info.dispatches;
}

static uint64_t submissions(const struct weft_test_graph *f) {
    weft_device_stats stats;
    assert_ok(weft_device_get_stats(f->device, &stats));
    return stats.submissions;
}

/* softmax(a) · sigmoid(b): two dispatches of weights alone, and a view. */
static weft_tensor constant_chain(weft_graph *graph, weft_weight *a, weft_weight *b) {
    weft_tensor left;
    weft_tensor right;
    weft_tensor y;
    assert_ok(weft_graph_softmax(&left, graph, weight_tensor(graph, a)));
    assert_ok(weft_graph_activate(&right, graph, weight_tensor(graph, b), WEFT_ACTIVATION_SIGMOID));
    assert_ok(weft_graph_binary(&y, graph, WEFT_BINARY_MULTIPLY, left, right));
    assert_ok(weft_graph_reshape(&y, graph, y, weft_shape_of(1, ROWS, COLUMNS)));
    return y;
}

/* x times the chain: one dispatch if the chain is folded. */
static weft_graph *make_graph(struct weft_test_graph *f, weft_weight *a, weft_weight *b) {
    weft_graph *graph = NULL;
    weft_tensor y;
    assert_ok(weft_graph_create(&graph, &f->host.host));
    weft_tensor x = weft_test_input(graph, "x", weft_shape_of(1, ROWS, COLUMNS));
    assert_ok(weft_graph_binary(&y, graph, WEFT_BINARY_MULTIPLY, x, constant_chain(graph, a, b)));
    assert_ok(weft_graph_output(graph, "y", y));
    return graph;
}

static void execute(weft_plan *plan, float y[ELEMENTS]) {
    float x[ELEMENTS];
    weft_philox_uniform(x, ELEMENTS, 2026, 99);
    memset(y, 0xff, ELEMENTS * sizeof *y);
    const weft_host_tensor tensors[] = {{.name = "x", .data = x, .bytes = sizeof x},
                                        {.name = "y", .data = y, .bytes = sizeof x}};
    assert_ok(weft_plan_execute(plan, tensors, 2));
}

WEFT_TEST_ON_GRAPH(test_same_bits_in_fewer_dispatches, f) {
    weft_weight *a = make_weight(weft_shape_of(ROWS, COLUMNS), 1);
    weft_weight *b = make_weight(weft_shape_of(ROWS, COLUMNS), 2);
    weft_graph *graph = make_graph(f, a, b);
    weft_plan *folded = compile(f, graph, NULL);
    weft_plan *whole = compile(f, graph, weft_plan_params(.no_fusion = true));
    assert_int_equal(dispatches(folded), 1);
    assert_int_equal(dispatches(whole), 4);
    float y[2][ELEMENTS];
    execute(folded, y[0]);
    execute(whole, y[1]);
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    const char *text = NULL;
    assert_ok(weft_plan_describe(folded, "fuse", &text));
    assert_non_null(strstr(text, "folded %"));
    assert_null(strstr(text, "softmax"));
    weft_plan_destroy(&whole);
    weft_plan_destroy(&folded);
    weft_graph_destroy(&graph);
    weft_weight_destroy(&a);
    weft_weight_destroy(&b);
}

/* Another graph with the same weights finds the result; other weights, or a trimmed device, do not. */
WEFT_TEST_ON_GRAPH(test_once_per_device_and_weights, f) {
    weft_weight *a = make_weight(weft_shape_of(ROWS, COLUMNS), 1);
    weft_weight *b = make_weight(weft_shape_of(ROWS, COLUMNS), 2);
    weft_weight *same_data = make_weight(weft_shape_of(ROWS, COLUMNS), 2);
    weft_weight *const second[] = {b, b, same_data, b};
    const bool evaluated[] = {true, false, true, true};
    float y[4][ELEMENTS];
    for (uint32_t i = 0; i < 4; i++) {
        if (i == 3) {
            weft_device_trim(f->device);
        }
        weft_graph *graph = make_graph(f, a, second[i]);
        uint64_t before = submissions(f);
        weft_plan *plan = compile(f, graph, NULL);
        assert_int_equal(submissions(f) > before, evaluated[i]);
        execute(plan, y[i]);
        assert_memory_equal(y[i], y[0], sizeof y[0]);
        weft_plan_destroy(&plan);
        weft_graph_destroy(&graph);
    }
    weft_weight_destroy(&a);
    weft_weight_destroy(&b);
    weft_weight_destroy(&same_data);
}

/* Parameters count: affine by 2 is not affine by 3. */
WEFT_TEST_ON_GRAPH(test_parameters_tell_results_apart, f) {
    weft_weight *a = make_weight(weft_shape_of(ROWS, COLUMNS), 1);
    float y[2][ELEMENTS];
    for (uint32_t i = 0; i < 2; i++) {
        struct weft_test_run r = weft_test_begin(f->device);
        float data[ELEMENTS];
        weft_tensor scaled;
        weft_tensor sum;
        weft_philox_uniform(data, ELEMENTS, 2026, 99);
        weft_tensor x = weft_test_feed(&r, "x", weft_shape_of(ROWS, COLUMNS), data);
        assert_ok(
            weft_graph_affine(&scaled, r.graph, weight_tensor(r.graph, a), 2.0F + (float)i, 0.0F));
        assert_ok(weft_graph_binary(&sum, r.graph, WEFT_BINARY_ADD, x, scaled));
        weft_test_execute_to(&r, sum, y[i]);
    }
    assert_memory_not_equal(y[0], y[1], sizeof y[0]);
    weft_weight_destroy(&a);
}

/* A graph without inputs is what a run computes; so is a constant that only an output reads. */
WEFT_TEST_ON_GRAPH(test_constant_outputs, f) {
    weft_weight *a = make_weight(weft_shape_of(ROWS, COLUMNS), 1);
    weft_weight *b = make_weight(weft_shape_of(ROWS, COLUMNS), 2);
    assert_ok(weft_graph_output(f->graph, "y", constant_chain(f->graph, a, b)));
    weft_plan *plan = compile(f, f->graph, NULL);
    assert_int_equal(dispatches(plan), 3);
    float y[2][ELEMENTS];
    const weft_host_tensor alone = {.name = "y", .data = y[0], .bytes = sizeof y[0]};
    assert_ok(weft_plan_execute(plan, &alone, 1));
    weft_plan_destroy(&plan);

    /* Read by an op and an output: folded, and copied out. */
    weft_graph *graph = make_graph(f, a, b);
    weft_tensor chain = constant_chain(graph, a, b);
    weft_tensor sum;
    assert_ok(weft_graph_output(graph, "chain", chain));
    weft_tensor x2 = weft_test_input(graph, "x2", weft_shape_of(1, ROWS, COLUMNS));
    assert_ok(weft_graph_binary(&sum, graph, WEFT_BINARY_ADD, x2, chain));
    assert_ok(weft_graph_output(graph, "sum", sum));
    plan = compile(f, graph, NULL);
    assert_int_equal(dispatches(plan), 3);
    float x[ELEMENTS] = {0.0F};
    float products[ELEMENTS];
    float sums[ELEMENTS];
    const weft_host_tensor tensors[] = {{.name = "x", .data = x, .bytes = sizeof x},
                                        {.name = "x2", .data = x, .bytes = sizeof x},
                                        {.name = "y", .data = products, .bytes = sizeof products},
                                        {.name = "chain", .data = y[1], .bytes = sizeof y[1]},
                                        {.name = "sum", .data = sums, .bytes = sizeof sums}};
    assert_ok(weft_plan_execute(plan, tensors, 5));
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_memory_equal(y[0], sums, sizeof sums);
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
    weft_weight_destroy(&a);
    weft_weight_destroy(&b);
}

WEFT_TEST_ON_GRAPH(test_out_of_memory_at_every_allocation, f) {
    weft_weight *a = make_weight(weft_shape_of(ROWS, COLUMNS), 1);
    weft_weight *b = make_weight(weft_shape_of(ROWS, COLUMNS), 2);
    weft_graph *graph = make_graph(f, a, b);
    weft_plan *plan = compile(f, graph, NULL); /* its pipelines and buffers are made */
    weft_plan_destroy(&plan);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    weft_device_trim(f->device);
    while (weft_test_next_failure(&f->host, status)) {
        status = weft_plan_compile(&plan, f->device, graph, NULL);
        assert_int_equal(!plan, status != WEFT_OK);
        if (!plan) {
            weft_device_trim(f->device);
        }
    }
    assert_true(f->host.failures >= 50); /* the plan within the plan allocates, too */
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
    weft_weight_destroy(&a);
    weft_weight_destroy(&b);
}
