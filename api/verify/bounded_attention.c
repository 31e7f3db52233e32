/* SPDX-License-Identifier: MIT */
/* Attention of bounded numbers, linear and by softmax. */
#include <math.h>

#include "verify/bounded.h"

static const weft_bounded anything = {.value = 0.0, .error = INFINITY};

/* One query and head, whose first feature and value are those of the pointers. */
struct query {
    const weft_bounded *phi, *psi, *v;
    uint64_t feature_step, value_step; /* from token to token */
    uint32_t count;                    /* keys that it reads */
};

/* A denominator kept away from 0, with its sign. */
static weft_bounded guarded(weft_bounded x, float epsilon) {
    double least = epsilon > 0.0F ? (double)epsilon : 0x1p-126;
    if (isnan(x.value) || isinf(x.error) || fabs(x.value) - x.error >= least) {
        return x;
    }
    bool is_small = fabs(x.value) + x.error < least;
    bool has_sign = x.error == 0.0 || fabs(x.value) > x.error;
    return is_small && has_sign ? weft_bounded_exact(copysign(least, x.value)) : anything;
}

static weft_bounded score(const struct query *query, const weft_bounded_attention *a, uint64_t j) {
    weft_bounded_sum sum = {0};
    for (uint32_t f = 0; f < a->features; f++) {
        weft_bounded_sum_add_product(&sum, query->phi[f], query->psi[j * query->feature_step + f]);
    }
    return weft_bounded_sum_end(&sum);
}

/* (φ·ψ) v over (φ·ψ) 1. scores [keys] is scratch. */
static void by_scores(weft_bounded *out, weft_bounded *scores, const struct query *query,
                      const weft_bounded_attention *a) {
    weft_bounded_sum denominator = {0};
    for (uint64_t j = 0; j < query->count; j++) {
        scores[j] = score(query, a, j);
        weft_bounded_sum_add(&denominator, scores[j]);
    }
    weft_bounded divisor = guarded(weft_bounded_sum_end(&denominator), a->epsilon);
    for (uint32_t t = 0; t < a->values; t++) {
        weft_bounded_sum sum = {0};
        for (uint64_t j = 0; j < query->count; j++) {
            weft_bounded_sum_add_product(&sum, scores[j], query->v[j * query->value_step + t]);
        }
        out[t] = weft_bounded_divide(weft_bounded_sum_end(&sum), divisor);
    }
}

/* Σ_f φ_f Σ_j ψ_jf v_jt, or with t = a->values Σ_f φ_f Σ_j ψ_jf. */
static weft_bounded by_state_at(const struct query *query, const weft_bounded_attention *a,
                                uint32_t t) {
    weft_bounded_sum sum = {0};
    for (uint32_t f = 0; f < a->features; f++) {
        weft_bounded_sum state = {0};
        for (uint64_t j = 0; j < query->count; j++) {
            weft_bounded feature = query->psi[j * query->feature_step + f];
            if (t == a->values) {
                weft_bounded_sum_add(&state, feature);
            } else {
                weft_bounded_sum_add_product(&state, feature, query->v[j * query->value_step + t]);
            }
        }
        weft_bounded_sum_add_product(&sum, query->phi[f], weft_bounded_sum_end(&state));
    }
    return weft_bounded_sum_end(&sum);
}

/* Joins two bounds: the wider one, or a NaN or infinity that both have. */
static weft_bounded both(weft_bounded a, weft_bounded b) {
    if (isinf(a.error) || isinf(b.error)) {
        return anything;
    }
    if (isfinite(a.value) && isfinite(b.value)) {
        return a.error >= b.error ? a : b;
    }
    bool same = isnan(a.value) ? isnan(b.value) : a.value == b.value;
    return same ? a : anything;
}

static void attend(weft_bounded *out, weft_bounded *scores, const struct query *query,
                   const weft_bounded_attention *a) {
    by_scores(out, scores, query, a);
    weft_bounded divisor = guarded(by_state_at(query, a, a->values), a->epsilon);
    for (uint32_t t = 0; t < a->values; t++) {
        out[t] = both(out[t], weft_bounded_divide(by_state_at(query, a, t), divisor));
    }
}

