/* SPDX-License-Identifier: MIT */
/* weft-test: slow device */
/*
 * Convolutions: in parts where the device binds less than they need, with what follows them in the same kernel, and with the
 * sums of products. What is cut has whole and small numbers, so that what comes out is exact.
 */
#include <string.h>

#include <weft/mixers.h>

#include "support_graph.h"

struct conv {
    uint32_t batch, channels, outputs, groups;
    uint32_t height, width;
    uint32_t size[2], stride[2], before[2];
    bool bias, relu;
};

static float small(uint64_t i, uint32_t salt) {
    return (float)((i * 2654435761u + salt * 40503u) / 977 % 9) - 4.0F;
}

/* Numbers whose sums are rounded, in whatever order. */
static float odd(uint64_t i, uint32_t salt) {
    return small(i, salt) + (float)(i * 40503u % 1009) / 1009.0F;
}

typedef float rule(uint64_t i, uint32_t salt);

static float *numbers(uint64_t count, uint32_t salt, rule *number) {
    float *data = malloc(count * sizeof *data);
    assert_non_null(data);
    for (uint64_t i = 0; i < count; i++) {
        data[i] = number(i, salt);
    }
    return data;
}

static weft_tensor weight_of(weft_graph *graph, weft_shape shape, uint32_t salt, rule *number) {
    float *data = numbers(weft_shape_elements(shape), salt, number);
    const weft_tensor weight = weft_test_constant(graph, shape, data);
    free(data);
    return weight;
}

static uint32_t windows(const struct conv *c, uint32_t axis) {
    const uint32_t extent = axis == 0 ? c->height : c->width;
    return (extent + 2 * c->before[axis] - c->size[axis]) / c->stride[axis] + 1;
}

static uint64_t elements_of_result(const struct conv *c) {
    return (uint64_t)c->batch * c->outputs * windows(c, 0) * windows(c, 1);
}

/* An element of x, in the padding a zero. */
static float x_at(const struct conv *c, uint64_t plane, const uint32_t window[2],
                  const uint32_t element[2]) {
    const uint32_t y = window[0] * c->stride[0] + element[0] - c->before[0];
    const uint32_t at = window[1] * c->stride[1] + element[1] - c->before[1];
    return y < c->height && at < c->width ? small((plane * c->height + y) * c->width + at, 1)
                                          : 0.0F;
}

/* Element i of the result, by the definition. */
static float result_at(const struct conv *c, uint64_t i) {
    const uint32_t window[] = {(uint32_t)(i / windows(c, 1) % windows(c, 0)),
                               (uint32_t)(i % windows(c, 1))};
    const uint64_t plane = i / windows(c, 1) / windows(c, 0);
    const uint64_t o = plane % c->outputs;
    const uint32_t channels = c->channels / c->groups;
    const uint64_t first =
        plane / c->outputs * c->channels + o / (c->outputs / c->groups) * channels;
    const uint32_t size = c->size[0] * c->size[1];
    float sum = c->bias ? small(o, 3) : 0.0F;
    for (uint32_t k = 0; k < channels * size; k++) {
        const uint32_t element[] = {k % size / c->size[1], k % c->size[1]};
        sum += small(o * channels * size + k, 2) * x_at(c, first + k / size, window, element);
    }
    return c->relu && sum < 0.0F ? 0.0F : sum;
}

static weft_tensor build(struct weft_test_run *run, const struct conv *c, const float *x,
                         rule *number) {
    const weft_tensor in =
        weft_test_feed(run, "x", weft_shape_of(c->batch, c->channels, c->height, c->width), x);
    const weft_tensor weight = weight_of(
        run->graph, weft_shape_of(c->outputs, c->channels / c->groups, c->size[0], c->size[1]), 2,
        number);
    weft_conv_params params = {.groups = c->groups};
    memcpy(params.strides, c->stride, sizeof params.strides);
    memcpy(params.before, c->before, sizeof params.before);
    memcpy(params.after, c->before, sizeof params.after);
    if (c->bias) {
        params.bias = weight_of(run->graph, weft_shape_of(c->outputs), 3, number);
    }
    weft_tensor y;
    assert_ok(weft_graph_conv(&y, run->graph, in, weight, &params));
    return y;
}

/* ---- in parts ---- */

/* limit: what the device binds at most; 0: as it is. */
static void check_parts(struct weft_test_graph *g, const struct conv *c, uint32_t limit) {
    const uint64_t count = elements_of_result(c);
    float *x = numbers((uint64_t)c->batch * c->channels * c->height * c->width, 1, small);
    float *found = malloc(count * sizeof *found);
    assert_non_null(found);
    struct weft_test_run run = weft_test_begin(g->device);
    weft_tensor y = build(&run, c, x, small);
    if (c->relu) {
        assert_ok(weft_graph_activate(&y, run.graph, y, WEFT_ACTIVATION_RELU));
    }
    weft_test_take(&run, "y", y, found);
    if (limit == 0) {
        weft_test_execute(&run, NULL);
    } else {
        weft_test_execute_in_parts(&run, limit);
    }
    for (uint64_t i = 0; i < count; i++) {
        if (found[i] != result_at(c, i)) {
            fail_msg("element %llu is %g, expected %g", (unsigned long long)i, (double)found[i],
                     (double)result_at(c, i));
        }
    }
    free(x);
    free(found);
}

