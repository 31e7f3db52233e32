/* SPDX-License-Identifier: MIT */
/* Properties of the mixer, values checked by hand, and bad parameters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "moving_average.h"
#include "testing.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static unsigned failures;

static void expect(bool holds, const char *text, int line) {
    if (!holds) {
        fprintf(stderr, "properties.c:%d: %s\n", line, text);
        failures++;
    }
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define EXPECT_OK(call)   EXPECT((call) == WEFT_OK)

/* ---- running ---- */

enum { N = 200, D = 3 };

static weft_tensor input(weft_graph *graph, const char *name, weft_shape shape) {
    weft_tensor tensor = {0};
    EXPECT_OK(weft_graph_input(&tensor, graph, name, WEFT_F32, shape));
    return tensor;
}

/* One sequence of n tokens with D channels. */
static void run(weft_device *device, const float *x, uint32_t n, const float *alpha, bool reverse,
                float *out) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor y = {0};
    EXPECT_OK(weft_graph_create(&graph, NULL));
    const weft_tensor x_in = input(graph, "x", weft_shape_of(1, n, D));
    const weft_tensor alpha_in = input(graph, "alpha", weft_shape_of(D));
    EXPECT_OK(
        graph_moving_average(&y, graph, x_in, alpha_in, moving_average_params(.reverse = reverse)));
    EXPECT_OK(weft_graph_output(graph, "y", y));
    EXPECT_OK(weft_plan_compile(&plan, device, graph, NULL));
    const uint64_t bytes = sizeof(float) * n * D;
    const weft_host_tensor tensors[] = {{"x", (void *)(uintptr_t)x, bytes},
                                        {"alpha", (void *)(uintptr_t)alpha, sizeof(float) * D},
                                        {"y", out, bytes}};
    EXPECT_OK(weft_plan_execute(plan, tensors, 3));
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
}

/* ---- values checked by hand ---- */

/* α = 1, 1/2 and 1/4 of 4, 8, 16: exact. */
static void test_values(weft_device *device) {
    const float x[] = {4.0F, 4.0F, 4.0F, 8.0F, 8.0F, 8.0F, 16.0F, 16.0F, 16.0F};
    const float alpha[D] = {1.0F, 0.5F, 0.25F};
    const float expected[] = {4.0F, 2.0F, 1.0F, 8.0F, 5.0F, 2.75F, 16.0F, 10.5F, 6.0625F};
    const float reversed[] = {4.0F, 6.0F, 4.75F, 8.0F, 8.0F, 5.0F, 16.0F, 8.0F, 4.0F};
    float y[3 * D];
    run(device, x, 3, alpha, false, y);
    EXPECT(same_bits(y, expected, COUNT(y)));
    run(device, x, 3, alpha, true, y);
    EXPECT(same_bits(y, reversed, COUNT(y)));
}

/* ---- properties ---- */

static const float usual_alpha[D] = {0.9F, 0.1F, 0.01F};

/* Whatever becomes of the tokens from `from` on, NaN included, what comes before keeps its bits. */
static void test_causality(weft_device *device) {
    static const uint32_t cuts[] = {1, 63, 64, 65, 128, 199};
    for (size_t cut = 0; cut < COUNT(cuts); cut++) {
        const size_t at = (size_t)cuts[cut] * D;
        float x[N * D], before[N * D], after[N * D];
        fill(x, COUNT(x), UNIT, 61, 0);
        run(device, x, N, usual_alpha, false, before);
        for (size_t i = at; i < COUNT(x); i++) {
            x[i] = NAN;
        }
        run(device, x, N, usual_alpha, false, after);
        EXPECT(same_bits(before, after, at));
        EXPECT(isnan(after[at]));
    }
}

/* The first tokens of a longer sequence get the very bits that they get alone. */
static void test_prefix_has_the_same_bits(weft_device *device) {
    static const uint32_t lengths[] = {1, 63, 64, 65, 129};
    float x[N * D], whole[N * D], part[N * D];
    fill(x, COUNT(x), UNIT, 61, 0);
    run(device, x, N, usual_alpha, false, whole);
    for (size_t i = 0; i < COUNT(lengths); i++) {
        run(device, x, lengths[i], usual_alpha, false, part);
        EXPECT(same_bits(whole, part, (size_t)lengths[i] * D));
    }
}

