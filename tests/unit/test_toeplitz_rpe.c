/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/*
 * Relative position encoders: evaluated once, the same at every length, how fast the kernels of frequency responses decay
 * with each activation, and what is refused.
 */
#include <math.h>

#include <weft/mixers.h>

#include "core/math/philox.h"
#include "support_graph.h"

#define PI 3.14159265358979323846

enum { WIDTH = 16, D = 4, LAYERS = 2, PARAMETERS = 2 + 2 * LAYERS };

/* ---- an MLP 1 → 16 → 16 → D ---- */

struct mlp {
    weft_weight *weights[PARAMETERS];
    weft_activation activation;
    bool norm;
};

/* Uniform in ±scale of the first layer, whose kinks or bends should lie within [-1, 1], and ±1/2 of the others. */
static void make_mlp(struct mlp *mlp, weft_activation activation, bool norm, float scale) {
    const weft_shape shapes[PARAMETERS] = {weft_shape_of(WIDTH, 1),     weft_shape_of(WIDTH),
                                           weft_shape_of(WIDTH, WIDTH), weft_shape_of(WIDTH),
                                           weft_shape_of(D, WIDTH),     weft_shape_of(D)};
    *mlp = (struct mlp){.activation = activation, .norm = norm};
    for (uint32_t i = 0; i < PARAMETERS; i++) {
        float data[WIDTH * WIDTH];
        weft_philox_uniform(data, WIDTH * WIDTH, 2026, 40 + i);
        for (uint32_t k = 0; k < WIDTH * WIDTH; k++) {
            data[k] *= i < 2 ? scale : 0.5F;
        }
        assert_ok(weft_weight_create(&mlp->weights[i],
                                     weft_weight_params(.shape = shapes[i], .data = data), NULL));
    }
}

static void destroy_mlp(struct mlp *mlp) {
    for (uint32_t i = 0; i < PARAMETERS; i++) {
        weft_weight_destroy(&mlp->weights[i]);
    }
}

struct mlp_params {
    weft_rpe_params rpe;
    weft_rpe_layer layers[LAYERS];
    weft_norm_params norm;
};

static void params_of(struct mlp_params *params, weft_graph *graph, const struct mlp *mlp) {
    weft_tensor tensors[PARAMETERS];
    for (uint32_t i = 0; i < PARAMETERS; i++) {
        assert_ok(weft_graph_weight(&tensors[i], graph, mlp->weights[i]));
    }
    *params = (struct mlp_params){.rpe = {.weight = tensors[0],
                                          .bias = tensors[1],
                                          .layers = params->layers,
                                          .layer_count = LAYERS,
                                          .activation = mlp->activation},
                                  .norm = {.kind = WEFT_NORM_SIMPLE_RMS}};
    for (uint32_t i = 0; i < LAYERS; i++) {
        params->layers[i] = (weft_rpe_layer){.norm = mlp->norm ? &params->norm : NULL,
                                             .weight = tensors[2 + 2 * i],
                                             .bias = tensors[3 + 2 * i]};
    }
}

static float *buffer(uint64_t count) {
    float *data = malloc((size_t)count * sizeof *data);
    assert_non_null(data);
    return data;
}

/* ---- coefficients and responses alone ---- */

static float *coefficients(struct weft_test_graph *f, const struct mlp *mlp, uint32_t n,
                           const weft_toeplitz_rpe_params *params) {
    const uint32_t rows = params && params->causal ? n : 2 * n - 1;
    struct weft_test_run r = weft_test_begin(f->device);
    struct mlp_params mlp_params;
    weft_tensor y;
    float *result = buffer((uint64_t)rows * D);
    params_of(&mlp_params, r.graph, mlp);
    assert_ok(weft_graph_toeplitz_rpe(&y, r.graph, n, &mlp_params.rpe, params));
    weft_test_expect_shape(r.graph, y, weft_shape_of(rows, D));
    weft_test_execute_to(&r, y, result);
    return result;
}

