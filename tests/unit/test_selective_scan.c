/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* Selective scans and their step: values checked by hand, and sequences that are cut anywhere. */
#include <math.h>

#include <weft/decode.h>
#include <weft/mixers.h>
#include <weft/movement.h>

#include "core/math/philox.h"
#include "support_sheet.h"

enum { X, DELTA, A, B, C, SKIP, OPERANDS };
static const char *const names[OPERANDS] = {"x", "delta", "a", "b", "c", "skip"};

/* ---- values checked by hand ---- */

/* Rates of 0 keep what was written, and one of -1000 loses it: h is [1, 1], [1, 1] + [2, 6], and of the second state only what is new. */
WEFT_TEST_ON_GRAPH(sums_and_what_is_forgotten, f) {
    static const float x[] = {1, 2}, delta[] = {1, 1}, a[] = {0, -1000}, b[] = {1, 1, 1, 3},
                       c[] = {1, 0, 10, 1}, skip[] = {100};
    static const float expected[] = {101, 236}, behind[] = {3, 6};
    float y[2], last[2];
    struct weft_test_run run = weft_test_begin(f->device);
    const weft_shape of_x = weft_shape_of(1, 2, 1), of_states = weft_shape_of(1, 2, 2);
    weft_tensor out[2];
    assert_ok(weft_graph_selective_scan_with_last(
        out, run.graph, weft_test_feed(&run, "x", of_x, x),
        weft_test_feed(&run, "delta", of_x, delta),
        weft_test_feed(&run, "a", weft_shape_of(2, 1), a), weft_test_feed(&run, "b", of_states, b),
        weft_test_feed(&run, "c", of_states, c),
        weft_selective_scan_params(.skip = weft_test_feed(&run, "skip", weft_shape_of(1), skip))));
    weft_test_take(&run, "y", out[0], y);
    weft_test_take(&run, "last", out[1], last);
    weft_test_execute(&run, NULL);
    assert_memory_equal(y, expected, sizeof y);
    assert_memory_equal(last, behind, sizeof last);
}

/* ---- pieces ---- */

/* A text of n tokens, of which a run takes some. */
struct text {
    uint32_t batch, n, channels, states;
    bool skip;
    float *x[OPERANDS];
};

/* Elements of a token; 0: the operand is no token's. */
static uint32_t width_of(const struct text *t, uint32_t operand) {
    return operand == A || operand == SKIP ? 0
           : operand == B || operand == C  ? t->states
                                           : t->channels;
}

static void make_text(struct text *t) {
    for (uint32_t i = 0; i < OPERANDS; i++) {
        const size_t count = i == A      ? (size_t)t->states * t->channels
                             : i == SKIP ? t->channels
                                         : (size_t)t->batch * t->n * width_of(t, i);
        t->x[i] = calloc(count, sizeof *t->x[i]);
        assert_non_null(t->x[i]);
        weft_philox_uniform(t->x[i], count, 83, i);
        for (size_t at = 0; at < count && (i == DELTA || i == A); at++) {
            t->x[i][at] = i == DELTA ? 0.5F * t->x[i][at] + 0.5F : t->x[i][at] - 1.0F;
        }
    }
}

static void free_text(struct text *t) {
    for (uint32_t i = 0; i < OPERANDS; i++) {
        free(t->x[i]);
    }
}

/* Runs of `size` elements for each token from `first` on. */
static float *cut(const struct text *t, const float *x, uint32_t first, uint32_t count,
                  uint32_t size) {
    float *part = malloc((size_t)t->batch * count * size * sizeof *part);
    assert_non_null(part);
    for (uint32_t b = 0; b < t->batch; b++) {
        memcpy(part + (size_t)b * count * size, x + ((size_t)b * t->n + first) * size,
               (size_t)count * size * sizeof *x);
    }
    return part;
}

static void feed_rates(weft_tensor x[OPERANDS], struct weft_test_run *run, const struct text *t) {
    x[A] = weft_test_feed(run, names[A], weft_shape_of(t->states, t->channels), t->x[A]);
    if (t->skip) {
        x[SKIP] = weft_test_feed(run, names[SKIP], weft_shape_of(t->channels), t->x[SKIP]);
    }
}

