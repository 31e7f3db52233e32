/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Banded attention: its implementations agree, what a token reads, limits, memory, bad parameters. */
#include <math.h>

#include <weft/mixers.h>

#include "core/philox.h"
#include "graph/graph.h"
#include "support_arrays.h"

#define TEST(name, f) WEFT_TEST_WITH(name, struct weft_test_device *f, NULL, NULL)

WEFT_TEST_GROUP(weft_test_device_set_up, weft_test_device_tear_down);

/* ---- running ---- */

struct sequences {
    weft_shape shape;
    size_t count;
    float *q, *k, *v;
};

static float *random_values(size_t count, uint64_t stream) {
    float *data = malloc(count * sizeof *data);
    weft_philox_uniform(data, count, 5, stream);
    return data;
}

static struct sequences make_sequences(uint32_t batch, uint32_t n, uint32_t d) {
    struct sequences s = {.shape = weft_shape_of(batch, n, d)};
    s.count = (size_t)weft_shape_elements(s.shape);
    s.q = random_values(s.count, 0);
    s.k = random_values(s.count, 1);
    s.v = random_values(s.count, 2);
    return s;
}

static void free_sequences(struct sequences *s) {
    free(s->q);
    free(s->k);
    free(s->v);
}

/** Null params: weft_graph_attention with two heads. */
static weft_plan *compile(struct weft_test_device *fixture, weft_shape shape,
                          const weft_banded_attention_params *params, const char *implementation) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor t[3];
    const char *const names[] = {"q", "k", "v"};
    assert_int_equal(weft_graph_create(&graph, &fixture->host.host), WEFT_OK);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(weft_graph_input(&t[i], graph, names[i], WEFT_F32, shape), WEFT_OK);
    }
    weft_status status = params
                             ? weft_graph_banded_attention(&t[0], graph, t[0], t[1], t[2], params)
                             : weft_graph_attention(&t[0], graph, t[0], t[1], t[2],
                                                    weft_attention_params(.heads = 2));
    assert_int_equal(status, WEFT_OK);
    assert_int_equal(weft_graph_output(graph, "y", t[0]), WEFT_OK);
    assert_int_equal(weft_plan_compile(&plan, fixture->device, graph,
                                       weft_plan_params(.implementation = implementation)),
                     WEFT_OK);
    weft_graph_destroy(&graph);
    return plan;
}

static float *execute(weft_plan *plan, const struct sequences *s) {
    const size_t bytes = s->count * sizeof(float);
    float *y = malloc(bytes);
    memset(y, 0xff, bytes);
    weft_host_tensor tensors[] = {
        {"q", s->q, bytes}, {"k", s->k, bytes}, {"v", s->v, bytes}, {"y", y, bytes}};
    assert_int_equal(weft_plan_execute(plan, tensors, 4), WEFT_OK);
    return y;
}

static float *attend(struct weft_test_device *fixture, const struct sequences *s,
                     const weft_banded_attention_params *params, const char *implementation) {
    weft_plan *plan = compile(fixture, s->shape, params, implementation);
    float *y = execute(plan, s);
    weft_plan_destroy(&plan);
    return y;
}

/* ---- properties ---- */

