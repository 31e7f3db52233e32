/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/* Properties of cosFormer, and values checked by hand. */
#include <math.h>

#include "core/math/philox.h"
#include "support_sheet.h"

/* One sequence of one head: q and k have d columns, v has one. */
static struct weft_test_mix problem_of(uint32_t n, uint32_t d, const weft_cosformer_params *params,
                                       float *q, float *k, float *v) {
    return (struct weft_test_mix){.sheet = &weft_sheet_cosformer,
                                  .sizes = {1, n, 1, d, .values = 1},
                                  .params = params,
                                  .x = {q, k, v}};
}

static void expect(struct weft_test_graph *f, const struct weft_test_mix *p,
                   const double *expected) {
    float y[4];
    weft_test_mix_run(f->device, p, y);
    for (uint32_t i = 0; i < p->sizes.n; i++) {
        assert_true(fabs((double)y[i] - expected[i]) < 1e-6);
    }
}

/* ---- values checked by hand ---- */

/* q = k = 1, v = [1, 0, 0], M = 3: the weights are the cosines of 0, 30 and 60 degrees. */
WEFT_TEST_ON_GRAPH(test_cosines, f) {
    const double c = sqrt(3.0) / 2.0;
    const double full[] = {1.0 / (1.5 + c), c / (1.0 + 2.0 * c), 0.5 / (1.5 + c)};
    const double causal[] = {1.0, c / (1.0 + c), 0.5 / (1.5 + c)};
    float ones[3] = {1.0F, 1.0F, 1.0F};
    float v[3] = {1.0F, 0.0F, 0.0F};
    struct weft_test_mix p = problem_of(3, 1, NULL, ones, ones, v);
    expect(f, &p, full);
    p.params = weft_cosformer_params(.causal = true);
    expect(f, &p, causal);
    p.params = weft_cosformer_params(.causal = true, .length = 3); /* what 0 stands for */
    expect(f, &p, causal);
}

/* With M far above n all cosines are 1: 26/19, 58/43, 6/5, 18/13 of plain relu features. */
WEFT_TEST_ON_GRAPH(test_long_length_is_plain_relu, f) {
    float q[] = {1.0F, 2.0F, 3.0F, 4.0F, 1.0F, -1.0F, 1.0F, 3.0F};
    float k[] = {-3.0F, 1.0F, 1.0F, 5.0F, -2.0F, -3.0F, 4.0F, 1.0F};
    float v[] = {-1.0F, 2.0F, 3.0F, 1.0F};
    const double expected[] = {26.0 / 19.0, 58.0 / 43.0, 6.0 / 5.0, 18.0 / 13.0};
    const struct weft_test_mix p =
        problem_of(4, 2, weft_cosformer_params(.length = 1U << 30), q, k, v);
    expect(f, &p, expected);
}

/* A query without positive channels reads nothing; a denominator below epsilon becomes epsilon. */
WEFT_TEST_ON_GRAPH(test_zero_denominators, f) {
    float q[] = {-1.0F, 0.5F};
    float k[] = {1.0F, 0.0F};
    float v[] = {6.0F, 7.0F};
    float y[2];
    struct weft_test_mix p = problem_of(2, 1, weft_cosformer_params(.length = 1U << 30), q, k, v);
    weft_test_mix_run(f->device, &p, y);
    assert_true(y[0] == 0.0F && y[1] == 6.0F);
    p.params = weft_cosformer_params(.length = 1U << 30, .epsilon = 2.0F);
    weft_test_mix_run(f->device, &p, y);
    assert_true(y[0] == 0.0F && y[1] == 1.5F);
}

/* ---- properties ---- */

enum { N = 150, D = 16, HEADS = 2 };

/* Numbers of -1 … 1 for two heads. */
static struct weft_test_mix filled(uint32_t n, const weft_cosformer_params *params) {
    struct weft_test_mix p = {.sheet = &weft_sheet_cosformer,
                              .sizes = {1, n, HEADS, D / HEADS, .values = 0},
                              .params = params};
    weft_test_mix_fill(&p, 31);
    return p;
}

/* By default M is the length of the sequence, and its first tokens have other bits alone. */
WEFT_TEST_ON_GRAPH(test_length_is_that_of_the_sequence, f) {
    float whole[N * D];
    float part[N * D];
    struct weft_test_mix p = filled(N, weft_cosformer_params(.causal = true));
    weft_test_mix_run(f->device, &p, whole);
    p.sizes.n = 65;
    weft_test_mix_run(f->device, &p, part);
    assert_memory_not_equal(whole, part, 65 * D * sizeof(float));
    weft_test_mix_free(&p);
}

/* The weights depend on the distance of positions alone: tokens without weight in front change no more than rounding. */
WEFT_TEST_ON_GRAPH(test_shift, f) {
    enum { SHIFT = 37, REST = N - SHIFT };
    float y[N * D];
    float moved_y[N * D];
    for (int causal = 0; causal < 2; causal++) {
        const weft_cosformer_params params = {.causal = causal != 0, .length = N};
        struct weft_test_mix p = filled(REST, &params);
        struct weft_test_mix moved = filled(N, &params);
        for (uint32_t i = 0; i < 3; i++) { /* features of the tokens in front: 0 */
            memset(moved.x[i], 0, sizeof(float) * SHIFT * D);
            memcpy(moved.x[i] + SHIFT * D, p.x[i], sizeof(float) * REST * D);
        }
        weft_test_mix_run(f->device, &p, y);
        weft_test_mix_run(f->device, &moved, moved_y);
        for (uint32_t i = 0; i < REST * D; i++) {
            assert_true(fabsf(y[i] - moved_y[SHIFT * D + i]) < 2e-6F);
        }
        weft_test_mix_free(&p);
        weft_test_mix_free(&moved);
    }
}

/* q and k as large as graphs allow are more than a device can bind, which says how much it can by 32 bits, and are one sequence. */
WEFT_TEST_ON_GRAPH(test_sequences_stay_whole, f) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor y;
    weft_tensor q = weft_test_input(r.graph, "q", weft_shape_of(1, 1U << 15, 1U << 15));
    weft_tensor v = weft_test_input(r.graph, "v", weft_shape_of(1, 1U << 15, 1));
    assert_ok(weft_graph_cosformer(&y, r.graph, q, q, v, NULL));
    WEFT_EXPECT_NO_PLAN(f, &r, y, NULL, WEFT_UNSUPPORTED, "cosformer", "'q' has 4294967296 bytes");
}
