/* SPDX-License-Identifier: MIT */
/* Kernelized attention with relative positions, by its n × n matrix exp(b(i - j)) φ_i · ψ_j. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "verify/conformance.h"

struct row {
    const char *implementation; /* null: the usual choice */
    bool causal;
    uint32_t batch, n, heads, features, values;
    uint32_t reach; /* lags that the bias has to each side; 0: n */
    bool random;    /* positive random features; otherwise the inputs' squares */
    float epsilon;
    weft_values bias;
};

static const struct row rows[] = {
    {"direct", false, 1, 1, 1, 1, 1, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", false, 1, 2, 1, 3, 2, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", false, 2, 31, 2, 4, 4, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", false, 2, 64, 2, 8, 8, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", false, 3, 65, 3, 7, 5, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", false, 1, 97, 1, 67, 66, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", false, 1, 257, 2, 8, 8, 300, false, 0.0F, WEFT_VALUES_TENS},
    {"direct", false, 1, 100, 2, 8, 8, 0, true, 0.0F, WEFT_VALUES_UNIT},
    {"direct", false, 1, 100, 2, 8, 8, 0, false, 0.0F, WEFT_VALUES_MASKED},
    {"direct", false, 1, 100, 2, 8, 8, 0, false, 0.0F, WEFT_VALUES_EQUAL},
    {"direct", false, 1, 60, 2, 8, 8, 0, false, 1000.0F, WEFT_VALUES_UNIT},
    {"direct", true, 1, 1, 1, 1, 1, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", true, 1, 2, 1, 3, 2, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", true, 2, 31, 2, 4, 4, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", true, 2, 64, 2, 8, 8, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", true, 3, 65, 3, 7, 5, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", true, 1, 97, 1, 67, 66, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", true, 1, 257, 2, 8, 8, 300, false, 0.0F, WEFT_VALUES_UNIT},
    {"direct", true, 1, 100, 2, 8, 8, 0, true, 0.0F, WEFT_VALUES_UNIT},
    {"direct", true, 1, 100, 13, 2, 1, 0, false, 0.0F, WEFT_VALUES_EQUAL},
    {"fft", false, 1, 1, 1, 1, 1, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"fft", false, 1, 2, 1, 3, 2, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"fft", false, 2, 31, 2, 4, 4, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"fft", false, 3, 65, 3, 7, 5, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"fft", false, 1, 257, 2, 8, 8, 300, false, 0.0F, WEFT_VALUES_UNIT},
    {"fft", false, 1, 100, 2, 8, 8, 0, true, 0.0F, WEFT_VALUES_UNIT},
    {"fft", false, 1, 100, 2, 8, 8, 0, false, 0.0F, WEFT_VALUES_EQUAL},
    {"fft", false, 1, 60, 2, 8, 8, 0, false, 1000.0F, WEFT_VALUES_UNIT},
    {"fft", true, 1, 1, 1, 1, 1, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"fft", true, 2, 31, 2, 4, 4, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"fft", true, 3, 65, 3, 7, 5, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {"fft", true, 1, 257, 2, 8, 8, 300, true, 0.0F, WEFT_VALUES_UNIT},
    {"fft", true, 1, 100, 13, 2, 1, 0, true, 0.0F, WEFT_VALUES_UNIT},
    {"fft", true, 2, 521, 2, 16, 3, 0, true, 0.0F, WEFT_VALUES_UNIT},
    /* of the values too: flushed on every device alike */
    {"direct", false, 1, 65, 2, 8, 8, 0, false, 0.0F, WEFT_VALUES_SUBNORMAL},
    {"fft", true, 1, 65, 3, 7, 5, 0, false, 0.0F, WEFT_VALUES_SUBNORMAL},
    /* on both sides of where the usual choice changes */
    {NULL, false, 1, 61, 1, 1, 1, 0, false, 0.0F, WEFT_VALUES_UNIT},
    {NULL, false, 1, 521, 1, 1, 1, 0, false, 0.0F, WEFT_VALUES_UNIT},
};

struct arrays {
    const double *q, *k, *v, *bias;
};

/* Of one query at `position` and one head; pointers at the head's first elements. */
static void attend(double *out, const struct arrays *a, double *weights, const struct row *row,
                   uint32_t position) {
    uint32_t reach = row->reach != 0 ? row->reach : row->n;
    uint64_t step = (uint64_t)row->heads * row->features;
    uint64_t value_step = (uint64_t)row->heads * row->values;
    uint32_t count = row->causal ? position + 1 : row->n;
    double largest =
        -INFINITY; /* of all lags in use, as a denominator below epsilon is relative to it */
    uint32_t first = row->causal ? 0 : reach - row->n;
    uint32_t lags = row->causal ? row->n : 2 * row->n - 1;
    double sum = 0.0;
    for (uint32_t lag = first; lag < first + lags; lag++) {
        largest = fmax(largest, a->bias[(uint64_t)lag * row->heads]);
    }
    for (uint32_t j = 0; j < count; j++) {
        uint32_t lag = (row->causal ? 0 : reach - 1) + position - j;
        double product = 0.0;
        for (uint32_t f = 0; f < row->features; f++) {
            product += a->q[f] * a->k[j * step + f];
        }
        weights[j] = product * exp(a->bias[(uint64_t)lag * row->heads] - largest);
        sum += weights[j];
    }
    double least = row->epsilon > 0.0F ? (double)row->epsilon : 0x1p-126;
    sum = sum < least ? least : sum;
    for (uint32_t t = 0; t < row->values; t++) {
        double numerator = 0.0;
        for (uint32_t j = 0; j < count; j++) {
            numerator += weights[j] * a->v[j * value_step + t];
        }
        out[t] = numerator / sum;
    }
}

static void reference(weft_case *c, double *out, const struct arrays *a, const struct row *row) {
    double *weights = weft_case_scratch(c, row->n);
    uint64_t parts = (uint64_t)row->batch * row->n * row->heads;
    for (uint64_t part = 0; weights != NULL && part < parts; part++) {
        uint64_t head = part % row->heads;
        uint64_t token = part / row->heads;
        uint64_t first_key = token / row->n * row->n * row->heads + head;
        struct arrays one = {.q = a->q + part * row->features,
                             .k = a->k + first_key * row->features,
                             .v = a->v + first_key * row->values,
                             .bias = a->bias + head};
        attend(out + part * row->values, &one, weights, row, (uint32_t)(token % row->n));
    }
    weft_case_scratch_free(c, weights);
}

/* ---- features that are not negative ---- */

struct features {
    weft_tensor tensor;
    double *value; /* [batch, n, heads, features] */
};

static void square(weft_case *c, struct features *features, weft_array x, uint64_t count) {
    weft_case_check(c, weft_graph_binary(&features->tensor, c->graph, WEFT_BINARY_MULTIPLY,
                                         x.tensor, x.tensor));
    for (uint64_t i = 0; features->value != NULL && x.value != NULL && i < count; i++) {
        features->value[i] = x.value[i] * x.value[i];
    }
}

#define WIDTH 6 /* of a head, for random features */

/* exp(w·x' - ‖x'‖²/2)/√s with x' = x / WIDTH^(1/4). */
static void expand(weft_case *c, struct features *features, weft_array x, weft_array w,
                   const struct row *row) {
    weft_case_check(c, weft_graph_random_features(
                           &features->tensor, c->graph, x.tensor, w.tensor,
                           weft_random_features_params(.component = WEFT_COMPONENT_POSITIVE,
                                                       .heads = row->heads)));
    const double scale = 1.0 / sqrt(sqrt((double)WIDTH));
    uint64_t rows_of_x = (uint64_t)row->batch * row->n * row->heads;
    for (uint64_t r = 0; features->value != NULL && w.value != NULL && r < rows_of_x; r++) {
        for (uint32_t f = 0; f < row->features; f++) {
            double exponent = 0.0;
            for (uint32_t i = 0; i < WIDTH; i++) {
                double value = scale * x.value[r * WIDTH + i];
                exponent += w.value[f * WIDTH + i] * value - 0.5 * value * value;
            }
            features->value[r * row->features + f] = exp(exponent) / sqrt((double)row->features);
        }
    }
}

static void make_features(weft_case *c, struct features side[2], const struct row *row) {
    static const char *const names[] = {"q", "k"};
    uint64_t count = (uint64_t)row->batch * row->n * row->heads * row->features;
    uint32_t width = row->heads * (row->random ? WIDTH : row->features);
    weft_array w = {.value = NULL};
    if (row->random) {
        w = weft_case_weight(c, weft_shape_of(row->features, WIDTH), WEFT_VALUES_UNIT);
    }
    for (int i = 0; i < 2; i++) {
        weft_array x = weft_case_input(c, names[i], weft_shape_of(row->batch, row->n, width),
                                       WEFT_VALUES_UNIT);
        side[i].value = weft_case_scratch(c, count);
        if (row->random) {
            expand(c, &side[i], x, w, row);
        } else {
            square(c, &side[i], x, count);
        }
    }
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index];
    char reach[24] = "";
    if (row->reach != 0) {
        snprintf(reach, sizeof reach, ",reach=%u", row->reach);
    }
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/%s%s%s/n=%u%s,m=%u,dv=%u,heads=%u,batch=%u",
             row->implementation != NULL ? row->implementation : "chosen",
             row->causal ? "causal" : "full", row->random ? "random-" : "",
             weft_values_name(row->bias), row->epsilon > 0.0F ? "-guarded" : "", row->n, reach,
             row->features, row->heads * row->values, row->heads, row->batch);
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index];
    uint32_t reach = row->reach != 0 ? row->reach : row->n;
    struct features side[2] = {{.value = NULL}, {.value = NULL}};
    weft_values kind =
        row->bias == WEFT_VALUES_SUBNORMAL ? WEFT_VALUES_SUBNORMAL : WEFT_VALUES_UNIT;
    c->implementation = row->implementation;
    c->only_reproducible = kind == WEFT_VALUES_SUBNORMAL;
    make_features(c, side, row);
    weft_array v =
        weft_case_input(c, "v", weft_shape_of(row->batch, row->n, row->heads * row->values), kind);
    weft_array bias = weft_case_weight(
        c, weft_shape_of(row->causal ? reach : 2 * reach - 1, row->heads), row->bias);
    weft_tensor y = {0};
    weft_case_check(c,
                    weft_graph_toeplitz_attention(
                        &y, c->graph, side[0].tensor, side[1].tensor, v.tensor, bias.tensor,
                        weft_toeplitz_attention_params(.heads = row->heads, .causal = row->causal,
                                                       .epsilon = row->epsilon)));
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        struct arrays arrays = {
            .q = side[0].value, .k = side[1].value, .v = v.value, .bias = bias.value};
        reference(c, expected, &arrays, row);
    }
    weft_case_scratch_free(c, side[0].value);
    weft_case_scratch_free(c, side[1].value);
}

const weft_case_family weft_family_toeplitz_attention = {.name = "toeplitz_attention",
                                                         .count = sizeof rows / sizeof rows[0],
                                                         .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                                         .name_case = name_case,
                                                         .build = build};
