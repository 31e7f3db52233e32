/* SPDX-License-Identifier: MIT */
#include "core/math/quantile.h"

#include <math.h>

#include "core/math/portable_math.h"

static const double sqrt_2_over_pi = 0.79788456080286535588;

/*
 * Φ(x)/φ(x) for x ≤ 0. Near 0 by the series Φ(x) = 1/2 + φ(x)(x + x³/3 + x⁵/(3·5) + …), further out by the continued
 * fraction 1/(y + 1/(y + 2/(y + 3/…))) of y = -x: Abramowitz and Stegun, 26.2.11 and 26.2.14.
 */
static double mills_ratio(double x) {
    double y = -x;
    if (y < 2.5) {
        double square = y * y;
        double term = y;
        double sum = y;
        for (int k = 3; k <= 81; k += 2) {
            term *= square / (double)k;
            sum += term;
        }
        return weft_portable_exp(0.5 * square) / sqrt_2_over_pi - sum;
    }
    double fraction = y;
    for (int k = 120; k >= 1; k--) {
        fraction = y + (double)k / fraction;
    }
    return 1.0 / fraction;
}

/*
 * For p < 1/2, Newton's method on ln Φ(x) = ln p. Φ(x) ≤ exp(-x²/2)/2 for x ≤ 0 puts the start left of the root, and as
 * ln Φ is concave every step goes right and none too far: the first that does not is the end.
 */
static double lower_quantile(double p) {
    double log_p = weft_portable_log(p);
    double x = -sqrt(-2.0 * (log_p + 0.69314718055994530942));
    for (int i = 0; i < 40; i++) {
        double ratio = mills_ratio(x);
        /* ln Φ = ln(ratio · φ), ln φ = -x²/2 - ln √(2π). */
        double log_phi = weft_portable_log(ratio) - 0.5 * x * x - 0.91893853320467274178;
        double next = x + (log_p - log_phi) * ratio;
        if (!(next > x)) {
            break;
        }
        x = next;
    }
    return x;
}

double weft_normal_quantile(double p) {
    if (p == 0.5) {
        return 0.0;
    }
    return p < 0.5 ? lower_quantile(p) : -lower_quantile(1.0 - p);
}

struct weft_chi weft_chi_of(uint32_t degrees) {
    struct weft_chi chi = {.half = degrees / 2};
    for (uint32_t k = 2; k < chi.half; k++) {
        chi.log_factorial += weft_portable_log((double)k);
    }
    return chi;
}

/*
 * Probability that χ²/2 exceeds x: e⁻ˣ Σ xᵏ/k! over k < half (Abramowitz and Stegun, 26.4.21), from the largest term
 * outwards so that none overflows.
 */
static double upper_tail(const struct weft_chi *chi, double x) {
    uint32_t peak = x < (double)(chi->half - 1) ? (uint32_t)x : chi->half - 1;
    double log_factorial = chi->log_factorial;
    for (uint32_t k = chi->half - 1; k > peak; k--) {
        log_factorial -= weft_portable_log((double)k);
    }
    double exponent = (double)peak * weft_portable_log(x) - x - log_factorial;
    if (exponent < -700.0) {
        return 0.0; /* only in the tail above: the largest term of all is never that small */
    }
    double largest = weft_portable_exp(exponent);
    double sum = largest;
    double term = largest;
    for (uint32_t k = peak; k > 0; k--) {
        term *= (double)k / x;
        sum += term;
    }
    term = largest;
    for (uint32_t k = peak + 1; k < chi->half; k++) {
        term *= x / (double)k;
        sum += term;
    }
    return sum;
}

double weft_chi_quantile(const struct weft_chi *chi, double p) {
    /* Bisection: beyond the upper end there is less than e⁻⁷⁰ (Chernoff's bound). */
    double low = 0.0;
    double high = 2.0 * (double)chi->half + 100.0;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (1.0 - upper_tail(chi, middle) < p) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return sqrt(low + high); /* r = √(2x) */
}
