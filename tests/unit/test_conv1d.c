/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Short filters: values checked by hand, and what a step refuses. */
#include "support_sheet.h"

static void expect(struct weft_test_graph *f, const weft_conv1d_params *params, float *x,
                   const float *expected) {
    float weight[] = {1.0F, 10.0F, 100.0F};
    float y[4];
    const struct weft_test_mix mix = {.sheet = &weft_sheet_conv1d,
                                      .sizes = {1, 4, 1, 1, .taps = 3},
                                      .params = params,
                                      .x = {x, weight}};
    weft_test_mix_run(f->device, &mix, y);
    assert_memory_equal(y, expected, sizeof y);
}

/* The last tap of a causal filter is the token's own, the middle one of the other. */
WEFT_TEST_ON_GRAPH(test_taps, f) {
    float x[] = {1.0F, 2.0F, 3.0F, 4.0F};
    const float causal[] = {100.0F, 210.0F, 321.0F, 432.0F};
    const float centred[] = {210.0F, 321.0F, 432.0F, 43.0F};
    expect(f, weft_conv1d_params(.causal = true), x, causal);
    expect(f, NULL, x, centred);
}

WEFT_TEST_ON_GRAPH(test_steps_are_checked, f) {
    const weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(2, 1, 6));
    const weft_tensor weight = weft_test_input(f->graph, "weight", weft_shape_of(6, 4));
    const weft_tensor flat = weft_test_input(f->graph, "flat", weft_shape_of(2, 6));
    const weft_tensor position = weft_test_input_i32(f->graph, "position", weft_shape_of(2));
    const weft_tensor other = weft_test_input_i32(f->graph, "other", weft_shape_of(3));
    const weft_step step = {.state = "state", .position = position};
    const weft_step nameless = {.position = position};
    const weft_step misplaced = {.state = "state", .position = other};
    weft_tensor y;
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_conv1d_step(&y, f->graph, x, weight, &nameless, NULL),
                        "conv1d_step", "the name of a state");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_conv1d_step(&y, f->graph, x, weight, &misplaced, NULL),
                        "position must be i32 [2]", "[3]");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_conv1d_step(&y, f->graph, flat, weight, &step, NULL),
                        "conv1d_step", "[B, n, d]");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_conv1d_step(&y, f->graph, x, x, &step, NULL), "conv1d_step",
                        "[d, taps]");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_conv1d_step(&y, f->graph, x, weight, &step,
                                               weft_conv1d_params(.lengths = position)),
                        "lengths must be absent");
    assert_ok(weft_graph_conv1d_step(&y, f->graph, x, weight, &step, NULL));
}