void weft_bounded_linear_attention(weft_case *c, weft_bounded *out, const weft_bounded *phi,
                                   const weft_bounded *psi, const weft_bounded *v,
                                   const weft_bounded_attention *attention) {
    const weft_bounded_attention *a = attention;
    weft_bounded *scores = weft_bounded_scratch(c, a->keys);
    for (uint64_t part = 0; c->ref.status == WEFT_OK && part < (uint64_t)a->n * a->heads; part++) {
        uint64_t head = part % a->heads;
        struct query query = {.phi = phi + part * a->features,
                              .psi = psi + head * a->features,
                              .v = v + head * a->values,
                              .feature_step = (uint64_t)a->heads * a->features,
                              .value_step = (uint64_t)a->heads * a->values,
                              .count = a->causal ? (uint32_t)(part / a->heads) + 1 : a->keys};
        attend(out + part * a->values, scores, &query, a);
    }
}

/* ---- softmax attention ---- */

struct sequences {
    weft_bounded *out, *q, *k, *v;
    weft_bounded *weights; /* [m] */
};

/*
 * The kernels of a band multiply all weights by a power of two, at least half of 1 / (keys in a band), and divide at the
 * end, so that products with v underflow further up.
 */
static weft_bounded with_underflow(weft_bounded value, const weft_bounded_band *band,
                                   double count) {
    double keys = 2.0 * band->half_width + 1.0;
    if (band->banded && isfinite(value.value) && value.error > 0.0) {
        value.error += 2.0 * keys * count * 0x1p-126;
    }
    return value;
}

/* One query and one head, whose first channel is `first`. */
static void attend_band(const struct sequences *s, const weft_bounded_band *band, uint32_t query,
                        uint64_t first) {
    const uint64_t d = band->d;
    const uint64_t width = band->d / band->heads;
    const weft_bounded scale = weft_bounded_parameter((float)(1.0 / sqrt((double)width)));
    const uint32_t reach = band->banded ? band->half_width : UINT32_MAX;
    const uint32_t begin = query > reach ? query - reach : 0;
    const uint64_t last = band->causal ? query : (uint64_t)query + reach;
    const uint32_t count = (last < band->m ? (uint32_t)last + 1 : band->m) - begin;
    for (uint64_t j = 0; j < count; j++) {
        weft_bounded_sum sum = {0};
        for (uint64_t i = first; i < first + width; i++) {
            weft_bounded_sum_add_product(&sum, s->q[query * d + i], s->k[(begin + j) * d + i]);
        }
        s->weights[j] = weft_bounded_multiply(scale, weft_bounded_sum_end(&sum));
    }
    weft_bounded_softmax(s->weights, s->weights, 1, count);
    for (uint64_t i = first; i < first + width; i++) {
        weft_bounded_sum sum = {0};
        for (uint64_t j = 0; j < count; j++) {
            weft_bounded_sum_add_product(&sum, s->weights[j], s->v[(begin + j) * d + i]);
        }
        s->out[query * d + i] = with_underflow(weft_bounded_sum_end(&sum), band, count);
    }
}

void weft_bounded_expect_attention(weft_case *c, const weft_array arrays[3],
                                   const weft_bounded_band *band) {
    const uint64_t keys = (uint64_t)band->m * band->d;
    struct sequences s = {.out = weft_bounded_scratch(c, (uint64_t)band->n * band->d),
                          .q = weft_bounded_of(c, arrays[0].value, (uint64_t)band->n * band->d),
                          .k = weft_bounded_of(c, arrays[1].value, keys),
                          .v = weft_bounded_of(c, arrays[2].value, keys),
                          .weights = weft_bounded_scratch(c, band->m)};
    for (uint32_t part = 0; c->ref.status == WEFT_OK && part < band->n * band->heads; part++) {
        const uint64_t head = part % band->heads;
        attend_band(&s, band, part / band->heads, head * (band->d / band->heads));
    }
    weft_bounded_expect(c, s.out);
}