/* x has 8,316 bytes and the result 7,956, but the windows, some in the padding alone, have 23,868. */
WEFT_TEST_ON_GRAPH(windows_by_stretches, f) {
    check_parts(f,
                &(struct conv){.batch = 1,
                               .channels = 3,
                               .outputs = 9,
                               .groups = 1,
                               .height = 21,
                               .width = 33,
                               .size = {3, 3},
                               .stride = {3, 3},
                               .before = {9, 9},
                               .bias = true},
                12288);
}

/* An image has 19,968 bytes, its result 21,760 and its windows 32,640. */
WEFT_TEST_ON_GRAPH(images_and_their_windows_by_stretches, f) {
    check_parts(f,
                &(struct conv){.batch = 3,
                               .channels = 6,
                               .outputs = 16,
                               .groups = 1,
                               .height = 26,
                               .width = 32,
                               .size = {2, 2},
                               .stride = {2, 2},
                               .before = {4, 4},
                               .bias = true,
                               .relu = true},
                24576);
}

/* Parts begin at multiples of 256 bytes on SwiftShader, which 64 elements of the bias are. */
WEFT_TEST_ON_GRAPH(channels_that_are_groups, f) {
    check_parts(f,
                &(struct conv){.batch = 2,
                               .channels = 130,
                               .outputs = 130,
                               .groups = 130,
                               .height = 8,
                               .width = 8,
                               .size = {3, 3},
                               .stride = {1, 1},
                               .before = {1, 1},
                               .bias = true,
                               .relu = true},
                16384);
}

WEFT_TEST_ON_GRAPH(groups_of_several_channels, f) {
    check_parts(f,
                &(struct conv){.batch = 1,
                               .channels = 66,
                               .outputs = 132,
                               .groups = 33,
                               .height = 8,
                               .width = 8,
                               .size = {3, 3},
                               .stride = {1, 1},
                               .before = {1, 1},
                               .bias = true},
                16384);
}

WEFT_TEST_ON_GRAPH(channels_of_the_result, f) {
    check_parts(f,
                &(struct conv){.batch = 1,
                               .channels = 3,
                               .outputs = 130,
                               .groups = 1,
                               .height = 8,
                               .width = 8,
                               .size = {3, 3},
                               .stride = {1, 1},
                               .before = {1, 1},
                               .bias = true,
                               .relu = true},
                16384);
}

/* ---- what follows ---- */

static uint32_t dispatches_of(const weft_plan *plan) {
    weft_plan_info info;
    assert_ok(weft_plan_get_info(plan, &info));
    return info.dispatches;
}

/* With a bias and an activation: in no further dispatch where the activation alone reads it, with the bits of its own kernel. */
WEFT_TEST_ON_GRAPH(an_activation_is_in_the_same_kernel, f) {
    const struct conv c = {.batch = 1,
                           .channels = 6,
                           .outputs = 12,
                           .groups = 3,
                           .height = 7,
                           .width = 19,
                           .size = {3, 2},
                           .stride = {1, 1},
                           .before = {1, 0},
                           .bias = true};
    const uint64_t count = elements_of_result(&c);
    float *x = numbers((uint64_t)c.channels * c.height * c.width, 1, odd);
    float *plain = malloc(3 * count * sizeof *plain);
    assert_non_null(plain);
    struct weft_test_run run = weft_test_begin(f->device);
    weft_tensor y = build(&run, &c, x, odd);
    weft_test_take(&run, "alone", y, plain);
    weft_plan *plan = weft_test_plan(&run, NULL);
    const uint32_t alone = dispatches_of(plan);
    weft_test_run_plan(&run, plan);
    weft_plan_destroy(&plan);

    run = weft_test_begin(f->device);
    y = build(&run, &c, x, odd);
    weft_test_take(&run, "plain", y, plain);
    assert_ok(weft_graph_activate(&y, run.graph, y, WEFT_ACTIVATION_SILU));
    weft_test_take(&run, "apart", y, plain + count);
    weft_test_execute(&run, NULL);

    run = weft_test_begin(f->device);
    assert_ok(weft_graph_activate(&y, run.graph, build(&run, &c, x, odd), WEFT_ACTIVATION_SILU));
    weft_test_take(&run, "together", y, plain + 2 * count);
    plan = weft_test_plan(&run, NULL);
    assert_int_equal(dispatches_of(plan), alone);
    weft_test_run_plan(&run, plan);
    weft_plan_destroy(&plan);
    assert_memory_equal(plain + count, plain + 2 * count, count * sizeof *plain);
    free(x);
    free(plain);
}

/* ---- sums ---- */

