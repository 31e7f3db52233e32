/* SPDX-License-Identifier: MIT */
/* Linear attention of bounded numbers. */
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

/* What both say: the wider of two bounds, or a NaN or infinity that both have. */
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
