/* SPDX-License-Identifier: MIT */
/* weft-test: every device */
/* Experts: each row has the bits of the linear map that it chooses, however the product is cut; and what is refused. */
#include <math.h>

#include <weft/arithmetic.h>

#include "core/math/philox.h"
#include "support_graph.h"

enum { ROWS = 29, CHOSEN = 3, EXPERTS = 6, IN = 131, OUT = 70 };

static void fill_choices(int32_t choices[ROWS * CHOSEN]) {
    for (uint32_t i = 0; i < ROWS * CHOSEN; i++) {
        choices[i] = (int32_t)(weft_philox_u32(5, 0, i) % EXPERTS);
    }
}

/* x by the matrix of each expert: [EXPERTS, ROWS, OUT] */
static void multiply_all(struct weft_test_graph *f, const float *x, const float *weight,
                         float *out) {
    for (uint32_t e = 0; e < EXPERTS; e++) {
        struct weft_test_run run = weft_test_begin(f->device);
        weft_tensor y;
        const weft_tensor in = weft_test_feed(&run, "x", weft_shape_of(ROWS, IN), x);
        const weft_tensor own =
            weft_test_constant(run.graph, weft_shape_of(OUT, IN), weight + (size_t)e * OUT * IN);
        assert_ok(weft_graph_linear(&y, run.graph, in, own, (weft_tensor){0}));
        weft_test_execute_to(&run, y, out + (size_t)e * ROWS * OUT);
    }
}

static void expect_rows(const float *found, const int32_t *choices, const float *all) {
    for (uint32_t i = 0; i < ROWS * CHOSEN; i++) {
        const size_t row = (size_t)choices[i] * ROWS + i / CHOSEN;
        assert_memory_equal(found + (size_t)i * OUT, all + row * OUT, OUT * sizeof(float));
    }
}

/* As it is, and where the device binds a matrix or two, or a part of the rows. */
WEFT_TEST_ON_FRESH_GRAPH(rows_have_the_bits_of_their_experts, f) {
    static const uint32_t limits[] = {0, 3 * OUT * IN * 4, 2 * 64 * IN * 4 + 512, 64 * IN * 4};
    float *x = weft_test_uniform((size_t)ROWS * IN, 3, 0);
    float *weight = weft_test_uniform((size_t)EXPERTS * OUT * IN, 4, 0);
    float *all = malloc((size_t)EXPERTS * ROWS * OUT * sizeof *all);
    float *found = malloc((size_t)ROWS * CHOSEN * OUT * sizeof *found);
    int32_t choices[ROWS * CHOSEN];
    assert_true(all && found);
    fill_choices(choices);
    multiply_all(f, x, weight, all);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct weft_test_run run = weft_test_begin(f->device);
        weft_tensor y;
        const weft_tensor in = weft_test_feed(&run, "x", weft_shape_of(ROWS, IN), x);
        const weft_tensor chosen =
            weft_test_feed_i32(&run, "choices", weft_shape_of(ROWS, CHOSEN), choices);
        const weft_tensor table =
            weft_test_constant(run.graph, weft_shape_of(EXPERTS * OUT, IN), weight);
        assert_ok(weft_graph_expert_linear(&y, run.graph, in, chosen, table, EXPERTS));
        weft_test_take(&run, "y", y, found);
        if (limits[i] == 0) {
            weft_test_execute(&run, NULL);
        } else {
            weft_test_execute_in_parts(&run, limits[i]);
        }
        expect_rows(found, choices, all);
    }
    free(found);
    free(all);
    free(weight);
    free(x);
}

