/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Checkpoints of plans, and receipts of their runs. */
#include <string.h>

#include <weft/receipt.h>

#include "core/math/philox.h"
#include "support.h"
#include "support_graph.h"

enum { BATCH = 2, LENGTH = 5, CHANNELS = 16, WIDE = 24, COUNT = BATCH * LENGTH * CHANNELS };

static weft_tensor add_weight(weft_graph *graph, weft_shape shape, uint64_t seed) {
    float data[CHANNELS * WIDE];
    weft_philox_uniform(data, weft_shape_elements(shape), seed, 0);
    return weft_test_constant(graph, shape, data);
}

/* norm(x + W2 gelu(W1 x)) : nodes 0 to 4 of a layer, of which only the last is a waist. */
static weft_tensor add_layer(weft_graph *graph, weft_tensor x, uint64_t seed) {
    weft_tensor h, y;
    const weft_tensor none = {0};
    assert_ok(weft_graph_linear(&h, graph, x,
                                add_weight(graph, weft_shape_of(WIDE, CHANNELS), seed), none));
    assert_ok(weft_graph_activate(&h, graph, h, WEFT_ACTIVATION_GELU_ERF));
    assert_ok(weft_graph_linear(&y, graph, h,
                                add_weight(graph, weft_shape_of(CHANNELS, WIDE), seed + 1), none));
    assert_ok(weft_graph_binary(&y, graph, WEFT_BINARY_ADD, x, y));
    assert_ok(weft_graph_layer_norm(&y, graph, y, add_weight(graph, weft_shape_of(CHANNELS), 1),
                                    add_weight(graph, weft_shape_of(CHANNELS), 2), 1e-5F));
    return y;
}

static weft_plan *make_plan(weft_device *device, weft_checkpoints checkpoints, uint64_t last_seed) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    assert_ok(weft_graph_create(&graph, NULL));
    weft_tensor x = weft_test_input(graph, "x", weft_shape_of(BATCH, LENGTH, CHANNELS));
    x = add_layer(graph, x, 10);
    x = add_layer(graph, x, 20);
    x = add_layer(graph, x, last_seed);
    assert_ok(weft_graph_output(graph, "y", x));
    assert_ok(
        weft_plan_compile(&plan, device, graph, weft_plan_params(.checkpoints = checkpoints)));
    weft_graph_destroy(&graph);
    return plan;
}

static void feed(float x[COUNT]) {
    weft_philox_uniform(x, COUNT, 99, 0);
}

static void execute(weft_receipt *receipt, weft_plan *plan, float x[COUNT], float y[COUNT]) {
    const weft_host_tensor tensors[] = {{"x", x, COUNT * sizeof *x}, {"y", y, COUNT * sizeof *y}};
    assert_ok(receipt ? weft_receipt_execute(receipt, plan, tensors, 2)
                      : weft_plan_execute(plan, tensors, 2));
}

static weft_receipt *make_receipt(weft_device *device, weft_checkpoints checkpoints,
                                  uint64_t last_seed, uint32_t flipped) {
    float x[COUNT], y[COUNT];
    weft_receipt *receipt = NULL;
    weft_plan *plan = make_plan(device, checkpoints, last_seed);
    feed(x);
    uint32_t bits;
    memcpy(&bits, &x[COUNT - 1], sizeof bits);
    bits ^= flipped;
    memcpy(&x[COUNT - 1], &bits, sizeof bits);
    assert_ok(weft_receipt_create(&receipt, device, weft_receipt_params(.command = "test")));
    execute(receipt, plan, x, y);
    weft_plan_destroy(&plan);
    return receipt;
}

static weft_record_info record_at(const weft_receipt *receipt, uint32_t index) {
    weft_record_info info;
    assert_ok(weft_receipt_get_record(receipt, index, &info));
    return info;
}

static uint32_t first_difference(const weft_receipt *a, const weft_receipt *b) {
    uint32_t first = 0;
    assert_ok(weft_receipt_compare(&first, a, b));
    return first;
}

/* ---- checkpoints ---- */

