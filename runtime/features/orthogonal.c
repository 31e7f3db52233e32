/* SPDX-License-Identifier: MIT */
#include "features/orthogonal.h"

#include <math.h>
#include <string.h>

/* x - 2 v (vᵀx)/(vᵀv) over n elements; a zero v is the identity. */
static void reflect(double *x, const double *v, double square, uint32_t n) {
    if (square == 0.0) {
        return;
    }
    double product = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        product += v[i] * x[i];
    }
    double factor = 2.0 * product / square;
    for (uint32_t i = 0; i < n; i++) {
        x[i] -= factor * v[i];
    }
}

static double sum_of_squares(const double *x, uint32_t n) {
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sum;
}

/* Turns column k (a row in memory) into its reflector, from element k on, and reflects the columns behind it. */
static void factor_column(double *columns, double *squares, double *signs, uint32_t k,
                          uint32_t count, uint32_t n) {
    double *v = columns + (size_t)k * n + k;
    double norm = sqrt(sum_of_squares(v, n - k));
    /* R's diagonal is -norm for a first element ≥ 0: the sign that does not cancel. */
    signs[k] = v[0] < 0.0 || norm == 0.0 ? 1.0 : -1.0;
    v[0] -= signs[k] * norm;
    squares[k] = sum_of_squares(v, n - k);
    for (uint32_t j = k + 1; j < count; j++) {
        reflect(columns + (size_t)j * n + k, v, squares[k], n - k);
    }
}

weft_status weft_haar_rows(double *out, uint32_t count, uint32_t n, struct weft_stream stream,
                           uint64_t first, const weft_host *host) {
    double *columns = weft_alloc_zero(host, (size_t)count * n + 2 * (size_t)count, sizeof *columns);
    if (!columns) {
        return weft_fail_memory(host, "an orthogonal matrix");
    }
    double *squares = columns + (size_t)count * n;
    double *signs = squares + count;
    weft_sample_normals(columns, stream, first * n, (uint64_t)count * n);
    for (uint32_t k = 0; k < count; k++) {
        factor_column(columns, squares, signs, k, count, n);
    }
    memset(out, 0, (size_t)count * n * sizeof *out);
    for (uint32_t i = 0; i < count; i++) {
        double *row = out + (size_t)i * n;
        row[i] = signs[i];
        for (uint32_t k = i + 1; k-- > 0;) {
            reflect(row + k, columns + (size_t)k * n + k, squares[k], n - k);
        }
    }
    weft_free(host, columns);
    return WEFT_OK;
}
