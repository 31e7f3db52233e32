/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "verify/reference/attention.h"

/** elu(x) + 1 of a head, divided by its sum. */
static void normalize(double *out, const double *x, uint32_t width) {
    double sum = 0.0;
    for (uint32_t c = 0; c < width; c++) {
        out[c] = x[c] > 0.0 ? x[c] + 1.0 : exp(x[c]);
        sum += out[c];
    }
    for (uint32_t c = 0; c < width; c++) {
        out[c] /= sum;
    }
}

/** S [width, values], transposed so that the sums below are over the first axis, and room for a token's vectors. */
struct state {
    double *s, *feature, *held;
};

/** held = S x. */
static void read_state(const struct state *state, const weft_reference_attention *a) {
    memset(state->held, 0, a->values * sizeof *state->held);
    for (uint32_t c = 0; c < a->width; c++) {
        const double *row = state->s + (uint64_t)c * a->values;
        for (uint32_t t = 0; t < a->values; t++) {
            state->held[t] += row[t] * state->feature[c];
        }
    }
}

/** S += β (v - S φ(k)) φ(k)ᵀ. */
static void write_state(const struct state *state, const weft_reference_attention *a,
                        const double *v, double beta) {
    read_state(state, a);
    for (uint32_t c = 0; c < a->width; c++) {
        double *row = state->s + (uint64_t)c * a->values;
        for (uint32_t t = 0; t < a->values; t++) {
            row[t] += beta * (v[t] - state->held[t]) * state->feature[c];
        }
    }
}

static void run_head(double *out, weft_rows rows, const struct state *state,
                     const weft_reference_attention *a, const double *beta, uint32_t head) {
    uint64_t r = 0;
    for (uint32_t i = 0; r < rows.count; i++) {
        const uint64_t at = (uint64_t)i * a->heads + head;
        normalize(state->feature, a->k + at * a->width, a->width);
        write_state(state, a, a->v + at * a->values, beta[at]);
        if (rows.at[r] == i) {
            normalize(state->feature, a->q + at * a->width, a->width);
            read_state(state, a);
            memcpy(out + (r++ * a->heads + head) * a->values, state->held, a->values * sizeof *out);
        }
    }
}

void weft_reference_fast_weight(weft_reference *ref, double *out, weft_rows rows,
                                const weft_reference_attention *attention, const double *beta) {
    const weft_reference_attention a = *attention;
    const double each = a.width * (2.0 * a.values + 10.0);
    const double tokens = rows.count > 0 ? rows.at[rows.count - 1] + 1.0 : 0.0;
    if (!weft_reference_spend(ref, a.heads * each * (tokens + rows.count))) {
        return;
    }
    for (uint32_t head = 0; head < a.heads; head++) {
        const struct state state = {.s = weft_reference_array(ref, (uint64_t)a.width * a.values),
                                    .feature = weft_reference_array(ref, a.width),
                                    .held = weft_reference_array(ref, a.values)};
        if (ref->status == WEFT_OK) {
            run_head(out, rows, &state, &a, beta, head);
        }
    }
}
