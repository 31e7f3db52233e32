/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* Gated states and their step: values checked by hand, and sequences that are cut anywhere. */
#include <math.h>

#include <weft/decode.h>
#include <weft/mixers.h>
#include <weft/movement.h>

#include "core/math/philox.h"
#include "support_sheet.h"

/* ---- values checked by hand ---- */

enum { TOKENS = 3, ROWS = 2, COLUMNS = 2 };

/* Three tokens of one head, whose numbers are such that nothing is rounded. */
static const float q[] = {1, 0, 0, 1, 1, 2}, k[] = {1, 0, 1, 0, 0, 2}, v[] = {3, 4, 5, 8, 1, 2};
static const float half[] = {0.5F, 0.5F, 0.5F}, quarters[] = {1, 0.5F, 0.5F, 0.25F, 0, 1};

struct given {
    bool delta, read_first;
    const float *decay, *beta;
    uint32_t decays; /* of a token */
};

static void run_by_hand(struct weft_test_graph *f, struct given given, float y[6], float last[4]) {
    struct weft_test_run run = weft_test_begin(f->device);
    const weft_shape shape = weft_shape_of(1, TOKENS, ROWS);
    const weft_tensor key = weft_test_feed(&run, "k", shape, k);
    weft_gated_state_params params = {.read_first = given.read_first, .scale = 2.0F};
    if (given.delta) {
        params.erase = key;
    }
    if (given.decay) {
        params.decay =
            weft_test_feed(&run, "a", weft_shape_of(1, TOKENS, given.decays), given.decay);
    }
    if (given.beta) {
        params.beta = weft_test_feed(&run, "b", weft_shape_of(1, TOKENS, 1), given.beta);
    }
    weft_tensor out[2];
    assert_ok(weft_graph_gated_state_with_last(out, run.graph, weft_test_feed(&run, "q", shape, q),
                                               key, weft_test_feed(&run, "v", shape, v), &params));
    weft_test_take(&run, "y", out[0], y);
    weft_test_take(&run, "last", out[1], last);
    weft_test_execute(&run, NULL);
}

static void expect_by_hand(struct weft_test_graph *f, struct given given, const float y[6],
                           const float last[4]) {
    float found[6], state[4];
    run_by_hand(f, given, found, state);
    assert_memory_equal(found, y, sizeof found);
    assert_memory_equal(state, last, sizeof state);
}

WEFT_TEST_ON_GRAPH(a_sum_of_products, f) {
    expect_by_hand(f, (struct given){0}, (const float[]){6, 8, 0, 0, 24, 40},
                   (const float[]){8, 12, 2, 4});
}

/* The second token's key is the first one's: what it held is replaced. */
WEFT_TEST_ON_GRAPH(the_delta_rule_replaces, f) {
    expect_by_hand(f, (struct given){.delta = true}, (const float[]){6, 8, 0, 0, 18, 32},
                   (const float[]){5, 8, 2, 4});
}

/* Half of what is new is written, and half of what was there stays. */
WEFT_TEST_ON_GRAPH(rates, f) {
    expect_by_hand(f, (struct given){.delta = true, .beta = half},
                   (const float[]){3, 4, 0, 0, 10.5F, 18}, (const float[]){3.25F, 5, 1, 2});
}

WEFT_TEST_ON_GRAPH(decays_of_heads_and_rows, f) {
    expect_by_hand(f, (struct given){.decay = half, .decays = 1},
                   (const float[]){6, 8, 0, 0, 14.5F, 26}, (const float[]){3.25F, 5, 2, 4});
    expect_by_hand(f, (struct given){.decay = quarters, .decays = 2},
                   (const float[]){6, 8, 0, 0, 8, 16}, (const float[]){0, 0, 2, 4});
}

WEFT_TEST_ON_GRAPH(read_before_the_token, f) {
    expect_by_hand(f, (struct given){.read_first = true}, (const float[]){0, 0, 0, 0, 16, 24},
                   (const float[]){8, 12, 2, 4});
}

/* ---- pieces ---- */

