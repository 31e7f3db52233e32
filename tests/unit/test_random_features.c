/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/* Random features on a device: what they add up to and what stabilizers leave alone. */
#include <math.h>

#include <weft/features.h>
#include <weft/mixers.h>

#include "core/math/philox.h"
#include "device/device.h"
#include "support_graph.h"
#include "support_reference.h"

#define N     23
#define D     8
#define HEADS 2
#define WIDTH (D / HEADS)

/* Attention with random features: q, k, v [1, N, D]. */
struct problem {
    weft_component component;
    float a;
    int32_t s;
    bool stabilized;
    bool causal;
    const weft_features_params *matrix;
    float *q, *k, *v;
};

static float *random_values(uint64_t count, uint64_t stream) {
    return weft_test_uniform(count, 7, stream);
}

/* Tensors of the matrix and of the factors of queries and keys, from the weights that go with it. */
struct matrix {
    weft_tensor w, query, key;
};

static struct matrix add_matrix(weft_graph *graph, const weft_features_params *params) {
    const uint32_t s = params->rows;
    float *w = malloc((size_t)s * WIDTH * sizeof *w);
    float *weights = malloc(3 * s * sizeof *weights);
    float *query = weights + s;
    float *key = query + s;
    assert_ok(weft_features_fill(w, weights, params, NULL));
    for (uint32_t i = 0; i < s; i++) {
        query[i] = sqrtf(fabsf(weights[i]));
        key[i] = copysignf(query[i], weights[i]);
    }
    struct matrix matrix = {.w = weft_test_constant(graph, weft_shape_of(s, WIDTH), w),
                            .query = weft_test_constant(graph, weft_shape_of(s), query),
                            .key = weft_test_constant(graph, weft_shape_of(s), key)};
    free(w);
    free(weights);
    return matrix;
}

static weft_tensor add_features(weft_graph *graph, const struct problem *p,
                                const struct matrix *matrix, weft_tensor x, weft_tensor other,
                                bool is_key) {
    weft_tensor features;
    const weft_stabilizer stabilizer = is_key ? WEFT_STABILIZER_KEY : WEFT_STABILIZER_QUERY;
    weft_random_features_params params = {.component = p->component,
                                          .heads = HEADS,
                                          .stabilizer =
                                              p->stabilized ? stabilizer : WEFT_STABILIZER_NONE,
                                          .coefficients = is_key ? matrix->key : matrix->query};
    params.a = p->a;
    params.s = p->s;
    if (p->component == WEFT_COMPONENT_OPTIMAL || p->component == WEFT_COMPONENT_ASYMMETRIC) {
        params.other = other;
    }
    assert_ok(weft_graph_random_features(&features, graph, x, matrix->w, &params));
    return features;
}

static void run(struct weft_test_graph *f, const struct problem *p, float *out) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor y;
    weft_tensor q = weft_test_feed(&r, "q", weft_shape_of(1, N, D), p->q);
    weft_tensor k = weft_test_feed(&r, "k", weft_shape_of(1, N, D), p->k);
    weft_tensor v = weft_test_feed(&r, "v", weft_shape_of(1, N, D), p->v);
    const struct matrix matrix = add_matrix(r.graph, p->matrix);
    weft_tensor phi = add_features(r.graph, p, &matrix, q, k, false);
    weft_tensor psi = add_features(r.graph, p, &matrix, k, q, true);
    assert_ok(weft_graph_linear_attention(
        &y, r.graph, phi, psi, v,
        weft_linear_attention_params(.heads = HEADS, .causal = p->causal, .epsilon = 1e-6F)));
    weft_test_execute_to(&r, y, out);
}

/* softmax(q kᵀ/√d_h) v, to which the features' attention tends. */
static void softmax_attention(const struct problem *p, double *out) {
    weft_test_attention(out, &(struct weft_test_attention){.q = p->q,
                                                           .k = p->k,
                                                           .v = p->v,
                                                           .n = N,
                                                           .heads = HEADS,
                                                           .width = WIDTH,
                                                           .causal = p->causal,
                                                           .half_width = UINT32_MAX});
}

/* Every component, generalized ones with A other than 0, and after them those with s = -1. */
#define COMPONENTS (WEFT_COMPONENT_COUNT + 1)

