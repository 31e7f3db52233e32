/* SPDX-License-Identifier: MIT */
/* The host's own logarithm, exponential and quantiles, against the C library and against closed forms. */
#include <math.h>

#include "core/hash.h"
#include "core/math/philox.h"
#include "core/math/portable_math.h"
#include "core/math/quantile.h"
#include "support.h"

#define SAMPLES 200000

static double unit(uint64_t index) {
    return ((double)weft_philox_u32(5, 0, index) + 0.5) * 0x1p-32;
}

static void expect_digest(const void *data, size_t size, const char *expected) {
    char text[WEFT_DIGEST_TEXT_SIZE];
    weft_digest digest = weft_digest_of(data, size);
    assert_string_equal(weft_digest_text(&digest, text), expected);
}

WEFT_TEST(logarithm) {
    assert_true(weft_portable_log(1.0) == 0.0);
    double worst = 0.0;
    static double results[SAMPLES];
    for (uint64_t i = 0; i < SAMPLES; i++) {
        double x = ldexp(unit(i), (int)(i % 200) - 100);
        if (i % 2 == 0) {
            x = 1.0 + (unit(i) - 0.5) * ldexp(1.0, -(int)(i % 40)); /* near 1, where it is small */
        }
        results[i] = weft_portable_log(x);
        double expected = log(x);
        double error = fabs(results[i] - expected) / fmax(fabs(expected), 0x1p-60);
        worst = fmax(worst, error);
    }
    assert_true(worst < 5e-16);
    expect_digest(results, sizeof results,
                  "df28976488d642e91e6e5fb362f168d99a12fa9761e522d940006a4bcf8cc4f4");
}

WEFT_TEST(exponential) {
    assert_true(weft_portable_exp(0.0) == 1.0);
    double worst = 0.0;
    static double results[SAMPLES];
    for (uint64_t i = 0; i < SAMPLES; i++) {
        double x = (2.0 * unit(i) - 1.0) * ldexp(700.0, -(int)(i % 30));
        results[i] = weft_portable_exp(x);
        worst = fmax(worst, fabs(results[i] / exp(x) - 1.0));
    }
    assert_true(worst < 6e-16);
    expect_digest(results, sizeof results,
                  "5b4e1909156bc555e90602647f8ae6d4ff24185812f7baa3ec19a37fc817840a");
}

/* Far lags of a program's "positions" ask for e to the power of −2³¹ / 1: no int holds that exponent. */
WEFT_TEST(exponential_far_out) {
    static const double far[] = {-746.5, -2147483647.0, -4294967295.0, -1e300, -(double)INFINITY};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        assert_true(weft_portable_exp(far[i]) == 0.0 && !signbit(weft_portable_exp(far[i])));
        assert_true(weft_portable_exp(-far[i]) == (double)INFINITY);
    }
    assert_true(isnan(weft_portable_exp((double)NAN)));
    for (double x = -745.0; x < -707.0; x += 1.0) { /* subnormal results */
        assert_true(fabs(weft_portable_exp(x) - exp(x)) <= 0x1p-1074 + exp(x) * 1e-15);
    }
    assert_true(fabs(weft_portable_exp(709.5) / exp(709.5) - 1.0) < 6e-16);
}

WEFT_TEST(normal_quantile_inverts_the_distribution) {
    assert_true(weft_normal_quantile(0.5) == 0.0);
    /* Φ⁻¹(0.975), known to every table. */
    assert_true(fabs(weft_normal_quantile(0.975) - 1.9599639845400542) < 1e-14);
    for (uint64_t i = 0; i < 20000; i++) {
        double p = ldexp(unit(i), -(int)(i % 50)) * 0.999;
        double x = weft_normal_quantile(p);
        double distribution = 0.5 * erfc(-x / sqrt(2.0));
        /* An error e of x is one of e φ(x)/Φ(x) < e (|x| + 1) of the distribution. */
        assert_true(fabs(distribution / p - 1.0) < 4e-14 * (fabs(x) + 1.0));
        if (p > 1e-3) {
            assert_true(fabs(weft_normal_quantile(1.0 - p) + x) < 1e-12);
        }
    }
}

WEFT_TEST(normal_quantile_is_monotonic_across_its_two_formulas) {
    double last = -100.0;
    for (int i = 1; i < 100000; i++) {
        double x = weft_normal_quantile((double)i / 100000.0);
        assert_true(x > last);
        last = x;
    }
}

WEFT_TEST(chi_quantile_inverts_the_distribution) {
    /* With two degrees of freedom the distribution is 1 - exp(-r²/2). */
    struct weft_chi two = weft_chi_of(2);
    for (int i = 1; i < 1000; i++) {
        double p = (double)i / 1000.0;
        double expected = sqrt(-2.0 * log1p(-p));
        assert_true(fabs(weft_chi_quantile(&two, p) / expected - 1.0) < 1e-11);
    }
    /* With four, 1 - exp(-x) (1 + x), x = r²/2. */
    struct weft_chi four = weft_chi_of(4);
    for (int i = 1; i < 1000; i++) {
        double p = (double)i / 1000.0;
        double r = weft_chi_quantile(&four, p);
        double x = 0.5 * r * r;
        assert_true(fabs(1.0 - exp(-x) * (1.0 + x) - p) < 1e-12);
    }
    /* The mean over stratified p is E‖ω‖² = the number of degrees of freedom; also where Σ xᵏ/k! overflows. */
    const uint32_t degrees[] = {2, 6, 64, 1000, 4096};
    for (size_t k = 0; k < sizeof degrees / sizeof degrees[0]; k++) {
        struct weft_chi chi = weft_chi_of(degrees[k]);
        double sum = 0.0;
        for (int i = 0; i < 500; i++) {
            double r = weft_chi_quantile(&chi, ((double)i + 0.5) / 500.0);
            sum += r * r;
        }
        assert_true(fabs(sum / 500.0 / (double)degrees[k] - 1.0) < 2e-3);
    }
}
