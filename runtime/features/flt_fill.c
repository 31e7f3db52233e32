/* SPDX-License-Identifier: MIT */
/* Parameters, draws and public functions of FLT's frequencies and weights. */
#include <math.h>

#include "core/given.h"
#include "core/host.h"
#include "core/math/portable_math.h"
#include "core/math/trig.h"
#include "core/try.h"
#include "features/flt_transform.h"
#include "features/sample.h"

#define PI    3.14159265358979323846
#define LEAST 0x1p-20F /* of sigma, widths and radii */
#define MOST  0x1p20F

static const char *const names[WEFT_FLT_KIND_COUNT] = {
    "gaussian_mixture", "molecular", "local", "gaussian_kernel", "laplace_kernel", "cauchy_kernel"};

const char *weft_flt_name(weft_flt_kind kind) {
    return (uint32_t)kind < WEFT_FLT_KIND_COUNT ? names[kind] : "unknown weft_flt_kind";
}

/* ---- checking ---- */

static weft_status refuse_u32(const weft_host *host, const char *name, uint32_t value,
                              uint32_t first, uint32_t last) {
    return weft_fail(host, WEFT_INVALID_ARGUMENT, "flt: %s is %u, not %u to %u", name, value, first,
                     last);
}

static bool in_range(float value) {
    return value >= LEAST && value <= MOST; /* false for a NaN */
}

static weft_status check_sizes(const weft_flt_params *params, const weft_host *host) {
    if ((uint32_t)params->kind >= WEFT_FLT_KIND_COUNT) {
        return refuse_u32(host, "kind", (uint32_t)params->kind, 0, WEFT_FLT_KIND_COUNT - 1);
    }
    if (params->count < 1 || params->count > WEFT_FLT_MAX_COUNT) {
        return refuse_u32(host, "count", params->count, 1, WEFT_FLT_MAX_COUNT);
    }
    if (params->dimensions < 1 || params->dimensions > WEFT_FLT_MAX_DIMENSIONS) {
        return refuse_u32(host, "dimensions", params->dimensions, 1, WEFT_FLT_MAX_DIMENSIONS);
    }
    if (params->terms > WEFT_FLT_MAX_TERMS) {
        return refuse_u32(host, "terms", params->terms, 0, WEFT_FLT_MAX_TERMS);
    }
    return WEFT_OK;
}

/* Parameters that a kind does not use are 0: a caller who sets one expects it to do something. */
static weft_status check_used(const weft_flt_params *params, const weft_host *host) {
    const bool local = params->kind == WEFT_FLT_LOCAL;
    const struct {
        const char *name;
        bool given;
        bool used;
    } fields[] = {
        {"widths", params->widths != NULL, !local},
        {"centres", params->centres != NULL, params->kind == WEFT_FLT_GAUSSIAN_MIXTURE},
        {"radii", params->radii != NULL, local},
        {"powers", params->powers != NULL, local},
        {"sigma", params->sigma != 0.0F, !weft_flt_is_matched(params->kind)},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].given && !fields[i].used) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT,
                             "flt: %s is given, but %s has no such parameter", fields[i].name,
                             weft_flt_name(params->kind));
        }
    }
    if (local && !params->radii) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "flt: radii is null, but local needs them");
    }
    return WEFT_OK;
}

static weft_status check_finite(const float *values, uint32_t count, const char *name,
                                const weft_host *host) {
    for (uint32_t i = 0; values && i < count; i++) {
        if (!isfinite(values[i])) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT, "flt: %s[%u] is %g, not finite", name, i,
                             (double)values[i]);
        }
    }
    return WEFT_OK;
}

static weft_status check_range(const float *values, uint32_t count, const char *name,
                               const weft_host *host) {
    for (uint32_t i = 0; values && i < count; i++) {
        if (!in_range(values[i])) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT, "flt: %s[%u] is %g, not 2^-20 to 2^20",
                             name, i, (double)values[i]);
        }
    }
    return WEFT_OK;
}

static weft_status check_arrays(const weft_flt_params *params, const weft_host *host) {
    const uint32_t each = params->terms * params->dimensions;
    WEFT_TRY(check_finite(params->coefficients, params->terms, "coefficients", host));
    WEFT_TRY(check_range(params->widths, params->terms, "widths", host));
    WEFT_TRY(check_finite(params->centres, each, "centres", host));
    WEFT_TRY(check_range(params->radii, each, "radii", host));
    for (uint32_t i = 0; params->powers && i < each; i++) {
        if (params->powers[i] < 1 || params->powers[i] > WEFT_FLT_MAX_POWER) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT, "flt: powers[%u] is %u, not 1 to %u", i,
                             params->powers[i], WEFT_FLT_MAX_POWER);
        }
    }
    return WEFT_OK;
}

/* The caller's parameters, checked, with defaults for zeros. */
static weft_status take_params(weft_flt_params *taken, const weft_flt_params *params,
                               const weft_host *host) {
    *taken = *params;
    WEFT_TRY(check_sizes(taken, host));
    WEFT_TRY(check_used(taken, host));
    taken->terms = taken->terms != 0 ? taken->terms : 1;
    if (!weft_flt_is_matched(taken->kind)) {
        taken->sigma = taken->sigma != 0.0F ? taken->sigma : 1.0F;
        if (!in_range(taken->sigma)) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT, "flt: sigma is %g, not 2^-20 to 2^20",
                             (double)taken->sigma);
        }
    }
    return check_arrays(taken, host);
}

