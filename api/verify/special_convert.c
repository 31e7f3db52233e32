/* SPDX-License-Identifier: MIT */
/* Conversions to f16, u8 or i32 and back to f32, of every kind of number: the bits of the nearest number that the type has. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verify/bounded.h"

static const struct row {
    weft_dtype dtype;
    weft_shape shape;
    float scale; /* before: so that bytes see more than 0 and 1 */
    weft_values values;
} rows[] = {
    {WEFT_F16, {1, {1}}, 1.0F, WEFT_VALUES_UNIT},
    {WEFT_F16, {1, {1021}}, 1.0F, WEFT_VALUES_UNIT},
    {WEFT_F16, {2, {37, 31}}, 1.0F, WEFT_VALUES_MIXED},
    {WEFT_F16, {3, {3, 43, 129}}, 0x1p-12F, WEFT_VALUES_MIXED}, /* half of them subnormal */
    {WEFT_F16, {2, {129, 7}}, 0x1p12F, WEFT_VALUES_MIXED},
    {WEFT_F16, {1, {WEFT_EDGE_COUNT}}, 1.0F, WEFT_VALUES_EDGES},
    {WEFT_F16, {2, {61, 5}}, 1.0F, WEFT_VALUES_NAN},
    {WEFT_F16, {2, {61, 5}}, 1.0F, WEFT_VALUES_INFINITE},
    {WEFT_F16, {2, {127, 3}}, 1.0F, WEFT_VALUES_SUBNORMAL},
    {WEFT_F16, {1, {301}}, 1.0F, WEFT_VALUES_HUGE},
    {WEFT_F16, {1, {300}}, 1.0F, WEFT_VALUES_ZEROS},
    {WEFT_U8, {1, {1}}, 255.0F, WEFT_VALUES_UNIT},
    {WEFT_U8, {1, {1021}}, 300.0F, WEFT_VALUES_UNIT},
    {WEFT_U8, {3, {5, 43, 3}}, 1.0F, WEFT_VALUES_HUNDREDS},
    {WEFT_U8, {2, {129, 7}}, 1.0F, WEFT_VALUES_MIXED},
    {WEFT_U8, {1, {WEFT_EDGE_COUNT}}, 1.0F, WEFT_VALUES_EDGES},
    {WEFT_U8, {2, {61, 5}}, 100.0F, WEFT_VALUES_NAN},
    {WEFT_U8, {2, {61, 5}}, 100.0F, WEFT_VALUES_INFINITE},
    {WEFT_U8, {1, {333}}, 1.0F, WEFT_VALUES_EQUAL}, /* a tie */
    {WEFT_U8, {1, {333}}, 3.0F, WEFT_VALUES_EQUAL},
    {WEFT_U8, {1, {2050}}, 1.0F, WEFT_VALUES_TENS},
    {WEFT_I32, {1, {1}}, 1.0F, WEFT_VALUES_HUNDREDS},
    {WEFT_I32, {2, {37, 31}}, 1.0F, WEFT_VALUES_MIXED},
    {WEFT_I32, {1, {1021}}, 0x1p32F, WEFT_VALUES_UNIT},
    {WEFT_I32, {2, {129, 7}}, 0x1p26F, WEFT_VALUES_UNIT},
    {WEFT_I32, {1, {WEFT_EDGE_COUNT}}, 1.0F, WEFT_VALUES_EDGES},
    {WEFT_I32, {2, {61, 5}}, 100.0F, WEFT_VALUES_NAN},
    {WEFT_I32, {2, {61, 5}}, 100.0F, WEFT_VALUES_INFINITE},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/elements=%u%s", weft_dtype_name(row->dtype),
             weft_values_name(row->values), (uint32_t)weft_shape_elements(row->shape),
             WEFT_CASE_PART(row->scale != 1.0F, ",scale=%g", (double)row->scale));
}

/* The nearest number of binary16, ties to even: 11 significant bits, or a multiple of 2^-24. */
static double nearest_half(double x) {
    int exponent = 0;
    (void)frexp(x, &exponent);
    const int last = (exponent < -13 ? -13 : exponent) - 11;
    return fabs(x) >= 65520.0 ? copysign((double)INFINITY, x)
                              : copysign(ldexp(nearbyint(ldexp(x, -last)), last), x);
}

/* NaN is 0. */
static double nearest_byte(double x) {
    return !(x > 0.0) ? 0.0 : x > 255.0 ? 255.0 : nearbyint(x);
}

/* Without the fraction, as float32 has it; NaN is 0. */
static double nearest_whole(double x) {
    return isnan(x) ? 0.0 : x >= 0x1p31 ? 0x1p31 - 1.0 : x < -0x1p31 ? -0x1p31 : trunc(x) + 0.0;
}

static double nearest(weft_dtype dtype, double value) {
    return dtype == WEFT_F16   ? nearest_half(value)
           : dtype == WEFT_I32 ? nearest_whole(value)
                               : nearest_byte(value);
}

static uint32_t expected_word(const struct row *row, double value) {
    if (isnan(value) && row->dtype == WEFT_F16) {
        return 0x7fc00000;
    }
    const float number = (float)nearest(row->dtype, value);
    uint32_t word;
    memcpy(&word, &number, sizeof word);
    return word;
}

static void build(weft_case *c, const struct row *row) {
    weft_array x = weft_case_input(c, "x", row->shape, row->values);
    weft_tensor y = x.tensor;
    if (row->scale != 1.0F) {
        weft_case_check(c, weft_graph_affine(&y, c->graph, y, row->scale, 0.0F));
    }
    weft_case_check(c, weft_graph_convert(&y, c->graph, y, row->dtype));
    weft_case_check(c, weft_graph_convert(&y, c->graph, y, WEFT_F32));
    weft_case_output(c, "y", y);
    const uint64_t count = weft_shape_elements(row->shape);
    uint32_t *words = weft_reference_memory(&c->ref, count, sizeof *words);
    for (uint64_t i = 0; words && c->ref.status == WEFT_OK && i < count; i++) {
        /* Result of affine: -0 becomes +0, but a scale of 1 adds nothing. */
        const double scaled = row->scale == 1.0F
                                  ? x.value[i]
                                  : (double)(float)(x.value[i] * (double)row->scale + 0.0);
        words[i] = expected_word(row, scaled);
    }
    weft_case_expect_words(c, words);
}

WEFT_SPECIAL_TABLE(convert, rows, WEFT_TOLERANCE_BITS, name_case, build);