/* Makes the results of a piece, and the states behind it of those before it. */
static void run_piece(struct weft_test_graph *f, const struct text *t, uint32_t first,
                      uint32_t count, float *state, bool has_state, const int32_t *lengths,
                      float *y) {
    const size_t states = (size_t)t->batch * t->states * t->channels;
    const weft_shape shape = weft_shape_of(t->batch, t->states, t->channels);
    struct weft_test_run run = weft_test_begin(f->device);
    weft_tensor x[OPERANDS] = {{0}};
    float *parts[OPERANDS] = {NULL};
    feed_rates(x, &run, t);
    for (uint32_t i = 0; i < OPERANDS; i++) {
        const uint32_t width = width_of(t, i);
        if (width > 0) {
            parts[i] = cut(t, t->x[i], first, count, width);
            x[i] = weft_test_feed(&run, names[i], weft_shape_of(t->batch, count, width), parts[i]);
        }
    }
    weft_selective_scan_params params = {.skip = x[SKIP]};
    if (has_state) {
        params.state = weft_test_feed(&run, "state", shape, state);
    }
    if (lengths) {
        params.lengths = weft_test_feed_i32(&run, "lengths", weft_shape_of(t->batch), lengths);
    }
    weft_tensor out[2];
    float *last = malloc(states * sizeof *last);
    assert_non_null(last);
    assert_ok(weft_graph_selective_scan_with_last(out, run.graph, x[X], x[DELTA], x[A], x[B], x[C],
                                                  &params));
    weft_test_take(&run, "y", out[0], y);
    weft_test_take(&run, "last", out[1], last);
    weft_test_execute(&run, NULL);
    memcpy(state, last, states * sizeof *last);
    free(last);
    for (uint32_t i = 0; i < OPERANDS; i++) {
        free(parts[i]);
    }
}

/* Whole, and cut at these tokens, of which the last is n: the same bits. */
static void check_cuts(struct weft_test_graph *f, const struct text *t, const uint32_t *cuts) {
    const size_t size = (size_t)t->batch * t->n * t->channels;
    const size_t states = (size_t)t->batch * t->states * t->channels;
    float *whole = malloc(2 * size * sizeof *whole);
    float *state = malloc(2 * states * sizeof *state);
    assert_non_null(whole);
    assert_non_null(state);
    run_piece(f, t, 0, t->n, state, false, NULL, whole);
    for (uint32_t done = 0, i = 0; done < t->n; done = cuts[i++]) {
        const uint32_t count = cuts[i] - done;
        run_piece(f, t, done, count, state + states, done > 0, NULL, whole + size);
        float *expected = cut(t, whole, done, count, t->channels);
        assert_memory_equal(whole + size, expected,
                            (size_t)t->batch * count * t->channels * sizeof *whole);
        free(expected);
    }
    assert_memory_equal(state, state + states, states * sizeof *state);
    free(whole);
    free(state);
}

enum { MOST = 19, MOST_BATCH = 2 };

/* Registers of each number of states, and more tokens than a workgroup sums up at once. */
static const struct text kinds[] = {
    {.batch = 2, .n = MOST, .channels = 18, .states = 16, .skip = true},
    {.batch = 1, .n = MOST, .channels = 5, .states = 1},
    {.batch = 2, .n = MOST, .channels = 35, .states = 21, .skip = true},
    {.batch = 1, .n = MOST, .channels = 3, .states = 127},
};

WEFT_TEST_ON_GRAPH(pieces_have_the_bits_of_the_whole, f) {
    static const uint32_t one_by_one[] = {1,  2,  3,  4,  5,  6,  7,  8,  9, 10,
                                          11, 12, 13, 14, 15, 16, 17, 18, 19};
    static const uint32_t uneven[] = {4, 5, 14, MOST};
    for (size_t i = 0; i < WEFT_COUNT(kinds); i++) {
        struct text t = kinds[i];
        make_text(&t);
        check_cuts(f, &t, one_by_one);
        check_cuts(f, &t, uneven);
        free_text(&t);
    }
}

/* So many tokens that the whole is several dispatches, which end elsewhere than the pieces do. */
WEFT_TEST_ON_GRAPH(pieces_of_several_dispatches, f) {
    static const uint32_t cuts[] = {4099, 8200};
    struct text t = {.batch = 1, .n = 8200, .channels = 3, .states = 2, .skip = true};
    make_text(&t);
    check_cuts(f, &t, cuts);
    free_text(&t);
}

/* ---- steps ---- */

static weft_tensor slice(weft_graph *graph, weft_tensor x, uint32_t axis, uint32_t first,
                         uint32_t count) {
    weft_tensor out;
    assert_ok(weft_graph_slice(&out, graph, x, axis, first, count, 1));
    return out;
}

