/* SPDX-License-Identifier: MIT */
/* weft-test: slow one device */
/*
 * The component functions of random features, as a device computes them: which are special cases of which, that their
 * products have the softmax kernel as mean, and how their variances compare. Seeds are fixed: the tests give the same
 * answer every time, and their limits are those of the statistics.
 */
#include <math.h>

#include <weft/features.h>
#include <weft/mixers.h>

#include "core/math/philox.h"
#include "device/device.h"
#include "support_arrays.h"
#include "support_graph.h"

static float *random_values(uint64_t count, uint64_t stream, float scale) {
    float *data = weft_test_uniform(count, 11, stream);
    for (uint64_t i = 0; i < count; i++) {
        data[i] *= scale;
    }
    return data;
}

/* One side: x [1, n, heads · width] and, for those that take it, the other side [1, m, heads · width]. */
struct side {
    const float *x, *other;
    uint32_t n, m;
};

struct matrix {
    const float *w; /* [rows, width] */
    uint32_t rows, width;
};

/* The features [n, heads, …], to be freed; params without the tensors. */
static float *features(struct weft_test_graph *f, const struct side *side,
                       const struct matrix *matrix, weft_random_features_params params) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor y;
    weft_shape shape;
    const uint32_t channels = (params.heads != 0 ? params.heads : 1) * matrix->width;
    weft_tensor x = weft_test_feed(&r, "x", weft_shape_of(1, side->n, channels), side->x);
    weft_tensor w = weft_test_feed(&r, "w", weft_shape_of(matrix->rows, matrix->width), matrix->w);
    if (params.component == WEFT_COMPONENT_OPTIMAL ||
        params.component == WEFT_COMPONENT_ASYMMETRIC) {
        params.other =
            weft_test_feed(&r, "other", weft_shape_of(1, side->m, channels), side->other);
    }
    assert_ok(weft_graph_random_features(&y, r.graph, x, w, &params));
    assert_ok(weft_graph_get_tensor(r.graph, y, &shape, NULL));
    float *out = malloc((size_t)side->n * shape.dim[2] * sizeof *out);
    weft_test_execute_to(&r, y, out);
    return out;
}

static float *base_matrix(uint32_t rows, uint32_t width, uint64_t seed) {
    float *w = malloc((size_t)rows * width * sizeof *w);
    assert_ok(weft_features_fill(w, NULL,
                                 weft_features_params(.kind = WEFT_FEATURES_BASE, .rows = rows,
                                                      .columns = width, .seed = seed),
                                 NULL));
    return w;
}

/* ---- special cases ---- */

#define N     19
#define M     23
#define HEADS 3
#define WIDTH 7
#define ROWS  21

struct data {
    float *x, *other, *w;
    struct side side;
    struct matrix matrix;
};

static struct data make_data(uint64_t stream) {
    struct data d = {.x = random_values((uint64_t)N * HEADS * WIDTH, stream, 1.0F),
                     .other = random_values((uint64_t)M * HEADS * WIDTH, stream + 1, 1.0F),
                     .w = base_matrix(ROWS, WIDTH, stream)};
    d.side = (struct side){.x = d.x, .other = d.other, .n = N, .m = M};
    d.matrix = (struct matrix){.w = d.w, .rows = ROWS, .width = WIDTH};
    return d;
}

static void drop_data(struct data *d) {
    free(d->x);
    free(d->other);
    free(d->w);
}

/* GERF with A = 0 is PosRF for s = 1 and TrigRF for s = -1, bit for bit, under every stabilizer. */
WEFT_TEST_ON_GRAPH(generalized_with_a_zero, f) {
    struct data d = make_data(0);
    for (int stabilizer = 0; stabilizer < WEFT_STABILIZER_COUNT; stabilizer++) {
        for (int s = -1; s <= 1; s += 2) {
            weft_random_features_params params = {.component = WEFT_COMPONENT_GENERALIZED,
                                                  .heads = HEADS,
                                                  .s = s,
                                                  .stabilizer = (weft_stabilizer)stabilizer};
            float *found = features(f, &d.side, &d.matrix, params);
            params.s = 0;
            params.component = s > 0 ? WEFT_COMPONENT_POSITIVE : WEFT_COMPONENT_TRIGONOMETRIC;
            float *expected = features(f, &d.side, &d.matrix, params);
            const size_t count = (size_t)N * HEADS * ROWS * (s > 0 ? 1 : 2);
            assert_memory_equal(found, expected, count * sizeof *found);
            free(found);
            free(expected);
        }
    }
    drop_data(&d);
}

