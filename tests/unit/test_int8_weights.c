/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Weights of bytes: what is made of a matrix, what is refused, what plans do with them, and that a device's option does the same. */
#include <float.h>
#include <math.h>

#include <weft/graph.h>
#include <weft/movement.h>

#include "core/math/int8.h"
#include "core/math/philox.h"
#include "graph/graph.h"
#include "support_graph.h"

enum { ROWS = 70, WIDTH = 33, TOKENS = 5 };

static weft_device *open_device(struct weft_test_host *f, weft_weight_storage weights) {
    weft_device *device = NULL;
    assert_ok(weft_device_open(
        &device, weft_device_params(.host = f->host, .cache_dir = "", .weights = weights)));
    return device;
}

static weft_weight *make(struct weft_test_host *f, weft_shape shape, const float *data) {
    weft_weight *weight = NULL;
    assert_ok(
        weft_weight_create(&weight, weft_weight_params(.shape = shape, .data = data), &f->host));
    return weight;
}

/* ---- bytes ---- */

WEFT_TEST_ON_HOST(bytes_are_127ths_of_the_largest_magnitude, f) {
    /* -1 · 127 / 2 is a tie; rows below 2^-119 are zeros. */
    static const float data[] = {2.0F, -1.0F, 0.5F,   -0.75F,    1.5F,      0.0F,
                                 0.0F, -0.0F, 1e-40F, 0x1p-120F, 0x1p-121F, -0x1p-120F};
    static const int8_t bytes[] = {127, -64, 32, -64, 127, 0, 0, 0, 0, 0, 0, 0};
    weft_weight *source = make(f, weft_shape_of(4, 3), data);
    weft_weight *made = NULL;
    int8_t found[12];
    assert_ok(weft_weight_quantize(&made, source, WEFT_STORED_I8, false));
    assert_ok(weft_weight_read_stored(made, 0, 12, found));
    assert_memory_equal(found, bytes, sizeof bytes);
    assert_true(weft_weight_scale(made, 0) == 2.0F / 127.0F);
    assert_true(weft_weight_scale(made, 5) == 1.5F / 127.0F);
    assert_true(weft_weight_scale(made, 6) == 0.0F && weft_weight_scale(made, 11) == 0.0F);
    float value = 0.0F;
    assert_ok(weft_weight_read(made, 3, 1, &value));
    assert_true(value == -64.0F * (1.5F / 127.0F));
    weft_weight_destroy(&made);
    assert_ok(weft_weight_quantize(&made, source, WEFT_STORED_I8_ONLY, true));
    assert_true(weft_weight_scale(made, 1) == 1.5F / 127.0F); /* of the second column */
    weft_weight_destroy(&made);
    weft_weight_destroy(&source);
}

WEFT_TEST_ON_HOST(every_byte_comes_back, f) {
    (void)f;
    for (int q = -127; q <= 127; q++) {
        for (float largest = 0x1p-118F; largest < FLT_MAX / 3; largest *= 2.9F) {
            const struct weft_int8_scaling scaling = weft_int8_scaling_of(largest);
            assert_true(weft_int8_is_scale(scaling.scale));
            assert_int_equal(weft_int8_of((float)q * scaling.scale, scaling), q);
        }
    }
}

WEFT_TEST_ON_HOST(what_cannot_be_bytes_is_refused, f) {
    static const int8_t bytes[4] = {1, -128, 3, 4};
    static const float infinite[] = {1.0F, INFINITY, 0.0F, 0.0F};
    static const float scales[][2] = {{1.0F, NAN}, {1.0F, -1.0F}, {1e-40F, 1.0F}, {INFINITY, 1.0F}};
    weft_weight *weight = NULL;
    weft_weight_params params = {
        .shape = weft_shape_of(2, 2), .data = bytes, .stored = WEFT_STORED_I8};
    WEFT_EXPECT_REFUSED(f, WEFT_INVALID_ARGUMENT, weft_weight_create(&weight, &params, &f->host),
                        "scales");
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        params.scales = scales[i];
        WEFT_EXPECT_REFUSED(f, WEFT_INVALID_ARGUMENT,
                            weft_weight_create(&weight, &params, &f->host), "positive normal");
    }
    params.scales = (const float[]){1.0F, 0.0F};
    WEFT_EXPECT_REFUSED(f, WEFT_INVALID_ARGUMENT, weft_weight_create(&weight, &params, &f->host),
                        "-127 to 127");
    params.shape = weft_shape_of(4);
    WEFT_EXPECT_REFUSED(f, WEFT_INVALID_ARGUMENT, weft_weight_create(&weight, &params, &f->host),
                        "a matrix");
    weft_weight *source = make(f, weft_shape_of(2, 2), infinite);
    WEFT_EXPECT_REFUSED(f, WEFT_INVALID_ARGUMENT,
                        weft_weight_quantize(&weight, source, WEFT_STORED_I8, false), "inf");
    WEFT_EXPECT_REFUSED(f, WEFT_INVALID_ARGUMENT,
                        weft_weight_quantize(&weight, source, WEFT_STORED_F16, false), "I8");
    assert_null(weight);
    weft_weight_destroy(&source);
}

