/* SPDX-License-Identifier: MIT */
/* Fixture of tests of graph ops: a device, a graph, and errors that leave the graph alone. */
#ifndef WEFT_TESTS_SUPPORT_GRAPH_H
#define WEFT_TESTS_SUPPORT_GRAPH_H

#include <weft/graph.h>

#include "graph/graph.h"
#include "support.h"

/** A watched host, a device without settings, whose cache tests share, and an empty graph. */
struct weft_test_graph {
    struct weft_test_host host;
    weft_device *device;
    weft_graph *graph;
    char *folder; /* of the cache, or null */
};

/** cmocka fixtures: *state is a struct weft_test_graph. Tearing down fails if the validation layer had something to say. */
int weft_test_graph_set_up(void **state);
int weft_test_graph_tear_down(void **state);
/** A test with a struct weft_test_graph of that name. */
#define WEFT_TEST_ON_GRAPH(name, fixture)                                         \
    WEFT_TEST_WITH(name, struct weft_test_graph *fixture, weft_test_graph_set_up, \
                   weft_test_graph_tear_down)

/** Sets up with a cache in a folder of its own. */
int weft_test_graph_set_up_cached(void **state);
/** The same, of a device for which nothing was compiled before: of a test that asks when something is. */
#define WEFT_TEST_ON_FRESH_GRAPH(name, fixture)                                          \
    WEFT_TEST_WITH(name, struct weft_test_graph *fixture, weft_test_graph_set_up_cached, \
                   weft_test_graph_tear_down)

/** Sets up with a device that counts or compiles and computes nothing. Params: without host and driver. */
int weft_test_graph_set_up_null(void **state, weft_device_params params);

/* ---- parts of graphs ---- */

/** An f32 input, and an i32 one. */
weft_tensor weft_test_input(weft_graph *graph, const char *name, weft_shape shape);
weft_tensor weft_test_input_i32(weft_graph *graph, const char *name, weft_shape shape);
/** An f32 weight, and an i32 one; the graph copies the data. */
weft_tensor weft_test_constant(weft_graph *graph, weft_shape shape, const float *data);
weft_tensor weft_test_constant_i32(weft_graph *graph, weft_shape shape, const int32_t *data);
/** Fails the test unless the tensor has that shape. */
void weft_test_expect_shape(weft_graph *graph, weft_tensor tensor, weft_shape shape);

/* ---- a graph that is run once ---- */

struct weft_test_run {
    weft_graph *graph; /* for the builders */
    weft_device *device;
    weft_host_tensor tensors[12];
    bool taken[12]; /* outputs */
    uint32_t count;
};

/** An empty graph. */
struct weft_test_run weft_test_begin(weft_device *device);
/** An f32 input and its data, and an i32 one. */
weft_tensor weft_test_feed(struct weft_test_run *run, const char *name, weft_shape shape,
                           const float *data);
weft_tensor weft_test_feed_i32(struct weft_test_run *run, const char *name, weft_shape shape,
                               const int32_t *data);
/** The data of a state, which an op adds to the graph; the run changes them. */
void weft_test_feed_state(struct weft_test_run *run, const char *name, weft_shape shape,
                          float *data);
/** An output and where it goes, which is filled with NaN before. */
void weft_test_take(struct weft_test_run *run, const char *name, weft_tensor tensor, float *out);
/** A plan for what is taken, to be destroyed; the graph is. */
weft_plan *weft_test_plan(struct weft_test_run *run, const char *implementation);
/** Runs it on the run's tensors, in buffers whose outputs are NaN before: elements that nobody writes stay so. */
void weft_test_run_plan(struct weft_test_run *run, weft_plan *plan);
/** Compiles, runs and destroys a plan; a null implementation is the usual one. */
void weft_test_execute(struct weft_test_run *run, const char *implementation);
/** Executes what is several dispatches where the device binds so many bytes at once, as it does from then on. */
void weft_test_execute_in_parts(struct weft_test_run *run, uint32_t bytes);
/** Executes by the row of variants of that name, which the plan has to say it has chosen. */
void weft_test_execute_row(struct weft_test_run *run, const char *row);
/** Executes by an implementation, of which a row has to be chosen whose name begins so. */
void weft_test_execute_chosen(struct weft_test_run *run, const char *implementation,
                              const char *chosen);
/** Takes the only output and executes. */
void weft_test_execute_to(struct weft_test_run *run, weft_tensor tensor, float *out);
/** A plan for one more output, to be destroyed; the graph is. */
weft_plan *weft_test_plan_to(struct weft_test_run *run, const char *name, weft_tensor tensor,
                             const char *implementation);
/** Info of the plan of the only output. */
weft_plan_info weft_test_info_of(struct weft_test_run *run, weft_tensor tensor,
                                 const char *implementation);

/* ---- refusals ---- */

/** The call fails with the status and a log line that has all the texts; the fixture's graph stays as it was. */
#define WEFT_EXPECT_FAILURE(fixture, expected_status, call, ...)                   \
    do {                                                                           \
        const uint32_t values_ = (fixture)->graph->value_count;                    \
        const uint32_t nodes_ = (fixture)->graph->node_count;                      \
        WEFT_EXPECT_REFUSED(&(fixture)->host, expected_status, call, __VA_ARGS__); \
        assert_int_equal((fixture)->graph->value_count, values_);                  \
        assert_int_equal((fixture)->graph->node_count, nodes_);                    \
    } while (0)

/** Compiling the run for its only output fails with the status and such a log line; the graph is destroyed. */
#define WEFT_EXPECT_NO_PLAN(fixture, run, tensor, by, expected_status, ...)               \
    do {                                                                                  \
        weft_plan *plan_ = NULL;                                                          \
        const char *name_ = by;                                                           \
        assert_ok(weft_graph_output((run)->graph, "y", tensor));                          \
        WEFT_EXPECT_REFUSED(&(fixture)->host, expected_status,                            \
                            weft_plan_compile(&plan_, (run)->device, (run)->graph,        \
                                              weft_plan_params(.implementation = name_)), \
                            __VA_ARGS__);                                                 \
        assert_null(plan_);                                                               \
        weft_graph_destroy(&(run)->graph);                                                \
    } while (0)

#endif
