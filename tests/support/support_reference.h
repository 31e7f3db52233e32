/* SPDX-License-Identifier: MIT */
/* Attention in float64, by the definitions of api/verify/reference. */
#ifndef WEFT_TESTS_SUPPORT_REFERENCE_H
#define WEFT_TESTS_SUPPORT_REFERENCE_H

#include "support.h"
#include "verify/reference/attention.h"

/** One sequence: [n, heads · width] each. */
struct weft_test_attention {
    const float *q, *k, *v;
    uint32_t n, heads, width;
    bool causal;
    bool unit;           /* queries and keys are divided by their lengths, and the scale is 1 */
    bool kernel;         /* elu(x) + 1 in place of softmax */
    uint32_t half_width; /* of softmax: UINT32_MAX for all */
};

/** out [n, heads · width]. */
void weft_test_attention(double *out, const struct weft_test_attention *attention);

/** |found - expected| / |expected|, both L2 norms; 0 where nothing differs. */
double weft_test_error(const float *found, const double *expected, uint64_t count);

/** Fails where that is more than `tolerance`; what: whose it is. */
void weft_test_expect_near(const char *what, const float *found, const double *expected,
                           uint64_t count, double tolerance);

#endif
