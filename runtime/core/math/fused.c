/* SPDX-License-Identifier: MIT */
#include "core/math/fused.h"

#include <stdbool.h>

#define SIGN     UINT32_C(0x80000000)
#define INFINITE UINT32_C(0x7F800000)
#define NOT      UINT32_C(0x7FC00000)
#define FRACTION UINT32_C(0x007FFFFF)
#define HIDDEN   UINT32_C(0x00800000) /* also the bits of 2^-126 */

/* A magnitude of 64 bits, times 2^exponent. */
struct term {
    uint64_t magnitude;
    int32_t exponent;
    bool negative;
};

static int32_t exponent_of(uint32_t x) {
    return (int32_t)(x >> 23 & 255);
}

/* With the hidden bit; 0 for a subnormal. */
static uint64_t significand_of(uint32_t x) {
    return exponent_of(x) == 0 ? 0 : (x & FRACTION) | HIDDEN;
}

static bool is_nan(uint32_t x) {
    return (x & ~SIGN) > INFINITE;
}

static bool is_infinite(uint32_t x) {
    return (x & ~SIGN) == INFINITE;
}

static bool is_zero(uint32_t x) {
    return exponent_of(x) == 0;
}

/* Result for operands of which some are infinite or NaN. */
static uint32_t special(uint32_t a, uint32_t b, uint32_t c) {
    const bool infinite = is_infinite(a) || is_infinite(b);
    const uint32_t sign = (a ^ b) & SIGN;
    if (is_nan(a) || is_nan(b) || is_nan(c) || (infinite && (is_zero(a) || is_zero(b))) ||
        (infinite && is_infinite(c) && sign != (c & SIGN))) {
        return NOT;
    }
    return infinite ? sign | INFINITE : c;
}

/* Shifted to the right, with the lowest bit set where bits that are not zero went out. */
static uint64_t shift_jamming(uint64_t x, int32_t count) {
    if (count > 63) {
        return x != 0;
    }
    return count == 0 ? x : x >> count | (x << (64 - count) != 0);
}

/* The exact sum but for its last bits, which the lowest one stands for. Of two terms whose exponents differ by more than one, the
 * sum keeps 58 bits or more; else nothing is shifted out, since both end in zeros. */
static struct term add(struct term x, struct term y) {
    const struct term *big =
        x.magnitude != 0 && (y.magnitude == 0 || x.exponent >= y.exponent) ? &x : &y;
    const struct term *small = big == &x ? &y : &x;
    const uint64_t shifted = small->magnitude == 0
                                 ? 0
                                 : shift_jamming(small->magnitude, big->exponent - small->exponent);
    struct term sum = *big;
    if (big->negative == small->negative) {
        sum.magnitude += shifted;
    } else if (sum.magnitude >= shifted) {
        sum.magnitude -= shifted;
        sum.negative = sum.magnitude != 0 && sum.negative;
    } else {
        sum.magnitude = shifted - sum.magnitude;
        sum.negative = small->negative;
    }
    return sum;
}

static uint32_t round_once(struct term sum) {
    const uint32_t sign = sum.negative ? SIGN : 0;
    if (sum.magnitude == 0) {
        return sign;
    }
    while (sum.magnitude >> 63 == 0) {
        sum.magnitude <<= 1;
        sum.exponent--;
    }
    const uint64_t tail = sum.magnitude & UINT64_C(0xFFFFFFFFFF), half = UINT64_C(1) << 39;
    uint32_t rounded = (uint32_t)(sum.magnitude >> 40);
    rounded += tail > half || (tail == half && (rounded & 1) != 0) ? 1 : 0;
    int32_t exponent = sum.exponent + 63 + 127; /* of the leading bit, as it is stored */
    if (rounded == HIDDEN << 1) {
        rounded = HIDDEN;
        exponent++;
    }
    return exponent < 1     ? sign
           : exponent > 254 ? sign | INFINITE
                            : sign | (uint32_t)exponent << 23 | (rounded & FRACTION);
}

uint32_t weft_fused_multiply_add(uint32_t a, uint32_t b, uint32_t c) {
    if (exponent_of(a) == 255 || exponent_of(b) == 255 || exponent_of(c) == 255) {
        return special(a, b, c);
    }
    /* The leading bits are bit 60 or 61, and bit 60. A significand is worth 2^-150 at the exponent 0. */
    const struct term product = {.magnitude = significand_of(a) * significand_of(b) << 14,
                                 .exponent = exponent_of(a) + exponent_of(b) - 300 - 14,
                                 .negative = ((a ^ b) & SIGN) != 0};
    const struct term addend = {.magnitude = significand_of(c) << 37,
                                .exponent = exponent_of(c) - 150 - 37,
                                .negative = (c & SIGN) != 0};
    return round_once(add(product, addend));
}