static float *response(struct weft_test_graph *f, const struct mlp *mlp, uint32_t grid,
                       weft_rpe_frequency input) {
    struct weft_test_run r = weft_test_begin(f->device);
    struct mlp_params mlp_params;
    weft_tensor y;
    float *result = buffer(((uint64_t)grid + 1) * D);
    params_of(&mlp_params, r.graph, mlp);
    assert_ok(weft_graph_toeplitz_fd_rpe(&y, r.graph, grid, &mlp_params.rpe, input));
    weft_test_execute_to(&r, y, result);
    return result;
}

/* A longer sequence, or a finer grid, has the very coefficients of a shorter one among its own. */
WEFT_TEST_ON_GRAPH(test_longer_sequences, f) {
    const uint32_t n = 21;
    const uint32_t longer = 84;
    struct mlp mlp;
    make_mlp(&mlp, WEFT_ACTIVATION_RELU, true, 1.0F);
    for (uint32_t i = 0; i < WEFT_RPE_LAG_COUNT; i++) {
        for (uint32_t causal = 0; causal < 2; causal++) {
            weft_toeplitz_rpe_params params = {
                .causal = causal != 0, .input = (weft_rpe_lag)i, .divisor = n};
            float *a = coefficients(f, &mlp, n, &params);
            float *b = coefficients(f, &mlp, longer, &params);
            size_t first = causal ? 0 : (longer - n) * D;
            assert_memory_equal(a, b + first, (causal ? n : 2 * n - 1) * D * sizeof *a);
            free(a);
            free(b);
        }
    }
    for (uint32_t i = 0; i < WEFT_RPE_FREQUENCY_COUNT; i++) {
        float *a = response(f, &mlp, n, (weft_rpe_frequency)i);
        float *b = response(f, &mlp, longer, (weft_rpe_frequency)i);
        for (uint32_t m = 0; m <= n; m++) {
            assert_memory_equal(a + (size_t)m * D, b + (size_t)4 * m * D, D * sizeof *a);
        }
        free(a);
        free(b);
    }
    destroy_mlp(&mlp);
}

/* The divisor's default is n; without a divisor's input it does not matter. */
WEFT_TEST_ON_GRAPH(test_divisor, f) {
    const uint32_t n = 13;
    struct mlp mlp;
    make_mlp(&mlp, WEFT_ACTIVATION_SILU, false, 1.0F);
    for (uint32_t i = 0; i < WEFT_RPE_LAG_COUNT; i++) {
        weft_rpe_lag input = (weft_rpe_lag)i;
        size_t bytes = (2 * n - 1) * D * sizeof(float);
        float *usual = coefficients(f, &mlp, n, weft_toeplitz_rpe_params(.input = input));
        float *same =
            coefficients(f, &mlp, n, weft_toeplitz_rpe_params(.input = input, .divisor = n));
        float *other =
            coefficients(f, &mlp, n, weft_toeplitz_rpe_params(.input = input, .divisor = n - 1));
        assert_memory_equal(usual, same, bytes);
        assert_int_equal(memcmp(usual, other, bytes) == 0, input == WEFT_RPE_LAG);
        free(usual);
        free(same);
        free(other);
    }
    float *plain = coefficients(f, &mlp, n, NULL);
    float *lag = coefficients(f, &mlp, n, weft_toeplitz_rpe_params(.input = WEFT_RPE_LAG));
    assert_memory_equal(plain, lag, (2 * n - 1) * D * sizeof(float));
    free(plain);
    free(lag);
    destroy_mlp(&mlp);
}

/* ---- once ---- */

struct chain {
    const struct mlp *mlp;
    weft_weight *theta;
    bool fd;
    uint32_t n;
};

