/* SPDX-License-Identifier: MIT */
#include "features/flt_transform.h"

#include <math.h>

#include "core/math/portable_math.h"
#include "core/math/trig.h"

#define PI            3.14159265358979323846
#define ROOT_2PI      2.50662827463100050242
#define EXPONENT_ROOM 700.0 /* of weft_portable_exp */

/* A term of g as factor · exp(exponent), so that exponents can be put together before they leave any range. */
struct term {
    double factor;
    double exponent;
};

bool weft_flt_is_matched(weft_flt_kind kind) {
    return kind >= WEFT_FLT_GAUSSIAN_KERNEL;
}

double weft_flt_coefficient(const weft_flt_params *params, uint32_t term) {
    return params->coefficients ? (double)params->coefficients[term] : 1.0;
}

double weft_flt_width(const weft_flt_params *params, uint32_t term) {
    return params->widths ? (double)params->widths[term] : 1.0;
}

double weft_flt_total(const weft_flt_params *params) {
    double total = 0.0;
    for (uint32_t t = 0; t < params->terms; t++) {
        total += fabs(weft_flt_coefficient(params, t));
    }
    return total;
}

static double power(double base, uint32_t exponent) {
    double result = 1.0;
    for (uint32_t i = 0; i < exponent; i++) {
        result *= base;
    }
    return result;
}

static double exponential(double x) {
    if (x > EXPONENT_ROOM) {
        return INFINITY;
    }
    return x < -EXPONENT_ROOM ? 0.0 : weft_portable_exp(x);
}

static double square_distance(const float *frequency, const float *centre, uint32_t dimensions) {
    double sum = 0.0;
    for (uint32_t j = 0; j < dimensions; j++) {
        const double part = (double)frequency[j] - (centre ? (double)centre[j] : 0.0);
        sum += part * part;
    }
    return sum;
}

/* sin(2π v ξ)/(π ξ). The product of two float32 numbers is exact, and so is what is left of it modulo 1. */
static double box_transform(double radius, double frequency) {
    const double turns = radius * frequency;
    if (fabs(turns) < 0x1p-13) {
        /* Taylor's series; the first term left out is below 1e-22. */
        const double square = 2.0 * PI * turns * (2.0 * PI * turns);
        return 2.0 * radius * (1.0 - square / 6.0 * (1.0 - square / 20.0));
    }
    const double part = turns - floor(turns);
    double cosine;
    double sine;
    weft_unit_root(&cosine, &sine, (uint64_t)(part * 0x1p61), UINT64_C(1) << 61);
    return sine / (PI * frequency);
}

static double local_transform(const weft_flt_params *params, uint32_t t, const float *frequency) {
    double product = 1.0;
    for (uint32_t j = 0; j < params->dimensions; j++) {
        const size_t at = (size_t)t * params->dimensions + j;
        const double box = box_transform((double)params->radii[at], (double)frequency[j]);
        product *= power(box, params->powers ? params->powers[at] : 1);
    }
    return product;
}

/* The exponent of a product of one-dimensional densities, with `scale` = 2π h. */
static double product_exponent(weft_flt_kind kind, const float *frequency, double scale,
                               uint32_t dimensions) {
    double sum = 0.0;
    for (uint32_t j = 0; j < dimensions; j++) {
        const double x = scale * fabs((double)frequency[j]);
        sum -= kind == WEFT_FLT_LAPLACE_KERNEL ? weft_portable_log(1.0 + x * x) : x;
    }
    return sum;
}

static struct term term_at(const weft_flt_params *params, uint32_t t, const float *frequency) {
    const uint32_t l = params->dimensions;
    const double width = weft_flt_width(params, t);
    const float *centre = params->centres ? params->centres + (size_t)t * l : NULL;
    struct term term = {.factor = weft_flt_coefficient(params, t)};
    const double square = square_distance(frequency, centre, l);
    switch (params->kind) {
    case WEFT_FLT_GAUSSIAN_MIXTURE:
        term.exponent = -square / (2.0 * width * width);
        break;
    case WEFT_FLT_LOCAL:
        term.factor *= local_transform(params, t, frequency);
        break;
    case WEFT_FLT_GAUSSIAN_KERNEL:
        term.factor *= power(ROOT_2PI * width, l);
        term.exponent = -2.0 * PI * PI * width * width * square;
        break;
    case WEFT_FLT_LAPLACE_KERNEL:
        term.factor *= power(2.0 * width, l);
        term.exponent = product_exponent(params->kind, frequency, 2.0 * PI * width, l);
        break;
    case WEFT_FLT_CAUCHY_KERNEL:
        term.factor *= power(PI * width, l);
        term.exponent = product_exponent(params->kind, frequency, 2.0 * PI * width, l);
        break;
    default: /* WEFT_FLT_MOLECULAR */
        term.exponent = -2.0 * PI * PI * width * width * square;
        break;
    }
    return term;
}

/* Σ_t g_t exp(shift). */
static double shifted_transform(const weft_flt_params *params, const float *frequency,
                                double shift) {
    double sum = 0.0;
    for (uint32_t t = 0; t < params->terms; t++) {
        const struct term term = term_at(params, t, frequency);
        sum += term.factor * exponential(term.exponent + shift);
    }
    return sum;
}

double weft_flt_transform_at(const weft_flt_params *params, const float *frequency) {
    return shifted_transform(params, frequency, 0.0);
}

/* g over Σ |g_t| / Σ |w_t|, the latter the density: the g_t / w_t of a kernel are densities. */
static double matched_weight(const weft_flt_params *params, const float *frequency) {
    double largest = -INFINITY;
    for (uint32_t t = 0; t < params->terms; t++) {
        const struct term term = term_at(params, t, frequency);
        largest = term.factor != 0.0 && term.exponent > largest ? term.exponent : largest;
    }
    double sum = 0.0;
    double size = 0.0;
    for (uint32_t t = 0; t < params->terms; t++) {
        const struct term term = term_at(params, t, frequency);
        if (term.factor != 0.0) {
            const double share = term.factor * exponential(term.exponent - largest);
            sum += share;
            size += fabs(share);
        }
    }
    return size > 0.0 ? weft_flt_total(params) * (sum / size) : 0.0;
}

double weft_flt_weight_at(const weft_flt_params *params, const float *frequency) {
    if (weft_flt_is_matched(params->kind)) {
        return matched_weight(params, frequency);
    }
    const double sigma = (double)params->sigma;
    const double shift =
        square_distance(frequency, NULL, params->dimensions) / (2.0 * sigma * sigma);
    return power(ROOT_2PI * sigma, params->dimensions) *
           shifted_transform(params, frequency, shift);
}
