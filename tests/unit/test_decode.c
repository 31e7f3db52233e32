/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/* Steps give the bits of the mixers they are steps of, token by token, whatever their states held before. */
#include <math.h>

#include "core/shape.h"
#include "support_sheet.h"

/* ---- the whole sequence ---- */

static uint32_t operand_count(const struct weft_test_mix *p) {
    return weft_sheet_operand_count(p->sheet);
}

/* Optional operands are the same for all tokens. */
static bool has_tokens(const struct weft_test_mix *p, uint32_t operand) {
    return !p->sheet->operands[operand].is_optional;
}

/* Elements of a token of an operand. */
static size_t columns_of(const struct weft_test_mix *p, uint32_t operand) {
    return (size_t)(weft_test_mix_elements(p, operand) / p->sizes.batch / p->sizes.n);
}

/* The first n of `length` tokens of every sequence. */
static float *cut(const float *x, uint32_t batch, uint32_t length, uint32_t n, size_t columns) {
    float *result = calloc((size_t)batch * n * columns, sizeof *result);
    assert_non_null(result);
    for (uint32_t b = 0; b < batch; b++) {
        memcpy(result + (size_t)b * n * columns, x + (size_t)b * length * columns,
               (size_t)n * columns * sizeof *x);
    }
    return result;
}

static float *copy_of(const struct weft_test_mix *p, uint32_t operand) {
    return p->x[operand] ? cut(p->x[operand], 1, 1, 1, weft_test_mix_elements(p, operand)) : NULL;
}

/* The causal mixer's result for the first n tokens, in malloc's memory. */
static float *run_whole(struct weft_test_graph *f, const struct weft_test_mix *p, uint32_t n) {
    struct weft_test_mix part = *p;
    part.sizes.n = n;
    for (uint32_t i = 0; i < operand_count(p); i++) {
        part.x[i] = has_tokens(p, i) ? cut(p->x[i], p->sizes.batch, p->sizes.n, n, columns_of(p, i))
                                     : copy_of(p, i);
    }
    float *out = calloc((size_t)p->sizes.batch * n * weft_test_mix_channels(p), sizeof *out);
    assert_non_null(out);
    weft_test_mix_run(f->device, &part, out);
    weft_test_mix_free(&part);
    return out;
}

/* ---- token by token ---- */

struct steps {
    weft_plan *plan;
    float *data[WEFT_OPERANDS]; /* of one token of each sequence */
    int32_t *position;
    float *y;
    weft_host_tensor tensors[WEFT_OPERANDS + 3];
    uint32_t tensor_count;
    void *state; /* what is uploaded before the first step, or null */
};

static void take(struct steps *s, const char *name, void *data, size_t count) {
    assert_non_null(data);
    s->tensors[s->tensor_count++] = (weft_host_tensor){name, data, count * sizeof(float)};
}

/* The operand of a token, with which the parameters are where it is the same for all. */
static weft_tensor begin_operand(struct steps *s, weft_graph *graph, weft_sheet_params *params,
                                 const struct weft_test_mix *token, uint32_t operand) {
    const weft_operand *own = &token->sheet->operands[operand];
    const weft_shape shape = weft_sheet_shape(token->sheet, operand, &token->sizes, true);
    const size_t count = (size_t)weft_shape_elements(shape);
    if (!token->x[operand]) {
        return (weft_tensor){0};
    }
    const weft_tensor x = weft_test_input(graph, own->name, shape);
    s->data[operand] =
        has_tokens(token, operand) ? calloc(count, sizeof(float)) : copy_of(token, operand);
    take(s, own->name, s->data[operand], count);
    weft_sheet_set(params, own->field, x);
    return x;
}