WEFT_TEST_ON_GRAPH(checkpoints_change_no_bit, f) {
    float x[COUNT], expected[COUNT], found[COUNT];
    feed(x);
    for (int kept = WEFT_CHECKPOINTS_NONE; kept <= WEFT_CHECKPOINTS_NODES; kept++) {
        weft_plan *plan = make_plan(f->device, (weft_checkpoints)kept, 30);
        execute(NULL, plan, x, kept == WEFT_CHECKPOINTS_NONE ? expected : found);
        if (kept != WEFT_CHECKPOINTS_NONE) {
            assert_memory_equal(found, expected, sizeof found);
        }
        weft_plan_destroy(&plan);
    }
}

WEFT_TEST_ON_GRAPH(layers_are_what_all_goes_through, f) {
    /* The first layer's residual is the input, which does not pass by. */
    static const char *const names[] = {"x", "y", "node 1 activation", "node 4 layer_norm",
                                        "node 9 layer_norm"};
    weft_plan *plan = make_plan(f->device, WEFT_CHECKPOINTS_LAYERS, 30);
    weft_port_info port;
    for (uint32_t i = 0; i < 5; i++) {
        assert_ok(weft_plan_get_port(plan, i, &port));
        assert_string_equal(port.name, names[i]);
    }
    assert_status(weft_plan_get_port(plan, 5, &port), WEFT_NOT_FOUND);
    weft_plan_destroy(&plan);
    plan = make_plan(f->device, WEFT_CHECKPOINTS_NODES, 30);
    assert_ok(weft_plan_get_port(plan, 15, &port)); /* 15 nodes, of which the last is y */
    assert_string_equal(port.name, "node 13 binary");
    assert_status(weft_plan_get_port(plan, 16, &port), WEFT_NOT_FOUND);
    weft_plan_destroy(&plan);
}

/* Of a deep network as many are kept as are a small part of it, the last one among them. */
WEFT_TEST_ON_GRAPH(deep_networks_have_few_checkpoints, f) {
    weft_plan *plan = NULL;
    weft_port_info port;
    uint32_t ports = 0;
    bool last = false;
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(BATCH, LENGTH, CHANNELS));
    for (uint64_t layer = 0; layer < 40; layer++) {
        x = add_layer(f->graph, x, 2 * layer);
    }
    assert_ok(weft_graph_output(f->graph, "y", x));
    assert_ok(weft_plan_compile(&plan, f->device, f->graph,
                                weft_plan_params(.checkpoints = WEFT_CHECKPOINTS_LAYERS)));
    while (weft_plan_get_port(plan, ports, &port) == WEFT_OK) {
        ports++;
        last |= strcmp(port.name, "node 194 layer_norm") == 0;
    }
    assert_in_range(ports, 2 + 3, 2 + 8); /* each is a sixth of its layer */
    assert_true(last);
    weft_plan_destroy(&plan);
}

WEFT_TEST_ON_GRAPH(names_of_checkpoints_must_be_free, f) {
    weft_plan *plan = NULL;
    const weft_tensor x =
        weft_test_input(f->graph, "node 4 layer_norm", weft_shape_of(BATCH, LENGTH, CHANNELS));
    assert_ok(weft_graph_output(f->graph, "y", add_layer(f->graph, add_layer(f->graph, x, 1), 2)));
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_plan_compile(&plan, f->device, f->graph,
                                          weft_plan_params(.checkpoints = WEFT_CHECKPOINTS_LAYERS)),
                        "node 4 layer_norm");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_plan_compile(&plan, f->device, f->graph,
                                          weft_plan_params(.checkpoints = (weft_checkpoints)3)),
                        "unknown checkpoints 3");
}

/* ---- receipts ---- */