/* ---- draws ---- */

/* Streams of their own, behind those of features/sample.h: W of the attention may have the same seed. */
enum flt_draw { DRAW_NORMAL = 64, DRAW_UNIFORM = 65, DRAW_SIGN = 66, DRAW_TERM = 67 };

static struct weft_stream stream_of(const weft_flt_params *params, enum flt_draw draw) {
    return (struct weft_stream){.seed = params->seed,
                                .stream = ((uint64_t)params->matrix << 32) | (uint64_t)draw};
}

/* A term with probability |w_t| / Σ |w_t|. */
static uint32_t draw_term(const weft_flt_params *params, uint32_t k) {
    const double goal = weft_sample_unit(stream_of(params, DRAW_TERM), k) * weft_flt_total(params);
    double sum = 0.0;
    uint32_t chosen = 0;
    for (uint32_t t = 0; t < params->terms; t++) {
        const double size = fabs(weft_flt_coefficient(params, t));
        chosen = size > 0.0 ? t : chosen; /* rounding may leave the goal above the sum */
        sum += size;
        if (sum >= goal && size > 0.0) {
            break;
        }
    }
    return chosen;
}

/* tan(π (u - 1/2)), u = (word + 1/2)/2^32: the Cauchy distribution. */
static double draw_cauchy(const weft_flt_params *params, uint64_t index) {
    const uint64_t turn = UINT64_C(1) << 34;
    const uint64_t word = weft_sample_word(stream_of(params, DRAW_UNIFORM), index);
    double cosine;
    double sine;
    weft_unit_root(&cosine, &sine, turn + 2 * word + 1 - (turn >> 2), turn);
    return sine / cosine;
}

/* ±ln u: the Laplace distribution. */
static double draw_laplace(const weft_flt_params *params, uint64_t index) {
    return weft_portable_log(weft_sample_unit(stream_of(params, DRAW_UNIFORM), index)) *
           weft_sample_sign(stream_of(params, DRAW_SIGN), index);
}

static void draw_frequency(float *frequency, const weft_flt_params *params, uint32_t k) {
    const uint32_t l = params->dimensions;
    const uint64_t first = (uint64_t)k * l;
    double draw[WEFT_FLT_MAX_DIMENSIONS];
    const bool matched = weft_flt_is_matched(params->kind);
    double scale = (double)params->sigma;
    if (matched) {
        scale = 1.0 / (2.0 * PI * weft_flt_width(params, draw_term(params, k)));
    }
    if (params->kind == WEFT_FLT_LAPLACE_KERNEL || params->kind == WEFT_FLT_CAUCHY_KERNEL) {
        for (uint32_t j = 0; j < l; j++) {
            draw[j] = params->kind == WEFT_FLT_LAPLACE_KERNEL ? draw_cauchy(params, first + j)
                                                              : draw_laplace(params, first + j);
        }
    } else {
        weft_sample_normals(draw, stream_of(params, DRAW_NORMAL), first, l);
    }
    for (uint32_t j = 0; j < l; j++) {
        frequency[j] = (float)(scale * draw[j]);
    }
}

/* ---- public functions ---- */

static weft_status fill_weights(float *weights, const float *frequencies,
                                const weft_flt_params *params, const weft_host *host) {
    for (uint32_t k = 0; k < params->count; k++) {
        const double weight =
            weft_flt_weight_at(params, frequencies + (size_t)k * params->dimensions);
        weights[k] = (float)weight;
        if (!isfinite(weights[k])) {
            return weft_fail(
                host, WEFT_INVALID_ARGUMENT,
                "flt: weights[%u] is %g, not a finite float32: frequency %u is too far "
                "out for sigma %g, or the terms are too large",
                k, weight, k, (double)params->sigma);
        }
    }
    return WEFT_OK;
}

weft_status weft_flt_fill(float *frequencies, float *weights, const weft_flt_params *params,
                          const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN(host, frequencies, weights, params);
    weft_flt_params taken;
    WEFT_TRY(take_params(&taken, params, host));
    for (uint32_t k = 0; k < taken.count; k++) {
        draw_frequency(frequencies + (size_t)k * taken.dimensions, &taken, k);
    }
    return fill_weights(weights, frequencies, &taken, host);
}

/* Given frequencies, which are the caller's: a NaN would go through every formula unseen. */
static weft_status check_frequencies(const float *frequencies, const weft_flt_params *params,
                                     const weft_host *host) {
    return check_finite(frequencies, params->count * params->dimensions, "frequencies", host);
}

weft_status weft_flt_weights(float *weights, const float *frequencies,
                             const weft_flt_params *params, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN(host, weights, frequencies, params);
    weft_flt_params taken;
    WEFT_TRY(take_params(&taken, params, host));
    WEFT_TRY(check_frequencies(frequencies, &taken, host));
    return fill_weights(weights, frequencies, &taken, host);
}

weft_status weft_flt_transform(double *transform, const float *frequencies,
                               const weft_flt_params *params, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN(host, transform, frequencies, params);
    weft_flt_params taken;
    WEFT_TRY(take_params(&taken, params, host));
    WEFT_TRY(check_frequencies(frequencies, &taken, host));
    for (uint32_t k = 0; k < taken.count; k++) {
        transform[k] = weft_flt_transform_at(&taken, frequencies + (size_t)k * taken.dimensions);
    }
    return WEFT_OK;
}
