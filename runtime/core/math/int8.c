/* SPDX-License-Identifier: MIT */
#include "core/math/int8.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define LEAST 0x1p-119F /* below, a scale would be subnormal */

struct weft_int8_scaling weft_int8_scaling_of(float largest) {
    const float most = WEFT_INT8_MOST;
    return largest < LEAST
               ? (struct weft_int8_scaling){0}
               : (struct weft_int8_scaling){.scale = largest / most, .inverse = most / largest};
}

/* 1.5 2^23 leaves a whole number in the low bits of a sum. */
int8_t weft_int8_of(float value, struct weft_int8_scaling scaling) {
    const float flushed = fabsf(value) < FLT_MIN ? 0.0F : value;
    const float scaled = flushed * scaling.inverse;
    const float sum = scaled + 12582912.0F;
    uint32_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return (int8_t)((int32_t)bits - 0x4B400000);
}

bool weft_int8_is_scale(float scale) {
    return (scale >= FLT_MIN && scale <= FLT_MAX) || (scale == 0.0F && !signbit(scale));
}