/* ---- plans ---- */

/* Three maps of x, one by the transpose of a matrix [WIDTH, ROWS]; a table that something else reads, too, stays f32. */
struct maps {
    float y[3 * TOKENS * ROWS];
};

static weft_tensor map(struct weft_test_run *r, weft_tensor x, weft_weight *weight, bool turned) {
    weft_tensor w = {0}, y = {0};
    assert_ok(weft_graph_weight(&w, r->graph, weight));
    if (turned) {
        assert_ok(weft_graph_permute(&w, r->graph, w, weft_shape_of(1, 0)));
    }
    assert_ok(weft_graph_linear(&y, r->graph, x, w, (weft_tensor){0}));
    return y;
}

static struct maps run(weft_plan_info *info, weft_device *device, weft_weight *const weights[3],
                       bool no_fusion) {
    struct maps maps;
    static float data[TOKENS * WIDTH];
    weft_philox_uniform(data, TOKENS * WIDTH, 11, 0);
    struct weft_test_run r = weft_test_begin(device);
    const weft_tensor x = weft_test_input(r.graph, "x", weft_shape_of(TOKENS, WIDTH));
    const weft_tensor y[] = {map(&r, x, weights[0], false), map(&r, x, weights[1], false),
                             map(&r, x, weights[2], true)};
    weft_tensor all = {0};
    assert_ok(weft_graph_concat(&all, r.graph, y, 3, 0));
    weft_plan *plan = NULL;
    assert_ok(weft_graph_output(r.graph, "y", all));
    assert_ok(weft_plan_compile(&plan, device, r.graph, weft_plan_params(.no_fusion = no_fusion)));
    const weft_host_tensor tensors[] = {{"x", data, sizeof data}, {"y", maps.y, sizeof maps.y}};
    assert_ok(weft_plan_execute(plan, tensors, 2));
    assert_ok(weft_plan_get_info(plan, info));
    weft_plan_destroy(&plan);
    weft_graph_destroy(&r.graph);
    return maps;
}

WEFT_TEST_ON_HOST(an_option_has_the_bits_of_bytes_and_rows_become_bytes_once, f) {
    static float data[ROWS * WIDTH];
    static const weft_stored kinds[] = {WEFT_STORED_I8, WEFT_STORED_I8_ONLY};
    for (int kind = 0; kind < 2; kind++) {
        weft_device *plain = open_device(f, WEFT_WEIGHTS_AUTO);
        weft_device *option = open_device(f, kind ? WEFT_WEIGHTS_I8_ONLY : WEFT_WEIGHTS_I8);
        weft_weight *wide[3] = {NULL}, *bytes[3] = {NULL};
        weft_plan_info info[3];
        for (uint32_t i = 0; i < 3; i++) {
            weft_philox_uniform(data, ROWS * WIDTH, 7, i);
            wide[i] =
                make(f, i == 2 ? weft_shape_of(WIDTH, ROWS) : weft_shape_of(ROWS, WIDTH), data);
            assert_ok(weft_weight_quantize(&bytes[i], wide[i], kinds[kind], i == 2));
        }
        const struct maps expected = run(&info[0], plain, bytes, false);
        const struct maps found = run(&info[1], option, wide, false);
        const struct maps unfused = run(&info[2], option, wide, true);
        assert_memory_equal(&found, &expected, sizeof found);
        assert_memory_equal(&unfused, &expected, sizeof found);
        assert_int_equal(info[0].int8_weight_bytes, info[1].int8_weight_bytes);
        assert_int_equal(info[0].int8_weight_bytes, info[0].weight_bytes);
        assert_int_equal(info[0].dispatches, info[1].dispatches);
        const struct maps exact = run(&info[2], plain, wide, false);
        assert_int_equal(info[2].int8_weight_bytes, 0);
        assert_int_equal(info[0].dispatches, info[2].dispatches + (kind ? 0 : 1));
        double difference = 0.0, size = 0.0;
        for (uint32_t i = 0; i < 3 * TOKENS * ROWS; i++) {
            difference += pow((double)(exact.y[i] - found.y[i]), 2.0);
            size += pow((double)exact.y[i], 2.0);
        }
        assert_in_range((uint64_t)(1e4 * sqrt(difference / size)), 1, 100);
        for (uint32_t i = 0; i < 3; i++) {
            weft_weight_destroy(&wide[i]);
            weft_weight_destroy(&bytes[i]);
        }
        weft_test_device_close(&plain);
        weft_test_device_close(&option);
    }
}
