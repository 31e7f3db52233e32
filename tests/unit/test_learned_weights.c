/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Learned weight matrices on a device: what they are in simple cases, the kernel they stand for, bad parameters. */
#include <math.h>

#include <weft/features.h>
#include <weft/mixers.h>

#include "core/philox.h"
#include "device/device.h"
#include "graph/graph.h"
#include "support.h"

#define D 5
#define C 4
#define S 8192

struct fixture {
    struct weft_test_host host;
    weft_device *device;
    weft_graph *graph;
    float *noise;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    weft_test_host_begin(&f->host);
    assert_int_equal(
        weft_device_open(&f->device, weft_device_params(.host = f->host.host, .cache_dir = "")),
        WEFT_OK);
    assert_int_equal(weft_graph_create(&f->graph, &f->host.host), WEFT_OK);
    f->noise = malloc(sizeof(float) * S * D);
    assert_int_equal(weft_features_fill(f->noise, NULL,
                                        weft_features_params(.kind = WEFT_FEATURES_BASE, .rows = S,
                                                             .columns = D, .seed = 3),
                                        NULL),
                     WEFT_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    weft_device_stats stats;
    free(f->noise);
    weft_graph_destroy(&f->graph);
    assert_int_equal(weft_device_get_stats(f->device, &stats), WEFT_OK);
    assert_int_equal(stats.validation_messages, 0);
    weft_device_destroy(&f->device);
    weft_test_host_end(&f->host);
    free(f);
    return 0;
}

#define TEST(name, f) WEFT_TEST_WITH(name, struct fixture *f, set_up, tear_down)

static weft_tensor constant(struct fixture *f, weft_shape shape, const float *data) {
    weft_weight *weight = NULL;
    weft_tensor tensor;
    assert_int_equal(
        weft_weight_create(&weight,
                           weft_weight_params(.dtype = WEFT_F32, .shape = shape, .data = data),
                           &f->host.host),
        WEFT_OK);
    assert_int_equal(weft_graph_weight(&tensor, f->graph, weight), WEFT_OK);
    weft_weight_destroy(&weight);
    return tensor;
}

static weft_tensor input(struct fixture *f, const char *name, weft_shape shape, weft_dtype dtype) {
    weft_tensor tensor;
    assert_int_equal(weft_graph_input(&tensor, f->graph, name, dtype, shape), WEFT_OK);
    return tensor;
}

/* The graph's only output, of `bytes` bytes. */
static void run(struct fixture *f, weft_tensor y, float *out, uint64_t bytes) {
    weft_plan *plan = NULL;
    assert_int_equal(weft_graph_output(f->graph, "y", y), WEFT_OK);
    assert_int_equal(weft_plan_compile(&plan, f->device, f->graph, NULL), WEFT_OK);
    const weft_host_tensor tensor = {"y", out, bytes};
    assert_int_equal(weft_plan_execute(plan, &tensor, 1), WEFT_OK);
    weft_plan_destroy(&plan);
}

/* Σ = I and μ = 0: the noise itself. */
static void check_identity(struct fixture *f, bool full) {
    float sigma[C * D * D] = {0};
    const float mu[C * D] = {0};
    for (uint32_t i = 0; i < C * D; i++) {
        sigma[full ? i * D + i % D : i] = 1.0F;
    }
    weft_tensor w;
    weft_tensor scale = constant(f, full ? weft_shape_of(C, D, D) : weft_shape_of(C, D), sigma);
    assert_int_equal(weft_graph_gmm_weights(&w, f->graph,
                                            constant(f, weft_shape_of(S, D), f->noise), scale,
                                            constant(f, weft_shape_of(C, D), mu)),
                     WEFT_OK);
    float *out = malloc(sizeof(float) * S * D);
    run(f, w, out, sizeof(float) * S * D);
    assert_memory_equal(out, f->noise, sizeof(float) * S * D);
    free(out);
}

TEST(one_standard_component_is_the_noise, f) {
    check_identity(f, false);
}

TEST(full_identity_is_the_noise, f) {
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

TEST(features_have_the_mixture_as_spectrum, f) {
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
    weft_tensor w;
    weft_tensor y;
    assert_int_equal(weft_graph_gmm_weights(&w, f->graph,
                                            constant(f, weft_shape_of(S, D), f->noise),
                                            constant(f, weft_shape_of(C, D, D), sigma),
                                            constant(f, weft_shape_of(C, D), mu)),
                     WEFT_OK);
    /* The stabilizer takes exp(‖x‖²/2) away. */
    assert_int_equal(
        weft_graph_random_features(
            &y, f->graph, constant(f, weft_shape_of(1, N, D), x), w,
            weft_random_features_params(.scale = 1.0F, .stabilizer = WEFT_STABILIZER_QUERY)),
        WEFT_OK);
    float *phi = malloc(sizeof(float) * N * 2 * S);
    run(f, y, phi, sizeof(float) * N * 2 * S);
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
TEST(a_linear_generator_is_one_gaussian, f) {
    float sigma[D * D];
    float mu[D];
    weft_philox_uniform(sigma, D * D, 1, 3);
    weft_philox_uniform(mu, D, 1, 4);
    weft_tensor w[2];
    weft_tensor noise = constant(f, weft_shape_of(S, D), f->noise);
    assert_int_equal(weft_graph_gmm_weights(&w[0], f->graph, noise,
                                            constant(f, weft_shape_of(1, D, D), sigma),
                                            constant(f, weft_shape_of(1, D), mu)),
                     WEFT_OK);
    assert_int_equal(
        weft_graph_dgm_weights(
            &w[1], f->graph, noise,
            weft_dgm_weights_params(.layers = 1,
                                    .weight = {constant(f, weft_shape_of(D, D), sigma)},
                                    .bias = {constant(f, weft_shape_of(D), mu)})),
        WEFT_OK);
    weft_tensor difference;
    assert_int_equal(weft_graph_binary(&difference, f->graph, WEFT_BINARY_SUBTRACT, w[0], w[1]),
                     WEFT_OK);
    float *out = malloc(sizeof(float) * S * D);
    run(f, difference, out, sizeof(float) * S * D);
    for (uint32_t i = 0; i < S * D; i++) {
        assert_true(fabsf(out[i]) < 4e-6F);
    }
    free(out);
}

#define EXPECT_FAILURE(fixture, expected_status, call, ...)                             \
    do {                                                                                \
        uint32_t values = (fixture)->graph->value_count;                                \
        uint32_t nodes = (fixture)->graph->node_count;                                  \
        weft_test_host_reset(&(fixture)->host);                                         \
        assert_string_equal(weft_status_name(call), weft_status_name(expected_status)); \
        weft_test_expect_log(&(fixture)->host, __VA_ARGS__, NULL);                      \
        assert_int_equal((fixture)->graph->value_count, values);                        \
        assert_int_equal((fixture)->graph->node_count, nodes);                          \
    } while (0)

#define GMM(noise, sigma, mu) weft_graph_gmm_weights(&y, f->graph, noise, sigma, mu)
#define DGM(...)              weft_graph_dgm_weights(&y, f->graph, noise, weft_dgm_weights_params(__VA_ARGS__))

TEST(bad_parameters_are_named, f) {
    weft_tensor y = {0};
    const weft_tensor none = {0};
    weft_tensor noise = input(f, "noise", weft_shape_of(12, 4), WEFT_F32);
    weft_tensor whole = input(f, "whole", weft_shape_of(12, 4), WEFT_I32);
    weft_tensor flat = input(f, "flat", weft_shape_of(12), WEFT_F32);
    weft_tensor sigma = input(f, "sigma", weft_shape_of(3, 4), WEFT_F32);
    weft_tensor full = input(f, "full", weft_shape_of(3, 4, 4), WEFT_F32);
    weft_tensor five = input(f, "five", weft_shape_of(5, 4), WEFT_F32);
    weft_tensor wide = input(f, "wide", weft_shape_of(3, 5), WEFT_F32);
    weft_tensor square = input(f, "square", weft_shape_of(4, 4), WEFT_F32);
    const weft_status bad = WEFT_INVALID_ARGUMENT;
    const weft_status shape = WEFT_SHAPE_MISMATCH;
    EXPECT_FAILURE(f, bad, GMM(noise, five, five), "5 components", "12 rows");
    EXPECT_FAILURE(f, shape, GMM(noise, sigma, five), "sigma [3, 4]", "mu [5, 4]", "[C, d]");
    EXPECT_FAILURE(f, shape, GMM(noise, full, wide), "mu [3, 5]");
    EXPECT_FAILURE(f, shape, GMM(noise, square, sigma), "sigma [4, 4]");
    EXPECT_FAILURE(f, shape, GMM(flat, sigma, sigma), "noise [12]", "[s, d]");
    EXPECT_FAILURE(f, shape, GMM(noise, sigma, flat), "mu [12]");
    EXPECT_FAILURE(f, shape, GMM(whole, sigma, sigma), "noise must be f32");
    EXPECT_FAILURE(f, bad, GMM(noise, none, sigma), "");
    EXPECT_FAILURE(f, bad, DGM(.layers = 0), "layers 0", "1 … 8");
    EXPECT_FAILURE(f, bad, DGM(.layers = 9), "layers 9", "1 … 8");
    EXPECT_FAILURE(f, bad, DGM(.layers = 1, .activation = WEFT_ACTIVATION_COUNT), "activation 9",
                   "0 … 8");
    EXPECT_FAILURE(f, shape, DGM(.layers = 2, .weight = {square, wide}), "[3, 5]");
    EXPECT_FAILURE(f, bad, weft_graph_dgm_weights(&y, f->graph, noise, NULL), "null argument");
    EXPECT_FAILURE(f, bad, weft_graph_gmm_weights(NULL, f->graph, noise, sigma, sigma),
                   "null argument");
    assert_int_equal(GMM(noise, full, sigma), WEFT_OK);
    weft_shape found;
    assert_int_equal(weft_graph_get_tensor(f->graph, y, &found, NULL), WEFT_OK);
    assert_true(weft_shape_equal(found, weft_shape_of(12, 4)));
}
