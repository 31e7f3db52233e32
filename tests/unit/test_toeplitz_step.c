/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/*
 * Steps of the causal Toeplitz operator: the bits of its definition for every cut of a sequence into a prompt and tokens, each sequence
 * at its own position, whatever the state held before; and what steps refuse.
 */
#include <math.h>

#include <weft/decode.h>

#include "core/math/philox.h"
#include "support_graph.h"
#include "support_sheet.h"

enum { BATCH = 2, N = 150, D = 21, REACH = 160 };

struct operator{
    float x[BATCH * N * D], coefficients[REACH * D], decay[D];
    float whole[BATCH * N * D]; /* by the definition */
};

static weft_toeplitz_params params_of(weft_graph *graph, struct operator* o) {
    return (weft_toeplitz_params){.causal = true,
                                  .decay = weft_test_constant(graph, weft_shape_of(D), o->decay)};
}

static void run_whole(struct weft_test_graph *f, struct operator* o) {
    struct weft_test_run run = weft_test_begin(f->device);
    const weft_tensor x = weft_test_feed(&run, "x", weft_shape_of(BATCH, N, D), o->x);
    const weft_tensor t = weft_test_constant(run.graph, weft_shape_of(REACH, D), o->coefficients);
    const weft_toeplitz_params params = params_of(run.graph, o);
    weft_tensor y;
    assert_ok(weft_graph_toeplitz(&y, run.graph, x, t, &params));
    weft_test_take(&run, "y", y, o->whole);
    weft_test_execute(&run, "direct");
}

/* Makes products of odd channels so small that many sums underflow to zeros, whose sign counts. */
static void make_tiny(float *x, uint32_t rows) {
    for (uint32_t i = 0; i < rows * D; i++) {
        x[i] *= i % D % 2 == 1 ? 0x1p-62F : 1.0F;
    }
}

static void begin(struct weft_test_graph *f, struct operator* o) {
    weft_philox_uniform(o->x, BATCH * N * D, 3, 0);
    weft_philox_uniform(o->coefficients, REACH * D, 3, 1);
    make_tiny(o->x, BATCH * N);
    make_tiny(o->coefficients, REACH);
    for (uint32_t i = 0; i < D; i++) {
        o->decay[i] = 1.0F - (float)i / (i % 2 == 1 ? 4096.0F : 64.0F);
    }
    o->x[20 * D + 1] = INFINITY;
    o->x[(N + 40) * D + 2] = 1e-42F; /* subnormal */
    run_whole(f, o);
}

/* The tokens from `first[b]` on of each sequence, with the state, which the step changes. */
static void run_step(struct weft_test_graph *f, struct operator* o, float *state,
                     const uint32_t first[BATCH], uint32_t count) {
    struct weft_test_run run = weft_test_begin(f->device);
    float *x = calloc((size_t)BATCH * count * D, sizeof *x);
    float *y = calloc((size_t)BATCH * count * D, sizeof *y);
    int32_t positions[BATCH];
    assert_true(x && y);
    for (uint32_t b = 0; b < BATCH; b++) {
        positions[b] = (int32_t)(first[b] + count - 1);
        memcpy(x + (size_t)b * count * D, o->x + ((size_t)b * N + first[b]) * D,
               (size_t)count * D * sizeof *x);
    }
    const weft_tensor t = weft_test_constant(run.graph, weft_shape_of(REACH, D), o->coefficients);
    const weft_toeplitz_params params = params_of(run.graph, o);
    const weft_step step = {.state = "state",
                            .position =
                                weft_test_constant_i32(run.graph, weft_shape_of(BATCH), positions)};
    weft_tensor out;
    weft_test_feed_state(&run, "state", weft_shape_of(BATCH, REACH * D), state);
    run.taken[run.count - 1] = true; /* and read back */
    const weft_tensor in = weft_test_feed(&run, "x", weft_shape_of(BATCH, count, D), x);
    assert_ok(weft_graph_toeplitz_step(&out, run.graph, in, t, &step, &params));
    weft_test_take(&run, "y", out, y);
    weft_test_execute(&run, NULL);
    for (uint32_t b = 0; b < BATCH; b++) {
        if (memcmp(y + (size_t)b * count * D, o->whole + ((size_t)b * N + first[b]) * D,
                   (size_t)count * D * sizeof *y) != 0) {
            fail_msg("sequence %u: %u tokens from %u on have other bits than the definition", b,
                     count, first[b]);
        }
    }
    free(x);
    free(y);
}