static void begin_steps(struct steps *s, struct weft_test_graph *f, const struct weft_test_mix *p) {
    const size_t batch = p->sizes.batch;
    weft_graph *graph = NULL;
    weft_tensor x[WEFT_OPERANDS];
    weft_step step = {.state = "state"};
    weft_tensor y;
    struct weft_test_mix token = *p;
    token.sizes.n = 1;
    *s = (struct steps){0};
    assert_ok(weft_graph_create(&graph, &f->host.host));
    weft_sheet_params params =
        weft_sheet_params_of(p->sheet, p->params, &p->sizes, (weft_tensor){0});
    for (uint32_t i = 0; i < operand_count(p); i++) {
        x[i] = begin_operand(s, graph, &params, &token, i);
    }
    step.position = weft_test_input_i32(graph, "position", weft_shape_of(p->sizes.batch));
    assert_ok(p->sheet->step(&y, graph, x, &step, &params));
    assert_ok(weft_graph_output(graph, "y", y));
    assert_ok(weft_plan_compile(&s->plan, f->device, graph, NULL));
    s->position = calloc(batch, sizeof *s->position);
    s->y = calloc(batch * weft_test_mix_channels(p), sizeof *s->y);
    take(s, "position", s->position, batch);
    take(s, "y", s->y, batch * weft_test_mix_channels(p));
    weft_graph_destroy(&graph);
}

/** The state's port; there is one. */
static weft_port_info state_port(const struct steps *s) {
    weft_port_info port = {0};
    weft_port_info state = {0};
    for (uint32_t i = 0; weft_plan_get_port(s->plan, i, &port) == WEFT_OK; i++) {
        if (port.is_state) {
            assert_null(state.name);
            assert_false(port.is_output);
            state = port;
        }
    }
    assert_string_equal(state.name, "state");
    return state;
}

/** Fills the state with one byte all over: 0xff is NaN everywhere. */
static void spoil_state(struct steps *s, uint8_t byte) {
    const weft_port_info port = state_port(s);
    s->state = malloc((size_t)port.bytes + 1);
    assert_non_null(s->state);
    memset(s->state, byte, port.bytes);
    s->tensors[s->tensor_count] = (weft_host_tensor){"state", s->state, port.bytes};
}

/** Sequence b is at positions[b]. */
static void run_step(struct steps *s, const struct weft_test_mix *p, const int32_t *positions) {
    for (uint32_t b = 0; b < p->sizes.batch; b++) {
        s->position[b] = positions[b];
        for (uint32_t i = 0; i < operand_count(p) && has_tokens(p, i); i++) {
            const size_t columns = columns_of(p, i);
            memcpy(s->data[i] + b * columns,
                   p->x[i] + ((size_t)b * p->sizes.n + (uint32_t)positions[b]) * columns,
                   columns * sizeof(float));
        }
    }
    const uint32_t extra = s->state ? 1 : 0;
    assert_ok(weft_plan_execute(s->plan, s->tensors, s->tensor_count + extra));
    free(s->state); /* from now on the plan's own */
    s->state = NULL;
}

static void end_steps(struct steps *s) {
    weft_plan_destroy(&s->plan);
    for (uint32_t i = 0; i < WEFT_OPERANDS; i++) {
        free(s->data[i]);
    }
    free(s->position);
    free(s->y);
    free(s->state);
}

static void expect_row(const struct steps *s, const char *name, const struct weft_test_mix *p,
                       const float *whole, const int32_t *positions) {
    const uint32_t columns = weft_test_mix_channels(p);
    for (uint32_t b = 0; b < p->sizes.batch; b++) {
        const float *expected = whole + ((size_t)b * p->sizes.n + (uint32_t)positions[b]) * columns;
        const float *found = s->y + (size_t)b * columns;
        for (uint32_t c = 0; c < columns; c++) {
            uint32_t bits[2];
            memcpy(&bits[0], &expected[c], sizeof bits[0]);
            memcpy(&bits[1], &found[c], sizeof bits[1]);
            if (bits[0] != bits[1]) {
                fail_msg("%s: sequence %u, position %d, channel %u: step %.9g (0x%08x), mixer %.9g "
                         "(0x%08x)",
                         name, b, positions[b], c, (double)found[c], bits[1], (double)expected[c],
                         bits[0]);
            }
        }
    }
}

/* ---- tests ---- */

typedef void check_mix(struct weft_test_graph *f, const char *name, const struct weft_test_mix *p);

