/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Properties of stochastic positional encoding: its mean over the noise, which knows distances alone. */
#include <math.h>

#include <weft/features.h>
#include <weft/mixers.h>

#include "core/math/philox.h"
#include "core/shape.h"
#include "support_graph.h"

/* ---- running ---- */

enum { N = 12, D = 4, HEADS = 2, WIDTH = D / HEADS, S = 8192 };
enum { T = 3, TAPS = 5, POSITIONS = N + TAPS - 1 };

/* Queries and keys, and the parameters of both encodings. */
struct problem {
    bool sines;
    float q[N * D], k[N * D];
    float frequencies[D * T], gains[D * T], phases[D * T];
    float q_filters[TAPS * D], k_filters[TAPS * D];
    float *noise; /* [D, 2T, S] or [POSITIONS, D, S] */
};

static uint32_t noise_rows(const struct problem *p) {
    return p->sines ? D * 2 * T : POSITIONS * D;
}

static struct problem *make(bool sines, uint64_t seed) {
    struct problem *p = malloc(sizeof *p);
    assert_non_null(p);
    p->sines = sines;
    weft_philox_uniform(p->q, N * D, 51, 0);
    weft_philox_uniform(p->k, N * D, 51, 1);
    weft_philox_uniform(p->frequencies, D * T, 51, 2);
    weft_philox_uniform(p->gains, D * T, 51, 3);
    weft_philox_uniform(p->phases, D * T, 51, 4);
    weft_philox_uniform(p->q_filters, TAPS * D, 51, 5);
    weft_philox_uniform(p->k_filters, TAPS * D, 51, 6);
    p->noise = malloc(sizeof(float) * noise_rows(p) * S);
    assert_non_null(p->noise);
    const weft_features_params params = {
        .kind = WEFT_FEATURES_BASE, .rows = noise_rows(p), .columns = S / 2, .seed = seed};
    /* Rows of at most 4096 columns: the first half of the realizations, and the second. */
    float *half = malloc(sizeof(float) * noise_rows(p) * (S / 2));
    assert_non_null(half);
    for (uint32_t part = 0; part < 2; part++) {
        weft_features_params own = params;
        own.seed = seed + 1000 * part;
        assert_ok(weft_features_fill(half, NULL, &own, NULL));
        for (uint32_t row = 0; row < noise_rows(p); row++) {
            memcpy(p->noise + (size_t)row * S + part * (S / 2), half + (size_t)row * (S / 2),
                   sizeof(float) * (S / 2));
        }
    }
    free(half);
    return p;
}

static void destroy(struct problem *p) {
    free(p->noise);
    free(p);
}

static weft_tensor add_noise(struct weft_test_run *r, const struct problem *p, bool weight) {
    weft_shape shape = p->sines ? weft_shape_of(D, 2 * T, S) : weft_shape_of(POSITIONS, D, S);
    return weight ? weft_test_constant(r->graph, shape, p->noise)
                  : weft_test_feed(r, "noise", shape, p->noise);
}

static weft_tensor encode(weft_graph *graph, const struct problem *p, weft_tensor x,
                          weft_tensor noise, bool queries) {
    weft_tensor y;
    if (p->sines) {
        const weft_shape each = weft_shape_of(D, T);
        weft_sine_spe_params params = {.heads = HEADS,
                                       .frequencies =
                                           weft_test_constant(graph, each, p->frequencies),
                                       .gains = weft_test_constant(graph, each, p->gains)};
        if (queries) {
            params.phases = weft_test_constant(graph, each, p->phases);
        }
        assert_ok(weft_graph_sine_spe(&y, graph, x, noise, &params));
    } else {
        weft_tensor filters = weft_test_constant(graph, weft_shape_of(TAPS, D),
                                                 queries ? p->q_filters : p->k_filters);
        assert_ok(weft_graph_conv_spe(&y, graph, x, noise,
                                      weft_conv_spe_params(.heads = HEADS, .filters = filters)));
    }
    return y;
}

/* Encoded queries and keys, [N, HEADS, S] each. */
static void run(struct weft_test_graph *f, const struct problem *p, bool noise_is_weight, float *q,
                float *k) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor noise = add_noise(&r, p, noise_is_weight);
    weft_tensor q_in = weft_test_feed(&r, "q", weft_shape_of(1, N, D), p->q);
    weft_tensor k_in = weft_test_feed(&r, "k", weft_shape_of(1, N, D), p->k);
    weft_test_take(&r, "q_out", encode(r.graph, p, q_in, noise, true), q);
    weft_test_take(&r, "k_out", encode(r.graph, p, k_in, noise, false), k);
    weft_test_execute(&r, NULL);
}

/* ---- the mean ---- */

/* P_c(i - j). */
static double template_of(const struct problem *p, uint32_t c, int lag) {
    double sum = 0.0;
    if (p->sines) {
        for (uint32_t k = 0; k < T; k++) {
            double gain = (double)p->gains[c * T + k];
            double turns = (double)p->frequencies[c * T + k] * lag + (double)p->phases[c * T + k];
            sum += gain * gain * cos(2.0 * 3.14159265358979323846 * turns);
        }
        return sum;
    }
    for (int u = 0; u < TAPS; u++) { /* codes of i and j have noise i + u = j + u' in common */
        int other = u + lag;
        if (other >= 0 && other < TAPS) {
            sum += (double)p->q_filters[u * D + (int)c] * (double)p->k_filters[other * D + (int)c];
        }
    }
    return sum;
}

