/* SPDX-License-Identifier: MIT */
/* Discretely-induced random features c Π x^w, by powers in float64, and attention with them. */
#include <math.h>
#include <stdio.h>

#include <weft/features.h>
#include <weft/mixers.h>

#include "verify/conformance.h"

struct row {
    bool attention; /* queries and keys, the latter with KEY where the former have QUERY */
    weft_features_kind law;
    float rate;
    weft_stabilizer stabilizer;
    uint32_t batch, n, heads, width, features;
    float scale;
    weft_values kind;
};

#define POIS WEFT_FEATURES_POISSON
#define GEOM WEFT_FEATURES_GEOMETRIC
#define NONE WEFT_STABILIZER_NONE
#define QRY  WEFT_STABILIZER_QUERY
#define KEY  WEFT_STABILIZER_KEY
#define UNIT WEFT_VALUES_UNIT

static const struct row rows[] = {
    {false, POIS, 1.0F, NONE, 1, 1, 1, 1, 1, 0.0F, UNIT},
    {false, POIS, 1.0F, NONE, 2, 17, 2, 8, 16, 0.0F, UNIT},
    {false, POIS, 1.0F, QRY, 2, 17, 2, 8, 16, 0.0F, UNIT},
    {false, POIS, 1.0F, KEY, 2, 17, 2, 8, 16, 0.0F, UNIT},
    {false, POIS, 0.25F, KEY, 3, 131, 3, 5, 7, 0.0F, UNIT},
    {false, POIS, 0.25F, QRY, 1, 9, 1, 64, 257, 0.0F, UNIT},
    {false, POIS, 0.0625F, NONE, 1, 9, 2, 131, 3, 0.0F, UNIT},
    {false, POIS, 16.0F, QRY, 1, 12, 1, 2, 129, 0.0F, UNIT},
    {false, POIS, 16.0F, KEY, 1, 33, 2, 2, 9, 0.125F, WEFT_VALUES_TENS},
    {false, POIS, 1.0F, KEY, 1, 300, 2, 3, 5, 0.0F, WEFT_VALUES_TENS},
    {false, POIS, 0.5F, NONE, 1, 12, 13, 6, 6, -0.5F, WEFT_VALUES_ZEROS},
    {false, POIS, 0.5F, QRY, 1, 12, 2, 6, 6, 0.0F, WEFT_VALUES_SMALL},
    {false, POIS, 0.5F, QRY, 1, 12, 2, 6, 6, 0.0F, WEFT_VALUES_LARGE},
    {false, POIS, 0.5F, KEY, 2, 12, 2, 6, 6, 1.0F, WEFT_VALUES_IMPULSE},
    {false, GEOM, 0.5F, NONE, 1, 1, 1, 1, 1, 0.0F, UNIT},
    {false, GEOM, 0.5F, NONE, 2, 17, 2, 8, 16, 0.0F, UNIT},
    {false, GEOM, 0.5F, QRY, 2, 17, 2, 8, 16, 0.0F, UNIT},
    {false, GEOM, 0.0625F, KEY, 1, 131, 3, 3, 7, 0.0F, UNIT},
    {false, GEOM, 0.75F, KEY, 1, 9, 1, 40, 200, 0.0F, UNIT},
    {false, GEOM, 0.9F, NONE, 1, 64, 5, 11, 31, 0.0F, WEFT_VALUES_EQUAL},
    {false, GEOM, 0.1F, QRY, 1, 33, 2, 4, 9, 0.125F, WEFT_VALUES_TENS},
    {false, GEOM, 0.5F, KEY, 1, 33, 1, 7, 129, 0.0F, WEFT_VALUES_MIXED},
    {true, POIS, 0.25F, NONE, 1, 40, 2, 4, 128, 0.25F, UNIT},
    {true, POIS, 0.25F, QRY, 2, 71, 2, 3, 65, 0.25F, UNIT},
    {true, GEOM, 0.75F, QRY, 1, 131, 3, 5, 64, 0.25F, UNIT},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = &rows[index];
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s/%s/rate=%g,n=%u,d=%u,s=%u,heads=%u,batch=%u",
             row->attention ? "attention-" : "", weft_features_name(row->law),
             row->stabilizer == NONE ? "" : (row->stabilizer == QRY ? "-query" : "-key"),
             weft_values_name(row->kind), (double)row->rate, row->n, row->width, row->features,
             row->heads, row->batch);
}

