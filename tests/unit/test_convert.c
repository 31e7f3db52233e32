/* SPDX-License-Identifier: MIT */
/* weft-test: long every device */
/* f16 and u8 as inputs and outputs: every half, every byte, and what is rounded, against definitions in float64. */
#include <math.h>

#include "core/math/philox.h"
#include "device/device.h"
#include "support_graph.h"

enum { HALVES = 1 << 16, GUARD = 64, POISON = 0xa5 };

/* ---- the formats, by their definitions ---- */

/* What an f16 means; NaN for those that mean nothing. */
static double value_of_half(uint16_t half) {
    const int exponent = half >> 10 & 31;
    const int fraction = half & 0x3ff;
    const double sign = half >> 15 ? -1.0 : 1.0;
    if (exponent == 31) {
        return fraction ? (double)NAN : sign * (double)INFINITY;
    }
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp((double)fraction, -24));
}

/* The number that f16 has for x: a multiple of the distance between its neighbours, infinity from 65520 on. */
static double nearest_half(double x) {
    int exponent = 0;
    (void)frexp(x, &exponent);
    const int place = (exponent - 1 < -14 ? -14 : exponent - 1) - 10;
    return fabs(x) >= 65520.0 ? copysign((double)INFINITY, x)
                              : copysign(ldexp(nearbyint(ldexp(x, -place)), place), x);
}

static double nearest_byte(double x) {
    return !(x > 0.0) ? 0.0 : x > 255.0 ? 255.0 : nearbyint(x);
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- a conversion alone ---- */

/* Runs it on `count` elements; `to` has GUARD bytes more than they take, and whatever is behind a buffer's words stays. */
static void convert(struct weft_test_graph *f, weft_dtype from, const void *x, weft_dtype to,
                    void *y, uint32_t count) {
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor tensor;
    weft_bindings *bindings = NULL;
    weft_buffer *in = NULL, *out = NULL;
    const uint64_t bytes = (uint64_t)count * weft_dtype_size(to);
    assert_ok(weft_graph_input(&tensor, r.graph, "x", from, weft_shape_of(count)));
    assert_ok(weft_graph_convert(&tensor, r.graph, tensor, to));
    weft_plan *plan = weft_test_plan_to(&r, "y", tensor, NULL);
    memset(y, POISON, bytes + GUARD);
    assert_ok(weft_buffer_create(&in, f->device, (uint64_t)count * weft_dtype_size(from)));
    assert_ok(weft_buffer_create(&out, f->device, bytes + GUARD));
    assert_ok(weft_buffer_write(in, 0, x, (uint64_t)count * weft_dtype_size(from)));
    assert_ok(weft_buffer_write(out, 0, y, bytes + GUARD));
    assert_ok(weft_bindings_create(&bindings, plan));
    assert_ok(weft_bindings_set(bindings, "x", in));
    assert_ok(weft_bindings_set(bindings, "y", out));
    assert_ok(weft_plan_run(plan, bindings));
    assert_ok(weft_buffer_read(out, 0, y, bytes + GUARD));
    for (uint64_t i = bytes; i < bytes + GUARD; i++) {
        const bool fills_word = i < (bytes + 3) / 4 * 4;
        assert_int_equal(((const uint8_t *)y)[i], fills_word ? 0 : POISON);
    }
    weft_bindings_destroy(&bindings);
    weft_buffer_destroy(&in);
    weft_buffer_destroy(&out);
    weft_plan_destroy(&plan);
}

/* Numbers on, just below and just above what rounding looks at, the rest at random. */
static void fill_hard(float *x, uint32_t count, bool bytes, uint64_t seed) {
    static const float special[] = {
        0.0F,      -0.0F,          INFINITY,   -INFINITY,    NAN,          0x1p-149F, -0x1p-130F,
        0x1p-126F, 0x1p-25F,       0x1.8p-25F, 0x1.ffcp-15F, 0x1.ffep-15F, 65504.0F,  65519.0F,
        65520.0F,  1e30F,          -65520.0F,  -1.0F,        255.5F,       254.5F,    0.5F,
        1.5F,      0x1.fffffep-2F, 256.0F,     255.0F};
    const uint32_t specials = sizeof special / sizeof special[0];
    weft_philox_uniform(x, count, seed, 1);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t kind = i % 5;
        const uint32_t half = (i * 2654435761U) >> 16;
        if (i < specials) {
            x[i] = special[i];
        } else if (bytes) { /* halves between bytes, and their neighbours */
            x[i] = kind < 2
                       ? x[i] * 300.0F
                       : nextafterf((float)(i % 256) + 0.5F, kind == 2   ? 0.0F
                                                             : kind == 3 ? 512.0F
                                                                         : (float)(i % 256) + 0.5F);
        } else if (kind < 2) {
            x[i] = ldexpf(x[i], (int)(half % 44) - 27);
        } else { /* between two halves, and the neighbours of that */
            const uint16_t low = (uint16_t)(half & 0xfbff);
            const double middle = (value_of_half(low) + value_of_half((uint16_t)(low + 1))) / 2.0;
            const float at = (float)middle;
            x[i] = kind == 2 ? at : nextafterf(at, kind == 3 ? -INFINITY : INFINITY);
        }
    }
}

