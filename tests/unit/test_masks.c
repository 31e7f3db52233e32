/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Lengths and biases that ops refuse, and what a plan says of lengths when it is run. */
#include <weft/decode.h>
#include <weft/mixers.h>

#include "support_graph.h"

#define D 8

/* q, k and v of the fixture's graph, f32 [2, 5, D], and lengths i32 [2]. */
struct inputs {
    weft_tensor q, k, v, lengths;
};

static struct inputs add_inputs(struct weft_test_graph *f) {
    const weft_shape shape = weft_shape_of(2, 5, D);
    return (struct inputs){weft_test_input(f->graph, "q", shape),
                           weft_test_input(f->graph, "k", shape),
                           weft_test_input(f->graph, "v", shape),
                           weft_test_input_i32(f->graph, "lengths", weft_shape_of(2))};
}

WEFT_TEST_ON_GRAPH(test_lengths_of_another_kind, f) {
    const struct inputs in = add_inputs(f);
    const weft_tensor wrong[] = {weft_test_input(f->graph, "reals", weft_shape_of(2)),
                                 weft_test_input_i32(f->graph, "three", weft_shape_of(3)),
                                 weft_test_input_i32(f->graph, "column", weft_shape_of(2, 1))};
    static const char *const found[] = {"f32 [2]", "i32 [3]", "i32 [2, 1]"};
    for (uint32_t i = 0; i < 3; i++) {
        weft_tensor y;
        WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH, weft_graph_mask(&y, f->graph, in.q, wrong[i]),
                            "mask: lengths must be i32 [2]", found[i]);
        WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                            weft_graph_gather_last(&y, f->graph, in.q, wrong[i]),
                            "gather_last: lengths must be i32 [2]", found[i]);
        WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                            weft_graph_attention(&y, f->graph, in.q, in.k, in.v,
                                                 weft_attention_params(.lengths = wrong[i])),
                            "attention: lengths", found[i]);
        WEFT_EXPECT_FAILURE(
            f, WEFT_SHAPE_MISMATCH,
            weft_graph_banded_attention(&y, f->graph, in.q, in.k, in.v,
                                        weft_banded_attention_params(.lengths = wrong[i])),
            "banded_attention: lengths", found[i]);
        WEFT_EXPECT_FAILURE(
            f, WEFT_SHAPE_MISMATCH,
            weft_graph_linear_attention(&y, f->graph, in.q, in.k, in.v,
                                        weft_linear_attention_params(.lengths = wrong[i])),
            "linear_attention: lengths", found[i]);
        WEFT_EXPECT_FAILURE(
            f, WEFT_SHAPE_MISMATCH,
            weft_graph_kernel_attention(&y, f->graph, in.q, in.k, in.v,
                                        weft_kernel_attention_params(.lengths = wrong[i])),
            "kernel_attention: lengths", found[i]);
        WEFT_EXPECT_FAILURE(
            f, WEFT_SHAPE_MISMATCH,
            weft_graph_cosformer(&y, f->graph, in.q, in.k, in.v,
                                 weft_cosformer_params(.length = 9, .lengths = wrong[i])),
            "cosformer: lengths", found[i]);
    }
}