static weft_graph *make_chain(struct weft_test_graph *f, const struct chain *chain) {
    weft_graph *graph = NULL;
    struct mlp_params mlp_params;
    weft_tensor kernel;
    weft_tensor decay;
    weft_tensor y;
    assert_ok(weft_graph_create(&graph, &f->host.host));
    weft_tensor x = weft_test_input(graph, "x", weft_shape_of(1, chain->n, D));
    params_of(&mlp_params, graph, chain->mlp);
    if (chain->fd) {
        assert_ok(weft_graph_toeplitz_fd_rpe(&kernel, graph, chain->n, &mlp_params.rpe,
                                             WEFT_RPE_FREQUENCY));
        assert_ok(
            weft_graph_toeplitz_fd(&y, graph, x, kernel, weft_toeplitz_fd_params(.causal = true)));
    } else {
        assert_ok(weft_graph_weight(&decay, graph, chain->theta));
        assert_ok(weft_graph_toeplitz_decay(&decay, graph, decay, 0.9F));
        assert_ok(weft_graph_toeplitz_rpe(&kernel, graph, chain->n, &mlp_params.rpe, NULL));
        assert_ok(weft_graph_toeplitz(&y, graph, x, kernel, weft_toeplitz_params(.decay = decay)));
    }
    assert_ok(weft_graph_output(graph, "y", y));
    return graph;
}

static bool runs(const weft_plan *plan, const char *const *kernels) {
    weft_dispatch_info info;
    for (uint32_t i = 0; weft_plan_get_dispatch(plan, i, &info) == WEFT_OK; i++) {
        for (uint32_t k = 0; kernels[k]; k++) {
            if (strstr(info.kernel, kernels[k])) {
                return true;
            }
        }
    }
    return false;
}

/*
 * Neither the encoder, nor the decay, nor the transform of the kernel is a dispatch of the plan, and a second plan submits
 * nothing before it runs; another length is evaluated anew.
 */
static void check_once(struct weft_test_graph *f, struct chain chain, const char *implementation) {
    static const char *const forbidden[] = {"matmul",         "norm",      "activation",   "affine",
                                            "toeplitz/decay", "circulant", "toeplitz_fd/", NULL};
    const uint32_t lengths[] = {37, 37, 38};
    const bool evaluated[] = {true, false, true};
    for (uint32_t i = 0; i < 3; i++) {
        weft_plan *plan = NULL;
        weft_device_stats before;
        weft_device_stats after;
        chain.n = lengths[i];
        weft_graph *graph = make_chain(f, &chain);
        assert_ok(weft_device_get_stats(f->device, &before));
        assert_ok(weft_plan_compile(&plan, f->device, graph,
                                    weft_plan_params(.implementation = implementation)));
        assert_ok(weft_device_get_stats(f->device, &after));
        assert_int_equal(after.submissions > before.submissions, evaluated[i]);
        assert_false(runs(plan, forbidden));
        weft_plan_destroy(&plan);
        assert_ok(weft_plan_compile(&plan, f->device, graph, weft_plan_params(.no_fusion = true)));
        assert_true(runs(plan, forbidden));
        weft_plan_destroy(&plan);
        weft_graph_destroy(&graph);
    }
}

WEFT_TEST_ON_GRAPH(test_evaluated_once, f) {
    struct mlp mlp;
    weft_weight *theta = NULL;
    const float values[D] = {-1.0F, 0.0F, 1.0F, 3.0F};
    make_mlp(&mlp, WEFT_ACTIVATION_SILU, true, 1.0F);
    assert_ok(weft_weight_create(
        &theta, weft_weight_params(.shape = weft_shape_of(2, 1, D / 2), .data = values), NULL));
    check_once(f, (struct chain){.mlp = &mlp, .theta = theta}, "direct");
    weft_device_trim(f->device);
    check_once(f, (struct chain){.mlp = &mlp, .theta = theta}, "fft");
    weft_device_trim(f->device);
    check_once(f, (struct chain){.mlp = &mlp, .fd = true}, NULL);
    weft_weight_destroy(&theta);
    destroy_mlp(&mlp);
}

