/* SPDX-License-Identifier: MIT */
/* Ops on arrays of bounded numbers. */
#include <math.h>

#include "verify/bounded.h"

#define TWO_PI 6.28318530717958647693

void weft_bounded_matmul(weft_bounded *out, const weft_bounded *a, const weft_bounded *b,
                         weft_reference_product p) {
    weft_bounded alpha = weft_bounded_parameter((float)p.alpha);
    for (uint64_t row = 0; row < p.m; row++) {
        for (uint64_t column = 0; column < p.n; column++) {
            weft_bounded_sum sum = {0};
            for (uint64_t k = 0; k < p.k; k++) {
                weft_bounded_sum_add_product(
                    &sum, a[p.transpose_a ? k * p.m + row : row * p.k + k],
                    b[p.transpose_b ? column * p.k + k : k * p.n + column]);
            }
            out[row * p.n + column] = weft_bounded_multiply(alpha, weft_bounded_sum_end(&sum));
        }
    }
}

void weft_bounded_add_arrays(weft_bounded *out, const weft_bounded *a, const weft_bounded *b,
                             uint64_t count, uint64_t period) {
    for (uint64_t i = 0; i < count; i++) {
        out[i] = weft_bounded_add(a[i], b[i % period]);
    }
}

/* ---- rows ---- */

static weft_bounded mean_of(const weft_bounded *x, uint32_t columns) {
    weft_bounded_sum sum = {0};
    for (uint32_t column = 0; column < columns; column++) {
        weft_bounded_sum_add(&sum, x[column]);
    }
    return weft_bounded_divide(weft_bounded_sum_end(&sum), weft_bounded_exact(columns));
}

static weft_bounded variance_of(const weft_bounded *x, weft_bounded mean, uint32_t columns) {
    weft_bounded_sum squares = {0};
    for (uint32_t column = 0; column < columns; column++) {
        weft_bounded centred = weft_bounded_subtract(x[column], mean);
        weft_bounded_sum_add_product(&squares, centred, centred);
    }
    return weft_bounded_divide(weft_bounded_sum_end(&squares), weft_bounded_exact(columns));
}

/* An overflow of finite numbers on the way: the formula itself stays finite. */
static weft_bounded unless_overflowed(weft_bounded value) {
    return isinf(value.value) ? (weft_bounded){.value = 0.0, .error = INFINITY} : value;
}

void weft_bounded_layer_norm(weft_bounded *out, const weft_bounded *x, const weft_bounded *gamma,
                             const weft_bounded *beta, uint32_t rows, uint32_t columns,
                             double epsilon) {
    weft_bounded added = weft_bounded_parameter((float)epsilon);
    for (uint32_t row = 0; row < rows; row++, x += columns, out += columns) {
        bool is_finite = true;
        for (uint32_t column = 0; column < columns; column++) {
            is_finite = is_finite && isfinite(x[column].value);
        }
        weft_bounded mean = mean_of(x, columns);
        mean = is_finite ? unless_overflowed(mean) : mean;
        weft_bounded variance = variance_of(x, mean, columns);
        variance = is_finite ? unless_overflowed(variance) : variance;
        weft_bounded deviation = weft_bounded_sqrt(weft_bounded_add(variance, added));
        for (uint32_t column = 0; column < columns; column++) {
            weft_bounded centred = weft_bounded_subtract(x[column], mean);
            weft_bounded normalized = weft_bounded_divide(centred, deviation);
            out[column] =
                weft_bounded_add(weft_bounded_multiply(normalized, gamma[column]), beta[column]);
        }
    }
}

/* Index of the largest; NaN and unknown values count as larger than all. */
static uint32_t find_largest(const weft_bounded *x, uint32_t columns) {
    uint32_t largest = 0;
    for (uint32_t column = 0; column < columns; column++) {
        if (isnan(x[column].value) || isinf(x[column].error)) {
            return column;
        }
        largest = x[column].value > x[largest].value ? column : largest;
    }
    return largest;
}

/* exp(x - largest); a difference that overflows is as good as -infinity. */
static weft_bounded shifted_exp(weft_bounded x, weft_bounded largest) {
    weft_bounded difference = weft_bounded_subtract(x, largest);
    bool is_known = isfinite(x.value + x.error) && isfinite(largest.value + largest.error);
    bool is_far = is_known && x.value - largest.value < -1e30 && isinf(difference.error);
    return weft_bounded_exp(is_far ? weft_bounded_exact(-INFINITY) : difference);
}