WEFT_TEST_ON_GRAPH(every_half_becomes_its_number, f) {
    uint16_t *halves = malloc(HALVES * sizeof *halves);
    float *found = malloc(HALVES * sizeof *found + GUARD);
    for (uint32_t i = 0; i < HALVES; i++) {
        halves[i] = (uint16_t)i;
    }
    convert(f, WEFT_F16, halves, WEFT_F32, found, HALVES);
    for (uint32_t i = 0; i < HALVES; i++) {
        const double value = value_of_half((uint16_t)i);
        const uint32_t expected = isnan(value) ? 0x7fc00000 : bits_of((float)value);
        assert_int_equal(bits_of(found[i]), expected);
    }
    free(halves);
    free(found);
}

WEFT_TEST_ON_GRAPH(every_half_comes_back, f) {
    uint16_t *found = malloc(HALVES * sizeof *found + GUARD);
    float *x = malloc(HALVES * sizeof *x);
    for (uint32_t i = 0; i < HALVES; i++) {
        x[i] = (float)value_of_half((uint16_t)i);
    }
    convert(f, WEFT_F32, x, WEFT_F16, found, HALVES);
    for (uint32_t i = 0; i < HALVES; i++) {
        assert_int_equal(found[i], isnan(x[i]) ? 0x7e00 : i);
    }
    free(found);
    free(x);
}

WEFT_TEST_ON_GRAPH(halves_are_rounded_to_nearest_even, f) {
    const uint32_t counts[] = {1, 2, 3, 127, 257, 1021, 70001};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        const uint32_t count = counts[k];
        uint16_t *found = malloc(count * sizeof *found + GUARD);
        float *x = malloc(count * sizeof *x);
        fill_hard(x, count, false, k);
        convert(f, WEFT_F32, x, WEFT_F16, found, count);
        for (uint32_t i = 0; i < count; i++) {
            /* A subnormal operand counts as zero; f16 has none of those that float32 has. */
            const double expected = isnan(x[i]) ? (double)NAN : nearest_half((double)x[i]);
            if (isnan(expected)) {
                assert_int_equal(found[i], 0x7e00);
            } else {
                assert_int_equal(bits_of((float)value_of_half(found[i])), bits_of((float)expected));
            }
        }
        free(found);
        free(x);
    }
}

WEFT_TEST_ON_GRAPH(bytes_become_numbers_and_come_back, f) {
    const uint32_t counts[] = {1, 2, 3, 4, 5, 131, 1021, 66051};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        const uint32_t count = counts[k];
        uint8_t *bytes = malloc(count), *back = malloc(count + GUARD);
        float *found = malloc(count * sizeof *found + GUARD);
        for (uint32_t i = 0; i < count; i++) {
            bytes[i] = (uint8_t)(i * 37 + k);
        }
        convert(f, WEFT_U8, bytes, WEFT_F32, found, count);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(bits_of(found[i]), bits_of((float)bytes[i]));
        }
        convert(f, WEFT_F32, found, WEFT_U8, back, count);
        assert_memory_equal(back, bytes, count);
        free(bytes);
        free(back);
        free(found);
    }
}

WEFT_TEST_ON_GRAPH(bytes_are_rounded_and_clamped, f) {
    const uint32_t counts[] = {1, 3, 127, 1022, 70001};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        const uint32_t count = counts[k];
        uint8_t *found = malloc(count + GUARD);
        float *x = malloc(count * sizeof *x);
        fill_hard(x, count, true, 10 + k);
        convert(f, WEFT_F32, x, WEFT_U8, found, count);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(found[i], (int)nearest_byte((double)x[i]));
        }
        free(found);
        free(x);
    }
}

