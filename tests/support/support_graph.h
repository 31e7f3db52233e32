/* SPDX-License-Identifier: MIT */
/* What tests of graph ops need: a device, a graph, and errors that leave the graph alone. */
#ifndef WEFT_TESTS_SUPPORT_GRAPH_H
#define WEFT_TESTS_SUPPORT_GRAPH_H

#include <weft/graph.h>

#include "graph/graph.h"
#include "support.h"

/** A watched host, a device with neither cache nor settings, and an empty graph. */
struct weft_test_graph {
    struct weft_test_host host;
    weft_device *device;
    weft_graph *graph;
};

/** cmocka fixtures: *state is a struct weft_test_graph. Tearing down fails if the validation layer had something to say. */
int weft_test_graph_set_up(void **state);
int weft_test_graph_tear_down(void **state);
/** A test with a struct weft_test_graph of that name. */
#define WEFT_TEST_ON_GRAPH(name, fixture)                                         \
    WEFT_TEST_WITH(name, struct weft_test_graph *fixture, weft_test_graph_set_up, \
                   weft_test_graph_tear_down)

/** An f32 input. */
weft_tensor weft_test_input(weft_graph *graph, const char *name, weft_shape shape);

/** The call fails with the status and a log line that has all the texts; the fixture's graph stays as it was. */
#define WEFT_EXPECT_FAILURE(fixture, expected_status, call, ...)                        \
    do {                                                                                \
        const uint32_t values_ = (fixture)->graph->value_count;                         \
        const uint32_t nodes_ = (fixture)->graph->node_count;                           \
        weft_test_host_reset(&(fixture)->host);                                         \
        assert_string_equal(weft_status_name(call), weft_status_name(expected_status)); \
        weft_test_expect_log(&(fixture)->host, __VA_ARGS__, NULL);                      \
        assert_int_equal((fixture)->graph->value_count, values_);                       \
        assert_int_equal((fixture)->graph->node_count, nodes_);                         \
    } while (0)

#endif
