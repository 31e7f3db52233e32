/* SPDX-License-Identifier: MIT */
/* Powers of discretely-induced random features: Likhosherstov et al., "Chefs' random tables", 2022. */
#include <math.h>

#include "core/math/portable_math.h"
#include "core/try.h"
#include "features/discrete.h"
#include "features/family.h"

#define LARGEST_POWER \
    1023 /* what shaders/include/discrete_features.glsl takes; no draw comes near */

#define LARGEST_LOGARITHM 87.0 /* of a weight: e^±87 are normal float32 numbers */

/** A distribution of 0, 1, 2, … by p(0) and p(k)/p(k-1) = factor / divisor(k). */
struct distribution {
    double first;
    double factor;
    bool poisson; /* divisor(k) = k, otherwise 1 */
    double log_first, log_factor;
};

static struct distribution distribution_of(const weft_features_params *params) {
    const double rate = (double)params->rate;
    const bool poisson = params->kind == WEFT_FEATURES_POISSON;
    struct distribution d = {.poisson = poisson, .factor = poisson ? rate : 1.0 - rate};
    d.first = poisson ? weft_portable_exp(-rate) : rate;
    d.log_first = poisson ? -rate : weft_portable_log(rate);
    d.log_factor = weft_portable_log(d.factor);
    return d;
}

/** Uniform in (0, 1), from two words. */
static double unit(struct weft_stream stream, uint64_t index) {
    const uint64_t high = weft_sample_word(stream, 2 * index);
    const uint64_t low = weft_sample_word(stream, 2 * index + 1);
    return ((double)(high << 20 | low >> 12) + 0.5) * 0x1p-52;
}

/** By inversion: the first k at which p(0) + … + p(k) reaches a uniform number, or stops growing. */
static uint32_t draw(const struct distribution *d, double u) {
    uint32_t k = 0;
    double p = d->first;
    double sum = p;
    while (sum < u && k < LARGEST_POWER) {
        p *= d->factor / (d->poisson ? (double)(k + 1) : 1.0);
        if (sum > 0.5 && sum + p == sum) {
            break;
        }
        sum += p;
        k++;
    }
    return k;
}

static double log_factorial(uint32_t k) {
    double sum = 0.0;
    for (uint32_t i = 2; i <= k; i++) {
        sum += weft_portable_log((double)i);
    }
    return sum;
}

/** ln 1/(k! p(k)): the factorials of a Poisson distribution cancel. */
static double log_weight(const struct distribution *d, uint32_t k) {
    const double power = -d->log_first - (double)k * d->log_factor;
    return d->poisson ? power : power - log_factorial(k);
}

static weft_status check_rate(weft_features_params *params, const weft_host *host, double usual,
                              double least, double largest) {
    const double rate = params->rate != 0.0F ? (double)params->rate : usual;
    if (!(rate >= least && rate <= largest)) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "features: rate of %s is %g, not %g to %g",
                         weft_features_name(params->kind), rate, least, largest);
    }
    params->rate = (float)rate;
    return WEFT_OK;
}

static weft_status check_poisson(weft_features_params *params, const weft_host *host) {
    return check_rate(params, host, 1.0, 0x1p-10, 64.0);
}

static weft_status check_geometric(weft_features_params *params, const weft_host *host) {
    return check_rate(params, host, 0.5, 1.0 / 16.0, 15.0 / 16.0);
}

static weft_status row_weight(float *weight, const float *powers, uint32_t row,
                              const struct distribution *d, const weft_features_params *params,
                              const weft_host *host) {
    double logarithm = -weft_portable_log((double)params->rows);
    for (uint32_t j = 0; j < params->columns; j++) {
        logarithm += log_weight(d, (uint32_t)powers[j]);
    }
    if (!(logarithm < LARGEST_LOGARITHM)) {
        return weft_fail(
            host, WEFT_INVALID_ARGUMENT,
            "features: rate of %s is %g: weight %u over %u columns is e^%.0f, above e^%.0f",
            weft_features_name(params->kind), (double)params->rate, row, params->columns, logarithm,
            LARGEST_LOGARITHM);
    }
    *weight = logarithm > -LARGEST_LOGARITHM ? (float)weft_portable_exp(logarithm) : 0.0F;
    return WEFT_OK;
}

static weft_status fill_weights(float *weights, const float *w, const weft_features_params *params,
                                const weft_host *host) {
    const struct distribution d = distribution_of(params);
    for (uint32_t i = 0; i < params->rows; i++) {
        const float *powers = w + (size_t)i * params->columns;
        WEFT_TRY(row_weight(&weights[i], powers, i, &d, params, host));
    }
    return WEFT_OK;
}

static weft_status fill(struct weft_features_target out, const weft_features_params *params,
                        const weft_host *host) {
    const struct weft_stream stream = weft_features_stream(params, WEFT_DRAW_POWER);
    const struct distribution d = distribution_of(params);
    const uint64_t elements = (uint64_t)params->rows * params->columns;
    for (uint64_t at = 0; at < elements; at++) {
        out.w[at] = (float)draw(&d, unit(stream, at));
    }
    return fill_weights(out.weights, out.w, params, host);
}

weft_status weft_features_discrete_weights(float *weights, const float *w,
                                           const weft_features_params *params,
                                           const weft_host *host) {
    weft_features_params taken = *params;
    WEFT_TRY(taken.kind == WEFT_FEATURES_POISSON ? check_poisson(&taken, host)
                                                 : check_geometric(&taken, host));
    const size_t elements = (size_t)taken.rows * taken.columns;
    for (size_t at = 0; at < elements; at++) {
        const float power = w[at];
        if (!(power >= 0.0F && power <= LARGEST_POWER && floorf(power) == power)) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT,
                             "features: element %zu of w is %g, not a whole number from 0 to %d",
                             at, (double)power, LARGEST_POWER);
        }
    }
    return fill_weights(weights, w, &taken, host);
}

const struct weft_features_family weft_features_poisson = {.name = "poisson",
                                                           .options = WEFT_OPTION_RATE,
                                                           .weighted = true,
                                                           .check = check_poisson,
                                                           .fill = fill};

const struct weft_features_family weft_features_geometric = {.name = "geometric",
                                                             .options = WEFT_OPTION_RATE,
                                                             .weighted = true,
                                                             .check = check_geometric,
                                                             .fill = fill};
