/* SPDX-License-Identifier: MIT */
/* Inverse distribution functions, with the same bits on every host. */
#ifndef WEFT_CORE_QUANTILE_H
#define WEFT_CORE_QUANTILE_H

#include <stdint.h>

/** Φ⁻¹(p), the standard normal's quantile, 2^-60 ≤ p ≤ 1 - 2^-53, to about 1e-14. */
double weft_normal_quantile(double p);

/** A χ distribution with an even number of degrees of freedom. */
struct weft_chi {
    uint32_t half;        /* half the degrees of freedom */
    double log_factorial; /* ln (half - 1)! */
};

struct weft_chi weft_chi_of(uint32_t degrees);

/** The quantile of p, 2^-60 ≤ p ≤ 1 - 2^-53. */
double weft_chi_quantile(const struct weft_chi *chi, double p);

#endif