WEFT_TEST_ON_GRAPH(test_lengths_of_features, f) {
    const struct inputs in = add_inputs(f);
    weft_tensor w = weft_test_input(f->graph, "w", weft_shape_of(6, D));
    weft_tensor c = weft_test_input(f->graph, "c", weft_shape_of(6));
    weft_tensor three = weft_test_input_i32(f->graph, "three", weft_shape_of(3));
    weft_tensor y;
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_random_features(&y, f->graph, in.k, w,
                                                   weft_random_features_params(.lengths = three)),
                        "random_features: lengths must be i32 [2]", "i32 [3]");
    WEFT_EXPECT_FAILURE(
        f, WEFT_INVALID_ARGUMENT,
        weft_graph_random_features(&y, f->graph, in.k, w,
                                   weft_random_features_params(.other_lengths = in.lengths)),
        "other_lengths is given, but no other", "random_features");
    /* A mask that was added before the mistake was found is gone again. */
    WEFT_EXPECT_FAILURE(
        f, WEFT_INVALID_ARGUMENT,
        weft_graph_random_features(&y, f->graph, in.k, w,
                                   weft_random_features_params(.component = WEFT_COMPONENT_OPTIMAL,
                                                               .lengths = in.lengths)),
        "other is missing", "random_features");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_hybrid_features(&y, f->graph, in.k, w, w,
                                                   weft_hybrid_features_params(.lengths = three)),
                        "hybrid_features: lengths", "i32 [3]");
    WEFT_EXPECT_FAILURE(
        f, WEFT_SHAPE_MISMATCH,
        weft_graph_discrete_features(&y, f->graph, in.k, w, c,
                                     weft_discrete_features_params(.lengths = three)),
        "discrete_features: lengths", "i32 [3]");
}

/* Otherwise a sequence's weights would depend on the longest of its batch. */
WEFT_TEST_ON_GRAPH(test_cosformer_needs_a_length_of_its_own, f) {
    const struct inputs in = add_inputs(f);
    weft_tensor y;
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_cosformer(&y, f->graph, in.q, in.k, in.v,
                                             weft_cosformer_params(.lengths = in.lengths)),
                        "cosformer: with lengths, length must be given", "at least 5");
}

WEFT_TEST_ON_GRAPH(test_steps_take_no_lengths, f) {
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(2, 1, D));
    weft_tensor lengths = weft_test_input_i32(f->graph, "lengths", weft_shape_of(2));
    const weft_step step = {.position = weft_test_input_i32(f->graph, "position", weft_shape_of(2)),
                            .state = "s"};
    weft_tensor y;
    WEFT_EXPECT_FAILURE(
        f, WEFT_INVALID_ARGUMENT,
        weft_graph_linear_attention_step(&y, f->graph, x, x, x, &step,
                                         weft_linear_attention_params(.lengths = lengths)),
        "linear_attention_step: lengths are given", "a step has none");
    WEFT_EXPECT_FAILURE(
        f, WEFT_INVALID_ARGUMENT,
        weft_graph_banded_attention_step(&y, f->graph, x, x, x, &step,
                                         weft_banded_attention_params(.lengths = lengths)),
        "banded_attention_step: lengths are given", "a step has none");
    WEFT_EXPECT_FAILURE(
        f, WEFT_INVALID_ARGUMENT,
        weft_graph_kernel_attention_step(&y, f->graph, x, x, x, &step,
                                         weft_kernel_attention_params(.lengths = lengths)),
        "kernel_attention_step: lengths are given", "a step has none");
    WEFT_EXPECT_FAILURE(
        f, WEFT_INVALID_ARGUMENT,
        weft_graph_cosformer_step(&y, f->graph, x, x, x, &step,
                                  weft_cosformer_params(.length = 9, .lengths = lengths)),
        "cosformer_step: lengths are given", "a step has none");
}

WEFT_TEST_ON_GRAPH(test_biases_that_do_not_fit, f) {
    const struct inputs in = add_inputs(f);
    const weft_tensor wrong[] = {
        weft_test_input(f->graph, "a", weft_shape_of(5)),
        weft_test_input(f->graph, "b", weft_shape_of(2, 5, 5)), /* of sequences, not of heads */
        weft_test_input(f->graph, "c", weft_shape_of(4, 5, 6)),
        weft_test_input_i32(f->graph, "d", weft_shape_of(5, 5))};
    for (uint32_t i = 0; i < 4; i++) {
        weft_tensor y;
        WEFT_EXPECT_FAILURE(
            f, WEFT_SHAPE_MISMATCH,
            weft_graph_attention(&y, f->graph, in.q, in.k, in.v,
                                 weft_attention_params(.heads = 4, .bias = wrong[i])),
            "attention: bias must be", i == 3 ? "f32" : "[4, 5, 5]");
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