static double expected_product(const struct problem *p, uint32_t i, uint32_t j, uint32_t head) {
    double sum = 0.0;
    for (uint32_t c = head * WIDTH; c < (head + 1) * WIDTH; c++) {
        sum +=
            (double)p->q[i * D + c] * (double)p->k[j * D + c] * template_of(p, c, (int)i - (int)j);
    }
    return sum / sqrt(WIDTH);
}

/*
 * The product of a query and a key is a mean of S independent terms: within 4.5 of their standard errors of its
 * expectation (one in 150,000 is not, of 288), and their root mean square is near 1.
 */
static void check_mean(struct weft_test_graph *f, bool sines) {
    struct problem *p = make(sines, 9);
    float *q = malloc(sizeof(float) * N * HEADS * S);
    float *k = malloc(sizeof(float) * N * HEADS * S);
    double squares = 0.0;
    assert_true(q && k);
    run(f, p, true, q, k);
    for (uint32_t part = 0; part < N * N * HEADS; part++) {
        uint32_t head = part % HEADS;
        uint32_t i = part / HEADS / N;
        uint32_t j = part / HEADS % N;
        double sum = 0.0;
        double sum_of_squares = 0.0;
        for (uint32_t r = 0; r < S; r++) {
            double term =
                (double)q[(i * HEADS + head) * S + r] * (double)k[(j * HEADS + head) * S + r] * S;
            sum += term;
            sum_of_squares += term * term;
        }
        double mean = sum / S;
        double error = sqrt((sum_of_squares / S - mean * mean) / S);
        double away = (mean - expected_product(p, i, j, head)) / error;
        assert_true(fabs(away) < 4.5);
        squares += away * away;
    }
    double typical = sqrt(squares / (N * N * HEADS));
    assert_true(typical > 0.7 && typical < 1.3);
    free(q);
    free(k);
    destroy(p);
}

WEFT_TEST_ON_GRAPH(test_sine_mean, f) {
    check_mean(f, true);
}

WEFT_TEST_ON_GRAPH(test_conv_mean, f) {
    check_mean(f, false);
}

/* ---- other properties ---- */

/* What is made once of weights has the bits that every run makes of inputs. */
WEFT_TEST_ON_GRAPH(test_noise_as_input_or_weight, f) {
    for (int sines = 0; sines < 2; sines++) {
        struct problem *p = make(sines != 0, 3);
        const size_t bytes = sizeof(float) * N * HEADS * S;
        float *q[2] = {malloc(bytes), malloc(bytes)};
        float *k[2] = {malloc(bytes), malloc(bytes)};
        for (int weight = 0; weight < 2; weight++) {
            assert_true(q[weight] && k[weight]);
            run(f, p, weight != 0, q[weight], k[weight]);
        }
        assert_memory_equal(q[0], q[1], bytes);
        assert_memory_equal(k[0], k[1], bytes);
        for (int i = 0; i < 2; i++) {
            free(q[i]);
            free(k[i]);
        }
        destroy(p);
    }
}

/* Codes of equal tokens: convSPE's at i and noise moved by one are those at i + 1, bit for bit. */
WEFT_TEST_ON_GRAPH(test_conv_is_stationary, f) {
    struct problem *p = make(false, 4);
    const size_t bytes = sizeof(float) * N * HEADS * S;
    float *before = malloc(bytes);
    float *after = malloc(bytes);
    float *k = malloc(bytes);
    assert_true(before && after && k);
    for (uint32_t i = 0; i < N * D; i++) {
        p->q[i] = p->q[i % D];
    }
    run(f, p, false, before, k);
    memmove(p->noise, p->noise + D * S, sizeof(float) * (POSITIONS - 1) * D * S);
    run(f, p, false, after, k);
    const size_t token = (size_t)HEADS * S;
    assert_memory_equal(before + token, after, (N - 1) * token * sizeof(float));
    free(before);
    free(after);
    free(k);
    destroy(p);
}

/* Every token is encoded by itself. */
WEFT_TEST_ON_GRAPH(test_tokens_do_not_mix, f) {
    for (int sines = 0; sines < 2; sines++) {
        enum { CHANGED = 5 };
        struct problem *p = make(sines != 0, 6);
        const size_t bytes = sizeof(float) * N * HEADS * S;
        const size_t token = (size_t)HEADS * S;
        float *before = malloc(bytes);
        float *after = malloc(bytes);
        float *k = malloc(bytes);
        assert_true(before && after && k);
        run(f, p, true, before, k);
        p->q[CHANGED * D] = NAN;
        run(f, p, true, after, k);
        assert_memory_equal(before, after, CHANGED * token * sizeof(float));
        assert_memory_not_equal(before + CHANGED * token, after + CHANGED * token, 4 * S);
        assert_memory_equal(before + (CHANGED + 1) * token, after + (CHANGED + 1) * token,
                            (N - CHANGED - 1) * token * sizeof(float));
        free(before);
        free(after);
        free(k);
        destroy(p);
    }
}