/* ---- decay by activation: Theorems 2 to 4 of "SKI to go faster" ---- */

#define GRID 1024

/* The causal kernel, [GRID, D]: what the operator makes of an impulse. */
static float *impulse_response(struct weft_test_graph *f, const struct mlp *mlp,
                               weft_rpe_frequency input) {
    struct weft_test_run r = weft_test_begin(f->device);
    struct mlp_params mlp_params;
    weft_tensor y;
    float *impulse = calloc((size_t)GRID * D, sizeof *impulse);
    float *k = buffer((uint64_t)GRID * D);
    assert_non_null(impulse);
    for (uint32_t i = 0; i < D; i++) {
        impulse[i] = 1.0F;
    }
    weft_tensor x = weft_test_feed(&r, "x", weft_shape_of(1, GRID, D), impulse);
    params_of(&mlp_params, r.graph, mlp);
    assert_ok(weft_graph_toeplitz_fd_rpe(&y, r.graph, GRID, &mlp_params.rpe, input));
    assert_ok(weft_graph_toeplitz_fd(&y, r.graph, x, y, weft_toeplitz_fd_params(.causal = true)));
    weft_test_execute_to(&r, y, k);
    free(impulse);
    return k;
}

/* sqrt of the sum of k² over the lags first … last - 1 of all channels. */
static double norm_of(const float *k, uint32_t first, uint32_t last) {
    double sum = 0.0;
    for (uint64_t i = (uint64_t)first * D; i < (uint64_t)last * D; i++) {
        sum += (double)k[i] * (double)k[i];
    }
    return sqrt(sum);
}

/* p where norms of the octaves `first` … and 2^octaves first … are those of a kernel that falls as lag^-p. */
static double order_between(const float *k, uint32_t first, uint32_t octaves) {
    double near = norm_of(k, first, 2 * first);
    double far = norm_of(k, first << octaves, 2 * (first << octaves));
    return log2(near / far) / octaves + 0.5;
}

/*
 * |k(n)| ≤ ‖k̂^(N)‖₁ / (2π n^N) for the even kernel behind a causal one, k(n)/2, with the derivative of the response by
 * differences on the grid, whose error and that of float32 are allowed for.
 */
static void check_bound(const float *k, const float *response, uint32_t order) {
    double step = PI / GRID;
    for (uint32_t c = 0; c < D; c++) {
        double integral = 0.0;
        for (uint32_t m = 1; m < GRID; m++) {
            double before = (double)response[(m - 1) * D + c];
            double here = (double)response[m * D + c];
            double behind = (double)response[(m + 1) * D + c];
            integral += order == 1 ? fabs(behind - before) / 2.0
                                   : fabs(behind - 2.0 * here + before) / step;
        }
        integral *= 2.0; /* both halves of the circle */
        for (uint32_t n = 1; n < GRID; n++) {
            double bound = integral / (2.0 * PI * pow(n, order));
            if (!(fabs((double)k[n * D + c]) / 2.0 <= 1.02 * bound + 1e-6)) {
                fail_msg("order %u, channel %u: |k(%u)| is %g, the bound %g", order, c, n,
                         (double)k[n * D + c] / 2.0, bound);
            }
        }
    }
}

/* Parseval, by which Theorem 4 has a kernel square summable: the even kernel has the mean square of the response. */
static void check_energy(const float *k, const float *response) {
    for (uint32_t c = 0; c < D; c++) {
        double energy = (double)k[c] * (double)k[c];
        double mean = 0.0;
        for (uint32_t n = 1; n < GRID; n++) {
            energy += (double)k[n * D + c] * (double)k[n * D + c] / 2.0;
        }
        for (uint32_t m = 0; m <= GRID; m++) {
            double value = (double)response[m * D + c];
            mean += value * value * (m == 0 || m == GRID ? 0.5 : 1.0) / GRID;
        }
        assert_true(fabs(energy - mean) <= 1e-5 * mean);
    }
}

