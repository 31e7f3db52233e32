/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "verify/reference/attention.h"
#include "verify/reference/ops.h"

/** A row of softmax attention: the keys begin … end - 1 of query i. */
struct band {
    uint32_t begin, end;
};

static struct band band_of(const weft_reference_attention *a, uint32_t keys, uint32_t half_width,
                           uint32_t i) {
    const uint64_t reach = (uint64_t)i + half_width + 1;
    const uint32_t last = a->causal ? i + 1 : reach < keys ? (uint32_t)reach : keys;
    return (struct band){.begin = i > half_width ? i - half_width : 0, .end = last};
}

/** One head of one query; q, k, v and out are at the head's first channel, bias at the query's row, sink at the head, or null. */
static void attend(double *out, const double *q, const double *k, const double *v,
                   const double *bias, const double *sink, double *weights,
                   const weft_reference_attention *a, struct band band, double scale) {
    const uint64_t key_step = (uint64_t)a->kv_heads * a->width;
    const uint64_t value_step = (uint64_t)a->kv_heads * a->values;
    for (uint64_t j = band.begin; j < band.end; j++) {
        double score = 0.0;
        for (uint32_t c = 0; c < a->width; c++) {
            score += q[c] * k[j * key_step + c];
        }
        weights[j - band.begin] = scale * score + (bias ? bias[j] : 0.0);
    }
    uint32_t count = band.end - band.begin;
    if (sink) {
        weights[count++] = *sink;
    }
    weft_reference_softmax(weights, weights, 1, count);
    for (uint32_t c = 0; c < a->values; c++) {
        out[c] = 0.0;
    }
    for (uint64_t j = band.begin; j < band.end; j++) {
        for (uint32_t c = 0; c < a->values; c++) {
            out[c] += weights[j - band.begin] * v[j * value_step + c];
        }
    }
}

/* The f16 nearest to x, ties to even: a multiple of 2^-24, or of the last of 11 bits. */
static double nearest_f16(double x) {
    int exponent = 0;
    (void)frexp(x, &exponent);
    const double step = ldexp(1.0, exponent - 11 > -24 ? exponent - 11 : -24);
    const double nearest = nearbyint(x / step) * step;
    return fabs(nearest) > 65504.0 ? copysign(INFINITY, x) : nearest;
}

static const double *rounded(weft_reference *ref, const double *x, uint64_t count) {
    double *made = weft_reference_array(ref, count);
    for (uint64_t i = 0; made && i < count; i++) {
        made[i] = nearest_f16(x[i]);
    }
    return made;
}

void weft_reference_softmax_attention(weft_reference *ref, double *out, weft_rows rows,
                                      const weft_reference_attention *attention,
                                      uint32_t half_width, double scale) {
    weft_reference_attention a = *attention;
    double cost = 0.0;
    for (uint32_t r = 0; r < rows.count; r++) {
        const struct band band = band_of(&a, a.m, half_width, rows.at[r]);
        cost += (double)(band.end - band.begin) * a.heads * (a.width + a.values + 10.0);
    }
    if (!weft_reference_spend(ref, cost)) {
        return;
    }
    double *weights = weft_reference_array(ref, a.m + 1);
    if (a.f16) {
        a.k = rounded(ref, a.k, (uint64_t)a.m * a.kv_heads * a.width);
        a.v = rounded(ref, a.v, (uint64_t)a.m * a.kv_heads * a.values);
        weights = a.k && a.v ? weights : NULL;
    }
    const double factor = scale != 0.0 ? scale : 1.0 / sqrt((double)a.width);
    for (uint64_t part = 0; weights && part < (uint64_t)rows.count * a.heads; part++) {
        const uint64_t head = part % a.heads;
        const uint64_t kv_head = head * a.kv_heads / a.heads;
        const uint64_t r = part / a.heads;
        const uint32_t i = rows.at[r];
        const uint64_t bias_row = (a.each_head ? head * a.n : 0) + i;
        attend(out + part * a.values, a.q + ((uint64_t)i * a.heads + head) * a.width,
               a.k + kv_head * a.width, a.v + kv_head * a.values,
               a.bias ? a.bias + bias_row * a.m : NULL, a.sinks ? a.sinks + head : NULL, weights,
               &a, band_of(&a, a.m, half_width, i), factor);
    }
}