/* w and then the coefficients, as float64 and as constants of the graph. */
struct powers {
    double *value;
    weft_tensor w, coefficients;
};

static weft_tensor add_constant(weft_case *c, weft_shape shape, const float *data) {
    weft_weight *weight = NULL;
    weft_tensor tensor = {0};
    weft_status status = weft_weight_create(
        &weight, weft_weight_params(.dtype = WEFT_F32, .shape = shape, .data = data), &c->host);
    if (status == WEFT_OK) {
        status = weft_graph_weight(&tensor, c->graph, weight);
    }
    weft_weight_destroy(&weight);
    weft_case_check(c, status);
    return tensor;
}

static struct powers add_powers(weft_case *c, const struct row *row) {
    const uint32_t s = row->features;
    const uint64_t count = (uint64_t)s * row->width;
    struct powers powers = {.value = weft_case_scratch(c, count + s)};
    float *data = weft_alloc_zero(&c->host, count + s, sizeof *data);
    if (powers.value != NULL && data != NULL) {
        weft_case_check(c,
                        weft_features_fill(data, data + count,
                                           weft_features_params(.kind = row->law, .rows = s,
                                                                .columns = row->width,
                                                                .seed = c->seed, .rate = row->rate),
                                           &c->host));
        for (uint64_t i = 0; i < count + s; i++) {
            data[i] = i < count ? data[i] : sqrtf(data[i]);
            powers.value[i] = (double)data[i];
        }
        powers.w = add_constant(c, weft_shape_of(s, row->width), data);
        powers.coefficients = add_constant(c, weft_shape_of(s), data + count);
    }
    weft_free(&c->host, data);
    return powers;
}

/* The features of one token's head. */
static void features(double *out, const struct row *row, const double *x, const double *w) {
    const double scale =
        row->scale != 0.0F ? (double)row->scale : (double)(float)pow(row->width, -0.25);
    const double *coefficients = w + (uint64_t)row->features * row->width;
    for (uint32_t f = 0; f < row->features; f++) {
        out[f] = coefficients[f];
        for (uint32_t c = 0; c < row->width; c++) {
            out[f] *= pow(scale * x[c], w[(uint64_t)f * row->width + c]);
        }
    }
}

static int exponent_of(double value) {
    int exponent;
    frexp(value, &exponent); /* |value| = [1/2, 1) · 2^exponent */
    return exponent - 1;
}

/* Divides rows i of one sequence and head, `step` apart, by the power of two below their largest feature. */
static void stabilize(double *out, const struct row *row, uint32_t first, uint32_t last,
                      uint64_t step) {
    double largest = 0.0;
    for (uint32_t i = first; i < last; i++) {
        for (uint32_t f = 0; f < row->features; f++) {
            largest = fmax(largest, fabs(out[i * step + f]));
        }
    }
    for (uint32_t i = first; largest > 0.0 && i < last; i++) {
        for (uint32_t f = 0; f < row->features; f++) {
            out[i * step + f] = ldexp(out[i * step + f], -exponent_of(largest));
        }
    }
}

