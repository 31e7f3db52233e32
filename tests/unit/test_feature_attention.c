/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/* What random feature attention and the Performer's estimate, softmax attention, and what of q and k does not matter. */
#include <math.h>

#include <weft/features.h>

#include "support_reference.h"
#include "support_sheet.h"

enum { N = 150, D = 16, HEADS = 2, WIDTH = D / HEADS };

/* One sequence of n tokens, and a matrix of so many features. */
static struct weft_test_mix make(const weft_sheet *sheet, uint32_t n,
                                 const weft_features_params *matrix) {
    struct weft_test_mix mix = {
        .sheet = sheet, .sizes = {1, n, HEADS, WIDTH, .rows = matrix->rows}, .feeds_weights = true};
    weft_test_mix_fill(&mix, 41);
    assert_ok(weft_features_fill(mix.x[3], NULL, matrix, NULL));
    return mix;
}

/* Mean square difference from softmax attention; unit: over unit vectors. */
static double square_error(struct weft_test_graph *f, struct weft_test_mix mix, bool unit) {
    const uint32_t count = mix.sizes.n * D;
    float y[N * D];
    double expected[N * D];
    double squares = 0.0;
    weft_test_mix_run(f->device, &mix, y);
    weft_test_attention(expected, &(struct weft_test_attention){.q = mix.x[0],
                                                                .k = mix.x[1],
                                                                .v = mix.x[2],
                                                                .n = mix.sizes.n,
                                                                .heads = HEADS,
                                                                .width = WIDTH,
                                                                .unit = unit,
                                                                .half_width = UINT32_MAX});
    for (uint32_t i = 0; i < count; i++) {
        squares += ((double)y[i] - expected[i]) * ((double)y[i] - expected[i]);
    }
    weft_test_mix_free(&mix);
    return squares / count;
}

/* ---- random feature attention ---- */

static struct weft_test_mix make_rfa(uint32_t features) {
    return make(&weft_sheet_rfa_attention, N,
                weft_features_params(.kind = WEFT_FEATURES_BASE, .rows = features, .columns = WIDTH,
                                     .seed = 5));
}

/* The error falls as 1/√s: by 8 for 64 times as many features; half of that is left for chance. */
WEFT_TEST_ON_GRAPH(test_rfa_estimates_softmax, f) {
    const double few = sqrt(square_error(f, make_rfa(64), true));
    const double many = sqrt(square_error(f, make_rfa(4096), true));
    assert_true(many < 0.005);
    assert_true(many < few / 4.0);
}

/* Lengths of queries and keys do not matter: exactly, for powers of 2. */
WEFT_TEST_ON_GRAPH(test_lengths_do_not_matter, f) {
    struct weft_test_mix mix = make_rfa(16);
    float before[N * D];
    float after[N * D];
    mix.params = weft_rfa_attention_params(.causal = true);
    weft_test_mix_run(f->device, &mix, before);
    for (uint32_t i = 0; i < N * D; i++) {
        mix.x[0][i] *= 0.125F;
        mix.x[1][i] *= i / D % 2 == 0 ? 4.0F : 1024.0F;
    }
    weft_test_mix_run(f->device, &mix, after);
    assert_memory_equal(before, after, sizeof before);
    weft_test_mix_free(&mix);
}

/* ---- the Performer's ---- */

enum { FEWER = 100 };

static struct weft_test_mix make_performer(uint32_t features, uint64_t seed) {
    return make(&weft_sheet_performer_attention, FEWER,
                weft_features_params(.kind = WEFT_FEATURES_ORF, .rows = features, .columns = WIDTH,
                                     .seed = seed));
}

/* Over eight matrices. */
static double error_with(struct weft_test_graph *f, uint32_t features) {
    double squares = 0.0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        squares += square_error(f, make_performer(features, seed), false);
    }
    return sqrt(squares / 8.0);
}

/* Likewise; a third is left for chance. */
WEFT_TEST_ON_GRAPH(test_performer_estimates_softmax, f) {
    const double few = error_with(f, 64);
    const double many = error_with(f, 4096);
    assert_true(many < 0.005);
    assert_true(many < few / 5.0 && many > few / 13.0);
}

static void run_both(struct weft_test_graph *f, struct weft_test_mix *mix, float *plain,
                     float *stable) {
    mix->params = weft_performer_attention_params(.unstabilized = true);
    weft_test_mix_run(f->device, mix, plain);
    mix->params = NULL;
    weft_test_mix_run(f->device, mix, stable);
}

/* The stabilizers cancel but for epsilon, and keep queries and keys in range whose exponentials are not. */
WEFT_TEST_ON_GRAPH(test_stabilizers, f) {
    struct weft_test_mix mix = make_performer(64, 5);
    float plain[FEWER * D];
    float stable[FEWER * D];
    uint32_t lost = 0;
    run_both(f, &mix, plain, stable);
    for (uint32_t i = 0; i < FEWER * D; i++) {
        assert_true(fabsf(plain[i] - stable[i]) < 1e-4F);
        mix.x[0][i] *= 64.0F;
        mix.x[1][i] *= 64.0F;
    }
    run_both(f, &mix, plain, stable);
    for (uint32_t i = 0; i < FEWER * D; i++) {
        lost += plain[i] == 0.0F;
        assert_true(fabsf(stable[i]) <= 1.0F); /* a mean of v */
        assert_true(stable[i] != 0.0F);
    }
    assert_true(lost > 0);
    weft_test_mix_free(&mix);
}
