/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Banded attention: its implementations agree, what a token reads, limits, memory. */
#include <math.h>

#include <weft/mixers.h>

#include "core/philox.h"
#include "support_arrays.h"
#include "support_graph.h"

#define TEST(name, f) WEFT_TEST_WITH(name, struct weft_test_graph *f, NULL, NULL)

WEFT_TEST_GROUP(weft_test_graph_set_up, weft_test_graph_tear_down);

/* ---- running ---- */

struct sequences {
    weft_shape shape;
    size_t count;
    float *q, *k, *v;
};

static struct sequences make_sequences(uint32_t batch, uint32_t n, uint32_t d) {
    struct sequences s = {.shape = weft_shape_of(batch, n, d)};
    s.count = (size_t)weft_shape_elements(s.shape);
    s.q = weft_test_uniform(s.count, 5, 0);
    s.k = weft_test_uniform(s.count, 5, 1);
    s.v = weft_test_uniform(s.count, 5, 2);
    return s;
}

static void free_sequences(struct sequences *s) {
    free(s->q);
    free(s->k);
    free(s->v);
}

/** Null params: weft_graph_attention with two heads. */
static weft_tensor begin(struct weft_test_run *r, struct weft_test_graph *f,
                         const struct sequences *s, const weft_banded_attention_params *params) {
    *r = weft_test_begin(f->device);
    weft_tensor y;
    weft_tensor q = weft_test_feed(r, "q", s->shape, s->q);
    weft_tensor k = weft_test_feed(r, "k", s->shape, s->k);
    weft_tensor v = weft_test_feed(r, "v", s->shape, s->v);
    assert_ok(params
                  ? weft_graph_banded_attention(&y, r->graph, q, k, v, params)
                  : weft_graph_attention(&y, r->graph, q, k, v, weft_attention_params(.heads = 2)));
    return y;
}

static float *attend(struct weft_test_graph *f, const struct sequences *s,
                     const weft_banded_attention_params *params, const char *implementation) {
    struct weft_test_run r;
    weft_tensor out = begin(&r, f, s, params);
    float *y = malloc(s->count * sizeof(float));
    weft_test_take(&r, "y", out, y);
    weft_test_execute(&r, implementation);
    return y;
}

static weft_plan_info info_of(struct weft_test_graph *f, weft_shape shape,
                              const weft_banded_attention_params *params) {
    struct weft_test_run r;
    weft_tensor y = begin(&r, f, &(struct sequences){.shape = shape}, params);
    return weft_test_info_of(&r, y, NULL);
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
static void expect_reach(struct weft_test_graph *f, uint32_t token, uint32_t first, uint32_t last,
                         const weft_banded_attention_params *params) {
    enum { N = 83, D = 8 };
    struct sequences s = make_sequences(1, N, D);
    float *before = attend(f, &s, params, NULL);
    for (uint32_t i = 0; i < D; i++) {
        s.k[(size_t)token * D + i] += 1.0F;
        s.v[(size_t)token * D + i] -= 1.0F;
    }
    float *after = attend(f, &s, params, NULL);
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
TEST(test_needs_no_memory, f) {
    const weft_shape shape = weft_shape_of(1, 512, 16);
    const weft_plan_info banded =
        info_of(f, shape, weft_banded_attention_params(.heads = 2, .half_width = 511));
    const weft_plan_info dense = info_of(f, shape, NULL);
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
        const weft_plan_info info = info_of(f, weft_shape_of(1, 10, 1), &cases[i].params);
        assert_true(info.flops == cases[i].pairs * 24.0);
    }
}
