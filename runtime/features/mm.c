/* SPDX-License-Identifier: MIT */
/* Moment matching: Shen et al., "Random features for shift-invariant kernels with moment matching", 2017. */
#include <math.h>

#include "features/qmc.h"

static weft_status check(weft_features_params *params, const weft_host *host) {
    if ((uint32_t)params->sequence > WEFT_FEATURES_NORMAL) {
        return weft_features_refuse(host, params, "sequence", (uint32_t)params->sequence,
                                    "%d (Sobol'), %d (Halton) or %d (normal draws)",
                                    WEFT_FEATURES_SOBOL, WEFT_FEATURES_HALTON,
                                    WEFT_FEATURES_NORMAL);
    }
    if (params->sequence == WEFT_FEATURES_NORMAL && params->shift) {
        return weft_features_refuse(host, params, "shift", 1, "0: normal draws have no shift");
    }
    if (params->rows <= params->columns) {
        return weft_features_refuse(host, params, "rows", params->rows,
                                    "%u to %u (more than columns, or the covariance is singular)",
                                    params->columns + 1, WEFT_FEATURES_MAX_ROWS);
    }
    return WEFT_OK;
}

static void subtract_mean(double *points, uint32_t s, uint32_t d) {
    for (uint32_t j = 0; j < d; j++) {
        double sum = 0.0;
        for (uint32_t i = 0; i < s; i++) {
            sum += points[(size_t)i * d + j];
        }
        const double mean = sum / (double)s;
        for (uint32_t i = 0; i < s; i++) {
            points[(size_t)i * d + j] -= mean;
        }
    }
}

/* The lower triangle of the covariance, over s. */
static void covariance(double *out, const double *points, uint32_t s, uint32_t d) {
    for (uint32_t i = 0; i < s; i++) {
        const double *point = points + (size_t)i * d;
        for (uint32_t a = 0; a < d; a++) {
            for (uint32_t b = 0; b <= a; b++) {
                out[(size_t)a * d + b] += point[a] * point[b];
            }
        }
    }
    for (size_t i = 0; i < (size_t)d * d; i++) {
        out[i] /= (double)s;
    }
}

/* Cholesky's factor over the lower triangle in place; false when the matrix is singular but for rounding. */
static bool factorise(double *a, uint32_t d) {
    for (uint32_t i = 0; i < d; i++) {
        double *row = a + (size_t)i * d;
        const double before = row[i];
        for (uint32_t j = 0; j <= i; j++) {
            const double *other = a + (size_t)j * d;
            double sum = row[j];
            for (uint32_t k = 0; k < j; k++) {
                sum -= row[k] * other[k];
            }
            if (j < i) {
                row[j] = sum / other[j];
            } else if (sum > 1e-9 * before) {
                row[i] = sqrt(sum);
            } else {
                return false;
            }
        }
    }
    return true;
}

/* point ← Ã⁻¹ point, by forward substitution. */
static void solve(double *point, const double *factor, uint32_t d) {
    for (uint32_t j = 0; j < d; j++) {
        double sum = point[j];
        for (uint32_t k = 0; k < j; k++) {
            sum -= factor[(size_t)j * d + k] * point[k];
        }
        point[j] = sum / factor[(size_t)j * d + j];
    }
}

static weft_status match_moments(float *w, double *points, double *matrix,
                                 const weft_features_params *params, const weft_host *host) {
    const uint32_t s = params->rows;
    const uint32_t d = params->columns;
    subtract_mean(points, s, d);
    covariance(matrix, points, s, d);
    if (!factorise(matrix, d)) {
        return weft_features_refuse(host, params, "rows", s,
                                    "enough: the covariance of the points is singular; more rows, "
                                    "a shift or normal draws help");
    }
    for (uint32_t i = 0; i < s; i++) {
        solve(points + (size_t)i * d, matrix, d);
        weft_features_store(w + (size_t)i * d, points + (size_t)i * d, 1.0, d);
    }
    return WEFT_OK;
}

static weft_status fill(struct weft_features_target out, const weft_features_params *params,
                        const weft_host *host) {
    const uint32_t d = params->columns;
    double *points = weft_alloc_zero(host, params->rows, d * sizeof *points);
    double *matrix = weft_alloc_zero(host, d, d * sizeof *matrix);
    weft_status status = WEFT_OK;
    if (!points || !matrix) {
        status = weft_fail_memory(host, "moment matching");
    } else if (params->sequence == WEFT_FEATURES_NORMAL) {
        weft_sample_normals(points, weft_features_stream(params, WEFT_DRAW_GAUSSIAN), 0,
                            (uint64_t)params->rows * d);
    } else {
        status = weft_qmc_points(points, params, host);
    }
    if (status == WEFT_OK) {
        status = match_moments(out.w, points, matrix, params, host);
    }
    weft_free(host, points);
    weft_free(host, matrix);
    return status;
}

const struct weft_features_family weft_features_mm = {.name = "mm",
                                                      .options =
                                                          WEFT_OPTION_SEQUENCE | WEFT_OPTION_SHIFT,
                                                      .check = check,
                                                      .fill = fill};
