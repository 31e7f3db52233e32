/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "verify/reference/convolution.h"

#define TWO_PI 6.28318530717958647692

/** e^(-2πi k/n) for k = 0 … n - 1, real and imaginary part in turn. */
static double *roots_of(weft_reference *ref, uint32_t n) {
    double *roots = weft_reference_array(ref, 2 * (uint64_t)n);
    for (uint32_t k = 0; roots && k < n; k++) {
        roots[2 * (uint64_t)k] = cos(TWO_PI * k / n);
        roots[2 * (uint64_t)k + 1] = -sin(TWO_PI * k / n);
    }
    return roots;
}

/* ---- FNet's sublayer ---- */

/** z [2d], real parts and then imaginary ones: the transform of x along the sequence, at frequency s. */
static void along_sequence(double *z, const double *x, const double *roots, uint32_t n, uint32_t d,
                           uint32_t s) {
    for (uint32_t c = 0; c < 2 * d; c++) {
        z[c] = 0.0;
    }
    for (uint64_t j = 0; j < n; j++) {
        const double *root = roots + 2 * (j * s % n);
        for (uint32_t c = 0; c < d; c++) {
            z[c] += root[0] * x[j * d + c];
            z[d + c] += root[1] * x[j * d + c];
        }
    }
}

/** The real part of the transform of z along the channels. */
static void along_channels(double *out, const double *z, const double *roots, uint32_t d) {
    for (uint64_t k = 0; k < d; k++) {
        out[k] = 0.0;
        for (uint64_t c = 0; c < d; c++) {
            const double *root = roots + 2 * (k * c % d);
            out[k] += root[0] * z[c] - root[1] * z[d + c];
        }
    }
}

/* ---- one long transform ---- */

struct weft_reference_transform {
    const double *roots;
    uint32_t length;
};

/** The definition, for n elements of x that are `step` apart. */
static void by_definition(const weft_reference_transform *t, double *out, const double *x,
                          uint32_t n, uint64_t step) {
    for (uint64_t k = 0; k < n; k++) {
        double sum[2] = {0.0, 0.0};
        for (uint64_t j = 0; j < n; j++) {
            const double *root = t->roots + 2 * (j * k % n) * (t->length / n);
            const double *value = x + 2 * j * step;
            sum[0] += root[0] * value[0] - root[1] * value[1];
            sum[1] += root[0] * value[1] + root[1] * value[0];
        }
        out[2 * k] = sum[0];
        out[2 * k + 1] = sum[1];
    }
}

/** With E and O the transforms of even and odd places: E_k ± e^(-2πi k/n) O_k. */
static void split(const weft_reference_transform *t, double *out, const double *x, uint32_t n,
                  uint64_t step) {
    if (n % 2 != 0) {
        by_definition(t, out, x, n, step);
        return;
    }
    const uint32_t half = n / 2;
    split(t, out, x, half, 2 * step);
    split(t, out + n, x + 2 * step, half, 2 * step);
    for (uint64_t k = 0; k < half; k++) {
        const double *root = t->roots + 2 * k * (t->length / n);
        double *low = out + 2 * k;
        double *high = out + n + 2 * k;
        const double turned[2] = {root[0] * high[0] - root[1] * high[1],
                                  root[0] * high[1] + root[1] * high[0]};
        high[0] = low[0] - turned[0];
        high[1] = low[1] - turned[1];
        low[0] += turned[0];
        low[1] += turned[1];
    }
}

static double cost_of(uint32_t n) {
    double levels = 0.0;
    uint32_t odd = n;
    for (; odd % 2 == 0; odd /= 2) {
        levels += 1.0;
    }
    return (4.0 * levels + 4.0 * odd) * n;
}

weft_reference_transform *weft_reference_make_transform(weft_reference *ref, uint32_t n,
                                                        uint32_t count) {
    if (!weft_reference_spend(ref, count * cost_of(n))) {
        return NULL;
    }
    weft_reference_transform *transform = weft_reference_memory(ref, 1, sizeof *transform);
    const double *roots = roots_of(ref, n);
    if (!roots) {
        return NULL;
    }
    *transform = (weft_reference_transform){.roots = roots, .length = n};
    return transform;
}

void weft_reference_run_transform(const weft_reference_transform *transform, double *out,
                                  const double *x) {
    split(transform, out, x, transform->length, 1);
}

/* ---- FNet's sublayer of many tokens ---- */

/** z [n, 2d]: each channel's transform along the sequence; `in` and `out` are memory for one, complex. */
static void transform_channels(double *z, double *in, double *out, const double *x, uint32_t d,
                               const weft_reference_transform *transform) {
    const uint64_t n = transform->length;
    for (uint64_t c = 0; c < d; c++) {
        for (uint64_t j = 0; j < n; j++) {
            in[2 * j] = x[j * d + c];
        }
        weft_reference_run_transform(transform, out, in);
        for (uint64_t s = 0; s < n; s++) {
            z[s * 2 * d + c] = out[2 * s];
            z[s * 2 * d + d + c] = out[2 * s + 1];
        }
    }
}

/** Transforms each channel at once, which is faster for more than a few tokens. */
static void fourier_of_all(weft_reference *ref, double *out, weft_rows rows, const double *x,
                           uint32_t n, uint32_t d) {
    const weft_reference_transform *transform = weft_reference_make_transform(ref, n, d);
    const double *roots = roots_of(ref, d);
    double *z = weft_reference_array(ref, 2 * (uint64_t)n * d);
    double *memory = weft_reference_array(ref, 4 * (uint64_t)n);
    if (!transform || !memory || !weft_reference_spend(ref, 2.0 * rows.count * d * d)) {
        return;
    }
    transform_channels(z, memory, memory + 2 * (uint64_t)n, x, d, transform);
    for (uint64_t r = 0; r < rows.count; r++) {
        along_channels(out + r * d, z + rows.at[r] * UINT64_C(2) * d, roots, d);
    }
}

static void fourier_of_some(weft_reference *ref, double *out, weft_rows rows, const double *x,
                            uint32_t n, uint32_t d) {
    if (!weft_reference_spend(ref, 2.0 * rows.count * d * ((double)n + d))) {
        return;
    }
    const double *token_roots = roots_of(ref, n);
    const double *channel_roots = roots_of(ref, d);
    double *z = weft_reference_array(ref, 2 * (uint64_t)d);
    for (uint32_t r = 0; ref->status == WEFT_OK && r < rows.count; r++) {
        along_sequence(z, x, token_roots, n, d, rows.at[r]);
        along_channels(out + (uint64_t)r * d, z, channel_roots, d);
    }
}

void weft_reference_fourier(weft_reference *ref, double *out, weft_rows rows, const double *x,
                            uint32_t n, uint32_t d) {
    if (2.0 * rows.count * n <= cost_of(n)) {
        fourier_of_some(ref, out, rows, x, n, d);
    } else {
        fourier_of_all(ref, out, rows, x, n, d);
    }
}
