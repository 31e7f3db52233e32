/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/* Steps give the bits of the mixers they are steps of, token by token, whatever their states held before. */
#include <math.h>

#include <weft/decode.h>

#include "core/philox.h"
#include "core/shape.h"
#include "support_graph.h"

/* ---- problems ---- */

enum { Q, K, V, BETA, OPERANDS };

static const char *const operand_names[OPERANDS] = {"q", "k", "v", "beta"};

/** A mixer with what it takes. `build` adds the step where there is one, else the causal mixer. */
struct problem {
    const char *name;
    uint32_t batch, n, heads;
    uint32_t width;  /* channels of a head of q and k */
    uint32_t values; /* of v */
    float shift;     /* added to q and k, which are uniform in -1 … 1 */
    uint32_t option; /* of build */
    weft_status (*build)(weft_tensor *out, weft_graph *graph, const weft_tensor *x,
                         const weft_step *step, const struct problem *p);
};

static uint32_t columns_of(const struct problem *p, uint32_t operand) {
    return operand == BETA ? p->heads : p->heads * (operand == V ? p->values : p->width);
}

static float *make_operand(const struct problem *p, uint32_t operand) {
    const uint64_t count = (uint64_t)p->batch * p->n * columns_of(p, operand);
    float *x = calloc(count, sizeof *x);
    assert_non_null(x);
    weft_philox_uniform(x, count, 91, operand);
    for (uint64_t i = 0; i < count; i++) { /* β in 0 … 1 */
        x[i] = operand == BETA ? 0.5F * x[i] + 0.5F : x[i] + (operand == V ? 0.0F : p->shift);
    }
    return x;
}

/* ---- the whole sequence ---- */

static void add_inputs(weft_tensor x[OPERANDS], weft_graph *graph, const struct problem *p,
                       uint32_t n) {
    for (uint32_t i = 0; i < OPERANDS; i++) {
        x[i] =
            weft_test_input(graph, operand_names[i], weft_shape_of(p->batch, n, columns_of(p, i)));
    }
}

/** The first n tokens of every sequence. */
static float *cut(const float *x, uint32_t batch, uint32_t length, uint32_t n, uint32_t columns) {
    float *result = calloc((size_t)batch * n * columns, sizeof *result);
    assert_non_null(result);
    for (uint32_t b = 0; b < batch; b++) {
        memcpy(result + (size_t)b * n * columns, x + (size_t)b * length * columns,
               (size_t)n * columns * sizeof *x);
    }
    return result;
}

/** The causal mixer's result for the first n tokens, in malloc's memory. */
static float *run_whole(struct weft_test_graph *f, const struct problem *p,
                        float *const data[OPERANDS], uint32_t n) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor x[OPERANDS];
    weft_tensor y;
    float *parts[OPERANDS];
    for (uint32_t i = 0; i < OPERANDS; i++) {
        parts[i] = cut(data[i], p->batch, p->n, n, columns_of(p, i));
        x[i] = weft_test_feed(&r, operand_names[i], weft_shape_of(p->batch, n, columns_of(p, i)),
                              parts[i]);
    }
    assert_ok(p->build(&y, r.graph, x, NULL, p));
    float *out = calloc((size_t)p->batch * n * columns_of(p, V), sizeof *out);
    weft_test_execute_to(&r, y, out);
    for (uint32_t i = 0; i < OPERANDS; i++) {
        free(parts[i]);
    }
    return out;
}

/* ---- token by token ---- */

struct steps {
    weft_plan *plan;
    float *data[OPERANDS]; /* of one token of each sequence */
    int32_t *position;
    float *y;
    weft_host_tensor tensors[OPERANDS + 3];
    uint32_t tensor_count;
    void *state; /* what is uploaded before the first step, or null */
};