static void check_use(struct weft_test_graph *f, const weft_sheet *sheet, const weft_use *use,
                      check_mix *check) {
    struct weft_test_mix p = weft_test_mix_of(sheet, use);
    weft_test_mix_fill(&p, 91);
    check(f, use->name, &p);
    weft_test_mix_free(&p);
}

/* The steps of all sheets. */
static void check_steps(struct weft_test_graph *f, check_mix *check) {
    for (uint32_t i = 0; weft_sheet_at(i); i++) {
        const weft_sheet *sheet = weft_sheet_at(i);
        for (uint32_t k = 0; k < sheet->step_count; k++) {
            check_use(f, sheet, &sheet->steps[k], check);
        }
    }
}

/* All tokens of all sequences, from a state of such bytes or, with 0, the plan's own. */
static void check_tokens(struct weft_test_graph *f, const char *name, const struct weft_test_mix *p,
                         uint8_t state) {
    struct steps s;
    float *whole = run_whole(f, p, p->sizes.n);
    begin_steps(&s, f, p);
    if (state != 0) {
        spoil_state(&s, state);
    }
    for (uint32_t i = 0; i < p->sizes.n; i++) {
        int32_t positions[8] = {0};
        for (uint32_t b = 0; b < p->sizes.batch; b++) {
            positions[b] = (int32_t)i;
        }
        run_step(&s, p, positions);
        expect_row(&s, name, p, whole, positions);
    }
    end_steps(&s);
    free(whole);
}

static void check_spoilt(struct weft_test_graph *f, const char *name,
                         const struct weft_test_mix *p) {
    check_tokens(f, name, p, 0xff);
}

WEFT_TEST_ON_GRAPH(test_steps_are_the_mixer, f) {
    check_steps(f, check_spoilt);
}

static void check_prefixes(struct weft_test_graph *f, const char *name,
                           const struct weft_test_mix *p) {
    static const uint32_t lengths[] = {1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129};
    const uint32_t columns = weft_test_mix_channels(p);
    float *whole = run_whole(f, p, p->sizes.n);
    for (uint32_t k = 0; k < WEFT_COUNT(lengths) && lengths[k] <= p->sizes.n; k++) {
        const uint32_t n = lengths[k];
        float *part = run_whole(f, p, n);
        float *expected = cut(whole, p->sizes.batch, p->sizes.n, n, columns);
        if (memcmp(part, expected, (size_t)p->sizes.batch * n * columns * sizeof *part) != 0) {
            fail_msg("%s: the first %u tokens have other bits alone", name, n);
        }
        free(expected);
        free(part);
    }
    free(whole);
}

/* What a step gives depends on no later token: it is the last row of the mixer over any prefix. */
WEFT_TEST_ON_GRAPH(test_prefixes, f) {
    check_steps(f, check_prefixes);
}

static void check_positions(struct weft_test_graph *f, const char *name,
                            const struct weft_test_mix *p) {
    struct steps s;
    if (p->sizes.batch < 2) {
        return;
    }
    float *whole = run_whole(f, p, p->sizes.n);
    begin_steps(&s, f, p);
    spoil_state(&s, 0x7f);
    int32_t positions[8] = {0};
    for (uint32_t step = 0; step < 160; step++) {
        run_step(&s, p, positions);
        expect_row(&s, name, p, whole, positions);
        for (uint32_t b = 0; b < p->sizes.batch; b++) { /* restarts at different times */
            const uint32_t length = p->sizes.n < 71 + 30 * b ? p->sizes.n : 71 + 30 * b;
            positions[b] = (positions[b] + 1) % (int32_t)length;
        }
    }
    end_steps(&s);
    free(whole);
}

/* Sequences of a batch need not be at the same position, and may start anew at any time. */
WEFT_TEST_ON_GRAPH(test_positions_of_their_own, f) {
    check_steps(f, check_positions);
}

/* The partial sums of sixteen chunks, too. */
WEFT_TEST_ON_GRAPH(test_many_chunks, f) {
    check_use(f, &weft_sheet_linear_attention,
              &(weft_use){.name = "linear, 18 chunks",
                          .params = weft_linear_attention_params(.causal = true),
                          .sizes = {1, 64 * 18, 1, 2, .values = 2}},
              check_spoilt);
}

