/* SPDX-License-Identifier: MIT */
/* Conversions from and to binary16. */
#include <math.h>

#include "core/math/half.h"
#include "support.h"

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* By the definition: sign, exponent with bias 15, ten bits of mantissa. */
static double half_value(uint32_t half) {
    int exponent = (int)(half >> 10 & 31);
    double mantissa = half & 1023;
    double magnitude =
        exponent == 0 ? ldexp(mantissa, -24) : ldexp(1024.0 + mantissa, exponent - 25);
    return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

WEFT_TEST(test_every_half) {
    for (uint32_t half = 0; half < 0x10000; half++) {
        float value = weft_float_of_half((uint16_t)half);
        if ((half & 0x7fff) > 0x7c00) {
            assert_true(isnan(value));
            assert_int_equal(weft_half_of_float(value), half | 0x200); /* quiet */
            continue;
        }
        if ((half & 0x7fff) == 0x7c00) {
            assert_true(isinf(value) && (value < 0) == (half > 0x8000));
        } else {
            assert_true((double)value == half_value(half));
        }
        assert_int_equal(signbit(value) != 0, half >= 0x8000);
        assert_int_equal(weft_half_of_float(value), half);
    }
}

/* The points halfway between two neighbours, and the floats on either side of them. */
WEFT_TEST(test_every_tie) {
    for (uint32_t half = 0; half < 0x7bff; half++) {
        float tie = (float)((half_value(half) + half_value(half + 1)) / 2.0);
        uint32_t even = half + (half & 1);
        assert_int_equal(weft_half_of_float(tie), even);
        assert_int_equal(weft_half_of_float(float_of(bits_of(tie) - 1)), half);
        assert_int_equal(weft_half_of_float(float_of(bits_of(tie) + 1)), half + 1);
        assert_int_equal(weft_half_of_float(-tie), 0x8000 | even);
    }
}

WEFT_TEST(test_overflow) {
    assert_int_equal(weft_half_of_float(65504.0f), 0x7bff);
    assert_int_equal(weft_half_of_float(float_of(bits_of(65520.0f) - 1)), 0x7bff);
    assert_int_equal(weft_half_of_float(65520.0f), 0x7c00);
    assert_int_equal(weft_half_of_float(-65520.0f), 0xfc00);
    assert_int_equal(weft_half_of_float(3.4e38f), 0x7c00);
    assert_int_equal(weft_half_of_float(INFINITY), 0x7c00);
    assert_int_equal(weft_half_of_float(-INFINITY), 0xfc00);
}

WEFT_TEST(test_underflow) {
    assert_int_equal(weft_half_of_float(0x1p-24f), 1);
    assert_int_equal(weft_half_of_float(0x1p-25f), 0); /* a tie */
    assert_int_equal(weft_half_of_float(float_of(bits_of(0x1p-25f) + 1)), 1);
    assert_int_equal(weft_half_of_float(0x1p-126f), 0);
    assert_int_equal(weft_half_of_float(float_of(1)), 0);
    assert_int_equal(weft_half_of_float(float_of(0x80000001)), 0x8000);
    assert_int_equal(weft_half_of_float(-0.0f), 0x8000);
    assert_int_equal(weft_half_of_float(0x1.ffcp-15f), 0x3ff + 1); /* a tie that becomes normal */
}

WEFT_TEST(test_nan) {
    assert_int_equal(weft_half_of_float(float_of(0x7fc00000)), 0x7e00);
    assert_int_equal(weft_half_of_float(float_of(0xffc00000)), 0xfe00);
    /* One whose payload is all in the bits that a half lacks must not turn into infinity. */
    assert_int_equal(weft_half_of_float(float_of(0x7f800001)), 0x7e00);
}
