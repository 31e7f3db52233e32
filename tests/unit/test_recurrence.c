/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* Recurrences: values checked by hand, and texts in pieces. */
#include <math.h>

#include "core/math/philox.h"
#include "support_sheet.h"

/* ---- values checked by hand ---- */

static void run(struct weft_test_graph *f, const weft_recurrence_params *params, weft_sizes sizes,
                float *gates, float *weight, float *y) {
    const struct weft_test_mix mix = {
        .sheet = &weft_sheet_recurrence, .sizes = sizes, .params = params, .x = {gates, weight}};
    weft_test_mix_run(f->device, &mix, y);
}

/* h = max(x + W h, 0) with W = [[1, -1], [2, 0]], whose rows are those of the results. */
WEFT_TEST_ON_GRAPH(test_simple_cells, f) {
    float weight[] = {1.0F, -1.0F, 2.0F, 0.0F};
    float x[] = {1.0F, 2.0F, 3.0F, -1.0F, 0.0F, 0.0F};
    const float forward[] = {1.0F, 2.0F, 2.0F, 1.0F, 1.0F, 4.0F};
    const float reverse[] = {4.0F, 8.0F, 3.0F, 0.0F, 0.0F, 0.0F};
    const weft_sizes sizes = {1, 3, 1, 2, .keys = 0};
    float y[6];
    run(f, weft_recurrence_params(.cell = WEFT_CELL_RELU), sizes, x, weight, y);
    assert_memory_equal(y, forward, sizeof y);
    run(f, weft_recurrence_params(.cell = WEFT_CELL_RELU, .reverse = true), sizes, x, weight, y);
    assert_memory_equal(y, reverse, sizeof y);
}

static double logistic(double x) {
    return 1.0 / (1.0 + exp(-x));
}

/* One unit, two tokens: each part of the gates by its own number, so that none is in another's place. */
WEFT_TEST_ON_GRAPH(test_gates_of_lstm, f) {
    const float x[] = {0.5F, -1.0F, 0.25F, 2.0F, -0.5F, 1.0F, 0.75F, -2.0F};
    const float weight[] = {0.3F, -0.7F, 1.1F, 0.9F};
    double h = 0.0, c = 0.0;
    float y[4];
    struct weft_test_run lstm = weft_test_begin(f->device);
    weft_tensor out = {0};
    assert_ok(weft_graph_recurrence(&out, lstm.graph,
                                    weft_test_feed(&lstm, "gates", weft_shape_of(1, 2, 4), x),
                                    weft_test_constant(lstm.graph, weft_shape_of(4, 1), weight),
                                    weft_recurrence_params(.cell = WEFT_CELL_LSTM)));
    weft_test_execute_to(&lstm, out, y);
    for (uint32_t t = 0; t < 2; t++) {
        double a[4];
        for (uint32_t k = 0; k < 4; k++) {
            a[k] = (double)x[4 * t + k] + (double)weight[k] * h;
        }
        c = logistic(a[1]) * c + logistic(a[0]) * tanh(a[2]);
        h = logistic(a[3]) * tanh(c);
        assert_true(fabs((double)y[2 * t] - h) < 1e-6 && fabs((double)y[2 * t + 1] - c) < 1e-6);
    }
}

/* The two GRUs differ where the bias of n is not 0, and h is reset before the product or behind it. */
WEFT_TEST_ON_GRAPH(test_gates_of_gru, f) {
    const float x[] = {0.5F, -1.0F, 0.25F};
    const float weight[] = {0.3F, -0.7F, 1.1F};
    const float bias[] = {0.1F, 0.2F, -0.4F};
    const float state = 0.8F;
    const double h = (double)state;
    const double r = logistic(0.5 + 0.3 * h + 0.1);
    const double z = logistic(-1.0 - 0.7 * h + 0.2);
    const double n[] = {tanh(0.25 + r * (1.1 * h - 0.4)), tanh(0.25 + 1.1 * r * h - 0.4)};
    for (uint32_t k = 0; k < 2; k++) {
        struct weft_test_run gru = weft_test_begin(f->device);
        weft_tensor out = {0};
        float y;
        assert_ok(weft_graph_recurrence(
            &out, gru.graph, weft_test_feed(&gru, "gates", weft_shape_of(1, 1, 3), x),
            weft_test_constant(gru.graph, weft_shape_of(3, 1), weight),
            weft_recurrence_params(.cell = k == 0 ? WEFT_CELL_GRU : WEFT_CELL_GRU_RESET_FIRST,
                                   .bias = weft_test_constant(gru.graph, weft_shape_of(3), bias),
                                   .state = weft_test_constant(gru.graph, weft_shape_of(1, 1),
                                                               &state))));
        weft_test_execute_to(&gru, out, &y);
        assert_true(fabs((double)y - ((1.0 - z) * n[k] + z * h)) < 1e-6);
    }
}

/* ---- pieces ---- */

/* A text of n tokens, of which a run takes `count` from `first` on, in the order of the steps. */
struct text {
    weft_cell cell;
    bool reverse;
    uint32_t batch, n, width, rows, kept;
    const float *gates, *weight, *bias; /* [batch, n, rows], [rows, width], [rows] */
};

static void copy_tokens(float *to, const float *from, const struct text *t, uint32_t first,
                        uint32_t count, uint32_t size) {
    for (uint32_t b = 0; b < t->batch; b++) {
        memcpy(to + (size_t)b * count * size, from + ((size_t)b * t->n + first) * size,
               (size_t)count * size * sizeof *to);
    }
}

