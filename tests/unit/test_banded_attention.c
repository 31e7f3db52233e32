/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Banded attention: its implementations agree, what a token reads, limits, memory. */
#include <math.h>

#include "support_arrays.h"
#include "support_sheet.h"

#define TEST(name, f) WEFT_TEST_WITH(name, struct weft_test_graph *f, NULL, NULL)

WEFT_TEST_GROUP(weft_test_graph_set_up, weft_test_graph_tear_down);

/* ---- running ---- */

static struct weft_test_mix make(uint32_t batch, uint32_t n, uint32_t d, uint32_t heads) {
    struct weft_test_mix mix = {.sheet = &weft_sheet_banded_attention,
                                .sizes = {batch, n, heads, d / heads, .values = 0}};
    weft_test_mix_fill(&mix, 5);
    return mix;
}

/* The result in malloc's memory. Null params: weft_graph_attention. */
static float *attend(struct weft_test_graph *f, const struct weft_test_mix *of,
                     const weft_banded_attention_params *params, const char *implementation) {
    struct weft_test_mix mix = *of;
    float *y = malloc((size_t)weft_test_mix_elements(&mix, 0) * sizeof *y);
    assert_non_null(y);
    mix.sheet = params ? mix.sheet : &weft_sheet_attention;
    mix.params = params;
    mix.implementation = implementation;
    weft_test_mix_run(f->device, &mix, y);
    return y;
}

static weft_plan_info info_of(struct weft_test_graph *f, uint32_t n, uint32_t width, uint32_t heads,
                              const weft_banded_attention_params *params) {
    struct weft_test_run r;
    const struct weft_test_mix mix = {.sheet = params ? &weft_sheet_banded_attention
                                                      : &weft_sheet_attention,
                                      .sizes = {1, n, heads, width, .values = 0},
                                      .params = params};
    const weft_tensor y = weft_test_mix_begin(&r, f->device, &mix);
    return weft_test_info_of(&r, y, params ? NULL : "scores");
}

/* ---- properties ---- */

/** Whatever the tiles, the sums are the same: a device may take either. */
TEST(test_implementations_agree, f) {
    const struct {
        uint32_t n, d, heads;
        weft_banded_attention_params params;
    } cases[] = {{1, 1, 1, {.half_width = 0}},
                 {33, 12, 3, {.half_width = 32}},
                 {131, 48, 2, {.half_width = 15}},
                 {200, 65, 1, {.half_width = 70, .causal = true}},
                 {77, 258, 2, {.half_width = 16}}};
    for (size_t i = 0; i < WEFT_COUNT(cases); i++) {
        struct weft_test_mix mix = make(2, cases[i].n, cases[i].d, cases[i].heads);
        const size_t size = (size_t)weft_test_mix_elements(&mix, 0) * sizeof(float);
        float *usual = attend(f, &mix, &cases[i].params, NULL);
        float *direct = attend(f, &mix, &cases[i].params, "direct");
        float *tiled = attend(f, &mix, &cases[i].params, "tiled");
        assert_memory_equal(direct, usual, size);
        assert_memory_equal(tiled, usual, size);
        free(usual);
        free(direct);
        free(tiled);
        weft_test_mix_free(&mix);
    }
}

TEST(test_full_width_is_softmax_attention, f) {
    struct weft_test_mix mix = make(2, 197, 64, 2);
    const size_t count = (size_t)weft_test_mix_elements(&mix, 0);
    float *dense = attend(f, &mix, NULL, NULL);
    float *full = attend(f, &mix, weft_banded_attention_params(.half_width = 196), NULL);
    float *less = attend(f, &mix, weft_banded_attention_params(.half_width = 150), NULL);
    assert_true(weft_test_relative_error(full, dense, count) < 5e-6);
    assert_true(weft_test_relative_error(less, dense, count) > 1e-3);
    free(dense);
    free(full);
    free(less);
    weft_test_mix_free(&mix);
}

/** The last token reads the same of both, and the first one of a causal band only itself. */
TEST(test_causal_band_meets_the_bidirectional_one, f) {
    enum { N = 90, D = 20 };
    struct weft_test_mix mix = make(1, N, D, 2);
    float *both = attend(f, &mix, weft_banded_attention_params(.half_width = N - 1), NULL);
    float *causal =
        attend(f, &mix, weft_banded_attention_params(.half_width = N - 1, .causal = true), NULL);
    assert_memory_equal(both + (size_t)(N - 1) * D, causal + (size_t)(N - 1) * D,
                        D * sizeof(float));
    assert_memory_equal(causal, mix.x[2], D * sizeof(float));
    free(both);
    free(causal);
    weft_test_mix_free(&mix);
}

TEST(test_half_width_0_gives_v, f) {
    struct weft_test_mix mix = make(2, 71, 30, 3);
    for (uint32_t causal = 0; causal < 2; causal++) {
        float *y = attend(f, &mix, weft_banded_attention_params(.causal = causal != 0), NULL);
        assert_memory_equal(y, mix.x[2], (size_t)weft_test_mix_elements(&mix, 2) * sizeof *y);
        free(y);
    }
    weft_test_mix_free(&mix);
}

/** Which tokens see a change of key and value `token`: exactly those whose band has it. */
static void expect_reach(struct weft_test_graph *f, uint32_t token, uint32_t first, uint32_t last,
                         const weft_banded_attention_params *params) {
    enum { N = 83, D = 8 };
    struct weft_test_mix mix = make(1, N, D, 2);
    float *before = attend(f, &mix, params, NULL);
    for (uint32_t i = 0; i < D; i++) {
        mix.x[1][(size_t)token * D + i] += 1.0F;
        mix.x[2][(size_t)token * D + i] -= 1.0F;
    }
    float *after = attend(f, &mix, params, NULL);
    for (uint32_t i = 0; i < N; i++) {
        const bool is_same =
            memcmp(before + (size_t)i * D, after + (size_t)i * D, D * sizeof *before) == 0;
        assert_int_equal(is_same, i < first || i > last);
    }
    free(before);
    free(after);
    weft_test_mix_free(&mix);
}

TEST(test_reach_of_a_token, f) {
    const weft_banded_attention_params *both = weft_banded_attention_params(.half_width = 17);
    const weft_banded_attention_params *causal =
        weft_banded_attention_params(.half_width = 17, .causal = true);
    expect_reach(f, 40, 23, 57, both);
    expect_reach(f, 0, 0, 17, both);
    expect_reach(f, 82, 65, 82, both);
    expect_reach(f, 40, 40, 57, causal);
    expect_reach(f, 75, 75, 82, causal);
}

/** No score is stored: nothing lies between the inputs and the output. */
TEST(test_needs_no_memory, f) {
    const weft_plan_info banded =
        info_of(f, 512, 8, 2, weft_banded_attention_params(.half_width = 511));
    const weft_plan_info dense = info_of(f, 512, 8, 2, NULL); /* with its scores */
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
    for (size_t i = 0; i < WEFT_COUNT(cases); i++) {
        assert_true(info_of(f, 10, 1, 1, &cases[i].params).flops == cases[i].pairs * 24.0);
    }
}
