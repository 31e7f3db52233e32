/* SPDX-License-Identifier: MIT */
/* The Performer's attention by its n × m matrix φ(q_i)·ψ(k_j) of positive random features. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "verify/conformance.h"

struct row {
    uint32_t batch, n, m; /* m 0: causal */
    uint32_t heads, width, values, features;
    bool unstabilized;
    float epsilon;
    weft_values kind;
};

static const struct row rows[] = {
    {1, 1, 0, 1, 1, 1, 1, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 2, 0, 1, 3, 2, 4, false, 0.0F, WEFT_VALUES_UNIT},
    {2, 65, 0, 2, 8, 8, 16, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 97, 0, 3, 7, 5, 13, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 130, 0, 1, 16, 16, 65, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 97, 0, 3, 7, 5, 13, true, 0.0F, WEFT_VALUES_UNIT},
    {1, 70, 0, 2, 6, 6, 8, true, 0.5F, WEFT_VALUES_UNIT},
    {1, 70, 0, 2, 6, 6, 8, false, 0.25F, WEFT_VALUES_UNIT},
    {1, 70, 0, 2, 6, 6, 8, false, 0.0F, WEFT_VALUES_ZEROS},
    {1, 70, 0, 2, 6, 6, 8, false, 0.0F, WEFT_VALUES_EQUAL},
    {1, 1, 1, 1, 1, 1, 1, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 7, 3, 1, 5, 3, 9, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 3, 7, 1, 5, 3, 9, false, 0.0F, WEFT_VALUES_UNIT},
    {2, 64, 256, 2, 8, 8, 16, false, 0.0F, WEFT_VALUES_UNIT},
    {3, 65, 257, 3, 7, 5, 13, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 33, 300, 2, 8, 8, 129, false, 0.0F, WEFT_VALUES_UNIT},
    {1, 33, 300, 2, 8, 8, 16, true, 0.0F, WEFT_VALUES_UNIT},
    {1, 33, 300, 2, 8, 8, 16, false, 0.125F, WEFT_VALUES_UNIT},
    {1, 33, 70, 2, 6, 6, 8, false, 0.0F, WEFT_VALUES_MIXED},
    {1, 33, 70, 2, 6, 6, 8, false, 0.0F, WEFT_VALUES_SUBNORMAL},
    {1, 33, 70, 2, 6, 6, 8, true, 0.0F, WEFT_VALUES_ZEROS},
};

/* The exponents w_f·x' - ‖x'‖²/2 of every token and head, [tokens, heads, features]. */
static void exponents(double *out, const double *x, const double *w, const struct row *row,
                      uint64_t tokens) {
    const double scale = 1.0 / sqrt(sqrt((double)row->width));
    for (uint64_t r = 0; r < tokens * row->heads; r++) {
        for (uint32_t f = 0; f < row->features; f++) {
            double sum = 0.0;
            for (uint32_t i = 0; i < row->width; i++) {
                double value = scale * x[r * row->width + i];
                sum += w[f * row->width + i] * value - 0.5 * value * value;
            }
            out[r * row->features + f] = sum;
        }
    }
}

/* exp(exponent - largest) + epsilon, in place, of the parts of a head that share a maximum: `tokens` tokens. */
static void stabilize(double *x, const struct row *row, uint64_t tokens) {
    double largest = -INFINITY;
    double epsilon = (double)(row->epsilon > 0.0F ? row->epsilon : 1e-6F);
    uint64_t step = (uint64_t)row->heads * row->features;
    if (row->unstabilized) {
        largest = 0.0;
        epsilon = (double)row->epsilon;
    }
    for (uint64_t i = 0; !row->unstabilized && i < tokens; i++) {
        for (uint32_t f = 0; f < row->features; f++) {
            largest = fmax(largest, x[i * step + f]);
        }
    }
    for (uint64_t i = 0; i < tokens; i++) {
        for (uint32_t f = 0; f < row->features; f++) {
            x[i * step + f] = exp(x[i * step + f] - largest) + epsilon;
        }
    }
}