static void reference(double *out, const struct row *row, const double *x, const double *w) {
    const uint64_t step = (uint64_t)row->heads * row->features;
    for (uint64_t i = 0; i < (uint64_t)row->batch * row->n * row->heads; i++) {
        features(out + i * row->features, row, x + i * row->width, w);
    }
    for (uint32_t b = 0; b < row->batch; b++) {
        for (uint32_t h = 0; h < row->heads; h++) {
            double *sequence = out + b * row->n * step + (uint64_t)h * row->features;
            if (row->stabilizer == KEY) {
                stabilize(sequence, row, 0, row->n, step);
            }
            for (uint32_t i = 0; row->stabilizer == QRY && i < row->n; i++) {
                stabilize(sequence, row, i, i + 1, step);
            }
        }
    }
}

/* Attention by the n × n estimates Σ_f c_f² Π_l (x_l y_l)^w_fl, without features of their own. */
static double estimate(const struct row *row, const double *x, const double *y, const double *w) {
    const double *coefficients = w + (uint64_t)row->features * row->width;
    double sum = 0.0;
    for (uint32_t f = 0; f < row->features; f++) {
        double product = coefficients[f] * coefficients[f];
        for (uint32_t c = 0; c < row->width; c++) {
            product *= pow((double)row->scale * (double)row->scale * x[c] * y[c],
                           w[(uint64_t)f * row->width + c]);
        }
        sum += product;
    }
    return sum;
}

static void attend(double *out, const struct row *row, const double *q, const double *k,
                   const double *v, const double *w) {
    const uint64_t parts = (uint64_t)row->n * row->heads;
    for (uint64_t i = 0; i < row->batch * parts; i++) {
        double sum = 0.0;
        for (uint64_t j = 0; j < row->n; j++) {
            const uint64_t key = (i / parts * parts + j * row->heads + i % row->heads) * row->width;
            const double weight = estimate(row, q + i * row->width, k + key, w);
            sum += weight;
            for (uint32_t c = 0; c < row->width; c++) {
                out[i * row->width + c] += weight * v[key + c];
            }
        }
        for (uint32_t c = 0; c < row->width; c++) {
            out[i * row->width + c] /= sum;
        }
    }
}

static weft_tensor add(weft_case *c, const struct row *row, weft_tensor x,
                       const struct powers *powers, weft_stabilizer stabilizer) {
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_discrete_features(
                           &y, c->graph, x, powers->w, powers->coefficients,
                           weft_discrete_features_params(.heads = row->heads, .scale = row->scale,
                                                         .stabilizer = stabilizer)));
    return y;
}

static void build_attention(weft_case *c, const struct row *row, weft_array q,
                            const struct powers *powers) {
    const weft_shape shape = weft_shape_of(row->batch, row->n, row->heads * row->width);
    weft_array k = weft_case_input(c, "k", shape, row->kind);
    weft_array v = weft_case_input(c, "v", shape, row->kind);
    weft_tensor phi = add(c, row, q.tensor, powers, row->stabilizer);
    weft_tensor psi = add(c, row, k.tensor, powers, row->stabilizer == QRY ? KEY : row->stabilizer);
    weft_tensor y = {0};
    weft_case_check(c,
                    weft_graph_linear_attention(&y, c->graph, phi, psi, v.tensor,
                                                weft_linear_attention_params(.heads = row->heads)));
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        attend(expected, row, q.value, k.value, v.value, powers->value);
    }
}

static void build(weft_case *c, uint32_t index) {
    const struct row *row = &rows[index];
    const weft_shape shape = weft_shape_of(row->batch, row->n, row->heads * row->width);
    weft_array x = weft_case_input(c, "x", shape, row->kind);
    struct powers powers = add_powers(c, row);
    if (row->attention) {
        build_attention(c, row, x, &powers);
    } else {
        weft_tensor y = add(c, row, x.tensor, &powers, row->stabilizer);
        double *expected = weft_case_output(c, "y", y);
        if (expected != NULL) {
            reference(expected, row, x.value, powers.value);
        }
    }
    weft_case_scratch_free(c, powers.value);
}

const weft_case_family weft_family_discrete_features = {.name = "discrete_features",
                                                        .count = sizeof rows / sizeof rows[0],
                                                        .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                                        .name_case = name_case,
                                                        .build = build};