/* The A of OPRF for one head: equation (35), with the mean of ‖x_i + y_j‖² over all pairs. */
static double optimal_a(const struct side *side, uint32_t d, double scale) {
    double z = 0.0;
    for (uint32_t i = 0; i < side->n; i++) {
        for (uint32_t j = 0; j < side->m; j++) {
            for (uint32_t c = 0; c < d; c++) {
                const double sum =
                    scale * ((double)side->x[i * d + c] + (double)side->other[j * d + c]);
                z += sum * sum / ((double)side->n * side->m);
            }
        }
    }
    const double rho =
        (sqrt((2.0 * z + d) * (2.0 * z + d) + 8.0 * d * z) - 2.0 * z - d) / (4.0 * z);
    return (1.0 - 1.0 / rho) / 8.0;
}

/* GERF with OPRF's A is OPRF. */
WEFT_TEST_ON_GRAPH(generalized_with_the_optimal_a, f) {
    struct data d = make_data(2);
    d.side.n = N * HEADS; /* one head: the tokens' heads as tokens */
    d.side.m = M * HEADS;
    weft_random_features_params params = {.component = WEFT_COMPONENT_OPTIMAL, .scale = 1.0F};
    float *expected = features(f, &d.side, &d.matrix, params);
    params.component = WEFT_COMPONENT_GENERALIZED;
    params.a = (float)optimal_a(&d.side, WIDTH, 1.0);
    assert_true(params.a < -0.01F);
    float *found = features(f, &d.side, &d.matrix, params);
    assert_true(weft_test_relative_error(found, expected, (uint64_t)N * HEADS * ROWS) < 3e-6);
    free(found);
    free(expected);
    drop_data(&d);
}

/* x and other with the channel `c` of every head times `factor` and 1/factor. */
static void stretch(struct data *d, uint32_t c, float factor) {
    for (uint32_t i = 0; i < N * HEADS; i++) {
        d->x[i * WIDTH + c] *= factor;
    }
    for (uint32_t i = 0; i < M * HEADS; i++) {
        d->other[i * WIDTH + c] *= 1.0F / factor;
    }
}

/* SADERF undoes a scaling of x's channels against those of y: powers of two leave the very bits. */
WEFT_TEST_ON_GRAPH(asymmetric_features_are_balanced, f) {
    struct data d = make_data(4);
    const weft_random_features_params params = {.component = WEFT_COMPONENT_ASYMMETRIC,
                                                .heads = HEADS};
    float *expected = features(f, &d.side, &d.matrix, params);
    stretch(&d, 0, 64.0F);
    stretch(&d, 3, 0.0625F);
    float *found = features(f, &d.side, &d.matrix, params);
    assert_memory_equal(found, expected, sizeof *found * N * HEADS * ROWS);
    free(found);
    /* A channel that is zero on one side adds nothing to the kernel, and its Ψ is 1: OPRF's features if all are. */
    for (uint32_t i = 0; i < M * HEADS * WIDTH; i++) {
        d.other[i] = 0.0F;
    }
    found = features(f, &d.side, &d.matrix, params);
    weft_random_features_params plain = params;
    plain.component = WEFT_COMPONENT_OPTIMAL;
    float *optimal = features(f, &d.side, &d.matrix, plain);
    assert_memory_equal(found, optimal, sizeof *found * N * HEADS * ROWS);
    assert_true(memcmp(found, expected, sizeof *found * N * HEADS * ROWS) != 0);
    free(found);
    free(optimal);
    free(expected);
    drop_data(&d);
}

static float *balanced_features(struct weft_test_graph *f, const struct data *d) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor x;
    weft_tensor other;
    weft_tensor y;
    weft_tensor plain_x = weft_test_feed(&r, "x", weft_shape_of(1, N, HEADS * WIDTH), d->x);
    weft_tensor plain_other =
        weft_test_feed(&r, "other", weft_shape_of(1, M, HEADS * WIDTH), d->other);
    weft_tensor w = weft_test_feed(&r, "w", weft_shape_of(ROWS, WIDTH), d->w);
    assert_ok(weft_graph_balance_channels(&x, r.graph, plain_x, plain_other));
    assert_ok(weft_graph_balance_channels(&other, r.graph, plain_other, plain_x));
    assert_ok(
        weft_graph_random_features(&y, r.graph, x, w,
                                   weft_random_features_params(.component = WEFT_COMPONENT_OPTIMAL,
                                                               .heads = HEADS, .other = other)));
    float *out = malloc(sizeof *out * N * HEADS * ROWS);
    weft_test_execute_to(&r, y, out);
    return out;
}