static void begin_steps(struct steps *s, struct weft_test_graph *f, const struct problem *p) {
    weft_graph *graph = NULL;
    weft_tensor x[OPERANDS];
    weft_step step = {.state = "state"};
    weft_tensor y;
    *s = (struct steps){0};
    assert_ok(weft_graph_create(&graph, &f->host.host));
    add_inputs(x, graph, p, 1);
    assert_ok(
        weft_graph_input(&step.position, graph, "position", WEFT_I32, weft_shape_of(p->batch)));
    assert_ok(p->build(&y, graph, x, &step, p));
    assert_ok(weft_graph_output(graph, "y", y));
    assert_ok(weft_plan_compile(&s->plan, f->device, graph, NULL));
    for (uint32_t i = 0; i < OPERANDS; i++) {
        const size_t count = (size_t)p->batch * columns_of(p, i);
        s->data[i] = calloc(count, sizeof(float));
        s->tensors[s->tensor_count++] =
            (weft_host_tensor){operand_names[i], s->data[i], count * sizeof(float)};
    }
    s->position = calloc(p->batch, sizeof *s->position);
    s->y = calloc((size_t)p->batch * columns_of(p, V), sizeof *s->y);
    s->tensors[s->tensor_count++] =
        (weft_host_tensor){"position", s->position, p->batch * sizeof *s->position};
    s->tensors[s->tensor_count++] =
        (weft_host_tensor){"y", s->y, (uint64_t)p->batch * columns_of(p, V) * sizeof *s->y};
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

/** Sequence b is at positions[b]; its token is that of data. */
static void run_step(struct steps *s, const struct problem *p, float *const data[OPERANDS],
                     const int32_t *positions) {
    for (uint32_t b = 0; b < p->batch; b++) {
        s->position[b] = positions[b];
        for (uint32_t i = 0; i < OPERANDS; i++) {
            const uint32_t columns = columns_of(p, i);
            memcpy(s->data[i] + (size_t)b * columns,
                   data[i] + ((size_t)b * p->n + (uint32_t)positions[b]) * columns,
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
    for (uint32_t i = 0; i < OPERANDS; i++) {
        free(s->data[i]);
    }
    free(s->position);
    free(s->y);
    free(s->state);
}

static void expect_row(const struct steps *s, const struct problem *p, const float *whole,
                       uint32_t n, const int32_t *positions) {
    const uint32_t columns = columns_of(p, V);
    for (uint32_t b = 0; b < p->batch; b++) {
        const float *expected = whole + ((size_t)b * n + (uint32_t)positions[b]) * columns;
        const float *found = s->y + (size_t)b * columns;
        for (uint32_t c = 0; c < columns; c++) {
            uint32_t bits[2];
            memcpy(&bits[0], &expected[c], sizeof bits[0]);
            memcpy(&bits[1], &found[c], sizeof bits[1]);
            if (bits[0] != bits[1]) {
                fail_msg("%s: sequence %u, position %d, channel %u: step %.9g (0x%08x), mixer %.9g "
                         "(0x%08x)",
                         p->name, b, positions[b], c, (double)found[c], bits[1],
                         (double)expected[c], bits[0]);
            }
        }
    }
}

static void make_data(float *data[OPERANDS], const struct problem *p) {
    for (uint32_t i = 0; i < OPERANDS; i++) {
        data[i] = make_operand(p, i);
    }
}

static void free_data(float *data[OPERANDS]) {
    for (uint32_t i = 0; i < OPERANDS; i++) {
        free(data[i]);
    }
}

/* ---- the mixers ---- */

static weft_status build_linear(weft_tensor *out, weft_graph *graph, const weft_tensor *x,
                                const weft_step *step, const struct problem *p) {
    const weft_linear_attention_params params = {
        .heads = p->heads, .causal = true, .epsilon = p->option ? 0.5F : 0.0F};
    return step ? weft_graph_linear_attention_step(out, graph, x[Q], x[K], x[V], step, &params)
                : weft_graph_linear_attention(out, graph, x[Q], x[K], x[V], &params);
}

static weft_status build_kernels(weft_tensor *out, weft_graph *graph, const weft_tensor *x,
                                 const weft_step *step, const struct problem *p) {
    static const weft_kernel kernels[] = {
        {.map = WEFT_FEATURE_ELU1},
        {.map = WEFT_FEATURE_TANH, .weight = -0.25F},
        {.glsl = "float weft_feature(float x) { return weft_relu(x) + 0.5; }", .weight = 3.0F},
        {.map = WEFT_FEATURE_ELU1_NEGATED},
        {.map = WEFT_FEATURE_EXP, .weight = 0.5F}};
    const weft_kernel_attention_params params = {
        .heads = p->heads, .causal = true, .kernels = kernels, .kernel_count = p->option};
    return step ? weft_graph_kernel_attention_step(out, graph, x[Q], x[K], x[V], step, &params)
                : weft_graph_kernel_attention(out, graph, x[Q], x[K], x[V], &params);
}

static weft_status build_cosformer(weft_tensor *out, weft_graph *graph, const weft_tensor *x,
                                   const weft_step *step, const struct problem *p) {
    const weft_cosformer_params params = {
        .heads = p->heads, .causal = true, .length = p->option, .epsilon = 1e-6F};
    return step ? weft_graph_cosformer_step(out, graph, x[Q], x[K], x[V], step, &params)
                : weft_graph_cosformer(out, graph, x[Q], x[K], x[V], &params);
}

static weft_status build_fast_weight(weft_tensor *out, weft_graph *graph, const weft_tensor *x,
                                     const weft_step *step, const struct problem *p) {
    const weft_fast_weight_params params = {.heads = p->heads};
    return step ? weft_graph_fast_weight_step(out, graph, x[Q], x[K], x[V], x[BETA], step, &params)
                : weft_graph_fast_weight(out, graph, x[Q], x[K], x[V], x[BETA], &params);
}

/** option: the half-width; a whole sequence takes no wider one than it has tokens. */
static weft_status build_band(weft_tensor *out, weft_graph *graph, const weft_tensor *x,
                              const weft_step *step, const struct problem *p) {
    weft_banded_attention_params params = {
        .heads = p->heads, .half_width = p->option, .causal = true};
    if (step) {
        return weft_graph_banded_attention_step(out, graph, x[Q], x[K], x[V], step, &params);
    }
    weft_shape shape;
    weft_status status = weft_graph_get_tensor(graph, x[Q], &shape, NULL);
    if (status == WEFT_OK) {
        params.half_width = params.half_width < shape.dim[1] ? params.half_width : shape.dim[1] - 1;
        status = weft_graph_banded_attention(out, graph, x[Q], x[K], x[V], &params);
    }
    return status;
}

#define POSITIVE 1.25F

static const struct problem problems[] = {
    {"linear", 2, 200, 2, 8, 8, POSITIVE, 0, build_linear},
    {"linear, one channel", 1, 130, 1, 1, 1, POSITIVE, 0, build_linear},
    {"linear, odd widths", 3, 131, 3, 7, 5, POSITIVE, 0, build_linear},
    {"linear, many features", 1, 130, 2, 130, 12, POSITIVE, 0, build_linear},
    {"linear, many values", 1, 130, 1, 5, 131, POSITIVE, 0, build_linear},
    {"linear, guarded", 2, 140, 2, 4, 4, 0.0F, 1, build_linear},
    {"kernels, one", 2, 200, 2, 8, 8, 0.0F, 1, build_kernels},
    {"kernels, five", 2, 131, 3, 6, 10, 0.0F, 5, build_kernels},
    {"cosformer", 2, 200, 2, 8, 8, 0.0F, 200, build_cosformer},
    {"cosformer, longer", 1, 130, 3, 5, 7, 0.0F, 1000, build_cosformer},
    {"fast weight", 2, 200, 2, 8, 8, 0.0F, 0, build_fast_weight},
    {"fast weight, odd widths", 2, 193, 3, 7, 5, 0.0F, 0, build_fast_weight},
    {"fast weight, 128 columns of state", 1, 130, 1, 128, 20, 0.0F, 0, build_fast_weight},
    {"fast weight, wide", 1, 130, 1, 300, 6, 0.0F, 0, build_fast_weight},
    {"fast weight, many values", 1, 130, 2, 5, 131, 0.0F, 0, build_fast_weight},
    {"band, itself alone", 2, 40, 2, 8, 8, 0.0F, 0, build_band},
    {"band", 2, 200, 2, 8, 8, 0.0F, 29, build_band},
    {"band, odd widths", 3, 131, 3, 7, 7, 4.0F, 64, build_band},
    {"band, wide heads", 1, 300, 1, 133, 133, 0.0F, 150, build_band},
    {"band, longer than the sequence", 2, 200, 2, 16, 16, 3.0F, 511, build_band},
};

#define PROBLEM_COUNT (sizeof problems / sizeof problems[0])

/* ---- tests ---- */

static void check_steps(struct weft_test_graph *f, const struct problem *p) {
    float *data[OPERANDS];
    struct steps s;
    make_data(data, p);
    float *whole = run_whole(f, p, data, p->n);
    begin_steps(&s, f, p);
    spoil_state(&s, 0xff);
    for (uint32_t i = 0; i < p->n; i++) {
        int32_t positions[8] = {0};
        for (uint32_t b = 0; b < p->batch; b++) {
            positions[b] = (int32_t)i;
        }
        run_step(&s, p, data, positions);
        expect_row(&s, p, whole, p->n, positions);
    }
    end_steps(&s);
    free(whole);
    free_data(data);
}

WEFT_TEST_ON_GRAPH(test_steps_are_the_mixer, f) {
    for (uint32_t i = 0; i < PROBLEM_COUNT; i++) {
        check_steps(f, &problems[i]);
    }
}

/* What a step gives depends on no later token: it is the last row of the mixer over any prefix. */
WEFT_TEST_ON_GRAPH(test_prefixes, f) {
    static const uint32_t lengths[] = {1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129};
    for (uint32_t i = 0; i < PROBLEM_COUNT; i++) {
        const struct problem *p = &problems[i];
        float *data[OPERANDS];
        make_data(data, p);
        float *whole = run_whole(f, p, data, p->n);
        for (uint32_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
            const uint32_t n = lengths[k];
            if (n > p->n) {
                continue;
            }
            float *part = run_whole(f, p, data, n);
            float *expected = cut(whole, p->batch, p->n, n, columns_of(p, V));
            assert_memory_equal(part, expected,
                                (size_t)p->batch * n * columns_of(p, V) * sizeof(float));
            free(expected);
            free(part);
        }
        free(whole);
        free_data(data);
    }
}

/* Sequences of a batch need not be at the same position, and may start anew at any time. */
WEFT_TEST_ON_GRAPH(test_positions_of_their_own, f) {
    for (uint32_t i = 0; i < PROBLEM_COUNT; i++) {
        const struct problem *p = &problems[i];
        float *data[OPERANDS];
        struct steps s;
        if (p->batch < 2) {
            continue;
        }
        make_data(data, p);
        float *whole = run_whole(f, p, data, p->n);
        begin_steps(&s, f, p);
        spoil_state(&s, 0x7f);
        int32_t positions[8] = {0};
        for (uint32_t step = 0; step < 160; step++) {
            run_step(&s, p, data, positions);
            expect_row(&s, p, whole, p->n, positions);
            for (uint32_t b = 0; b < p->batch; b++) { /* restarts at different times */
                const uint32_t length = p->n < 71 + 30 * b ? p->n : 71 + 30 * b;
                positions[b] = (positions[b] + 1) % (int32_t)length;
            }
        }
        end_steps(&s);
        free(whole);
        free_data(data);
    }
}

/* The partial sums of sixteen chunks, too. */
WEFT_TEST_ON_GRAPH(test_many_chunks, f) {
    const struct problem p = {"linear, 18 chunks", 1, 64 * 18, 1, 2, 2, POSITIVE, 0, build_linear};
    check_steps(f, &p);
}

/* An infinity in a key shows in the tokens that read it as it does in the mixer. */
WEFT_TEST_ON_GRAPH(test_special_values, f) {
    for (uint32_t i = 0; i < PROBLEM_COUNT; i++) {
        const struct problem *p = &problems[i];
        float *data[OPERANDS];
        struct steps s;
        make_data(data, p);
        data[K][(size_t)5 * columns_of(p, K)] = INFINITY;
        data[V][(size_t)9 * columns_of(p, V)] = -INFINITY;
        data[Q][(size_t)30 * columns_of(p, Q)] = NAN;
        data[V][(size_t)35 * columns_of(p, V)] = 1e-42F; /* subnormal */
        data[K][(size_t)36 * columns_of(p, K)] = -1e-41F;
        float *whole = run_whole(f, p, data, p->n);
        begin_steps(&s, f, p);
        for (uint32_t n = 0; n < p->n; n++) {
            int32_t positions[8] = {0};
            for (uint32_t b = 0; b < p->batch; b++) {
                positions[b] = (int32_t)n;
            }
            run_step(&s, p, data, positions);
            expect_row(&s, p, whole, p->n, positions);
        }
        end_steps(&s);
        free(whole);
        free_data(data);
    }
}

/* Two steps with one state are two tokens; with two states they know nothing of each other. */
WEFT_TEST_ON_GRAPH(test_shared_states, f) {
    const struct problem p = {"linear", 1, 2, 1, 3, 2, POSITIVE, 0, build_linear};
    float *data[OPERANDS];
    make_data(data, &p);
    float *whole = run_whole(f, &p, data, 2);
    weft_plan *plan = NULL;
    weft_tensor x[2][OPERANDS];
    weft_tensor y[3];
    weft_step steps[3] = {{.state = "a"}, {.state = "a"}, {.state = "b"}};
    weft_host_tensor tensors[16];
    uint32_t count = 0;
    int32_t position[2] = {0, 1};
    float out[2];
    char name[2][OPERANDS][24];
    for (uint32_t t = 0; t < 2; t++) {
        for (uint32_t i = 0; i < 3; i++) {
            const uint32_t columns = columns_of(&p, i);
            snprintf(name[t][i], sizeof name[t][i], "%s%u", operand_names[i], t);
            x[t][i] = weft_test_input(f->graph, name[t][i], weft_shape_of(1, 1, columns));
            tensors[count++] = (weft_host_tensor){name[t][i], data[i] + (size_t)t * columns,
                                                  columns * sizeof(float)};
        }
        char text[24];
        snprintf(text, sizeof text, "position%u", t);
        assert_ok(weft_graph_input(&steps[t].position, f->graph, text, WEFT_I32, weft_shape_of(1)));
    }
    steps[2].position = steps[0].position;
    tensors[count++] = (weft_host_tensor){"position0", &position[0], sizeof position[0]};
    tensors[count++] = (weft_host_tensor){"position1", &position[1], sizeof position[1]};
    /* Of the first step nothing but its state is read. */
    assert_ok(build_linear(&y[0], f->graph, x[0], &steps[0], &p));
    assert_ok(build_linear(&y[1], f->graph, x[1], &steps[1], &p));
    assert_ok(build_linear(&y[2], f->graph, x[0], &steps[2], &p));
    assert_ok(weft_graph_output(f->graph, "second", y[1]));
    assert_ok(weft_graph_output(f->graph, "first", y[2]));
    assert_ok(weft_plan_compile(&plan, f->device, f->graph, NULL));
    float first[2];
    tensors[count++] = (weft_host_tensor){"second", out, sizeof out};
    tensors[count++] = (weft_host_tensor){"first", first, sizeof first};
    assert_ok(weft_plan_execute(plan, tensors, count));
    assert_memory_equal(first, whole, sizeof first);
    assert_memory_equal(out, whole + 2, sizeof out);
    weft_plan_destroy(&plan);
    free(whole);
    free_data(data);
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

/* A state is nothing that other ops could read: they would see it before or after the step, by chance. */
WEFT_TEST_ON_GRAPH(test_states_are_for_steps, f) {
    weft_tensor held;
    weft_tensor y;
    assert_ok(weft_graph_state(&held, f->graph, "held", weft_shape_of(2, 6)));
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_activate(&y, f->graph, held, WEFT_ACTIVATION_TANH), "activation",
                        "state");
}
