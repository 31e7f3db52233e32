/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Lengths that ops other than mixers refuse, and what a plan says of lengths when it is run. */
#include <weft/graph.h>

#include "support_graph.h"

WEFT_TEST_ON_GRAPH(test_lengths_of_another_kind, f) {
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(2, 5, 8));
    const weft_tensor wrong[] = {weft_test_input(f->graph, "reals", weft_shape_of(2)),
                                 weft_test_input_i32(f->graph, "three", weft_shape_of(3)),
                                 weft_test_input_i32(f->graph, "column", weft_shape_of(2, 1))};
    static const char *const found[] = {"f32 [2]", "i32 [3]", "i32 [2, 1]"};
    for (uint32_t i = 0; i < 3; i++) {
        weft_tensor y;
        WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH, weft_graph_mask(&y, f->graph, x, wrong[i]),
                            "mask: lengths must be i32 [2]", found[i]);
        WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                            weft_graph_gather_last(&y, f->graph, x, wrong[i]),
                            "gather_last: lengths must be i32 [2]", found[i]);
    }
}

/* The least of several limits holds; what is no input of the graph is the program's own care. */
WEFT_TEST_ON_GRAPH(test_lengths_are_checked_when_a_plan_runs, f) {
    struct weft_test_run r = weft_test_begin(f->device);
    float x[2 * 3] = {1, 2, 3, 4, 5, 6};
    float longer[2 * 5] = {0};
    float out[2][2 * 5];
    int32_t lengths[2] = {3, 1};
    weft_tensor given = weft_test_feed_i32(&r, "lengths", weft_shape_of(2), lengths);
    weft_tensor y[2];
    assert_ok(weft_graph_mask(&y[0], r.graph,
                              weft_test_feed(&r, "longer", weft_shape_of(2, 5), longer), given));
    assert_ok(
        weft_graph_mask(&y[1], r.graph, weft_test_feed(&r, "x", weft_shape_of(2, 3), x), given));
    weft_test_take(&r, "y0", y[0], out[0]);
    weft_test_take(&r, "y1", y[1], out[1]);
    weft_plan *plan = weft_test_plan(&r, NULL);
    assert_ok(weft_plan_execute(plan, r.tensors, r.count));
    const float expected[] = {1, 2, 3, 4, 0, 0};
    assert_memory_equal(out[1], expected, sizeof expected);
    static const int32_t wrong[] = {0, -1, 4, INT32_MAX, INT32_MIN};
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        lengths[1] = wrong[i];
        WEFT_EXPECT_REFUSED(&f->host, WEFT_INVALID_ARGUMENT,
                            weft_plan_execute(plan, r.tensors, r.count),
                            "input 'lengths': sequence 1 is", "outside 1 to 3");
    }
    weft_plan_destroy(&plan);
}