WEFT_TEST_ON_GRAPH(the_first_difference_is_found, f) {
    weft_receipt *first = make_receipt(f->device, WEFT_CHECKPOINTS_NODES, 30, 0);
    weft_receipt *same = make_receipt(f->device, WEFT_CHECKPOINTS_NODES, 30, 0);
    weft_receipt *weight = make_receipt(f->device, WEFT_CHECKPOINTS_NODES, 31, 0);
    weft_receipt *input = make_receipt(f->device, WEFT_CHECKPOINTS_NODES, 30, 1);
    weft_receipt *layers = make_receipt(f->device, WEFT_CHECKPOINTS_LAYERS, 30, 0);
    assert_int_equal(first_difference(first, same), UINT32_MAX);
    weft_record_info record = record_at(weight, first_difference(first, weight));
    assert_int_equal(record.kind, WEFT_RECORD_VALUE);
    assert_string_equal(record.name, "node 10 matmul"); /* the third layer's first */
    assert_string_equal(record.type, "f32 [2, 5, 24]");
    record = record_at(input, first_difference(first, input));
    assert_int_equal(record.kind, WEFT_RECORD_INPUT);
    assert_string_equal(record.name, "x");
    record = record_at(layers, first_difference(first, layers));
    assert_int_equal(record.kind, WEFT_RECORD_RUN);
    weft_receipt *const all[] = {first, same, weight, input, layers};
    for (size_t i = 0; i < 5; i++) {
        weft_receipt *one = all[i];
        weft_receipt_destroy(&one);
    }
}

/* What two chains have in common is found wherever it ends. */
WEFT_TEST_ON_GRAPH(a_longer_receipt_differs_behind_the_shorter, f) {
    float x[COUNT], y[COUNT];
    feed(x);
    weft_receipt *longer = make_receipt(f->device, WEFT_CHECKPOINTS_LAYERS, 30, 0);
    weft_plan *plan = make_plan(f->device, WEFT_CHECKPOINTS_LAYERS, 30);
    execute(longer, plan, x, y);
    weft_plan_destroy(&plan);
    weft_receipt *shorter = make_receipt(f->device, WEFT_CHECKPOINTS_LAYERS, 30, 0);
    const uint32_t first = first_difference(shorter, longer);
    assert_int_equal(first_difference(longer, shorter), first);
    const weft_record_info record = record_at(longer, first);
    assert_int_equal(record.kind, WEFT_RECORD_RUN);
    assert_int_equal(record.run, 1);
    weft_record_info none;
    assert_status(weft_receipt_get_record(shorter, first, &none), WEFT_NOT_FOUND);
    weft_receipt_destroy(&longer);
    weft_receipt_destroy(&shorter);
}

WEFT_TEST_ON_GRAPH(what_is_written_is_read, f) {
    weft_receipt *receipt = make_receipt(f->device, WEFT_CHECKPOINTS_LAYERS, 30, 0);
    weft_receipt *again = NULL;
    const char *json = weft_receipt_json(receipt);
    assert_non_null(json);
    assert_ok(weft_receipt_read(&again, json, strlen(json), &f->host.host));
    assert_int_equal(first_difference(receipt, again), UINT32_MAX);
    assert_string_equal(weft_receipt_command(again), "test");
    assert_string_equal(weft_receipt_maker(again), weft_receipt_maker(receipt));
    assert_string_equal(weft_receipt_json(again), json);
    weft_receipt_destroy(&again);
    weft_receipt_destroy(&receipt);
}

WEFT_TEST_ON_GRAPH(only_plans_of_its_device_have_a_receipt, f) {
    float x[COUNT], y[COUNT];
    const weft_host_tensor tensors[] = {{"x", x, sizeof x}, {"y", y, sizeof y}};
    weft_receipt *receipt = NULL;
    weft_receipt *read = NULL;
    feed(x);
    assert_ok(weft_receipt_create(&receipt, f->device, NULL));
    assert_null(weft_receipt_command(receipt));
    const char *json = weft_receipt_json(receipt);
    assert_ok(weft_receipt_read(&read, json, strlen(json), &f->host.host));
    weft_plan *plan = make_plan(f->device, WEFT_CHECKPOINTS_NONE, 30);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_receipt_execute(read, plan, tensors, 2), "another device");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_receipt_execute(receipt, plan, tensors, 0), "input 'x'");
    weft_record_info record;
    assert_status(weft_receipt_get_record(receipt, 3, &record), WEFT_NOT_FOUND); /* no half a run */
    weft_plan_destroy(&plan);
    weft_receipt_destroy(&read);
    weft_receipt_destroy(&receipt);
}

/* ---- beside the runs ---- */