static void check_specials(struct weft_test_graph *f, const char *name,
                           const struct weft_test_mix *p) {
    enum { Q, K, V };
    p->x[K][5 * columns_of(p, K)] = INFINITY;
    p->x[V][9 * columns_of(p, V)] = -INFINITY;
    p->x[Q][30 * columns_of(p, Q)] = NAN;
    p->x[V][35 * columns_of(p, V)] = 1e-42F; /* subnormal */
    p->x[K][36 * columns_of(p, K)] = -1e-41F;
    check_tokens(f, name, p, 0);
}

/* An infinity in a key shows in the tokens that read it as it does in the mixer. */
WEFT_TEST_ON_GRAPH(test_special_values, f) {
    check_steps(f, check_specials);
}

/* Two steps with one state are two tokens; with two states they know nothing of each other. */
WEFT_TEST_ON_GRAPH(test_shared_states, f) {
    struct weft_test_mix p = {.sheet = &weft_sheet_linear_attention,
                              .sizes = {1, 2, 1, 3, .values = 2},
                              .params = weft_linear_attention_params(.causal = true)};
    weft_test_mix_fill(&p, 91);
    float *whole = run_whole(f, &p, 2);
    weft_plan *plan = NULL;
    weft_tensor x[2][3];
    weft_tensor y[3];
    weft_step steps[3] = {{.state = "a"}, {.state = "a"}, {.state = "b"}};
    weft_host_tensor tensors[16];
    uint32_t count = 0;
    int32_t position[2] = {0, 1};
    float out[2][2];
    static const char *const names[2][3] = {{"q0", "k0", "v0"}, {"q1", "k1", "v1"}};
    static const char *const places[2] = {"position0", "position1"};
    for (uint32_t t = 0; t < 2; t++) {
        for (uint32_t i = 0; i < 3; i++) {
            const size_t columns = columns_of(&p, i);
            x[t][i] =
                weft_test_input(f->graph, names[t][i], weft_shape_of(1, 1, (uint32_t)columns));
            tensors[count++] =
                (weft_host_tensor){names[t][i], p.x[i] + t * columns, columns * sizeof(float)};
        }
        steps[t].position = weft_test_input_i32(f->graph, places[t], weft_shape_of(1));
        tensors[count++] = (weft_host_tensor){places[t], &position[t], sizeof position[t]};
    }
    steps[2].position = steps[0].position;
    /* Of the first step nothing but its state is read. */
    for (uint32_t i = 0; i < 3; i++) {
        assert_ok(p.sheet->step(&y[i], f->graph, x[i % 2], &steps[i], p.params));
    }
    assert_ok(weft_graph_output(f->graph, "second", y[1]));
    assert_ok(weft_graph_output(f->graph, "first", y[2]));
    assert_ok(weft_plan_compile(&plan, f->device, f->graph, NULL));
    tensors[count++] = (weft_host_tensor){"second", out[1], sizeof out[1]};
    tensors[count++] = (weft_host_tensor){"first", out[0], sizeof out[0]};
    assert_ok(weft_plan_execute(plan, tensors, count));
    assert_memory_equal(out, whole, sizeof out);
    weft_plan_destroy(&plan);
    free(whole);
    weft_test_mix_free(&p);
}

/* ---- bad arguments ---- */

#define REFUSED(status, q_features, k_features, v, step, params, ...)                            \
    WEFT_EXPECT_FAILURE(                                                                         \
        f, WEFT_##status,                                                                        \
        weft_graph_linear_attention_step(&y, f->graph, q_features, k_features, v, step, params), \
        __VA_ARGS__)