/** Whatever the tiles, the sums are the same: a device may take either. */
TEST(test_implementations_agree, f) {
    const struct {
        uint32_t n, d;
        weft_banded_attention_params params;
    } cases[] = {{1, 1, {.heads = 1}},
                 {33, 12, {.heads = 3, .half_width = 32}},
                 {131, 48, {.heads = 2, .half_width = 15}},
                 {200, 65, {.heads = 1, .half_width = 70, .causal = true}},
                 {77, 258, {.heads = 2, .half_width = 16}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sequences s = make_sequences(2, cases[i].n, cases[i].d);
        float *usual = attend(f, &s, &cases[i].params, NULL);
        float *direct = attend(f, &s, &cases[i].params, "direct");
        float *tiled = attend(f, &s, &cases[i].params, "tiled");
        assert_memory_equal(direct, usual, s.count * sizeof *usual);
        assert_memory_equal(tiled, usual, s.count * sizeof *usual);
        free(usual);
        free(direct);
        free(tiled);
        free_sequences(&s);
    }
}

TEST(test_full_width_is_softmax_attention, f) {
    struct sequences s = make_sequences(2, 197, 64);
    float *dense = attend(f, &s, NULL, NULL);
    float *full = attend(f, &s, weft_banded_attention_params(.heads = 2, .half_width = 196), NULL);
    float *less = attend(f, &s, weft_banded_attention_params(.heads = 2, .half_width = 150), NULL);
    assert_true(weft_test_relative_error(full, dense, s.count) < 5e-6);
    assert_true(weft_test_relative_error(less, dense, s.count) > 1e-3);
    free(dense);
    free(full);
    free(less);
    free_sequences(&s);
}

/** The last token reads the same of both, and the first one of a causal band only itself. */
TEST(test_causal_band_meets_the_bidirectional_one, f) {
    enum { N = 90, D = 20 };
    struct sequences s = make_sequences(1, N, D);
    float *both =
        attend(f, &s, weft_banded_attention_params(.heads = 2, .half_width = N - 1), NULL);
    float *causal = attend(
        f, &s, weft_banded_attention_params(.heads = 2, .half_width = N - 1, .causal = true), NULL);
    assert_memory_equal(both + (size_t)(N - 1) * D, causal + (size_t)(N - 1) * D,
                        D * sizeof(float));
    assert_memory_equal(causal, s.v, D * sizeof(float));
    free(both);
    free(causal);
    free_sequences(&s);
}

TEST(test_half_width_0_gives_v, f) {
    struct sequences s = make_sequences(2, 71, 30);
    for (uint32_t causal = 0; causal < 2; causal++) {
        float *y =
            attend(f, &s, weft_banded_attention_params(.heads = 3, .causal = causal != 0), NULL);
        assert_memory_equal(y, s.v, s.count * sizeof *y);
        free(y);
    }
    free_sequences(&s);
}

static bool same_bits(const float *a, const float *b, size_t count) {
    bool is_same = true;
    for (size_t i = 0; i < count; i++) {
        uint32_t words[2];
        memcpy(&words[0], &a[i], sizeof words[0]);
        memcpy(&words[1], &b[i], sizeof words[1]);
        is_same = is_same && words[0] == words[1];
    }
    return is_same;
}

/** Which tokens see a change of key and value `token`: exactly those whose band has it. */
static void expect_reach(struct weft_test_device *fixture, uint32_t token, uint32_t first,
                         uint32_t last, const weft_banded_attention_params *params) {
    enum { N = 83, D = 8 };
    struct sequences s = make_sequences(1, N, D);
    float *before = attend(fixture, &s, params, NULL);
    for (uint32_t i = 0; i < D; i++) {
        s.k[(size_t)token * D + i] += 1.0F;
        s.v[(size_t)token * D + i] -= 1.0F;
    }
    float *after = attend(fixture, &s, params, NULL);
    for (uint32_t i = 0; i < N; i++) {
        bool is_same = same_bits(before + (size_t)i * D, after + (size_t)i * D, D);
        assert_int_equal(is_same, i < first || i > last);
    }
    free(before);
    free(after);
    free_sequences(&s);
}

TEST(test_reach_of_a_token, f) {
    const weft_banded_attention_params *both =
        weft_banded_attention_params(.heads = 2, .half_width = 17);
    const weft_banded_attention_params *causal =
        weft_banded_attention_params(.heads = 2, .half_width = 17, .causal = true);
    expect_reach(f, 40, 23, 57, both);
    expect_reach(f, 0, 0, 17, both);
    expect_reach(f, 82, 65, 82, both);
    expect_reach(f, 40, 40, 57, causal);
    expect_reach(f, 75, 75, 82, causal);
}

/** No score is stored: nothing lies between the inputs and the output. */
TEST(test_needs_no_memory, fixture) {
    weft_plan_info banded;
    weft_plan_info dense;
    weft_shape shape = weft_shape_of(1, 512, 16);
    weft_plan *plan =
        compile(fixture, shape, weft_banded_attention_params(.heads = 2, .half_width = 511), NULL);
    assert_int_equal(weft_plan_get_info(plan, &banded), WEFT_OK);
    weft_plan_destroy(&plan);
    plan = compile(fixture, shape, NULL, NULL);
    assert_int_equal(weft_plan_get_info(plan, &dense), WEFT_OK);
    weft_plan_destroy(&plan);
    assert_int_equal(banded.arena_bytes, 0);
    assert_true(dense.arena_bytes >= UINT64_C(4) * 2 * 512 * 512);
}

/** Operations counted: those of the keys within the sequence. */
TEST(test_counts_operations, f) {
    const struct {
        weft_banded_attention_params params;
        double pairs;
    } cases[] = {{{.half_width = 0}, 10.0},
                 {{.half_width = 2}, 3 + 4 + 5 * 6 + 4 + 3},
                 {{.half_width = 9}, 100.0},
                 {{.half_width = 9, .causal = true}, 55.0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weft_plan_info info;
        weft_plan *plan = compile(f, weft_shape_of(1, 10, 1), &cases[i].params, NULL);
        assert_int_equal(weft_plan_get_info(plan, &info), WEFT_OK);
        assert_true(info.flops == cases[i].pairs * 24.0);
        weft_plan_destroy(&plan);
    }
}

/* ---- bad parameters ---- */

/** A call that must fail: status, texts in the message, and no new value in the graph. */
#define EXPECT_FAILURE(fixture, graph, expected_status, call, ...)                      \
    do {                                                                                \
        uint32_t values = (graph)->value_count;                                         \
        weft_test_host_reset(&(fixture)->host);                                         \
        assert_string_equal(weft_status_name(call), weft_status_name(expected_status)); \
        weft_test_expect_log(&(fixture)->host, __VA_ARGS__, NULL);                      \
        assert_int_equal((graph)->value_count, values);                                 \
    } while (0)

TEST(test_bad_parameters, f) {
    weft_graph *g = NULL;
    weft_tensor x;
    weft_tensor other;
    weft_tensor flat;
    weft_tensor indices;
    weft_tensor y;
    assert_int_equal(weft_graph_create(&g, &f->host.host), WEFT_OK);
    assert_int_equal(weft_graph_input(&x, g, "x", WEFT_F32, weft_shape_of(2, 9, 6)), WEFT_OK);
    assert_int_equal(weft_graph_input(&other, g, "o", WEFT_F32, weft_shape_of(2, 8, 6)), WEFT_OK);
    assert_int_equal(weft_graph_input(&flat, g, "f", WEFT_F32, weft_shape_of(9, 6)), WEFT_OK);
    assert_int_equal(weft_graph_input(&indices, g, "i", WEFT_I32, weft_shape_of(2, 9, 6)), WEFT_OK);
    EXPECT_FAILURE(
        f, g, WEFT_INVALID_ARGUMENT,
        weft_graph_banded_attention(&y, g, x, x, x, weft_banded_attention_params(.half_width = 9)),
        "half_width 9", "0 … 8");
    EXPECT_FAILURE(f, g, WEFT_INVALID_ARGUMENT,
                   weft_graph_banded_attention(
                       &y, g, x, x, x, weft_banded_attention_params(.half_width = UINT32_MAX)),
                   "half_width 4294967295", "0 … 8");
    EXPECT_FAILURE(
        f, g, WEFT_INVALID_ARGUMENT,
        weft_graph_banded_attention(&y, g, x, x, x, weft_banded_attention_params(.heads = 4)),
        "heads 4", "1 … 6", "6 channels");
    EXPECT_FAILURE(
        f, g, WEFT_INVALID_ARGUMENT,
        weft_graph_banded_attention(&y, g, x, x, x, weft_banded_attention_params(.heads = 12)),
        "heads 12", "1 … 6");
    EXPECT_FAILURE(f, g, WEFT_INVALID_ARGUMENT,
                   weft_graph_banded_attention(&y, g, x, x, x,
                                               weft_banded_attention_params(.scale = INFINITY)),
                   "scale inf", "finite");
    EXPECT_FAILURE(f, g, WEFT_SHAPE_MISMATCH,
                   weft_graph_banded_attention(&y, g, x, other, other, NULL), "[2, 9, 6]",
                   "[2, 8, 6]");
    EXPECT_FAILURE(f, g, WEFT_SHAPE_MISMATCH, weft_graph_banded_attention(&y, g, x, x, other, NULL),
                   "v [2, 8, 6]");
    EXPECT_FAILURE(f, g, WEFT_SHAPE_MISMATCH,
                   weft_graph_banded_attention(&y, g, flat, flat, flat, NULL), "[9, 6]",
                   "[B, n, d]");
    EXPECT_FAILURE(f, g, WEFT_SHAPE_MISMATCH,
                   weft_graph_banded_attention(&y, g, x, indices, x, NULL), "k must be f32", "i32");
    EXPECT_FAILURE(f, g, WEFT_INVALID_ARGUMENT,
                   weft_graph_banded_attention(&y, g, x, x, (weft_tensor){0}, NULL), "input 2");
    weft_graph_destroy(&g);
}