/* The step of `count` tokens of the operands from `first` on; positions [n, batch]. */
static weft_tensor add_step(weft_graph *graph, const struct text *t,
                            const weft_tensor whole[OPERANDS], weft_tensor positions,
                            uint32_t first, uint32_t count) {
    weft_tensor x[OPERANDS], out;
    for (uint32_t i = 0; i < OPERANDS; i++) {
        x[i] = width_of(t, i) > 0 ? slice(graph, whole[i], 1, first, count) : whole[i];
    }
    weft_step step = {.state = "state"};
    assert_ok(weft_graph_reshape(&step.position, graph,
                                 slice(graph, positions, 0, first + count - 1, 1),
                                 weft_shape_of(t->batch)));
    assert_ok(weft_graph_selective_scan_step(&out, graph, x[X], x[DELTA], x[A], x[B], x[C], &step,
                                             weft_selective_scan_params(.skip = x[SKIP])));
    return out;
}

/* A prompt of `prompt` tokens and steps of one each, by one state, whatever that held before. */
static void run_steps(struct weft_test_graph *f, const struct text *t, uint32_t prompt, float *y) {
    const size_t states = (size_t)t->batch * t->states * t->channels;
    int32_t position[MOST * MOST_BATCH];
    weft_tensor x[OPERANDS] = {{0}}, pieces[MOST], out;
    uint32_t count = 0;
    float *state = malloc(states * sizeof *state);
    assert_non_null(state);
    memset(state, 0xff, states * sizeof *state); /* NaN */
    struct weft_test_run run = weft_test_begin(f->device);
    feed_rates(x, &run, t);
    for (uint32_t i = 0; i < OPERANDS; i++) {
        const uint32_t width = width_of(t, i);
        x[i] = width > 0
                   ? weft_test_feed(&run, names[i], weft_shape_of(t->batch, t->n, width), t->x[i])
                   : x[i];
    }
    for (uint32_t i = 0; i < t->n * t->batch; i++) {
        position[i] = (int32_t)(i / t->batch);
    }
    const weft_tensor positions =
        weft_test_feed_i32(&run, "positions", weft_shape_of(t->n, t->batch), position);
    for (uint32_t first = 0; first < t->n; first = first == 0 ? prompt : first + 1) {
        pieces[count++] = add_step(run.graph, t, x, positions, first, first == 0 ? prompt : 1);
    }
    assert_ok(weft_graph_concat(&out, run.graph, pieces, count, 1));
    weft_test_feed_state(&run, "state", weft_shape_of(t->batch, t->states * t->channels), state);
    weft_test_take(&run, "y", out, y);
    weft_test_execute(&run, NULL);
    free(state);
}

WEFT_TEST_ON_GRAPH(steps_have_the_bits_of_the_whole, f) {
    static const uint32_t prompts[] = {1, 2, 9, 18, MOST};
    for (size_t i = 0; i < WEFT_COUNT(kinds); i++) {
        struct text t = kinds[i];
        make_text(&t);
        const size_t size = (size_t)t.batch * t.n * t.channels;
        float *whole = malloc(2 * size * sizeof *whole);
        float *state = malloc((size_t)t.batch * t.states * t.channels * sizeof *state);
        assert_true(whole && state);
        run_piece(f, &t, 0, t.n, state, false, NULL, whole);
        for (size_t at = 0; at < WEFT_COUNT(prompts); at++) {
            run_steps(f, &t, prompts[at], whole + size);
            assert_memory_equal(whole + size, whole, size * sizeof *whole);
        }
        free(whole);
        free(state);
        free_text(&t);
    }
}

WEFT_TEST_ON_GRAPH(steps_are_checked, f) {
    const weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(2, 1, 6));
    const weft_tensor a = weft_test_input(f->graph, "a", weft_shape_of(3, 6));
    const weft_tensor b = weft_test_input(f->graph, "b", weft_shape_of(2, 1, 3));
    const weft_tensor skip = weft_test_input(f->graph, "skip", weft_shape_of(5));
    const weft_tensor state = weft_test_input(f->graph, "given", weft_shape_of(2, 3, 6));
    const weft_tensor flat = weft_test_input(f->graph, "flat", weft_shape_of(2, 6));
    const weft_tensor position = weft_test_input_i32(f->graph, "position", weft_shape_of(2));
    const weft_step step = {.state = "state", .position = position};
    const weft_step nameless = {.position = position};
    weft_tensor y;
