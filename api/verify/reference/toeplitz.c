/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "verify/reference/convolution.h"

/** Factors of x: the coefficient of lag s of channel c is kernel[(zero + s) · d + c]. */
struct lags {
    const double *kernel;
    int64_t zero;
    bool causal;
};

/** y_i = Σ_j t(i - j) x_j of every channel. */
static void multiply(double *out, weft_rows rows, const double *x, uint32_t n, uint32_t d,
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
static const double *decayed(weft_reference *ref, const weft_reference_toeplitz_params *p,
                             uint64_t lag_count, uint64_t zero) {
    double *kernel = weft_reference_array(ref, lag_count * p->d);
    for (uint64_t at = 0; kernel && at < lag_count; at++) {
        const double lag = (double)(at > zero ? at - zero : zero - at);
        for (uint32_t c = 0; c < p->d; c++) {
            kernel[at * p->d + c] = pow(p->decay[c], lag) * p->coefficients[at * p->d + c];
        }
    }
    return kernel;
}

void weft_reference_toeplitz(weft_reference *ref, double *out, weft_rows rows, const double *x,
                             const weft_reference_toeplitz_params *p) {
    const uint64_t reach = p->reach != 0 ? p->reach : p->n;
    const uint64_t lag_count = p->causal ? reach : 2 * reach - 1;
    const uint64_t zero = p->causal ? 0 : reach - 1;
    const double powers = p->decay ? 20.0 * (double)lag_count * p->d : 0.0;
    if (!weft_reference_spend(ref, powers + (double)rows.count * p->n * p->d)) {
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

/** All 2 grid points of one channel's spectrum, conjugated so that a forward transform is the inverse one's conjugate. */
static void fill_spectrum(double *spectrum, const weft_reference_fd_params *p, uint32_t channel) {
    const uint64_t step = (p->causal ? UINT64_C(1) : UINT64_C(2)) * p->d;
    for (uint64_t m = 0; m <= p->grid; m++) {
        const double *bin = p->response + m * step + channel;
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
static void place_kernel(double *kernel, const double *time, const weft_reference_fd_params *p,
                         uint32_t channel) {
    const int64_t n = p->n;
    const int64_t points = 2 * (int64_t)p->grid;
    for (int64_t lag = 1 - n; lag < n; lag++) {
        const double value = time[2 * (lag < 0 ? lag + points : lag)] / (double)points;
        /* Causal: what makes it so doubles the positive lags. */
        kernel[(n - 1 + lag) * p->d + channel] = p->causal && lag > 0 ? 2.0 * value : value;
    }
}

void weft_reference_toeplitz_fd(weft_reference *ref, double *out, weft_rows rows, const double *x,
                                const weft_reference_fd_params *p) {
    if (!weft_reference_spend(ref, (double)rows.count * p->n * p->d)) {
        return;
    }
    double *kernel = weft_reference_array(ref, (2 * (uint64_t)p->n - 1) * p->d);
    double *spectrum = weft_reference_array(ref, 4 * (uint64_t)p->grid);
    double *time = weft_reference_array(ref, 4 * (uint64_t)p->grid);
    weft_reference_transform *transform = weft_reference_make_transform(ref, 2 * p->grid, p->d);
    for (uint32_t channel = 0; transform && channel < p->d; channel++) {
        fill_spectrum(spectrum, p, channel);
        weft_reference_run_transform(transform, time, spectrum);
        place_kernel(kernel, time, p, channel);
    }
    const struct lags lags = {.kernel = kernel, .zero = (int64_t)p->n - 1, .causal = p->causal};
    if (transform) {
        multiply(out, rows, x, p->n, p->d, &lags);
    }
}
