/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "bench/reference.h"

/** What multiplies x: the coefficient of lag s of channel c is kernel[(zero + s) · d + c]. */
struct lags {
    const double *kernel;
    int64_t zero;
    bool causal;
};

/** y_i = Σ_j t(i - j) x_j of every channel. */
static void multiply(double *out, weft_bench_rows rows, const double *x, uint32_t n, uint32_t d,
                     const struct lags *lags) {
    for (uint64_t r = 0; r < rows.count; r++) {
        const int64_t i = rows.at[r];
        double *y = out + r * d;
        for (uint32_t c = 0; c < d; c++) {
            y[c] = 0.0;
        }
        for (int64_t j = 0; j < (lags->causal ? i + 1 : n); j++) {
            const double *t = lags->kernel + (lags->zero + i - j) * d;
            for (uint32_t c = 0; c < d; c++) {
                y[c] += t[c] * x[j * d + c];
            }
        }
    }
}

/* ---- by coefficients ---- */

/** The coefficients times γ^|lag|. */
static const double *decayed(weft_bench_reference *ref, const weft_bench_toeplitz *p,
                             uint64_t lag_count, uint64_t zero) {
    double *kernel = weft_bench_reference_array(ref, lag_count * p->d);
    for (uint64_t at = 0; kernel && at < lag_count; at++) {
        const double lag = (double)(at > zero ? at - zero : zero - at);
        for (uint32_t c = 0; c < p->d; c++) {
            kernel[at * p->d + c] = pow(p->decay[c], lag) * p->coefficients[at * p->d + c];
        }
    }
    return kernel;
}

void weft_bench_reference_toeplitz(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                   const double *x, const weft_bench_toeplitz *p) {
    const uint64_t reach = p->reach != 0 ? p->reach : p->n;
    const uint64_t lag_count = p->causal ? reach : 2 * reach - 1;
    const uint64_t zero = p->causal ? 0 : reach - 1;
    const double powers = p->decay ? 20.0 * (double)lag_count * p->d : 0.0;
    if (!weft_bench_reference_spend(ref, powers + (double)rows.count * p->n * p->d)) {
        return;
    }
    const struct lags lags = {.kernel =
                                  p->decay ? decayed(ref, p, lag_count, zero) : p->coefficients,
                              .zero = (int64_t)zero,
                              .causal = p->causal};
    if (ref->status == WEFT_OK) {
        multiply(out, rows, x, p->n, p->d, &lags);
    }
}

/* ---- by a frequency response ---- */

struct response {
    const double *bins; /* [grid + 1, 2d], causal [grid + 1, d] */
    uint32_t grid, d;
    bool causal;
};

/** All 2 grid points of one channel's spectrum, conjugated so that a forward transform is the inverse one's conjugate. */
static void fill_spectrum(double *spectrum, const struct response *p, uint32_t channel) {
    const uint64_t step = (p->causal ? UINT64_C(1) : UINT64_C(2)) * p->d;
    for (uint64_t m = 0; m <= p->grid; m++) {
        const double *bin = p->bins + m * step + channel;
        const bool real = p->causal || m == 0 || m == p->grid;
        const double imaginary = real ? 0.0 : bin[p->d];
        const uint64_t mirrored = m == 0 ? 0 : 2 * (uint64_t)p->grid - m;
        spectrum[2 * mirrored] = bin[0];
        spectrum[2 * mirrored + 1] = imaginary;
        spectrum[2 * m] = bin[0];
        spectrum[2 * m + 1] = -imaginary;
    }
}

/** kernel[(n - 1 + lag) · d + channel] from the real kernel of 2 grid points. */
static void place_kernel(double *kernel, const double *time, const struct response *p, uint32_t n,
                         uint32_t channel) {
    const int64_t points = p->grid > 0 ? 2 * (int64_t)p->grid : 1;
    for (int64_t lag = 1 - (int64_t)n; lag < (int64_t)n; lag++) {
        const double value = time[2 * ((lag + points) % points)] / (double)points;
        /* Causal: what makes it so doubles the positive lags. */
        kernel[(n - 1 + lag) * p->d + channel] = p->causal && lag > 0 ? 2.0 * value : value;
    }
}

void weft_bench_reference_toeplitz_fd(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                                      const double *x, uint32_t n, uint32_t d,
                                      const double *response, uint32_t grid, bool causal) {
    const struct response p = {.bins = response, .grid = grid, .d = d, .causal = causal};
    if (!weft_bench_reference_spend(ref, (double)rows.count * n * d)) {
        return;
    }
    double *kernel = weft_bench_reference_array(ref, (2 * (uint64_t)n - 1) * d);
    double *spectrum = weft_bench_reference_array(ref, 4 * (uint64_t)grid);
    double *time = weft_bench_reference_array(ref, 4 * (uint64_t)grid);
    weft_bench_transform *transform = weft_bench_reference_transform(ref, 2 * grid, d);
    for (uint32_t channel = 0; transform && channel < d; channel++) {
        fill_spectrum(spectrum, &p, channel);
        weft_bench_transform_run(transform, time, spectrum);
        place_kernel(kernel, time, &p, n, channel);
    }
    const struct lags lags = {.kernel = kernel, .zero = (int64_t)n - 1, .causal = causal};
    if (transform) {
        multiply(out, rows, x, n, d, &lags);
    }
}