/* Makes [batch, count, kept] of a piece, and the state behind it. */
static void run_piece(struct weft_test_graph *f, const struct text *t, uint32_t first,
                      uint32_t count, float *state, bool has_state, float *y) {
    float *gates = malloc((size_t)t->batch * count * t->rows * sizeof *gates);
    assert_non_null(gates);
    copy_tokens(gates, t->gates, t, first, count, t->rows);
    struct weft_test_run run = weft_test_begin(f->device);
    const weft_recurrence_params params = {
        .cell = t->cell,
        .reverse = t->reverse,
        .bias = weft_test_constant(run.graph, weft_shape_of(t->rows), t->bias),
        .state = has_state ? weft_test_feed(&run, "state", weft_shape_of(t->batch, t->kept), state)
                           : (weft_tensor){0}};
    weft_tensor out = {0};
    assert_ok(weft_graph_recurrence(
        &out, run.graph,
        weft_test_feed(&run, "gates", weft_shape_of(t->batch, count, t->rows), gates),
        weft_test_constant(run.graph, weft_shape_of(t->rows, t->width), t->weight), &params));
    weft_test_execute_to(&run, out, y);
    for (uint32_t b = 0; b < t->batch; b++) {
        const size_t token = (size_t)b * count + (t->reverse ? 0 : count - 1);
        memcpy(state + (size_t)b * t->kept, y + token * t->kept, t->kept * sizeof *state);
    }
    free(gates);
}

/* Whole, and in pieces of `piece` tokens each but the last: the same bits. */
static void check_pieces(struct weft_test_graph *f, const struct text *t, uint32_t piece) {
    const size_t size = (size_t)t->batch * t->n * t->kept;
    float *whole = malloc(3 * size * sizeof *whole);
    float *state = malloc((size_t)t->batch * t->kept * sizeof *state);
    assert_non_null(whole);
    assert_non_null(state);
    float *found = whole + size, *expected = found + size;
    run_piece(f, t, 0, t->n, state, false, whole);
    for (uint32_t done = 0; done < t->n; done += piece) {
        const uint32_t count = t->n - done < piece ? t->n - done : piece;
        const uint32_t first = t->reverse ? t->n - done - count : done;
        run_piece(f, t, first, count, state, done > 0, found);
        copy_tokens(expected, whole, t, first, count, t->kept);
        assert_memory_equal(found, expected, (size_t)t->batch * count * t->kept * sizeof *found);
    }
    free(whole);
    free(state);
}

static void check_text(struct weft_test_graph *f, struct text t, uint32_t piece) {
    static const uint32_t parts[] = {1, 1, 3, 3, 4};
    t.rows = parts[t.cell] * t.width;
    t.kept = t.cell == WEFT_CELL_LSTM ? 2 * t.width : t.width;
    const size_t counts[] = {(size_t)t.batch * t.n * t.rows, (size_t)t.rows * t.width, t.rows};
    float *data[3];
    for (uint32_t i = 0; i < 3; i++) {
        data[i] = malloc(counts[i] * sizeof *data[i]);
        assert_non_null(data[i]);
        weft_philox_uniform(data[i], counts[i], 71, i);
    }
    t.gates = data[0];
    t.weight = data[1];
    t.bias = data[2];
    check_pieces(f, &t, piece);
    for (uint32_t i = 0; i < 3; i++) {
        free(data[i]);
    }
}

WEFT_TEST_ON_GRAPH(test_pieces_have_the_bits_of_the_whole, f) {
    for (uint32_t cell = 0; cell < WEFT_CELL_COUNT; cell++) {
        for (uint32_t reverse = 0; reverse < 2; reverse++) {
            check_text(f,
                       (struct text){.cell = (weft_cell)cell,
                                     .reverse = reverse != 0,
                                     .batch = 2,
                                     .n = 11,
                                     .width = 21},
                       4);
        }
    }
}

/* So many steps that the whole is several dispatches, which end elsewhere than the pieces do. */
WEFT_TEST_ON_GRAPH(test_pieces_of_several_dispatches, f) {
    check_text(f, (struct text){.cell = WEFT_CELL_GRU, .batch = 1, .n = 8200, .width = 2}, 4099);
    check_text(
        f,
        (struct text){.cell = WEFT_CELL_LSTM, .reverse = true, .batch = 1, .n = 4100, .width = 1},
        2999);
}

/* ---- more than a device binds ---- */

/* Sequences apart, each with its own state. */
WEFT_TEST_ON_GRAPH(test_sequences_in_parts, f) {
    enum { BATCH = 9, N = 7, WIDTH = 32 };
    static float gates[BATCH * N * 4 * WIDTH], weight[4 * WIDTH * WIDTH], state[BATCH * 2 * WIDTH];
    static float found[2][BATCH * N * 2 * WIDTH];
    weft_philox_uniform(gates, WEFT_COUNT(gates), 5, 0);
    weft_philox_uniform(weight, WEFT_COUNT(weight), 5, 1);
    weft_philox_uniform(state, WEFT_COUNT(state), 5, 2);
    for (uint32_t k = 0; k < 2; k++) {
        struct weft_test_run run = weft_test_begin(f->device);
        const weft_recurrence_params params = {
            .cell = WEFT_CELL_LSTM,
            .reverse = true,
            .state = weft_test_feed(&run, "state", weft_shape_of(BATCH, 2 * WIDTH), state)};
        weft_tensor y = {0};
        assert_ok(weft_graph_recurrence(
            &y, run.graph, weft_test_feed(&run, "gates", weft_shape_of(BATCH, N, 4 * WIDTH), gates),
            weft_test_constant(run.graph, weft_shape_of(4 * WIDTH, WIDTH), weight), &params));
        weft_test_take(&run, "y", y, found[k]);
        if (k == 0) {
            weft_test_execute(&run, NULL);
        } else {
            weft_test_execute_in_parts(&run, sizeof weight);
        }
    }
    assert_memory_equal(found[0], found[1], sizeof found[0]);
}
