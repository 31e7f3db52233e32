/* SPDX-License-Identifier: MIT */
#include "support_reference.h"

#include <math.h>

#include "verify/reference/ops.h"

static const double *vectors(weft_reference *ref, const float *x,
                             const struct weft_test_attention *a, bool unit) {
    static const weft_reference_norm lengths = {.kind = WEFT_NORM_SCALE};
    const uint64_t count = (uint64_t)a->n * a->heads * a->width;
    double *out = weft_reference_array(ref, count);
    assert_non_null(out);
    for (uint64_t i = 0; i < count; i++) {
        out[i] = (double)x[i];
    }
    if (unit) {
        weft_reference_normalize(out, &lengths, (uint64_t)a->n * a->heads, a->width);
    }
    return out;
}

void weft_test_attention(double *out, const struct weft_test_attention *a) {
    weft_reference ref = {.status = WEFT_OK};
    const weft_reference_attention own = {.q = vectors(&ref, a->q, a, a->unit),
                                          .k = vectors(&ref, a->k, a, a->unit),
                                          .v = vectors(&ref, a->v, a, false),
                                          .n = a->n,
                                          .m = a->n,
                                          .heads = a->heads,
                                          .kv_heads = a->heads,
                                          .width = a->width,
                                          .values = a->width,
                                          .causal = a->causal};
    const weft_rows all = weft_reference_all(&ref, a->n);
    if (a->kernel) {
        weft_reference_kernel_attention(&ref, out, all, &own, NULL, 0, 0.0, NULL);
    } else {
        weft_reference_softmax_attention(&ref, out, all, &own, a->half_width, a->unit ? 1.0 : 0.0);
    }
    assert_ok(ref.status);
    weft_reference_end(&ref);
}

double weft_test_error(const float *found, const double *expected, uint64_t count) {
    double error = 0.0;
    double size = 0.0;
    for (uint64_t i = 0; i < count; i++) {
        error += ((double)found[i] - expected[i]) * ((double)found[i] - expected[i]);
        size += expected[i] * expected[i];
    }
    return error == 0.0 ? 0.0 : sqrt(error / size);
}

void weft_test_expect_near(const char *what, const float *found, const double *expected,
                           uint64_t count, double tolerance) {
    const double error = weft_test_error(found, expected, count);
    if (!(error <= tolerance)) {
        fail_msg("%s: relative L2 %g, allowed %g", what, error, tolerance);
    }
}