/* In reverse it is the average of the reversed sequence, reversed. */
static void test_reverse(weft_device *device) {
    float x[N * D], turned[N * D], y[N * D], turned_y[N * D];
    fill(x, COUNT(x), UNIT, 61, 0);
    for (uint32_t i = 0; i < N; i++) {
        memcpy(turned + (size_t)i * D, x + (size_t)(N - 1 - i) * D, sizeof(float) * D);
    }
    run(device, x, N, usual_alpha, false, y);
    run(device, turned, N, usual_alpha, true, turned_y);
    for (uint32_t i = 0; i < N; i++) {
        EXPECT(same_bits(turned_y + (size_t)i * D, y + (size_t)(N - 1 - i) * D, D));
    }
}

/* ---- bad parameters ---- */

/* The id that the next tensor gets: ids are given one after another. */
static uint32_t next_id(weft_graph *graph) {
    weft_tensor tensor = {.id = 1};
    while (weft_graph_get_tensor(graph, tensor, NULL, NULL) == WEFT_OK) {
        tensor.id++;
    }
    return tensor.id;
}

/** A call that must fail: status, texts in the message, and no new value in the graph. */
static void expect_failure(struct watch *watch, weft_graph *graph, weft_status expected,
                           weft_tensor x, weft_tensor alpha, const char *text, const char *more) {
    weft_tensor y = {0};
    const uint32_t next = next_id(graph);
    watch->log[0] = '\0';
    EXPECT(graph_moving_average(&y, graph, x, alpha, NULL) == expected);
    if (!strstr(watch->log, text) || !strstr(watch->log, more)) {
        fprintf(stderr, "expected '%s' and '%s' in: %s\n", text, more, watch->log);
        failures++;
    }
    EXPECT(next_id(graph) == next);
}

static void test_bad_shapes(struct watch *watch) {
    weft_graph *g = NULL;
    weft_tensor y = {0}, indices = {0};
    EXPECT_OK(weft_graph_create(&g, &watch->host));
    const weft_tensor x = input(g, "x", weft_shape_of(2, 5, 4));
    const weft_tensor flat = input(g, "flat", weft_shape_of(5, 4));
    const weft_tensor alpha = input(g, "alpha", weft_shape_of(4));
    const weft_tensor three = input(g, "three", weft_shape_of(3));
    EXPECT_OK(weft_graph_input(&indices, g, "i", WEFT_I32, weft_shape_of(4)));
    EXPECT_OK(graph_moving_average(&y, g, x, alpha, NULL));
    expect_failure(watch, g, WEFT_SHAPE_MISMATCH, flat, alpha, "x must be [B, n, d]", "[5, 4]");
    expect_failure(watch, g, WEFT_SHAPE_MISMATCH, x, three, "alpha must be [4], not [3]", "");
    expect_failure(watch, g, WEFT_SHAPE_MISMATCH, x, indices, "alpha must be f32", "");
    expect_failure(watch, g, WEFT_INVALID_ARGUMENT, x, (weft_tensor){0}, "input 1", "");
    EXPECT(graph_moving_average(&y, NULL, x, alpha, NULL) == WEFT_INVALID_ARGUMENT);
    weft_graph_destroy(&g);
}

static void test_bad_alpha(struct watch *watch) {
    static const float wrong[] = {0.0F, -0.5F, 1.5F, NAN, INFINITY};
    static const char *const texts[] = {"alpha[2] is 0", "alpha[2] is -0.5", "alpha[2] is 1.5",
                                        "alpha[2] is nan", "alpha[2] is inf"};
    weft_graph *graph = NULL;
    EXPECT_OK(weft_graph_create(&graph, &watch->host));
    const weft_tensor x = input(graph, "x", weft_shape_of(2, 5, D));
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const float data[D] = {1.0F, 0.5F, wrong[i]};
        weft_weight *weight = NULL;
        weft_tensor alpha = {0};
        EXPECT_OK(weft_weight_create(
            &weight, weft_weight_params(.shape = weft_shape_of(D), .data = data), &watch->host));
        EXPECT_OK(weft_graph_weight(&alpha, graph, weight));
        weft_weight_destroy(&weight);
        expect_failure(watch, graph, WEFT_INVALID_ARGUMENT, x, alpha, texts[i], "outside (0, 1]");
    }
    weft_graph_destroy(&graph);
}

int main(void) {
    struct watch watch;
    weft_device *device = NULL;
    watch_begin(&watch);
    if (watch_open(&device, &watch, WEFT_MATH_REPRODUCIBLE) != WEFT_OK) {
        fprintf(stderr, "%s", watch.log);
        return 2;
    }
    test_values(device);
    test_causality(device);
    test_prefix_has_the_same_bits(device);
    test_reverse(device);
    test_bad_shapes(&watch);
    test_bad_alpha(&watch);
    watch.log[0] = '\0';
    return watch_close(&device, &watch) && failures == 0 ? 0 : 1;
}