/* SADERF is OPRF of what weft_graph_balance_channels makes of both sides. */
WEFT_TEST_ON_GRAPH(asymmetric_features_in_two_steps, f) {
    struct data d = make_data(6);
    float *expected = features(
        f, &d.side, &d.matrix,
        (weft_random_features_params){.component = WEFT_COMPONENT_ASYMMETRIC, .heads = HEADS});
    float *found = balanced_features(f, &d);
    assert_memory_equal(found, expected, sizeof *found * N * HEADS * ROWS);
    free(found);
    free(expected);
    drop_data(&d);
}

WEFT_TEST_ON_GRAPH(unbalanced_shapes_are_refused, f) {
    weft_graph *graph = f->graph;
    weft_tensor y = {0};
    weft_tensor x = weft_test_input(graph, "x", weft_shape_of(2, 5, 8));
    weft_tensor wide = weft_test_input(graph, "wide", weft_shape_of(2, 7, 9));
    weft_tensor three = weft_test_input(graph, "three", weft_shape_of(3, 5, 8));
    weft_tensor flat = weft_test_input(graph, "flat", weft_shape_of(10, 8));
    weft_tensor whole = weft_test_input_i32(graph, "whole", weft_shape_of(2, 5, 8));
    const struct {
        weft_tensor x, other;
        const char *text;
    } cases[] = {{x, wide, "[2, 7, 9]"},
                 {x, three, "[3, 5, 8]"},
                 {flat, x, "[10, 8]"},
                 {x, whole, "other must be f32"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                            weft_graph_balance_channels(&y, graph, cases[i].x, cases[i].other),
                            "balance_channels", cases[i].text);
    }
}

/* ---- means and variances ---- */

#define D       8
#define SAMPLES 8192

struct pair {
    float x[D], y[D];
};

static double kernel(const struct pair *pair) {
    double sum = 0.0;
    for (int c = 0; c < D; c++) {
        sum += (double)pair->x[c] * (double)pair->y[c];
    }
    return exp(sum);
}

static struct pair random_pair(uint64_t stream, float scale) {
    struct pair pair;
    float *values = random_values(2 * (uint64_t)D, stream, scale);
    memcpy(pair.x, values, sizeof pair.x);
    memcpy(pair.y, values + D, sizeof pair.y);
    free(values);
    return pair;
}

/* Of independent estimates, relative to the kernel: the mean's error, its standard error, the variance of one. */
struct statistics {
    double bias, standard_error, variance;
};

static struct statistics statistics_of(const double *estimate, uint32_t count, double exact) {
    double mean = 0.0;
    double square = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const double value = estimate[i] / exact - 1.0;
        mean += value / count;
        square += value * value / count;
    }
    const double variance = square - mean * mean;
    return (struct statistics){mean, sqrt(variance / count), variance};
}

/* Each row of a Base matrix is an estimate of its own. */
static struct statistics sample(struct weft_test_graph *f, const struct pair *pair,
                                weft_random_features_params params) {
    float *w = base_matrix(SAMPLES, D, 1);
    double *estimate = calloc(SAMPLES, sizeof *estimate);
    const struct matrix matrix = {.w = w, .rows = SAMPLES, .width = D};
    const struct side query = {.x = pair->x, .other = pair->y, .n = 1, .m = 1};
    const struct side key = {.x = pair->y, .other = pair->x, .n = 1, .m = 1};
    params.scale = 1.0F;
    float *phi = features(f, &query, &matrix, params);
    float *psi = features(f, &key, &matrix, params);
    const bool pairs = params.component == WEFT_COMPONENT_TRIGONOMETRIC ||
                       params.component == WEFT_COMPONENT_HYPERBOLIC || params.s < 0;
    for (uint32_t i = 0; i < SAMPLES * (pairs ? 2 : 1); i++) {
        estimate[i % SAMPLES] += SAMPLES * (double)phi[i] * (double)psi[i];
    }
    const struct statistics result = statistics_of(estimate, SAMPLES, kernel(pair));
    free(w);
    free(estimate);
    free(phi);
    free(psi);
    return result;
}