/* Windows as channels: a weight that takes one element each. */
static weft_tensor take_windows(struct weft_test_run *run, const struct conv *c, weft_tensor x) {
    const uint32_t k = c->channels * c->size[0] * c->size[1];
    float *one = calloc((size_t)k * k, sizeof *one);
    assert_non_null(one);
    for (uint32_t i = 0; i < k; i++) {
        one[i * k + i] = 1.0F;
    }
    const weft_tensor weight =
        weft_test_constant(run->graph, weft_shape_of(k, c->channels, c->size[0], c->size[1]), one);
    free(one);
    weft_tensor y;
    assert_ok(weft_graph_conv(&y, run->graph, x, weight,
                              weft_conv_params(.strides = {c->stride[0], c->stride[1]},
                                               .before = {c->before[0], c->before[1]},
                                               .after = {c->before[0], c->before[1]})));
    assert_ok(
        weft_graph_reshape(&y, run->graph, y, weft_shape_of(k, windows(c, 0) * windows(c, 1))));
    return y;
}

/* The bits of a product of the weight and the windows, with more terms than one partial sum has. */
static void expect_products(struct weft_test_graph *f, const struct conv *c) {
    const uint64_t count = elements_of_result(c);
    const uint32_t k = c->channels * c->size[0] * c->size[1];
    float *x = numbers((uint64_t)c->channels * c->height * c->width, 1, odd);
    float *found = malloc(2 * count * sizeof *found);
    assert_non_null(found);
    struct weft_test_run run = weft_test_begin(f->device);
    weft_test_take(&run, "direct", build(&run, c, x, odd), found);
    weft_test_execute(&run, NULL);
    run = weft_test_begin(f->device);
    const weft_tensor in =
        weft_test_feed(&run, "x", weft_shape_of(1, c->channels, c->height, c->width), x);
    const weft_tensor weight = weight_of(run.graph, weft_shape_of(c->outputs, k), 2, odd);
    weft_tensor y;
    assert_ok(weft_graph_matmul(&y, run.graph, weight, take_windows(&run, c, in), NULL));
    weft_test_take(&run, "product", y, found + count);
    weft_test_execute(&run, NULL);
    assert_memory_equal(found, found + count, count * sizeof *found);
    free(x);
    free(found);
}

WEFT_TEST_ON_GRAPH(sums_are_those_of_products, f) {
    expect_products(f, &(struct conv){.batch = 1,
                                      .channels = 7,
                                      .outputs = 11,
                                      .groups = 1,
                                      .height = 9,
                                      .width = 37,
                                      .size = {4, 5},
                                      .stride = {1, 2},
                                      .before = {1, 2}});
    expect_products(f, &(struct conv){.batch = 1,
                                      .channels = 1,
                                      .outputs = 1,
                                      .groups = 1,
                                      .height = 20,
                                      .width = 21,
                                      .size = {9, 15},
                                      .stride = {2, 1},
                                      .before = {8, 14}});
    expect_products(f, &(struct conv){.batch = 1,
                                      .channels = 3,
                                      .outputs = 51,
                                      .groups = 1,
                                      .height = 6,
                                      .width = 80,
                                      .size = {3, 7},
                                      .stride = {1, 3},
                                      .before = {1, 3}});
    /* Windows that are the elements of x, in whole and broken blocks of them, and few. */
    static const uint32_t widths[] = {7, 64, 65, 90};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        expect_products(f, &(struct conv){.batch = 1,
                                          .channels = 67,
                                          .outputs = 5 + (uint32_t)i,
                                          .groups = 1,
                                          .height = 1,
                                          .width = widths[i],
                                          .size = {1, 1},
                                          .stride = {1, 1}});
    }
}

/* Several blocks of places and shares of channels, of each image and each group. */
WEFT_TEST_ON_GRAPH(images_and_groups_begin_anew, f) {
    struct conv c = {.batch = 2,
                     .channels = 6,
                     .outputs = 210,
                     .groups = 2,
                     .height = 8,
                     .width = 13,
                     .size = {3, 2},
                     .stride = {1, 1},
                     .before = {1, 1},
                     .bias = true,
                     .relu = true};
    check_parts(f, &c, 0);
    c.stride[0] = 2; /* parts of planes: one line more in the first */
    c.stride[1] = 3;
    check_parts(f, &c, 0);
    c.size[0] = c.size[1] = c.stride[0] = c.stride[1] = 1;
    c.before[0] = c.before[1] = 0;
    check_parts(f, &c, 0);
    c.height = c.width = 1; /* one place */
    check_parts(f, &c, 0);
}

/* Planes of 5 MB, which processors copy some rows at a time; the last ones are fewer. */
WEFT_TEST_ON_GRAPH(rows_of_windows_by_bands, f) {
    struct conv c = {.batch = 1,
                     .channels = 40,
                     .outputs = 3,
                     .groups = 1,
                     .height = 181,
                     .width = 170,
                     .size = {3, 3},
                     .stride = {1, 1},
                     .before = {1, 1}};
    check_parts(f, &c, 0);
    c.stride[0] = c.stride[1] = 2;
    c.size[0] = 4;
    check_parts(f, &c, 0);
}