#define REFUSED(status, x, b, step, params, ...)                                                   \
    WEFT_EXPECT_FAILURE(f, status,                                                                 \
                        weft_graph_selective_scan_step(&y, f->graph, x, x, a, b, b, step, params), \
                        __VA_ARGS__)
    REFUSED(WEFT_INVALID_ARGUMENT, x, b, &nameless, NULL, "selective_scan_step",
            "the name of a state");
    REFUSED(WEFT_INVALID_ARGUMENT, x, b, &step, weft_selective_scan_params(.state = state),
            "state must be absent");
    REFUSED(WEFT_INVALID_ARGUMENT, x, b, &step, weft_selective_scan_params(.lengths = position),
            "lengths must be absent");
    REFUSED(WEFT_SHAPE_MISMATCH, x, b, &step, weft_selective_scan_params(.skip = skip),
            "selective_scan_step: skip must be f32 [6]", "[5]");
    REFUSED(WEFT_SHAPE_MISMATCH, x, x, &step, NULL, "selective_scan_step: a must be [6, 6]",
            "[3, 6]");
    REFUSED(WEFT_SHAPE_MISMATCH, flat, b, &step, NULL, "selective_scan_step: x must be");
    REFUSED(WEFT_SHAPE_MISMATCH, x, flat, &step, NULL, "selective_scan_step: b must be");
#undef REFUSED
    assert_ok(weft_graph_selective_scan_step(&y, f->graph, x, x, a, b, b, &step, NULL));
}

/* ---- lengths ---- */

/* A state stays what it is behind its sequence's last token, whatever comes there. */
WEFT_TEST_ON_GRAPH(states_behind_lengths, f) {
    enum { CHANNELS = 18, SHORT = 4, ALL = 2 * 16 * CHANNELS };
    const int32_t lengths[] = {SHORT, MOST};
    struct text t = kinds[0];
    float y[2][2 * MOST * CHANNELS], state[2][ALL];
    make_text(&t);
    t.x[X][5 * CHANNELS] = INFINITY;
    run_piece(f, &t, 0, MOST, state[0], false, lengths, y[0]);
    run_piece(f, &t, 0, SHORT, state[1], false, NULL, y[1]);
    assert_memory_equal(y[0], y[1], sizeof(float[SHORT * CHANNELS]));
    assert_memory_equal(state[0], state[1], sizeof(float[ALL / 2]));
    for (uint32_t i = SHORT * CHANNELS; i < MOST * CHANNELS; i++) {
        assert_true(y[0][i] == 0.0F);
    }
    free_text(&t);
}

/* ---- more than a device binds ---- */

WEFT_TEST_ON_GRAPH(sequences_in_parts, f) {
    enum { BATCH = 9, N = 8, CHANNELS = 32, STATES = 16, ALL = BATCH * STATES * CHANNELS };
    static float state[ALL], found[2][BATCH * N * CHANNELS], last[2][ALL];
    struct text t = {.batch = BATCH, .n = N, .channels = CHANNELS, .states = STATES, .skip = true};
    make_text(&t);
    weft_philox_uniform(state, ALL, 5, 3);
    for (uint32_t in_parts = 0; in_parts < 2; in_parts++) {
        struct weft_test_run run = weft_test_begin(f->device);
        weft_tensor x[OPERANDS] = {{0}}, out[2];
        feed_rates(x, &run, &t);
        for (uint32_t i = 0; i < OPERANDS; i++) {
            x[i] = width_of(&t, i) > 0
                       ? weft_test_feed(&run, names[i], weft_shape_of(BATCH, N, width_of(&t, i)),
                                        t.x[i])
                       : x[i];
        }
        const weft_selective_scan_params params = {
            .skip = x[SKIP],
            .state = weft_test_feed(&run, "state", weft_shape_of(BATCH, STATES, CHANNELS), state)};
        assert_ok(weft_graph_selective_scan_with_last(out, run.graph, x[X], x[DELTA], x[A], x[B],
                                                      x[C], &params));
        weft_test_take(&run, "y", out[0], found[in_parts]);
        weft_test_take(&run, "last", out[1], last[in_parts]);
        if (in_parts) {
            weft_test_execute_in_parts(&run, 4 * STATES * CHANNELS * sizeof(float));
        } else {
            weft_test_execute(&run, NULL);
        }
    }
    assert_memory_equal(found[0], found[1], sizeof found[0]);
    assert_memory_equal(last[0], last[1], sizeof last[0]);
    free_text(&t);
}
