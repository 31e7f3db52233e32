/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "verify/reference/convolution.h"

enum { CUBIC_WEIGHTS = 4 };

static uint32_t points_of(const weft_reference_ski_params *p) {
    return p->points != 0 ? p->points : p->steps;
}

static double spacing_of(const weft_reference_ski_params *p) {
    const double points = points_of(p);
    return points > 1.0 ? (p->n - 1.0) / (points - 1.0) : 1.0;
}

/** The elements of row i of W that are not 0: `count` of them from column `first` on. */
struct interpolation {
    uint32_t first, count;
    double weight[CUBIC_WEIGHTS];
};

/** Lagrange's polynomials of the inducing points around position i, at i. */
static struct interpolation interpolate(const weft_reference_ski_params *p, uint32_t i) {
    const uint32_t points = points_of(p);
    const uint32_t wanted = p->interpolation == WEFT_INTERPOLATION_CUBIC ? CUBIC_WEIGHTS : 2;
    struct interpolation row = {.count = wanted < points ? wanted : points};
    const double at = points > 1 ? i / spacing_of(p) : 0.0;
    const int64_t centred = (int64_t)at - (row.count == CUBIC_WEIGHTS ? 1 : 0);
    const int64_t last = (int64_t)points - row.count;
    row.first = (uint32_t)(centred < 0 ? 0 : centred > last ? last : centred);
    for (uint32_t a = 0; a < row.count; a++) {
        row.weight[a] = 1.0;
        for (uint32_t b = 0; b < row.count; b++) {
            row.weight[a] *= a == b ? 1.0 : (at - row.first - b) / ((double)a - (double)b);
        }
    }
    return row;
}

/** RPE(x(lag)) of every channel; the row in the middle of the grid counts as 0. */
static void kernel_at(double *out, const weft_reference_ski_params *p, double lag) {
    const double warped = pow((double)p->gamma, fabs(lag));
    const double at = ((lag < 0.0 ? -warped : warped) + 1.0) * p->steps;
    const uint32_t below = (uint32_t)fmin(at, 2.0 * p->steps - 1.0);
    const double part = at - below;
    const double *low = p->rpe + (uint64_t)below * p->d;
    for (uint32_t c = 0; c < p->d; c++) {
        out[c] = (below == p->steps ? 0.0 : (1.0 - part) * low[c]) +
                 (below + 1 == p->steps ? 0.0 : part * low[p->d + c]);
    }
}

/** z = Wᵀ x, [points, d]. */
static void gather(double *z, const double *x, const weft_reference_ski_params *p) {
    for (uint32_t i = 0; i < p->n; i++) {
        const struct interpolation row = interpolate(p, i);
        for (uint32_t a = 0; a < row.count; a++) {
            for (uint32_t c = 0; c < p->d; c++) {
                z[(uint64_t)(row.first + a) * p->d + c] +=
                    row.weight[a] * x[(uint64_t)i * p->d + c];
            }
        }
    }
}

/** v = A z, A_ij = RPE(x(p_i - p_j)); `kernel` is memory for its [2 points - 1, d] lags. */
static void mix_points(double *v, double *kernel, const double *z,
                       const weft_reference_ski_params *p) {
    const int64_t points = points_of(p);
    for (int64_t lag = 1 - points; lag < points; lag++) {
        kernel_at(kernel + (points - 1 + lag) * p->d, p, (double)lag * spacing_of(p));
    }
    for (int64_t i = 0; i < points; i++) {
        for (int64_t j = 0; j < points; j++) {
            const double *a = kernel + (points - 1 + i - j) * p->d;
            for (uint32_t c = 0; c < p->d; c++) {
                v[i * p->d + c] += a[c] * z[j * p->d + c];
            }
        }
    }
}

/** Token i of T_sparse x + W v. */
static void write_token(double *out, const double *x, const double *v,
                        const weft_reference_ski_params *p, uint32_t i) {
    const struct interpolation row = interpolate(p, i);
    const int64_t half = p->tap_count / 2;
    for (uint32_t c = 0; c < p->d; c++) {
        out[c] = 0.0;
        for (uint32_t a = 0; a < row.count; a++) {
            out[c] += row.weight[a] * v[(uint64_t)(row.first + a) * p->d + c];
        }
    }
    for (int64_t lag = -half; p->taps && lag <= half; lag++) {
        const int64_t j = (int64_t)i - lag;
        for (uint32_t c = 0; j >= 0 && j < (int64_t)p->n && c < p->d; c++) {
            out[c] += p->taps[(lag + half) * p->d + c] * x[j * p->d + c];
        }
    }
}

void weft_reference_ski(weft_reference *ref, double *out, weft_rows rows, const double *x,
                        const weft_reference_ski_params *p) {
    const uint64_t points = points_of(p);
    const double cost = (double)p->n * (p->d + 10.0) * CUBIC_WEIGHTS +
                        (double)points * (double)points * p->d +
                        (double)rows.count * p->tap_count * p->d;
    if (!weft_reference_spend(ref, cost)) {
        return;
    }
    double *z = weft_reference_array(ref, points * p->d);
    double *v = weft_reference_array(ref, points * p->d);
    double *kernel = weft_reference_array(ref, 2 * points * p->d);
    if (kernel) {
        gather(z, x, p);
        mix_points(v, kernel, z, p);
    }
    for (uint64_t r = 0; kernel && r < rows.count; r++) {
        write_token(out + r * p->d, x, v, p, rows.at[r]);
    }
}