static weft_receipt *make_noted(weft_device *device, const char *line, uint32_t rows) {
    float x[COUNT], y[COUNT];
    weft_receipt *receipt = NULL;
    weft_plan *plan = make_plan(device, WEFT_CHECKPOINTS_NONE, 30);
    feed(x);
    assert_ok(weft_receipt_create(&receipt, device, NULL));
    assert_ok(weft_receipt_note(receipt, WEFT_RECORD_SETTING, "similarity", "dot", NULL, 0));
    assert_ok(weft_receipt_note(receipt, WEFT_RECORD_DATA, "line 1", "a line", line, strlen(line)));
    execute(receipt, plan, x, y);
    assert_ok(weft_receipt_note(receipt, WEFT_RECORD_ROWS, "rows", "1 of 2", &rows, sizeof rows));
    assert_ok(weft_receipt_note(receipt, WEFT_RECORD_ANSWER, "nothing", "0 rows", NULL, 0));
    weft_plan_destroy(&plan);
    return receipt;
}

WEFT_TEST_ON_GRAPH(what_is_noted_is_in_the_chain, f) {
    weft_receipt *first = make_noted(f->device, "one", 0);
    weft_receipt *same = make_noted(f->device, "one", 0);
    weft_receipt *line = make_noted(f->device, "two", 0);
    weft_receipt *rows = make_noted(f->device, "one", 1);
    weft_receipt *again = NULL;
    assert_int_equal(first_difference(first, same), UINT32_MAX);
    weft_record_info record = record_at(first, first_difference(first, line));
    assert_int_equal(record.kind, WEFT_RECORD_DATA);
    record = record_at(first, first_difference(first, rows));
    assert_int_equal(record.kind, WEFT_RECORD_ROWS);
    assert_int_equal(record.run, 0);
    const char *json = weft_receipt_json(first);
    assert_ok(weft_receipt_read(&again, json, strlen(json), &f->host.host));
    assert_int_equal(first_difference(first, again), UINT32_MAX);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_receipt_note(again, WEFT_RECORD_DATA, "x", "y", "z", 1), "was read");
    weft_receipt *const all[] = {first, same, line, rows, again};
    for (size_t i = 0; i < 5; i++) {
        weft_receipt *one = all[i];
        weft_receipt_destroy(&one);
    }
}

WEFT_TEST_ON_GRAPH(notes_have_their_places, f) {
    weft_receipt *receipt = NULL;
    assert_ok(weft_receipt_create(&receipt, f->device, NULL));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_receipt_note(receipt, WEFT_RECORD_ROWS, "rows", "1", "a", 1),
                        "a run before");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_receipt_note(receipt, WEFT_RECORD_RUN, "0", "none", NULL, 0),
                        "found the kind run");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_receipt_note(receipt, (weft_record_kind)99, "0", "1", "a", 1),
                        "found the kind unknown");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_receipt_note(receipt, WEFT_RECORD_SETTING, "a", "b", "c", 1),
                        "no bytes of a setting");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_receipt_note(receipt, WEFT_RECORD_DATA, "a", "b", NULL, 1),
                        "data is null");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_receipt_note(receipt, WEFT_RECORD_DATA, NULL, "b", NULL, 0),
                        "name is null");
    WEFT_EXPECT_REFUSED(&f->host, WEFT_UNSUPPORTED,
                        weft_receipt_note(receipt, WEFT_RECORD_DATA, "\xff", "b", NULL, 0),
                        "UTF-8");
    weft_receipt_destroy(&receipt);
    receipt = make_noted(f->device, "one", 0);
    WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                        weft_receipt_note(receipt, WEFT_RECORD_SETTING, "a", "b", NULL, 0),
                        "behind the first run");
    weft_receipt_destroy(&receipt);
}

WEFT_TEST_ON_GRAPH(fast_mode_has_no_receipts, f) {
    weft_device *fast = NULL;
    weft_receipt *receipt = NULL;
    assert_ok(
        weft_device_open(&fast, weft_device_params(.host = f->host.host, .math = WEFT_MATH_FAST)));
    WEFT_EXPECT_REFUSED(&f->host, WEFT_UNSUPPORTED, weft_receipt_create(&receipt, fast, NULL),
                        "reproducible");
    weft_device_destroy(&fast);
}
