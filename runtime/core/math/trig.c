/* SPDX-License-Identifier: MIT */
#include "core/math/trig.h"

/* Taylor series about 0, enough for |x| ≤ π/4: the first term left out is below 1e-18. */
static double small_sine(double x) {
    double square = x * x;
    double term = x;
    double sum = x;
    for (int i = 1; i <= 9; i++) {
        term *= -square / (double)((2 * i) * (2 * i + 1));
        sum += term;
    }
    return sum;
}

static double small_cosine(double x) {
    double square = x * x;
    double term = 1.0;
    double sum = 0.0;
    for (int i = 1; i <= 9; i++) {
        term *= -square / (double)((2 * i - 1) * (2 * i));
        sum += term;
    }
    return 1.0 + sum; /* last, so that cos 0 is 1 and small angles lose nothing */
}

void weft_unit_root(double *cosine, double *sine, uint64_t k, uint64_t n) {
    const double pi = 3.14159265358979323846;
    k %= n;
    /* The angle is quarter · π/2 + rest · π/(2n), with 2 |rest| ≤ n, in exact integers. */
    uint64_t quarter = 4 * k / n;
    int64_t rest = (int64_t)(4 * k - quarter * n);
    if (2 * rest > (int64_t)n) {
        quarter++;
        rest -= (int64_t)n;
    }
    double x = pi * (double)rest / (double)(2 * n);
    double c = small_cosine(x);
    double s = small_sine(x);
    const double cosines[4] = {c, -s, -c, s};
    const double sines[4] = {s, c, -s, -c};
    *cosine = cosines[quarter % 4];
    *sine = sines[quarter % 4];
}