static struct problem problem_of(float *data, int component) {
    struct problem p = {.q = data, .k = data + (size_t)N * D, .v = data + 2 * (size_t)N * D};
    const bool waves = component == WEFT_COMPONENT_COUNT;
    p.component = waves ? WEFT_COMPONENT_GENERALIZED : (weft_component)component;
    if (p.component == WEFT_COMPONENT_GENERALIZED) {
        p.a = waves ? 0.03F : -0.05F;
        p.s = waves ? -1 : 1;
    }
    return p;
}

/* With more features, attention comes closer to softmax attention, as 1/√s. */
WEFT_TEST_ON_GRAPH(test_features_approach_softmax, f) {
    float *data = random_values(3 * (uint64_t)N * D, 0);
    for (int component = 0; component < COMPONENTS; component++) {
        for (int causal = 0; causal < 2; causal++) {
            double error[2];
            for (int k = 0; k < 2; k++) {
                struct problem p = problem_of(data, component);
                float out[N * D];
                double expected[N * D];
                p.causal = causal != 0;
                p.stabilized = true;
                p.matrix =
                    weft_features_params(.kind = WEFT_FEATURES_ORF, .rows = k == 0 ? 32 : 2048,
                                         .columns = WIDTH, .seed = 1);
                softmax_attention(&p, expected);
                run(f, &p, out);
                error[k] = weft_test_error(out, expected, (uint64_t)N * D);
            }
            assert_true(error[1] < 0.05);
            assert_true(error[1] < 0.25 * error[0]);
        }
    }
    free(data);
}

/* Every kind of matrix but those of powers does for every component. */
WEFT_TEST_ON_GRAPH(test_every_matrix, f) {
    float *data = random_values(3 * (uint64_t)N * D, 1);
    for (int kind = 0; kind < WEFT_FEATURES_POISSON; kind++) {
        weft_features_params params = {
            .kind = (weft_features_kind)kind, .rows = 401, .columns = WIDTH, .seed = 2};
        params.rows = kind == WEFT_FEATURES_SGQ ? 2 * WIDTH + 1 : params.rows;
        params.rows = kind == WEFT_FEATURES_S_HYBRID ? 400 : params.rows;
        for (int component = 0; component < COMPONENTS; component++) {
            struct problem p = problem_of(data, component);
            float out[N * D];
            double expected[N * D];
            p.stabilized = true;
            p.matrix = &params;
            softmax_attention(&p, expected);
            run(f, &p, out);
            /* SGQ has 9 points, the others 400. */
            const double limit = kind == WEFT_FEATURES_SGQ ? 0.5 : 0.15;
            assert_true(weft_test_error(out, expected, (uint64_t)N * D) < limit);
        }
    }
    free(data);
}

/* Stabilizers cancel; without them, large inputs would overflow. */
WEFT_TEST_ON_GRAPH(test_stabilizers_cancel, f) {
    float *data = random_values(3 * (uint64_t)N * D, 2);
    const weft_features_params *params =
        weft_features_params(.kind = WEFT_FEATURES_ORF, .rows = 64, .columns = WIDTH, .seed = 3);
    for (int component = 0; component < COMPONENTS; component++) {
        struct problem p = problem_of(data, component);
        float plain[N * D];
        float stable[N * D];
        double expected[N * D];
        p.matrix = params;
        run(f, &p, plain);
        p.stabilized = true;
        run(f, &p, stable);
        for (int i = 0; i < N * D; i++) {
            expected[i] = (double)plain[i];
        }
        assert_true(weft_test_error(stable, expected, (uint64_t)N * D) < 1e-5);
        assert_true(memcmp(plain, stable, sizeof plain) != 0);
    }
    for (uint64_t i = 0; i < 2 * (uint64_t)N * D; i++) {
        data[i] *= 100.0F;
    }
    struct problem p = problem_of(data, WEFT_COMPONENT_POSITIVE);
    float out[N * D];
    p.matrix = params;
    p.stabilized = true;
    run(f, &p, out);
    for (int i = 0; i < N * D; i++) {
        assert_true(isfinite(out[i]));
    }
    free(data);
}

WEFT_TEST(test_names) {
    assert_string_equal(weft_component_name(WEFT_COMPONENT_OPTIMAL), "optimal");
    assert_string_equal(weft_component_name(WEFT_COMPONENT_ASYMMETRIC), "asymmetric");
    assert_non_null(weft_component_name(WEFT_COMPONENT_COUNT));
    assert_string_equal(weft_stabilizer_name(WEFT_STABILIZER_KEY), "key");
    assert_non_null(weft_stabilizer_name(WEFT_STABILIZER_COUNT));
}