static const struct activation_case {
    weft_activation activation;
    bool norm, smooth;
} activation_cases[] = {
    {WEFT_ACTIVATION_GELU_ERF, false, true}, {WEFT_ACTIVATION_SILU, false, true},
    {WEFT_ACTIVATION_RELU, false, false},    {WEFT_ACTIVATION_GELU_ERF, true, true},
    {WEFT_ACTIVATION_SILU, true, true},      {WEFT_ACTIVATION_RELU, true, false},
};

/*
 * Responses that are smooth on the circle: with GELU and SiLU (Theorems 2 and 3) the order of decay grows from octave to
 * octave until nothing but rounding is left; with ReLU (Theorem 4) it is 2, that of a response with corners.
 */
static void check_decay(struct weft_test_graph *f, const struct activation_case *c) {
    struct mlp mlp;
    make_mlp(&mlp, c->activation, c->norm, 4.0F);
    float *k = impulse_response(f, &mlp, WEFT_RPE_COSINE);
    float *k_hat = response(f, &mlp, GRID, WEFT_RPE_COSINE);
    double tail = norm_of(k, 64, GRID) / norm_of(k, 0, GRID);
    check_energy(k, k_hat);
    check_bound(k, k_hat, 1);
    if (c->smooth) {
        check_bound(k, k_hat, 2);
        assert_true(tail < 1e-6);
        assert_true(order_between(k, 8, 1) > order_between(k, 4, 1));
        assert_true(order_between(k, 8, 1) > 4.0);
    } else {
        double order = order_between(k, 32, 3);
        assert_true(tail > 1e-4);
        assert_true(order > 1.75 && order < 2.25);
    }
    free(k_hat);
    free(k);
    destroy_mlp(&mlp);
}

/* MLP(ω) has corners at 0 and π once it is made even: order 2 whatever the activation (see mixers.h). */
static void check_decay_by_frequency(struct weft_test_graph *f, const struct activation_case *c) {
    struct mlp mlp;
    make_mlp(&mlp, c->activation, c->norm, 4.0F);
    float *k = impulse_response(f, &mlp, WEFT_RPE_FREQUENCY);
    double order = order_between(k, 32, 3);
    assert_true(order > 1.75 && order < 2.25);
    free(k);
    destroy_mlp(&mlp);
}

WEFT_TEST_ON_GRAPH(test_decay_by_activation, f) {
    for (size_t i = 0; i < sizeof activation_cases / sizeof activation_cases[0]; i++) {
        check_decay(f, &activation_cases[i]);
        check_decay_by_frequency(f, &activation_cases[i]);
    }
}

/* ---- bad parameters ---- */

#define TOEPLITZ_FD_RPE_REFUSED(status, grid, rpe, input, ...) \
    WEFT_EXPECT_FAILURE(f, WEFT_##status,                      \
                        weft_graph_toeplitz_fd_rpe(&y, f->graph, grid, rpe, input), __VA_ARGS__)

#define TOEPLITZ_RPE_REFUSED(status, n, rpe, params, ...)                                        \
    WEFT_EXPECT_FAILURE(f, WEFT_##status, weft_graph_toeplitz_rpe(&y, f->graph, n, rpe, params), \
                        __VA_ARGS__)
#define TOEPLITZ_RPE_WITH(...) weft_toeplitz_rpe_params(__VA_ARGS__)

