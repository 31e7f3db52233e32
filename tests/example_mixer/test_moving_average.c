/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Properties of the example mixer, values checked by hand, and bad parameters. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/philox.h"
#include "example_mixer/moving_average.h"
#include "graph/graph.h"
#include "support.h"

/* ---- running ---- */

struct fixture {
    struct weft_test_host host;
    weft_device *device;
    weft_graph *graph;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    weft_test_host_begin(&f->host);
    assert_int_equal(
        weft_device_open(&f->device, weft_device_params(.host = f->host.host, .cache_dir = "")),
        WEFT_OK);
    assert_int_equal(weft_graph_create(&f->graph, &f->host.host), WEFT_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    weft_device_stats stats;
    weft_graph_destroy(&f->graph);
    assert_int_equal(weft_device_get_stats(f->device, &stats), WEFT_OK);
    assert_int_equal(stats.validation_messages, 0);
    weft_device_destroy(&f->device);
    weft_test_host_end(&f->host);
    free(f);
    return 0;
}

static weft_tensor input(weft_graph *graph, const char *name, weft_shape shape) {
    weft_tensor tensor;
    assert_int_equal(weft_graph_input(&tensor, graph, name, WEFT_F32, shape), WEFT_OK);
    return tensor;
}

enum { N = 200, D = 3 };

/* One sequence of n tokens with D channels. */
static void run(struct fixture *f, const float *x, uint32_t n, const float *alpha, bool reverse,
                float *out) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor y;
    assert_int_equal(weft_graph_create(&graph, &f->host.host), WEFT_OK);
    weft_tensor x_in = input(graph, "x", weft_shape_of(1, n, D));
    weft_tensor alpha_in = input(graph, "alpha", weft_shape_of(D));
    assert_int_equal(weft_graph_moving_average(&y, graph, x_in, alpha_in,
                                               weft_moving_average_params(.reverse = reverse)),
                     WEFT_OK);
    assert_int_equal(weft_graph_output(graph, "y", y), WEFT_OK);
    assert_int_equal(weft_plan_compile(&plan, f->device, graph, NULL), WEFT_OK);
    const uint64_t bytes = sizeof(float) * n * D;
    const weft_host_tensor tensors[] = {
        {"x", (void *)x, bytes}, {"alpha", (void *)alpha, sizeof(float) * D}, {"y", out, bytes}};
    assert_int_equal(weft_plan_execute(plan, tensors, 3), WEFT_OK);
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
}

/* ---- values checked by hand ---- */

/* α = 1, 1/2 and 1/4 of 4, 8, 16: exact. */
static void test_values(void **state) {
    const float x[] = {4.0F, 4.0F, 4.0F, 8.0F, 8.0F, 8.0F, 16.0F, 16.0F, 16.0F};
    const float alpha[D] = {1.0F, 0.5F, 0.25F};
    const float expected[] = {4.0F, 2.0F, 1.0F, 8.0F, 5.0F, 2.75F, 16.0F, 10.5F, 6.0625F};
    const float reversed[] = {4.0F, 6.0F, 4.75F, 8.0F, 8.0F, 5.0F, 16.0F, 8.0F, 4.0F};
    float y[3 * D];
    run(*state, x, 3, alpha, false, y);
    assert_memory_equal(y, expected, sizeof y);
    run(*state, x, 3, alpha, true, y);
    assert_memory_equal(y, reversed, sizeof y);
}

/* ---- properties ---- */

static const float usual_alpha[D] = {0.9F, 0.1F, 0.01F};

/* Whatever becomes of the tokens from `from` on, NaN included, what comes before keeps its bits. */
static void test_causality(void **state) {
    static const uint32_t cuts[] = {1, 63, 64, 65, 128, 199};
    for (size_t cut = 0; cut < sizeof cuts / sizeof cuts[0]; cut++) {
        const size_t at = (size_t)cuts[cut] * D;
        float x[N * D];
        float before[N * D];
        float after[N * D];
        weft_philox_uniform(x, N * D, 61, 0);
        run(*state, x, N, usual_alpha, false, before);
        for (size_t i = at; i < N * D; i++) {
            x[i] = NAN;
        }
        run(*state, x, N, usual_alpha, false, after);
        assert_memory_equal(before, after, at * sizeof(float));
        assert_true(isnan(after[at]));
    }
}

