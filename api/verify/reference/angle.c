/* SPDX-License-Identifier: MIT */
/* Payne and Hanek, Radian Reduction for Trigonometric Functions, 1983. */
#include "verify/reference/angle.h"

#include <math.h>
#include <stdint.h>

#define SMALL    0x1p20 /* below, C libraries are right to the last place */
#define PLACES   96     /* bits of a quarter turn's multiple that are kept: two before the point */
#define FRACTION (PLACES - 2)

/* 2/π, after the point. */
static const uint32_t two_over_pi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                       0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};

/* The bit of 2/π whose value is 2^-place. */
static uint64_t bit_of(int place) {
    return place < 1 ? 0 : two_over_pi[(place - 1) / 32] >> (31 - (place - 1) % 32) & 1;
}

/*
 * x · 2/π as an angle of less than a quarter turn, and how many quarter turns it is beyond, modulo four. x = m 2^e with m of 24 bits: of 2^e 2/π, what
 * is a multiple of 4 makes no difference, and what is behind the kept bits none in 70 places.
 */
static double reduce(unsigned *quarters, double x) {
    static const double half_pi = 1.5707963267948966;
    int exponent = 0;
    const uint64_t m = (uint64_t)ldexp(frexp(fabs(x), &exponent), 24);
    uint64_t words[3] = {0}, carry = 0; /* of m times the kept bits, the lowest first */
    for (int i = 0; i < PLACES; i++) {
        const int place = exponent - 24 + FRACTION - i;
        words[i / 32] |= bit_of(place) << (i % 32);
    }
    for (int i = 0; i < 3; i++) {
        carry += words[i] * m;
        words[i] = carry & UINT32_MAX;
        carry >>= 32;
    }
    *quarters = (unsigned)(words[2] >> 30);
    const double top = (double)(words[2] & 0x3fffffff);
    return (top * 0x1p64 + (double)words[1] * 0x1p32 + (double)words[0]) * 0x1p-94 * half_pi;
}

static double at_quarter(unsigned quarters, double angle) {
    const double value = quarters % 2 == 0 ? sin(angle) : cos(angle);
    return quarters % 4 < 2 ? value : -value;
}

double weft_reference_sin(double x) {
    if (!isfinite(x) || fabs(x) < SMALL) {
        return sin(x);
    }
    unsigned quarters = 0;
    const double angle = reduce(&quarters, x);
    return copysign(1.0, x) * at_quarter(quarters, angle);
}

double weft_reference_cos(double x) {
    if (!isfinite(x) || fabs(x) < SMALL) {
        return cos(x);
    }
    unsigned quarters = 0;
    const double angle = reduce(&quarters, x);
    return at_quarter(quarters + 1, angle);
}