WEFT_TEST_ON_GRAPH(test_steps_are_the_definition, f) {
    static const uint32_t prompts[] = {1, 2, 62, 64, 119, 130};
    static struct operator o;
    static float state[BATCH * REACH * D];
    begin(f, &o);
    for (size_t k = 0; k < WEFT_COUNT(prompts); k++) {
        const uint32_t start[BATCH] = {0, 0};
        memset(state, 0xff, sizeof state);
        run_step(f, &o, state, start, prompts[k]);
        for (uint32_t p = prompts[k]; p < N && p < prompts[k] + 20; p++) {
            const uint32_t place[BATCH] = {p, p};
            run_step(f, &o, state, place, 1);
        }
    }
}

/* The second sequence starts anew where the first goes on. */
WEFT_TEST_ON_GRAPH(test_positions_of_their_own, f) {
    static struct operator o;
    static float state[BATCH * REACH * D];
    const uint32_t start[BATCH] = {0, 0};
    begin(f, &o);
    memset(state, 0xff, sizeof state);
    run_step(f, &o, state, start, 129);
    for (uint32_t p = 129; p < N; p++) {
        const uint32_t place[BATCH] = {p, p - 129};
        run_step(f, &o, state, place, 1);
    }
}

WEFT_TEST_ON_GRAPH(test_steps_are_checked, f) {
    weft_graph *g = f->graph;
    const weft_tensor x = weft_test_input(g, "x", weft_shape_of(2, 1, 6));
    const weft_tensor three = weft_test_input(g, "three", weft_shape_of(2, 3, 6));
    const weft_tensor lags = weft_test_input(g, "lags", weft_shape_of(2, 6));
    const weft_tensor narrow = weft_test_input(g, "narrow", weft_shape_of(9, 5));
    const weft_tensor position = weft_test_input_i32(g, "position", weft_shape_of(2));
    const weft_step step = {.state = "state", .position = position};
    const weft_step nameless = {.position = position};
    weft_tensor y;
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_toeplitz_step(&y, g, x, lags, &nameless, NULL), "toeplitz_step",
                        "the name of a state");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_toeplitz_step(&y, g, three, lags, &step, NULL), "toeplitz_step",
                        "m >= 3", "[2, 6]");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_toeplitz_step(&y, g, x, narrow, &step, NULL), "[9, 5]",
                        "[2, 1, 6]");
    WEFT_EXPECT_FAILURE(
        f, WEFT_INVALID_ARGUMENT,
        weft_graph_toeplitz_step(&y, g, x, lags, &step, weft_toeplitz_params(.lengths = position)),
        "lengths must be absent");
    assert_ok(weft_graph_toeplitz_step(&y, g, x, lags, &step, NULL));
    const weft_tensor weight = weft_test_input(g, "weight", weft_shape_of(6, 6));
    const weft_ski_toeplitz_params ski = {.rpe = narrow, .gamma = 0.5F};
    const weft_gtu_params unit = {
        .weight = {weight, weight, weight}, .mixer = WEFT_GTU_SKI, .ski = &ski};
    WEFT_EXPECT_FAILURE(f, WEFT_UNSUPPORTED, weft_graph_gtu_step(&y, g, x, &step, &unit),
                        "weft_graph_gtu_step", "ski", "no step");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH, weft_graph_toeplitz_fd_taps(&y, g, x),
                        "toeplitz_fd_taps", "response");
}