WEFT_TEST_ON_GRAPH(test_bad_steps, f) {
    weft_graph *g = f->graph;
    weft_tensor x = weft_test_input(g, "x", weft_shape_of(2, 1, 6));
    weft_tensor two = weft_test_input(g, "two", weft_shape_of(2, 2, 6));
    weft_tensor narrow = weft_test_input(g, "narrow", weft_shape_of(2, 1, 3));
    weft_tensor wide = weft_test_input(g, "wide", weft_shape_of(2, 1, 513));
    weft_tensor huge = weft_test_input(g, "huge", weft_shape_of(2, 1, 65536));
    weft_tensor y;
    weft_step step = {.position = x, .state = "s"};
    REFUSED(INVALID_ARGUMENT, x, x, x, NULL, NULL, "linear_attention_step", "step");
    REFUSED(SHAPE_MISMATCH, x, x, x, &step, NULL, "position", "i32 [2]", "[2, 1, 6]");
    assert_ok(weft_graph_input(&step.position, g, "p", WEFT_I32, weft_shape_of(2)));
    REFUSED(SHAPE_MISMATCH, two, x, two, &step, NULL, "[2, 2, 6]", "[2, 1, 6]");
    WEFT_EXPECT_FAILURE(
        f, WEFT_INVALID_ARGUMENT,
        weft_graph_cosformer_step(&y, g, two, two, two, &step, weft_cosformer_params(.length = 1)),
        "length 1", "2 tokens");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_banded_attention_step(&y, g, x, x, narrow, &step, NULL),
                        "[2, 1, 6]", "[2, 1, 3]");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_kernel_attention_step(&y, g, x, x, x, &step,
                                                         weft_kernel_attention_params(.heads = 4)),
                        "kernel_attention_step", "4 heads");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_cosformer_step(&y, g, x, x, x, &step, NULL), "length 0");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_fast_weight_step(&y, g, x, x, x, narrow, &step, NULL), "beta",
                        "[2, 1, 1]", "[2, 1, 3]");
    WEFT_EXPECT_FAILURE(f, WEFT_UNSUPPORTED,
                        weft_graph_fast_weight_step(&y, g, wide, wide, x, narrow, &step, NULL),
                        "513", "512");
    REFUSED(UNSUPPORTED, huge, huge, huge, &step, NULL, "state 's'");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_banded_attention_step(
                            &y, g, x, x, x, &step, weft_banded_attention_params(.scale = NAN)),
                        "scale");
    step.state = "x";
    REFUSED(INVALID_ARGUMENT, x, x, x, &step, NULL, "'x'");
    step.state = "s";
    assert_ok(weft_graph_linear_attention_step(&y, g, x, x, x, &step, NULL));
    REFUSED(SHAPE_MISMATCH, narrow, narrow, narrow, &step, NULL, "state 's'");
}

/* Their sequences have the lengths that their positions say. */
WEFT_TEST_ON_GRAPH(test_steps_take_no_lengths, f) {
    const weft_step step = {.position = weft_test_input_i32(f->graph, "position", weft_shape_of(2)),
                            .state = "s"};
    for (uint32_t s = 0; weft_sheet_at(s); s++) {
        const weft_sheet *sheet = weft_sheet_at(s);
        const weft_sizes sizes = {2, 1, 1, 8, .values = 8};
        weft_tensor x[WEFT_OPERANDS];
        weft_tensor y;
        char name[64];
        if (!sheet->step || sheet->lengths == 0) {
            continue;
        }
        for (uint32_t i = 0; i < weft_sheet_operand_count(sheet); i++) {
            snprintf(name, sizeof name, "%s%u", sheet->name, i);
            x[i] = weft_test_input(f->graph, name, weft_sheet_shape(sheet, i, &sizes, true));
        }
        snprintf(name, sizeof name, "lengths of %s", sheet->name);
        const weft_sheet_params params = weft_sheet_params_of(
            sheet, sheet->usual, &sizes, weft_test_input_i32(f->graph, name, weft_shape_of(2)));
        snprintf(name, sizeof name, "%s_step: lengths must be absent", sheet->name);
        WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT, sheet->step(&y, f->graph, x, &step, &params),
                            name, "from its position");
    }
}

/* A state is nothing that other ops could read: they would see it before or after the step, by chance. */
WEFT_TEST_ON_GRAPH(test_states_are_for_steps, f) {
    weft_tensor held;
    weft_tensor y;
    assert_ok(weft_graph_state(&held, f->graph, "held", WEFT_F32, weft_shape_of(2, 6)));
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_activate(&y, f->graph, held, WEFT_ACTIVATION_TANH), "activation",
                        "state");
}
