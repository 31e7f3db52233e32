/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* Reductions with lengths: each sequence has the bits that it has alone, however long the longest of its batch is. */
#include <math.h>

#include <weft/arithmetic.h>

#include "core/math/philox.h"
#include "support_graph.h"
#include "verify/conformance.h"

enum { BATCH = 2, MOST = 33000, MOST_CHANNELS = 3 };

static void reduce(struct weft_test_graph *f, weft_reduction op, uint32_t axes, weft_shape shape,
                   const float *x, const int32_t *lengths, float *y) {
    struct weft_test_run run = weft_test_begin(f->device);
    const weft_tensor in = weft_test_feed(&run, "x", shape, x);
    const weft_tensor of =
        weft_test_feed_i32(&run, "lengths", weft_shape_of(shape.dim[0]), lengths);
    weft_tensor out;
    assert_ok(
        weft_graph_reduce(&out, run.graph, op, in,
                          weft_reduce_params(.axes = {1, 2}, .axis_count = axes, .lengths = of)));
    weft_test_execute_to(&run, out, y);
}

/* x [2, n, d], whose second sequence has `length` tokens and NaN behind them, over tokens or over channels too. */
static void check(struct weft_test_graph *f, weft_reduction op, uint32_t axes, const float *x,
                  weft_shape shape, int32_t length) {
    const int32_t lengths[BATCH] = {(int32_t)shape.dim[1], length};
    const uint32_t d = shape.dim[2];
    const uint32_t results = axes == 1 ? d : 1;
    float together[BATCH * MOST_CHANNELS], alone[MOST_CHANNELS];
    reduce(f, op, axes, shape, x, lengths, together);
    reduce(f, op, axes, weft_shape_of(1, (uint32_t)length, d), x + (size_t)shape.dim[1] * d,
           &lengths[1], alone);
    for (uint32_t c = 0; c < results; c++) {
        if (isnan(alone[c]) || memcmp(&alone[c], &together[results + c], sizeof *alone) != 0) {
            fail_msg("%s of %d tokens of up to %u, %u axes: %a, alone %a", weft_reduction_name(op),
                     length, shape.dim[1], axes, (double)together[results + c], (double)alone[c]);
        }
    }
}

/* All kinds, of tokens of which `count` are there. */
static void check_kinds(struct weft_test_graph *f, uint32_t n, uint32_t d, int32_t length) {
    static float x[BATCH * MOST * MOST_CHANNELS];
    const size_t count = (size_t)BATCH * n * d;
    weft_philox_uniform(x, count, n, (uint32_t)length);
    for (size_t i = 0; i < count; i++) {
        x[i] = 1.0F + x[i] / 16.0F;
    }
    for (size_t i = (size_t)(n + (uint32_t)length) * d; i < count; i++) {
        x[i] = NAN;
    }
    for (uint32_t op = 0; op < WEFT_REDUCTION_COUNT; op++) {
        for (uint32_t axes = 1; axes <= (d > 1 ? 2U : 1U); axes++) {
            check(f, (weft_reduction)op, axes, x, weft_shape_of(BATCH, n, d), length);
        }
    }
}

WEFT_TEST_ON_GRAPH(test_short_and_long_sequences, f) {
    static const int32_t lengths[] = {1, 128, 129, 200, 256, 257, 299};
    for (uint32_t i = 0; i < WEFT_COUNT(lengths); i++) {
        check_kinds(f, 300, MOST_CHANNELS, lengths[i]);
    }
}

/* One level of blocks beside two, and, of one channel, less than the 64 of a row beside more. */
WEFT_TEST_ON_GRAPH(test_levels_of_blocks, f) {
    static const int32_t lengths[] = {200, 5000, 32768, 32769};
    for (uint32_t i = 0; i < WEFT_COUNT(lengths); i++) {
        check_kinds(f, MOST, 1, lengths[i]);
    }
}

/* -1.5 · 2^-126 and 2^-126 in two sixteens: the sum underflows to -0, and stays that through all levels. */
WEFT_TEST_ON_GRAPH(test_minus_zero, f) {
    static float x[BATCH * MOST];
    static const uint32_t longest[] = {300, MOST};
    for (uint32_t i = 0; i < WEFT_COUNT(longest); i++) {
        const uint32_t n = longest[i];
        const int32_t lengths[BATCH] = {(int32_t)n, 32};
        float y[BATCH];
        x[n] = -1.5F * 0x1p-126F;
        x[n + 16] = 0x1p-126F;
        reduce(f, WEFT_REDUCTION_SUM, 1, weft_shape_of(BATCH, n, 1), x, lengths, y);
        assert_true(y[1] == 0.0F && signbit(y[1]));
        x[n] = 0.0F;
        x[n + 16] = 0.0F;
    }
}