/* One query and one head. */
static void attend(double *out, const double *q, const double *k, const double *v,
                   const struct row *row, uint32_t keys) {
    uint64_t step = (uint64_t)row->heads * row->features;
    uint64_t value_step = (uint64_t)row->heads * row->values;
    double sum = 0.0;
    for (uint32_t t = 0; t < row->values; t++) {
        out[t] = 0.0;
    }
    for (uint32_t j = 0; j < keys; j++) {
        double weight = 0.0;
        for (uint32_t f = 0; f < row->features; f++) {
            weight += q[f] * k[j * step + f];
        }
        sum += weight;
        for (uint32_t t = 0; t < row->values; t++) {
            out[t] += weight * v[j * value_step + t];
        }
    }
    for (uint32_t t = 0; t < row->values; t++) {
        out[t] /= sum;
    }
}

struct arrays {
    const double *q, *k, *v, *w;
};

static void reference(weft_case *c, double *out, const struct arrays *a, const struct row *row) {
    uint32_t keys = row->m != 0 ? row->m : row->n;
    uint64_t q_rows = (uint64_t)row->batch * row->n * row->heads;
    uint64_t k_rows = (uint64_t)row->batch * keys * row->heads;
    double *phi = weft_case_scratch(c, q_rows * row->features);
    double *psi = weft_case_scratch(c, k_rows * row->features);
    if (phi != NULL && psi != NULL) {
        exponents(phi, a->q, a->w, row, (uint64_t)row->batch * row->n);
        exponents(psi, a->k, a->w, row, (uint64_t)row->batch * keys);
        for (uint64_t r = 0; r < q_rows; r++) {
            stabilize(phi + r * row->features, row, 1);
        }
        for (uint64_t h = 0; h < (uint64_t)row->batch * row->heads; h++) {
            uint64_t first = h / row->heads * keys * row->heads + h % row->heads;
            stabilize(psi + first * row->features, row, keys);
        }
    }
    for (uint64_t r = 0; phi != NULL && psi != NULL && r < q_rows; r++) {
        uint64_t token = r / row->heads;
        uint64_t first = token / row->n * keys * row->heads + r % row->heads;
        attend(out + r * row->values, phi + r * row->features, psi + first * row->features,
               a->v + first * row->values, row,
               row->m != 0 ? keys : (uint32_t)(token % row->n) + 1);
    }
    weft_case_scratch_free(c, phi);
    weft_case_scratch_free(c, psi);
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index];
    char keys[24] = "";
    char epsilon[32] = "";
    if (row->m != 0) {
        snprintf(keys, sizeof keys, ",m=%u", row->m);
    }
    if (row->epsilon > 0.0F) {
        snprintf(epsilon, sizeof epsilon, "-epsilon=%g", (double)row->epsilon);
    }
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s%s%s/n=%u%s,d=%u,dv=%u,s=%u,heads=%u,batch=%u",
             row->m == 0 ? "causal" : "full", weft_values_name(row->kind),
             row->unstabilized ? "-plain" : "", epsilon, row->n, keys, row->heads * row->width,
             row->heads * row->values, row->features, row->heads, row->batch);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index];
    uint32_t keys = row->m != 0 ? row->m : row->n;
    uint32_t d = row->heads * row->width;
    c->only_reproducible = row->kind == WEFT_VALUES_SUBNORMAL;
    weft_array q = weft_case_input(c, "q", weft_shape_of(row->batch, row->n, d), row->kind);
    weft_array k = weft_case_input(c, "k", weft_shape_of(row->batch, keys, d), row->kind);
    weft_array v = weft_case_input(
        c, "v", weft_shape_of(row->batch, keys, row->heads * row->values), row->kind);
    weft_array w = weft_case_weight(c, weft_shape_of(row->features, row->width), WEFT_VALUES_UNIT);
    weft_tensor y = {0};
    weft_case_check(c,
                    weft_graph_performer_attention(
                        &y, c->graph, q.tensor, k.tensor, v.tensor, w.tensor,
                        weft_performer_attention_params(.heads = row->heads, .causal = row->m == 0,
                                                        .unstabilized = row->unstabilized,
                                                        .epsilon = row->epsilon)));
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        struct arrays arrays = {.q = q.value, .k = k.value, .v = v.value, .w = w.value};
        reference(c, expected, &arrays, row);
    }
}

const weft_case_family weft_family_performer_attention = {.name = "performer_attention",
                                                          .count = sizeof rows / sizeof rows[0],
                                                          .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                                          .name_case = name_case,
                                                          .build = build};