/* Through an op: bytes in, halves out, by host memory of exactly their size. */
WEFT_TEST_ON_GRAPH(ports_have_the_size_of_their_elements, f) {
    enum { H = 3, W = 5, C = 3, COUNT = H * W * C };
    uint8_t pixels[COUNT];
    uint16_t out[COUNT];
    weft_tensor tensor;
    weft_port_info port;
    weft_plan *plan = NULL;
    for (uint32_t i = 0; i < COUNT; i++) {
        pixels[i] = (uint8_t)(i * 5);
    }
    assert_ok(weft_graph_input(&tensor, f->graph, "pixels", WEFT_U8, weft_shape_of(H, W, C)));
    assert_ok(weft_graph_reshape(&tensor, f->graph, tensor, weft_shape_of(H * W, C)));
    assert_ok(weft_graph_convert(&tensor, f->graph, tensor, WEFT_F32));
    assert_ok(weft_graph_affine(&tensor, f->graph, tensor, 0.5F, 1.0F));
    assert_ok(weft_graph_convert(&tensor, f->graph, tensor, WEFT_F16));
    assert_ok(weft_graph_output(f->graph, "halves", tensor));
    assert_ok(weft_graph_output(f->graph, "again", tensor)); /* a copy of words */
    assert_ok(weft_plan_compile(&plan, f->device, f->graph, NULL));
    assert_ok(weft_plan_get_port(plan, 0, &port));
    assert_int_equal(port.dtype, WEFT_U8);
    assert_int_equal(port.bytes, COUNT);
    assert_ok(weft_plan_get_port(plan, 1, &port));
    assert_int_equal(port.dtype, WEFT_F16);
    assert_int_equal(port.bytes, 2 * COUNT);
    uint16_t again[COUNT];
    const weft_host_tensor tensors[] = {{"pixels", pixels, sizeof pixels},
                                        {"halves", out, sizeof out},
                                        {"again", again, sizeof again}};
    assert_ok(weft_plan_execute(plan, tensors, 3));
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(value_of_half(out[i]) == pixels[i] * 0.5 + 1.0);
    }
    assert_memory_equal(out, again, sizeof out);
    weft_plan_destroy(&plan);
}

/* What depends on weights alone is run once; f16 is no weight's type, and such a graph runs all the same. */
WEFT_TEST_ON_GRAPH(constants_are_converted, f) {
    float data[6] = {1.0F, -2.5F, 65504.0F, 1e-7F, 3.0F, 2049.0F}, y[6];
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor w = weft_test_constant(r.graph, weft_shape_of(6), data);
    weft_tensor x = weft_test_feed(&r, "x", weft_shape_of(6), data);
    assert_ok(weft_graph_convert(&w, r.graph, w, WEFT_F16));
    assert_ok(weft_graph_convert(&w, r.graph, w, WEFT_F32));
    assert_ok(weft_graph_binary(&x, r.graph, WEFT_BINARY_SUBTRACT, x, w));
    weft_test_execute_to(&r, x, y);
    for (uint32_t i = 0; i < 6; i++) {
        assert_true((double)y[i] ==
                    (double)(float)((double)data[i] - nearest_half((double)data[i])));
    }
}

WEFT_TEST_ON_GRAPH(other_ops_refuse_them, f) {
    weft_tensor half, byte, number, out;
    weft_buffer *small = NULL;
    weft_weight *weight = NULL;
    const float data[4] = {0};
    assert_ok(weft_graph_input(&half, f->graph, "h", WEFT_F16, weft_shape_of(2, 2)));
    assert_ok(weft_graph_input(&byte, f->graph, "b", WEFT_U8, weft_shape_of(2, 2)));
    assert_ok(weft_graph_input(&number, f->graph, "x", WEFT_F32, weft_shape_of(2, 2)));
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_input(&out, f->graph, "z", (weft_dtype)4, weft_shape_of(2)),
                        "unknown dtype 4");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_binary(&out, f->graph, WEFT_BINARY_ADD, number, half),
                        "binary: input 1 is f16");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT, weft_graph_convert(&out, f->graph, half, WEFT_U8),
                        "not from f16 to u8");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_convert(&out, f->graph, number, WEFT_F32),
                        "not from f32 to f32");
    assert_ok(weft_graph_reshape(&byte, f->graph, byte, weft_shape_of(1, 2, 2)));
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH, weft_graph_gather(&out, f->graph, byte, 0),
                        "gather: input 0 is u8", "weft_graph_convert");
    WEFT_EXPECT_REFUSED(
        &f->host, WEFT_INVALID_ARGUMENT,
        weft_weight_create(
            &weight, weft_weight_params(.dtype = WEFT_F16, .shape = weft_shape_of(4), .data = data),
            &f->host.host),
        "a weight is f32 or i32, not f16");
    assert_ok(weft_graph_convert(&out, f->graph, byte, WEFT_F32));
    assert_ok(weft_graph_output(f->graph, "y", out));
    weft_plan *plan = NULL;
    weft_bindings *bindings = NULL;
    assert_ok(weft_plan_compile(&plan, f->device, f->graph, NULL));
    assert_ok(weft_bindings_create(&bindings, plan));
    assert_ok(weft_buffer_create(&small, f->device, 3));
    assert_ok(weft_bindings_set(bindings, "b", small)); /* of four bytes, as Weft's own are */
    small->size = 0;
    WEFT_EXPECT_REFUSED(&f->host, WEFT_SHAPE_MISMATCH, weft_bindings_set(bindings, "b", small),
                        "needs 4 bytes");
    weft_bindings_destroy(&bindings);
    weft_plan_destroy(&plan);
    weft_buffer_destroy(&small);
}
