/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Learned weight matrices on a device: what they are in simple cases, the kernel they stand for. */
#include <math.h>

#include <weft/features.h>
#include <weft/mixers.h>

#include "core/math/philox.h"
#include "device/device.h"
#include "support_graph.h"

#define D 5
#define C 4
#define S 8192

/* Rows of standard normal numbers, [S, D]. */
static float *make_noise(void) {
    float *noise = malloc(sizeof(float) * S * D);
    assert_ok(weft_features_fill(
        noise, NULL,
        weft_features_params(.kind = WEFT_FEATURES_BASE, .rows = S, .columns = D, .seed = 3),
        NULL));
    return noise;
}

static weft_tensor add_noise(weft_graph *graph) {
    float *noise = make_noise();
    weft_tensor tensor = weft_test_constant(graph, weft_shape_of(S, D), noise);
    free(noise);
    return tensor;
}

/* Σ = I and μ = 0: the noise itself. */
static void check_identity(struct weft_test_graph *f, bool full) {
    float sigma[C * D * D] = {0};
    const float mu[C * D] = {0};
    for (uint32_t i = 0; i < C * D; i++) {
        sigma[full ? i * D + i % D : i] = 1.0F;
    }
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor w;
    weft_tensor scale =
        weft_test_constant(r.graph, full ? weft_shape_of(C, D, D) : weft_shape_of(C, D), sigma);
    assert_ok(weft_graph_gmm_weights(&w, r.graph, add_noise(r.graph), scale,
                                     weft_test_constant(r.graph, weft_shape_of(C, D), mu)));
    float *out = malloc(sizeof(float) * S * D);
    weft_test_execute_to(&r, w, out);
    float *noise = make_noise();
    assert_memory_equal(out, noise, sizeof(float) * S * D);
    free(noise);
    free(out);
}

WEFT_TEST_ON_GRAPH(one_standard_component_is_the_noise, f) {
    check_identity(f, false);
}

WEFT_TEST_ON_GRAPH(full_identity_is_the_noise, f) {
    check_identity(f, true);
}

/* The mixture is the spectrum of the kernel: 1/C Σ_c exp(-‖Σ_cᵀδ‖²/2) cos μ_cᵀδ at a distance δ. */
static double mixture_kernel(const float *sigma, const float *mu, const float *x, const float *y) {
    double kernel = 0.0;
    for (uint32_t c = 0; c < C; c++) {
        double square = 0.0;
        double angle = 0.0;
        for (uint32_t k = 0; k < D; k++) {
            double sum = 0.0;
            for (uint32_t j = 0; j < D; j++) {
                sum += (double)sigma[(c * D + j) * D + k] * ((double)x[j] - (double)y[j]);
            }
            square += sum * sum;
            angle += (double)mu[c * D + k] * ((double)x[k] - (double)y[k]);
        }
        kernel += exp(-0.5 * square) * cos(angle) / C;
    }
    return kernel;
}

WEFT_TEST_ON_GRAPH(features_have_the_mixture_as_spectrum, f) {
    enum { N = 7 };
    float sigma[C * D * D];
    float mu[C * D];
    float x[N * D];
    weft_philox_uniform(sigma, C * D * D, 1, 0);
    weft_philox_uniform(mu, C * D, 1, 1);
    weft_philox_uniform(x, N * D, 1, 2);
    for (uint32_t i = 0; i < C * D; i++) {
        mu[i] *= 3.0F;
    }
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor w;
    weft_tensor y;
    assert_ok(weft_graph_gmm_weights(&w, r.graph, add_noise(r.graph),
                                     weft_test_constant(r.graph, weft_shape_of(C, D, D), sigma),
                                     weft_test_constant(r.graph, weft_shape_of(C, D), mu)));
    /* The stabilizer takes exp(‖x‖²/2) away. */
    assert_ok(weft_graph_random_features(
        &y, r.graph, weft_test_constant(r.graph, weft_shape_of(1, N, D), x), w,
        weft_random_features_params(.scale = 1.0F, .stabilizer = WEFT_STABILIZER_QUERY)));
    float *phi = malloc(sizeof(float) * N * 2 * S);
    weft_test_execute_to(&r, y, phi);
    double largest = 0.0;
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t j = 0; j < i; j++) {
            double product = 0.0;
            for (uint32_t k = 0; k < 2 * S; k++) {
                product += (double)phi[i * 2 * S + k] * (double)phi[j * 2 * S + k];
            }
            const double expected = mixture_kernel(sigma, mu, x + (size_t)i * D, x + (size_t)j * D);
            assert_true(fabs(product - expected) < 4.0 / sqrt(S)); /* cosines: variance below 1 */
            largest = fmax(largest, fabs(expected));
        }
    }
    assert_true(largest > 8.0 / sqrt(S)); /* there is something to see */
    free(phi);
}

/* A generator of one layer is a mixture of one component. */
WEFT_TEST_ON_GRAPH(a_linear_generator_is_one_gaussian, f) {
    float sigma[D * D];
    float mu[D];
    weft_philox_uniform(sigma, D * D, 1, 3);
    weft_philox_uniform(mu, D, 1, 4);
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor w[2];
    weft_tensor noise = add_noise(r.graph);
    assert_ok(weft_graph_gmm_weights(&w[0], r.graph, noise,
                                     weft_test_constant(r.graph, weft_shape_of(1, D, D), sigma),
                                     weft_test_constant(r.graph, weft_shape_of(1, D), mu)));
    assert_ok(weft_graph_dgm_weights(
        &w[1], r.graph, noise,
        weft_dgm_weights_params(.layers = 1,
                                .weight = {weft_test_constant(r.graph, weft_shape_of(D, D), sigma)},
                                .bias = {weft_test_constant(r.graph, weft_shape_of(D), mu)})));
    weft_tensor difference;
    assert_ok(weft_graph_binary(&difference, r.graph, WEFT_BINARY_SUBTRACT, w[0], w[1]));
    float *out = malloc(sizeof(float) * S * D);
    weft_test_execute_to(&r, difference, out);
    for (uint32_t i = 0; i < S * D; i++) {
        assert_true(fabsf(out[i]) < 4e-6F);
    }
    free(out);
}