static const weft_random_features_params components[] = {
    {.component = WEFT_COMPONENT_TRIGONOMETRIC},
    {.component = WEFT_COMPONENT_POSITIVE},
    {.component = WEFT_COMPONENT_HYPERBOLIC},
    {.component = WEFT_COMPONENT_OPTIMAL},
    {.component = WEFT_COMPONENT_ASYMMETRIC},
    {.component = WEFT_COMPONENT_GENERALIZED, .a = -0.1F, .s = 1},
    {.component = WEFT_COMPONENT_GENERALIZED, .a = 0.05F, .s = 1},
    {.component = WEFT_COMPONENT_GENERALIZED, .a = -0.1F, .s = -1},
    {.component = WEFT_COMPONENT_GENERALIZED, .a = 0.05F, .s = -1},
};

WEFT_TEST_ON_GRAPH(products_have_the_kernel_as_mean, f) {
    for (uint64_t stream = 20; stream < 22; stream++) {
        const struct pair pair = random_pair(stream, 0.3F);
        for (size_t i = 0; i < sizeof components / sizeof components[0]; i++) {
            const struct statistics s = sample(f, &pair, components[i]);
            assert_true(s.standard_error < 0.015); /* sharp enough to see a bias of 6 % */
            if (fabs(s.bias) >= 4.0 * s.standard_error) {
                print_error("component %zu, pair %d: bias %g, standard error %g\n", i, (int)stream,
                            s.bias, s.standard_error);
            }
            assert_true(fabs(s.bias) < 4.0 * s.standard_error);
        }
    }
}

static double variance(struct weft_test_graph *f, const struct pair *pair,
                       weft_component component) {
    return sample(f, pair, (weft_random_features_params){.component = component}).variance;
}

/* TrigRF ≫ PosRF ≥ PosRF-Hyp ≥ OPRF where the kernel is small, and PosRF ≥ OPRF ≥ SADERF where channels differ. */
WEFT_TEST_ON_GRAPH(variances_are_in_order, f) {
    struct pair pair = random_pair(30, 1.0F);
    for (int c = 0; c < D; c++) {
        pair.y[c] = 0.2F * pair.y[c] - pair.x[c];
    }
    assert_true(kernel(&pair) < 0.1);
    const double positive = variance(f, &pair, WEFT_COMPONENT_POSITIVE);
    assert_true(variance(f, &pair, WEFT_COMPONENT_TRIGONOMETRIC) > 1000.0 * positive);
    assert_true(variance(f, &pair, WEFT_COMPONENT_HYPERBOLIC) < positive);
    assert_true(variance(f, &pair, WEFT_COMPONENT_OPTIMAL) < positive);
    pair = random_pair(31, 0.6F);
    for (int c = 0; c < D; c++) {
        pair.x[c] *= c % 2 == 0 ? 2.0F : 0.5F;
        pair.y[c] *= c % 2 == 0 ? 0.5F : 2.0F;
    }
    const double optimal = variance(f, &pair, WEFT_COMPONENT_OPTIMAL);
    assert_true(optimal < variance(f, &pair, WEFT_COMPONENT_POSITIVE));
    assert_true(variance(f, &pair, WEFT_COMPONENT_ASYMMETRIC) < 0.5 * optimal);
}

/* The variance of GERF for s = 1 from the moments of a normal ω, and its least value at OPRF's A. */
WEFT_TEST_ON_GRAPH(generalized_variance_is_as_derived, f) {
    const struct pair pair = random_pair(32, 0.5F);
    const struct side side = {.x = pair.x, .other = pair.y, .n = 1, .m = 1};
    double z = 0.0;
    double squares = 0.0;
    for (int c = 0; c < D; c++) {
        const double x = (double)pair.x[c];
        const double y = (double)pair.y[c];
        z += (x + y) * (x + y);
        squares += x * x + y * y;
    }
    const double best = optimal_a(&side, D, 1.0);
    double least = INFINITY;
    const double shifts[] = {0.0, -0.05, 0.05, 0.08};
    for (int i = 0; i < 4; i++) {
        const double a = (double)(float)(best + shifts[i]);
        const double k = kernel(&pair);
        const double second = pow(1.0 - 4.0 * a, D) * pow(1.0 - 8.0 * a, -0.5 * D) *
                              exp(2.0 * (1.0 - 4.0 * a) / (1.0 - 8.0 * a) * z - squares);
        const double expected = second / (k * k) - 1.0;
        const struct statistics s =
            sample(f, &pair,
                   (weft_random_features_params){
                       .component = WEFT_COMPONENT_GENERALIZED, .a = (float)a, .s = 1});
        assert_true(fabs(s.variance / expected - 1.0) < 0.2);
        least = i == 0 ? expected : least;
        assert_true(expected >= least);
    }
}