/* The largest less itself is 0, however little is known of it; a shift of all changes nothing. */
void weft_bounded_softmax(weft_bounded *out, const weft_bounded *x, uint32_t rows,
                          uint32_t columns) {
    for (uint32_t row = 0; row < rows; row++, x += columns, out += columns) {
        uint32_t at = find_largest(x, columns);
        weft_bounded largest = x[at];
        weft_bounded_sum sum = {0};
        for (uint32_t column = 0; column < columns; column++) {
            bool is_itself = column == at && isfinite(largest.value + largest.error);
            out[column] = is_itself ? weft_bounded_exp(weft_bounded_exact(0.0))
                                    : shifted_exp(x[column], largest);
            weft_bounded_sum_add(&sum, out[column]);
        }
        weft_bounded total = weft_bounded_sum_end(&sum);
        for (uint32_t column = 0; column < columns; column++) {
            out[column] = weft_bounded_divide(out[column], total);
        }
    }
}

/* ---- Fourier ---- */

/* Contents of a sequence. */
struct content {
    double size;  /* Σ |x| */
    double error; /* Σ of their errors */
    bool has_nan, has_infinite;
};

static struct content content_of(const weft_bounded *x, uint64_t count) {
    struct content content = {0};
    for (uint64_t i = 0; i < count; i++) {
        content.has_nan = content.has_nan || isnan(x[i].value);
        content.has_infinite = content.has_infinite || isinf(x[i].value) || isinf(x[i].error);
        bool is_known = isfinite(x[i].value + x[i].error);
        content.size += is_known ? fabs(x[i].value) + x[i].error : 0.0;
        content.error += is_known ? x[i].error : 0.0;
    }
    return content;
}

/* Re Σ x exp(-2πi (jk/d + st/n)), and whether a NaN has a part in it. */
static double transform(bool *is_nan, const weft_bounded *x, uint64_t s, uint64_t k, uint32_t n,
                        uint32_t d) {
    double sum = 0.0;
    *is_nan = false;
    for (uint64_t t = 0; t < n; t++) {
        for (uint64_t j = 0; j < d; j++, x++) {
            uint64_t turns = (j * k * n + s * t * d) % ((uint64_t)n * d);
            double root = cos(TWO_PI * (double)turns / ((double)n * d));
            if (isnan(x->value)) {
                *is_nan = *is_nan || fabs(root) > 1e-9;
            } else if (isfinite(x->value)) {
                sum += x->value * root;
            }
        }
    }
    return sum;
}

/*
 * An intermediate number of a fast algorithm is below n d Σ|x|: Rader's convolution multiplies by a
 * transform of roots. Where a NaN's root is 0 an algorithm need not look at it.
 */
void weft_bounded_fourier(weft_bounded *out, const weft_bounded *x, uint32_t n, uint32_t d) {
    const uint64_t count = (uint64_t)n * d;
    const double growth = (double)count;
    struct content content = content_of(x, count);
    weft_bounded range = weft_bounded_near(growth * content.size, 0.0);
    bool in_range = isfinite(range.value) && isfinite(range.error) && !content.has_infinite;
    for (uint64_t i = 0; i < count; i++) {
        bool is_nan;
        double sum = transform(&is_nan, x, i / d, i % d, n, d);
        double error = content.error + 0x1p-20 * content.size + growth * growth * 0x1p-126;
        if (is_nan) {
            out[i] = weft_bounded_exact(NAN);
        } else if (in_range && !content.has_nan) {
            out[i] = weft_bounded_near(sum, error);
        } else {
            out[i] = (weft_bounded){.value = 0.0, .error = INFINITY};
        }
    }
}

/* ---- cases ---- */

weft_bounded *weft_bounded_scratch(weft_case *c, uint64_t count) {
    return weft_reference_memory(&c->ref, count, sizeof(weft_bounded));
}

weft_bounded *weft_bounded_of(weft_case *c, const double *value, uint64_t count) {
    weft_bounded *elements = weft_bounded_scratch(c, count);
    for (uint64_t i = 0; elements && i < count; i++) {
        elements[i] = weft_bounded_exact(value[i]);
    }
    return elements;
}

void weft_bounded_expect(weft_case *c, const weft_bounded *result) {
    double *allowed = weft_case_allowed(c);
    if (!allowed) {
        return;
    }
    weft_case_port *port = &c->outputs[c->output_count - 1];
    for (uint64_t i = 0; i < port->count; i++) {
        port->value[i] = result[i].value;
        allowed[i] = result[i].error;
    }
}
