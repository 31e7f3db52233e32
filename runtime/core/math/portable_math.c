/* SPDX-License-Identifier: MIT */
#include "core/math/portable_math.h"

#include <float.h>
#include <math.h>

#if !defined(FLT_EVAL_METHOD) || FLT_EVAL_METHOD != 0
#error \
    "Portable results need double arithmetic that is rounded to double at once (FLT_EVAL_METHOD 0)."
#endif

/* ln 2 in two parts: the high one has 33 bits, so its product with an exponent is exact. */
static const double ln2_high = 0x1.62e42feep-1;
static const double ln2_low = 0x1.a39ef35793c76p-33;

double weft_portable_log(double x) {
    int exponent;
    double mantissa = frexp(x, &exponent);
    if (mantissa < 0.70710678118654752) {
        mantissa *= 2.0;
        exponent--;
    }
    /* ln m = 2 artanh s, |s| ≤ 0.172: the first term left out is below 1e-19. */
    double s = (mantissa - 1.0) / (mantissa + 1.0);
    double square = s * s;
    double sum = 0.0;
    for (int k = 23; k >= 3; k -= 2) {
        sum = (sum + 1.0 / (double)k) * square;
    }
    double e = (double)exponent;
    return e * ln2_high + (2.0 * s + (2.0 * s * sum + e * ln2_low));
}

/* Beyond these the nearest double is 0 or ∞, and the exponent leaves the range of an int far out. */
#define LEAST_EXPONENT (-746.0)
#define MOST_EXPONENT  710.0

double weft_portable_exp(double x) {
    if (!(x >= LEAST_EXPONENT && x <= MOST_EXPONENT)) {
        return isnan(x) ? x : x < 0.0 ? 0.0 : (double)INFINITY;
    }
    double scaled = x * 1.44269504088896340736;
    int exponent = (int)(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
    double e = (double)exponent;
    double rest = (x - e * ln2_high) - e * ln2_low;
    /* |rest| ≤ 0.35: the first term of Taylor's series left out is below 1e-18. */
    double sum = 1.0;
    for (int k = 14; k >= 2; k--) {
        sum = 1.0 + sum * rest / (double)k;
    }
    return ldexp(1.0 + sum * rest, exponent);
}
