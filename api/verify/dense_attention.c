/* SPDX-License-Identifier: MIT */
#include "verify/dense_attention.h"

#include <math.h>

/** One query and head; k and v start at the head's first key. */
static void attend(double *out, const double *q, const double *k, const double *v, double *weights,
                   const struct weft_dense_attention *a, uint32_t i) {
    const uint32_t count = a->m != 0 ? a->m : i + 1;
    const uint64_t step = (uint64_t)a->heads * a->width;
    const uint64_t value_step = (uint64_t)a->heads * a->values;
    double sum = 0.0;
    for (uint32_t j = 0; j < count; j++) {
        weights[j] = a->weight(a->user, q, k + j * step, i, j);
        sum += weights[j];
    }
    sum = fabs(sum) < a->least ? copysign(a->least, sum) : sum;
    for (uint32_t t = 0; t < a->values; t++) {
        double numerator = 0.0;
        for (uint32_t j = 0; j < count; j++) {
            numerator += weights[j] * v[j * value_step + t];
        }
        out[t] += a->factor * numerator / sum;
    }
}

void weft_add_dense_attention(weft_case *c, double *out, const double *q, const double *k,
                              const double *v, const struct weft_dense_attention *a) {
    const uint32_t keys = a->m != 0 ? a->m : a->n;
    double *weights = weft_case_scratch(c, keys);
    const uint64_t parts = (uint64_t)a->batch * a->n * a->heads;
    for (uint64_t part = 0; weights != NULL && part < parts; part++) {
        const uint64_t head = part % a->heads;
        const uint64_t token = part / a->heads;
        const uint64_t first_key = token / a->n * keys * a->heads + head;
        attend(out + part * a->values, q + part * a->width, k + first_key * a->width,
               v + first_key * a->values, weights, a, (uint32_t)(token % a->n));
    }
    weft_case_scratch_free(c, weights);
}