enum { OPERANDS = 7 }; /* q, k, v, and those that a rule may have */

/* A text of n tokens, of which a run takes some. */
struct text {
    uint32_t batch, n, heads, q_heads, k_heads, rows, columns;
    bool decay, beta, erase, own_erase, along;
    float *x[OPERANDS];
    uint32_t width[OPERANDS]; /* of a token; 0: it is not there */
    uint32_t results, states; /* elements of a token, and of a sequence */
};

enum { AT_Q, AT_K, AT_V, AT_DECAY, AT_BETA, AT_ERASE, AT_ALONG };

static void make_text(struct text *t) {
    const uint32_t keys = t->k_heads * t->rows;
    const uint32_t width[OPERANDS] = {t->q_heads * t->rows,   keys,
                                      t->heads * t->columns,  t->decay ? t->heads * t->rows : 0,
                                      t->beta ? t->heads : 0, t->own_erase ? keys : 0,
                                      t->along ? keys : 0};
    const uint32_t read = t->q_heads > t->heads ? t->q_heads : t->heads;
    t->results = read * t->columns;
    t->states = t->heads * t->rows * t->columns;
    for (uint32_t i = 0; i < OPERANDS; i++) {
        const size_t count = (size_t)t->batch * t->n * width[i];
        t->width[i] = width[i];
        t->x[i] = calloc(count + 1, sizeof *t->x[i]);
        assert_non_null(t->x[i]);
        weft_philox_uniform(t->x[i], count, 83, i);
        for (size_t at = 0; at < count && i != AT_Q && i != AT_V; at++) {
            /* Rates and decays are from 0 to 1, and keys short. */
            t->x[i][at] = i == AT_DECAY || i == AT_BETA ? 0.5F * t->x[i][at] + 0.5F
                                                        : t->x[i][at] / (float)t->rows;
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
    float *part = malloc(((size_t)t->batch * count * size + 1) * sizeof *part);
    assert_non_null(part);
    for (uint32_t b = 0; b < t->batch; b++) {
        memcpy(part + (size_t)b * count * size, x + ((size_t)b * t->n + first) * size,
               (size_t)count * size * sizeof *x);
    }
    return part;
}

static weft_gated_state_params params_of(const struct text *t, const weft_tensor x[OPERANDS]) {
    return (weft_gated_state_params){.heads = t->heads,
                                     .q_heads = t->q_heads,
                                     .k_heads = t->k_heads,
                                     .scale = 0.3F,
                                     .decay = x[AT_DECAY],
                                     .beta = x[AT_BETA],
                                     .erase = t->erase ? x[t->own_erase ? AT_ERASE : AT_K]
                                                       : (weft_tensor){0},
                                     .erase_along = x[AT_ALONG]};
}

/* Makes the results of a piece, and the states behind it of those before it; null: zeros. */
static void run_piece(struct weft_test_graph *f, const struct text *t, uint32_t first,
                      uint32_t count, float *state, bool has_state, const int32_t *lengths,
                      float *y) {
    static const char *const names[OPERANDS] = {"q", "k", "v", "decay", "beta", "erase", "along"};
    struct weft_test_run run = weft_test_begin(f->device);
    weft_tensor x[OPERANDS] = {{0}};
    float *parts[OPERANDS] = {NULL};
    for (uint32_t i = 0; i < OPERANDS; i++) {
        if (t->width[i] > 0) {
            parts[i] = cut(t, t->x[i], first, count, t->width[i]);
            x[i] = weft_test_feed(&run, names[i], weft_shape_of(t->batch, count, t->width[i]),
                                  parts[i]);
        }
    }
    weft_gated_state_params params = params_of(t, x);
    if (has_state) {
        params.state = weft_test_feed(
            &run, "state", weft_shape_of(t->batch, t->heads, t->rows, t->columns), state);
    }
    if (lengths) {
        params.lengths = weft_test_feed_i32(&run, "lengths", weft_shape_of(t->batch), lengths);
    }
    weft_tensor out[2];
    float *last = malloc((size_t)t->batch * t->states * sizeof *last);
    assert_non_null(last);
    assert_ok(weft_graph_gated_state_with_last(out, run.graph, x[AT_Q], x[AT_K], x[AT_V], &params));
    weft_test_take(&run, "y", out[0], y);
    weft_test_take(&run, "last", out[1], last);
    weft_test_execute(&run, NULL);
    memcpy(state, last, (size_t)t->batch * t->states * sizeof *last);
    free(last);
    for (uint32_t i = 0; i < OPERANDS; i++) {
        free(parts[i]);
    }
}

/* Whole, and cut at these tokens, of which the last is n, on two devices by turns: the same bits. */
static void check_cuts_on(struct weft_test_graph *const by_turns[2], const struct text *t,
                          const uint32_t *cuts) {
    const size_t size = (size_t)t->batch * t->n * t->results;
    const size_t states = (size_t)t->batch * t->states;
    float *whole = malloc(2 * size * sizeof *whole);
    float *state = malloc(2 * states * sizeof *state);
    assert_non_null(whole);
    assert_non_null(state);
    run_piece(by_turns[0], t, 0, t->n, state, false, NULL, whole);
    for (uint32_t done = 0, i = 0; done < t->n; done = cuts[i++]) {
        const uint32_t count = cuts[i] - done;
        run_piece(by_turns[i % 2], t, done, count, state + states, done > 0, NULL, whole + size);
        float *expected = cut(t, whole, done, count, t->results);
        assert_memory_equal(whole + size, expected,
                            (size_t)t->batch * count * t->results * sizeof *whole);
        free(expected);
    }
    assert_memory_equal(state, state + states, states * sizeof *state);
    free(whole);
    free(state);
}

static void check_cuts(struct weft_test_graph *f, const struct text *t, const uint32_t *cuts) {
    check_cuts_on((struct weft_test_graph *const[]){f, f}, t, cuts);
}

static const struct text kinds[] = {
    {.batch = 2, .n = 11, .heads = 2, .q_heads = 2, .k_heads = 2, .rows = 21, .columns = 18},
    {.batch = 1,
     .n = 11,
     .heads = 4,
     .q_heads = 2,
     .k_heads = 1,
     .rows = 9,
     .columns = 5,
     .decay = true,
     .beta = true,
     .erase = true},
    {.batch = 2,
     .n = 11,
     .heads = 1,
     .q_heads = 3,
     .k_heads = 1,
     .rows = 33,
     .columns = 17,
     .decay = true,
     .erase = true,
     .own_erase = true},
    {.batch = 1,
     .n = 11,
     .heads = 2,
     .q_heads = 2,
     .k_heads = 2,
     .rows = 64,
     .columns = 3,
     .decay = true,
     .beta = true,
     .erase = true,
     .own_erase = true,
     .along = true},
};

WEFT_TEST_ON_GRAPH(pieces_have_the_bits_of_the_whole, f) {
    static const uint32_t one_by_one[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    static const uint32_t uneven[] = {4, 5, 11};
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
    struct text t = {.batch = 1,
                     .n = 8200,
                     .heads = 1,
                     .q_heads = 1,
                     .k_heads = 1,
                     .rows = 3,
                     .columns = 2,
                     .decay = true,
                     .beta = true,
                     .erase = true};
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
    weft_tensor x[OPERANDS] = {{0}}, out;
    for (uint32_t i = 0; i < OPERANDS; i++) {
        x[i] = t->width[i] > 0 ? slice(graph, whole[i], 1, first, count) : x[i];
    }
    weft_step step = {.state = "state"};
    assert_ok(weft_graph_reshape(&step.position, graph,
                                 slice(graph, positions, 0, first + count - 1, 1),
                                 weft_shape_of(t->batch)));
    const weft_gated_state_params params = params_of(t, x);
    assert_ok(weft_graph_gated_state_step(&out, graph, x[AT_Q], x[AT_K], x[AT_V], &step, &params));
    return out;
}

/* A prompt of `prompt` tokens and steps of one each, by one state, whatever that held before. */
static void run_steps(struct weft_test_graph *f, const struct text *t, uint32_t prompt, float *y) {
    static const char *const names[OPERANDS] = {"q", "k", "v", "decay", "beta", "erase", "along"};
    enum { MOST = 11, BATCH = 2 };
    int32_t position[MOST * BATCH];
    weft_tensor x[OPERANDS] = {{0}}, pieces[MOST], out;
    uint32_t count = 0;
    float *state = malloc((size_t)t->batch * t->states * sizeof *state);
    assert_non_null(state);
    memset(state, 0xff, (size_t)t->batch * t->states * sizeof *state); /* NaN */
    struct weft_test_run run = weft_test_begin(f->device);
    for (uint32_t i = 0; i < OPERANDS; i++) {
        x[i] = t->width[i] > 0 ? weft_test_feed(&run, names[i],
                                                weft_shape_of(t->batch, t->n, t->width[i]), t->x[i])
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
    weft_test_feed_state(&run, "state", weft_shape_of(t->batch, t->states), state);
    weft_test_take(&run, "y", out, y);
    weft_test_execute(&run, NULL);
    free(state);
}

WEFT_TEST_ON_GRAPH(steps_have_the_bits_of_the_whole, f) {
    for (size_t i = 0; i < WEFT_COUNT(kinds); i++) {
        struct text t = kinds[i];
        make_text(&t);
        const size_t size = (size_t)t.batch * t.n * t.results;
        float *whole = malloc(2 * size * sizeof *whole);
        float *state = malloc((size_t)t.batch * t.states * sizeof *state);
        assert_true(whole && state);
        run_piece(f, &t, 0, t.n, state, false, NULL, whole);
        for (uint32_t prompt = 1; prompt <= t.n; prompt++) {
            run_steps(f, &t, prompt, whole + size);
            assert_memory_equal(whole + size, whole, size * sizeof *whole);
        }
        free(whole);
        free(state);
        free_text(&t);
    }
}

/* ---- a long text on two devices by turns ---- */

enum { LONG = 4096, CUTS = 200 };

static const struct text long_text = {.batch = 1,
                                      .n = LONG,
                                      .heads = 2,
                                      .q_heads = 2,
                                      .k_heads = 2,
                                      .rows = 16,
                                      .columns = 20,
                                      .decay = true,
                                      .beta = true,
                                      .erase = true};

/* The device of the test, and the processor. */
struct two_devices {
    struct weft_test_graph processor;
    struct weft_test_graph *by_turns[2];
};

static void open_two(struct two_devices *two, struct weft_test_graph *f) {
    two->by_turns[0] = f;
    two->by_turns[1] = &two->processor;
    const bool hidden = getenv("WEFT_PROCESSOR") != NULL; /* where a driver is tested */
    weft_test_set_variable("WEFT_PROCESSOR", NULL);
    assert_ok(weft_device_open(&two->processor.device,
                               weft_device_params(.host = f->host.host, .select = "processor")));
    weft_test_set_variable("WEFT_PROCESSOR", hidden ? "0" : NULL);
}

/* In order, and the end behind them. */
static void choose_cuts(uint32_t cuts[CUTS + 1]) {
    static bool is_cut[LONG];
    static float numbers[4 * CUTS];
    uint32_t found = 0;
    weft_philox_uniform(numbers, WEFT_COUNT(numbers), 11, 0);
    for (uint32_t i = 0; found < CUTS && i < WEFT_COUNT(numbers); i++) {
        const uint32_t place = 1 + (uint32_t)((0.5F * numbers[i] + 0.5F) * (float)(LONG - 1));
        found += place < LONG && !is_cut[place];
        is_cut[place % LONG] = true;
    }
    assert_int_equal(found, CUTS);
    found = 0;
    for (uint32_t i = 1; i < LONG; i++) {
        if (is_cut[i]) {
            cuts[found++] = i;
        }
    }
    cuts[found] = LONG;
}

WEFT_TEST_ON_GRAPH(pieces_on_other_devices, f) {
    uint32_t cuts[CUTS + 1];
    struct two_devices two = {0};
    struct text t = long_text;
    open_two(&two, f);
    make_text(&t);
    choose_cuts(cuts);
    check_cuts_on(two.by_turns, &t, cuts);
    free_text(&t);
    weft_device_destroy(&two.processor.device);
}

/* A plan for one token, whose data the run's tensors are pointed at. */
static weft_plan *plan_token(struct weft_test_run *run, const struct text *t, float *state,
                             int32_t *position, float *y) {
    static const char *const names[OPERANDS] = {"q", "k", "v", "decay", "beta", "erase", "along"};
    weft_tensor x[OPERANDS] = {{0}}, out;
    for (uint32_t i = 0; i < OPERANDS; i++) {
        if (t->width[i] > 0) {
            x[i] = weft_test_feed(run, names[i], weft_shape_of(1, 1, t->width[i]), t->x[i]);
        }
    }
    const weft_step step = {.state = "state",
                            .position =
                                weft_test_feed_i32(run, "position", weft_shape_of(1), position)};
    const weft_gated_state_params params = params_of(t, x);
    assert_ok(
        weft_graph_gated_state_step(&out, run->graph, x[AT_Q], x[AT_K], x[AT_V], &step, &params));
    weft_test_feed_state(run, "state", weft_shape_of(1, t->states), state);
    weft_test_take(run, "y", out, y);
    return weft_test_plan(run, NULL);
}

WEFT_TEST_ON_GRAPH(tokens_on_other_devices, f) {
    struct two_devices two = {0};
    struct text t = long_text;
    struct weft_test_run runs[2];
    weft_plan *plans[2];
    int32_t position;
    open_two(&two, f);
    make_text(&t);
    float *whole = calloc((size_t)LONG * t.results + 2 * t.states, sizeof *whole);
    float *y = malloc(t.results * sizeof *y);
    assert_true(whole && y);
    float *last = whole + (size_t)LONG * t.results;
    float *state = last + t.states;
    run_piece(f, &t, 0, LONG, last, false, NULL, whole);
    for (uint32_t i = 0; i < 2; i++) {
        runs[i] = weft_test_begin(two.by_turns[i]->device);
        plans[i] = plan_token(&runs[i], &t, state, &position, y);
    }
    for (uint32_t token = 0; token < LONG; token++) {
        struct weft_test_run *run = &runs[token % 2];
        uint32_t at = 0;
        for (uint32_t i = 0; i < OPERANDS; i++) {
            if (t.width[i] > 0) {
                run->tensors[at++].data = t.x[i] + (size_t)token * t.width[i];
            }
        }
        position = (int32_t)token;
        assert_ok(weft_plan_execute(plans[token % 2], run->tensors, run->count));
        assert_memory_equal(y, whole + (size_t)token * t.results, t.results * sizeof *y);
    }
    assert_memory_equal(state, last, t.states * sizeof *state);
    for (uint32_t i = 0; i < 2; i++) {
        weft_plan_destroy(&plans[i]);
    }
    free(whole);
    free(y);
    free_text(&t);
    weft_device_destroy(&two.processor.device);
}

WEFT_TEST_ON_GRAPH(steps_are_checked, f) {
    const weft_tensor x = weft_test_input(f->graph, "x", weft_shape_of(2, 1, 6));
    const weft_tensor decay = weft_test_input(f->graph, "decay", weft_shape_of(2, 1, 3));
    const weft_tensor state = weft_test_input(f->graph, "given", weft_shape_of(2, 2, 3, 3));
    const weft_tensor flat = weft_test_input(f->graph, "flat", weft_shape_of(2, 6));
    const weft_tensor position = weft_test_input_i32(f->graph, "position", weft_shape_of(2));
    const weft_step step = {.state = "state", .position = position};
    const weft_step nameless = {.position = position};
    weft_tensor y;
#define REFUSED(status, q, step, params, ...) \
    WEFT_EXPECT_FAILURE(                      \
        f, status, weft_graph_gated_state_step(&y, f->graph, q, x, x, step, params), __VA_ARGS__)
    REFUSED(WEFT_INVALID_ARGUMENT, x, &nameless, NULL, "gated_state_step", "the name of a state");
    REFUSED(WEFT_INVALID_ARGUMENT, x, &step, weft_gated_state_params(.heads = 2, .state = state),
            "state must be absent");
    REFUSED(WEFT_INVALID_ARGUMENT, x, &step, weft_gated_state_params(.lengths = position),
            "lengths must be absent");
    REFUSED(WEFT_INVALID_ARGUMENT, x, &step, weft_gated_state_params(.heads = 4),
            "gated_state_step: 4 heads do not divide the 6 channels");
    REFUSED(WEFT_SHAPE_MISMATCH, x, &step, weft_gated_state_params(.heads = 2, .decay = decay),
            "gated_state_step: decay must be [2, 1, 6]", "[2, 1, 3]");
    REFUSED(WEFT_SHAPE_MISMATCH, flat, &step, NULL, "gated_state_step: q must be");
#undef REFUSED
    assert_ok(weft_graph_gated_state_step(&y, f->graph, x, x, x, &step, NULL));
}

/* ---- lengths ---- */

/* A state stays what it is behind its sequence's last token, whatever comes there. */
WEFT_TEST_ON_GRAPH(states_behind_lengths, f) {
    const int32_t lengths[] = {4, 11};
    struct text t = kinds[0];
    float y[2][2 * 11 * 36], state[2][2 * 2 * 21 * 18];
    make_text(&t);
    t.x[AT_V][5 * 36] = INFINITY;
    run_piece(f, &t, 0, 11, state[0], false, lengths, y[0]);
    run_piece(f, &t, 0, 4, state[1], false, NULL, y[1]);
    assert_memory_equal(y[0], y[1], sizeof(float[4 * 36]));
    assert_memory_equal(state[0], state[1], sizeof(float[2 * 21 * 18]));
    for (uint32_t i = 4 * 36; i < 11 * 36; i++) {
        assert_true(y[0][i] == 0.0F);
    }
    free_text(&t);
}

/* ---- more than a device binds ---- */

WEFT_TEST_ON_GRAPH(sequences_in_parts, f) {
    enum { BATCH = 9, N = 7, HEADS = 2, WIDTH = 16, SIZE = BATCH * N * HEADS * WIDTH };
    static float x[3][SIZE], state[BATCH * HEADS * WIDTH * WIDTH], found[2][2 * SIZE];
    static float last[2][BATCH * HEADS * WIDTH * WIDTH];
    const weft_shape shape = weft_shape_of(BATCH, N, HEADS * WIDTH);
    for (uint32_t i = 0; i < 3; i++) {
        weft_philox_uniform(x[i], SIZE, 5, i);
    }
    weft_philox_uniform(state, WEFT_COUNT(state), 5, 3);
    for (uint32_t in_parts = 0; in_parts < 2; in_parts++) {
        struct weft_test_run run = weft_test_begin(f->device);
        const weft_gated_state_params params = {
            .heads = HEADS,
            .state =
                weft_test_feed(&run, "state", weft_shape_of(BATCH, HEADS, WIDTH, WIDTH), state)};
        weft_tensor out[2];
        assert_ok(
            weft_graph_gated_state_with_last(out, run.graph, weft_test_feed(&run, "q", shape, x[0]),
                                             weft_test_feed(&run, "k", shape, x[1]),
                                             weft_test_feed(&run, "v", shape, x[2]), &params));
        weft_test_take(&run, "y", out[0], found[in_parts]);
        weft_test_take(&run, "last", out[1], last[in_parts]);
        if (in_parts) {
            weft_test_execute_in_parts(&run, 4 * HEADS * WIDTH * WIDTH * sizeof(float));
        } else {
            weft_test_execute(&run, NULL);
        }
    }
    assert_memory_equal(found[0], found[1], sizeof(float[SIZE]));
    assert_memory_equal(last[0], last[1], sizeof last[0]);
}