WEFT_TEST_ON_GRAPH(test_bad_parameters, f) {
    weft_graph *g = f->graph;
    weft_tensor y;
    struct mlp mlp;
    struct mlp_params params;
    make_mlp(&mlp, WEFT_ACTIVATION_RELU, true, 1.0F);
    params_of(&params, g, &mlp);
    weft_rpe_params *rpe = &params.rpe;
    TOEPLITZ_RPE_REFUSED(INVALID_ARGUMENT, 0, rpe, NULL, "n 0", "at least 1");
    TOEPLITZ_RPE_REFUSED(UNSUPPORTED, (1U << 24) + 1, rpe, NULL, "n 16777217", "16777216");
    TOEPLITZ_RPE_REFUSED(INVALID_ARGUMENT, 9, rpe, TOEPLITZ_RPE_WITH(.input = WEFT_RPE_LAG_COUNT),
                         "input 3", "0 … 2");
    TOEPLITZ_RPE_REFUSED(INVALID_ARGUMENT, 88, rpe,
                         TOEPLITZ_RPE_WITH(.input = WEFT_RPE_LAG_EXP, .divisor = 1), "divisor 1",
                         "87/87");
    assert_ok(weft_graph_toeplitz_rpe(
        &y, g, 87, rpe, weft_toeplitz_rpe_params(.input = WEFT_RPE_LAG_EXP, .divisor = 1)));
    TOEPLITZ_RPE_REFUSED(INVALID_ARGUMENT, 9, NULL, NULL, "weft_graph_toeplitz_rpe: rpe is null");
    TOEPLITZ_FD_RPE_REFUSED(INVALID_ARGUMENT, 0, rpe, WEFT_RPE_COSINE, "grid 0");
    TOEPLITZ_FD_RPE_REFUSED(UNSUPPORTED, (1U << 24) + 1, rpe, WEFT_RPE_COSINE, "grid 16777217",
                            "16777216");
    TOEPLITZ_FD_RPE_REFUSED(INVALID_ARGUMENT, 9, rpe, WEFT_RPE_FREQUENCY_COUNT, "input 2", "0 … 1");
    TOEPLITZ_FD_RPE_REFUSED(INVALID_ARGUMENT, 9, NULL, WEFT_RPE_COSINE,
                            "weft_graph_toeplitz_fd_rpe: rpe is null");
    rpe->layer_count = 0;
    TOEPLITZ_RPE_REFUSED(INVALID_ARGUMENT, 9, rpe, NULL, "layer_count 0", "at least 1");
    TOEPLITZ_FD_RPE_REFUSED(INVALID_ARGUMENT, 9, rpe, WEFT_RPE_COSINE, "layer_count 0");
    rpe->layer_count = LAYERS;
    /* What fails half-way is taken back. */
    params.layers[1].weight = params.rpe.weight;
    TOEPLITZ_RPE_REFUSED(SHAPE_MISMATCH, 9, rpe, NULL, "[16, 1]", "[17, 16]");
    params.layers[1].weight = (weft_tensor){0};
    TOEPLITZ_FD_RPE_REFUSED(INVALID_ARGUMENT, 9, rpe, WEFT_RPE_COSINE, "matmul: input 1");
    destroy_mlp(&mlp);
}

WEFT_TEST_ON_GRAPH(test_bad_decay, f) {
    weft_tensor y;
    weft_tensor theta = weft_test_input(f->graph, "theta", weft_shape_of(2, 1, 3));
    const float bad[] = {-0.25F, 1.25F, NAN};
    const char *const texts[] = {"lambda -0.25", "lambda 1.25", "lambda nan"};
    for (uint32_t i = 0; i < 3; i++) {
        WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                            weft_graph_toeplitz_decay(&y, f->graph, theta, bad[i]), texts[i],
                            "0 … 1");
    }
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_toeplitz_decay(&y, f->graph, (weft_tensor){0}, 0.5F),
                        "tensor 0");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_toeplitz_decay(NULL, f->graph, theta, 0.5F), "null");
    assert_ok(weft_graph_toeplitz_decay(&y, f->graph, theta, 1.0F));
    weft_test_expect_shape(f->graph, y, weft_shape_of(6));
}