/* The first tokens of a longer sequence get the very bits that they get alone. */
static void test_prefix_has_the_same_bits(void **state) {
    static const uint32_t lengths[] = {1, 63, 64, 65, 129};
    float x[N * D];
    float whole[N * D];
    float part[N * D];
    weft_philox_uniform(x, N * D, 61, 0);
    run(*state, x, N, usual_alpha, false, whole);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        run(*state, x, lengths[i], usual_alpha, false, part);
        assert_memory_equal(whole, part, sizeof(float) * lengths[i] * D);
    }
}

/* In reverse it is the average of the reversed sequence, reversed. */
static void test_reverse(void **state) {
    float x[N * D];
    float turned[N * D];
    float y[N * D];
    float turned_y[N * D];
    weft_philox_uniform(x, N * D, 61, 0);
    for (uint32_t i = 0; i < N; i++) {
        memcpy(turned + (size_t)i * D, x + (size_t)(N - 1 - i) * D, sizeof(float) * D);
    }
    run(*state, x, N, usual_alpha, false, y);
    run(*state, turned, N, usual_alpha, true, turned_y);
    for (uint32_t i = 0; i < N; i++) {
        assert_memory_equal(turned_y + (size_t)i * D, y + (size_t)(N - 1 - i) * D,
                            sizeof(float) * D);
    }
}

/* ---- bad parameters ---- */

/** A call that must fail: status, texts in the message, and no new value in the graph. */
#define EXPECT_FAILURE(fixture, expected_status, call, ...)                             \
    do {                                                                                \
        uint32_t values = (fixture)->graph->value_count;                                \
        weft_test_host_reset(&(fixture)->host);                                         \
        assert_string_equal(weft_status_name(call), weft_status_name(expected_status)); \
        weft_test_expect_log(&(fixture)->host, __VA_ARGS__, NULL);                      \
        assert_int_equal((fixture)->graph->value_count, values);                        \
    } while (0)

static void test_bad_shapes(void **state) {
    struct fixture *f = *state;
    weft_graph *g = f->graph;
    weft_tensor y;
    weft_tensor indices;
    weft_tensor x = input(g, "x", weft_shape_of(2, 5, 4));
    weft_tensor flat = input(g, "flat", weft_shape_of(5, 4));
    weft_tensor alpha = input(g, "alpha", weft_shape_of(4));
    weft_tensor three = input(g, "three", weft_shape_of(3));
    assert_int_equal(weft_graph_input(&indices, g, "i", WEFT_I32, weft_shape_of(4)), WEFT_OK);
    assert_int_equal(weft_graph_moving_average(&y, g, x, alpha, NULL), WEFT_OK);
    EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH, weft_graph_moving_average(&y, g, flat, alpha, NULL),
                   "x must be [B, n, d]", "[5, 4]");
    EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH, weft_graph_moving_average(&y, g, x, three, NULL),
                   "alpha must be [4], not [3]");
    EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH, weft_graph_moving_average(&y, g, x, indices, NULL),
                   "alpha must be f32");
    EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                   weft_graph_moving_average(&y, g, x, (weft_tensor){0}, NULL), "input 1");
    assert_int_equal(weft_graph_moving_average(&y, NULL, x, alpha, NULL), WEFT_INVALID_ARGUMENT);
}

static void test_bad_alpha(void **state) {
    struct fixture *f = *state;
    static const float wrong[] = {0.0F, -0.5F, 1.5F, NAN, INFINITY};
    static const char *const texts[] = {"alpha[2] is 0", "alpha[2] is -0.5", "alpha[2] is 1.5",
                                        "alpha[2] is nan", "alpha[2] is inf"};
    weft_tensor y;
    weft_tensor x = input(f->graph, "x", weft_shape_of(2, 5, D));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const float data[D] = {1.0F, 0.5F, wrong[i]};
        weft_weight *weight = NULL;
        weft_tensor alpha;
        assert_int_equal(
            weft_weight_create(&weight, weft_weight_params(.shape = weft_shape_of(D), .data = data),
                               &f->host.host),
            WEFT_OK);
        assert_int_equal(weft_graph_weight(&alpha, f->graph, weight), WEFT_OK);
        weft_weight_destroy(&weight);
        EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                       weft_graph_moving_average(&y, f->graph, x, alpha, NULL), texts[i],
                       "outside (0, 1]");
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_values),  TEST(test_causality),  TEST(test_prefix_has_the_same_bits),
        TEST(test_reverse), TEST(test_bad_shapes), TEST(test_bad_alpha),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
