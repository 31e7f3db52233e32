/* SPDX-License-Identifier: MIT */
#include "core/math/half.h"

#include <stdbool.h>
#include <string.h>

#define FLOAT_INFINITY    0x7F800000u
#define FLOAT_LEAST_LARGE 0x477FF000u /* 65520, halfway between the largest half and 65536 */
#define FLOAT_LEAST_HALF  0x38800000u /* 2^-14, the smallest normal half */
#define FLOAT_VANISHING   0x33000000u /* 2^-25, halfway between 0 and the smallest half */

static float float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float weft_float_of_half(uint16_t half) {
    uint32_t sign = (half & 0x8000u) << 16;
    uint32_t exponent = (uint32_t)half >> 10 & 0x1Fu;
    uint32_t mantissa = half & 0x3FFu;
    if (exponent == 0x1F) {
        return float_of_bits(sign | FLOAT_INFINITY | mantissa << 13);
    }
    if (exponent != 0) {
        return float_of_bits(sign | (exponent + 112) << 23 | mantissa << 13);
    }
    float magnitude = (float)mantissa * 0x1p-24f; /* subnormal or zero */
    return sign != 0 ? -magnitude : magnitude;
}

/* Below 2^-14: a multiple of 2^-24. Rounding up may reach 2^-14, whose bits follow on. */
static uint32_t subnormal_half(uint32_t magnitude) {
    if (magnitude <= FLOAT_VANISHING) {
        return 0;
    }
    uint32_t mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
    uint32_t shift = 126 - (magnitude >> 23);
    uint32_t quotient = mantissa >> shift;
    uint32_t remainder = mantissa & ((1u << shift) - 1);
    uint32_t tie = 1u << (shift - 1);
    bool up = remainder > tie || (remainder == tie && (quotient & 1u) != 0);
    return quotient + up;
}

uint16_t weft_half_of_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t magnitude = bits & 0x7FFFFFFFu;
    uint32_t half;
    if (magnitude > FLOAT_INFINITY) {
        half = 0x7E00u | (magnitude >> 13 & 0x1FFu);
    } else if (magnitude >= FLOAT_LEAST_LARGE) {
        half = 0x7C00u;
    } else if (magnitude >= FLOAT_LEAST_HALF) {
        uint32_t odd = magnitude >> 13 & 1u;
        half = ((magnitude + 0xFFFu + odd) >> 13) - (112u << 10);
    } else {
        half = subnormal_half(magnitude);
    }
    return (uint16_t)(sign | half);
}

float weft_float_of_bfloat(uint16_t bfloat) {
    return float_of_bits((uint32_t)bfloat << 16);
}

uint16_t weft_bfloat_of_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7FFFFFFFu) > FLOAT_INFINITY) {
        return (uint16_t)(bits >> 16 | 0x40u);
    }
    return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}