/* Bytes of a weight: f32 by bytes, as products of WEFT_STORED_I8_ONLY are, whatever the weight says. */
WEFT_TEST_ON_GRAPH(bytes_are_multiplied_by_f32, f) {
    float *x = weft_test_uniform((size_t)ROWS * IN, 3, 0);
    float found[2][2 * OUT], scales[2 * OUT];
    int8_t bytes[2 * OUT * IN];
    static const int32_t choices[2] = {1, 0};
    for (uint32_t i = 0; i < 2 * OUT * IN; i++) {
        bytes[i] = (int8_t)((int32_t)(weft_philox_u32(9, 0, i) % 255) - 127);
    }
    for (uint32_t i = 0; i < 2 * OUT; i++) {
        scales[i] = (float)(1 + i % 7) * 0x1p-9F;
    }
    for (int only = 0; only < 2; only++) {
        struct weft_test_run run = weft_test_begin(f->device);
        weft_weight *weight = NULL;
        weft_tensor table, y;
        assert_ok(weft_weight_create(
            &weight,
            weft_weight_params(.shape = weft_shape_of(2 * OUT, IN), .data = bytes, .scales = scales,
                               .stored = only ? WEFT_STORED_I8_ONLY : WEFT_STORED_I8),
            &f->host.host));
        const weft_tensor in = weft_test_feed(&run, "x", weft_shape_of(2, IN), x);
        const weft_tensor chosen = weft_test_constant_i32(run.graph, weft_shape_of(2), choices);
        assert_ok(weft_graph_weight(&table, run.graph, weight));
        assert_ok(weft_graph_expert_linear(&y, run.graph, in, chosen, table, 2));
        weft_test_execute_to(&run, y, found[only]);
        weft_weight_destroy(&weight);
    }
    assert_memory_equal(found[0], found[1], sizeof found[0]);
    for (uint32_t i = 0; i < 2 * OUT; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < IN; k++) {
            const uint32_t row = (uint32_t)choices[i / OUT] * OUT + i % OUT;
            sum += (double)bytes[row * IN + k] * (double)scales[row] * (double)x[i / OUT * IN + k];
        }
        assert_true(fabs((double)found[1][i] - sum) <= 1e-4 * (1.0 + fabs(sum)));
    }
    free(x);
}

WEFT_TEST_ON_GRAPH(bad_operands_are_refused, f) {
    const weft_tensor none = {0};
    static const float numbers[12 * 4];
    weft_tensor y;
    weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(2, 5, 4));
    weft_tensor other = weft_test_input(f->graph, "other", weft_shape_of(12, 4));
    weft_tensor choices = weft_test_input_i32(f->graph, "choices", weft_shape_of(2, 5, 3));
    weft_tensor weight = weft_test_constant(f->graph, weft_shape_of(12, 4), numbers);
    weft_tensor wide = weft_test_constant(f->graph, weft_shape_of(12, 3), numbers);
    assert_ok(weft_graph_expert_linear(&y, f->graph, x, choices, weight, 4));
    weft_test_expect_shape(f->graph, y, weft_shape_of(2, 5, 3, 3));
    assert_ok(weft_graph_expert_linear(&y, f->graph, y, choices, wide, 12));
    weft_test_expect_shape(f->graph, y, weft_shape_of(2, 5, 3, 1));
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_expert_linear(&y, f->graph, x, choices, weight, 5), "[12, 4]",
                        "5 experts");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_expert_linear(&y, f->graph, x, choices, wide, 4), "[12, 3]");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_expert_linear(&y, f->graph, x, choices, weight, 0), "experts 0");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_expert_linear(&y, f->graph, x, choices, weight, 65536),
                        "experts 65536", "65535");
    WEFT_EXPECT_FAILURE(f, WEFT_UNSUPPORTED,
                        weft_graph_expert_linear(&y, f->graph, x, choices, other, 4),
                        "a weight of the graph");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_expert_linear(&y, f->graph, x, x, weight, 4), "i32", "f32");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_expert_linear(&y, f->graph, other, choices, weight, 4),
                        "[12, 4]", "[2, 5, 3]");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_expert_linear(&y, f->graph, none, choices, weight, 4), "");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT, weft_graph_top_k(&y, f->graph, x, 2, 5, false),
                        "count 5", "axis 2");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT, weft_graph_top_k(&y, f->graph, x, 1, 0, false),
                        "count 0");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT, weft_graph_top_k(&y, f->graph, x, 3, 1, false),
                        "axis 3");
}
