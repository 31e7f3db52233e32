/* SPDX-License-Identifier: MIT */
/* Random features by their formulas, and attention with them by its n × m weights. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "conformance/conformance.h"

struct row {
    weft_component component;
    weft_stabilizer stabilizer;
    uint32_t batch, n, heads, width, features;
    uint32_t other; /* OPTIMAL: tokens of the other side */
    float scale;
    float epsilon;
    bool coefficients;
    weft_values kind;
};

#define TRIG WEFT_COMPONENT_TRIGONOMETRIC
#define POS  WEFT_COMPONENT_POSITIVE
#define HYP  WEFT_COMPONENT_HYPERBOLIC
#define OPT  WEFT_COMPONENT_OPTIMAL
#define NONE WEFT_STABILIZER_NONE
#define QRY  WEFT_STABILIZER_QUERY
#define KEY  WEFT_STABILIZER_KEY
#define UNIT WEFT_VALUES_UNIT

static const struct row rows[] = {
    {TRIG, NONE, 1, 1, 1, 1, 1, 0, 0.0F, 0.0F, false, UNIT},
    {TRIG, NONE, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, false, UNIT},
    {TRIG, QRY, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, true, UNIT},
    {TRIG, KEY, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, true, UNIT},
    {TRIG, KEY, 1, 131, 3, 5, 7, 0, 0.0F, 0.0F, false, UNIT},
    {TRIG, NONE, 1, 9, 1, 64, 256, 0, 0.0F, 0.0F, false, UNIT},
    {TRIG, QRY, 1, 9, 1, 131, 3, 0, 0.0F, 0.0F, false, UNIT},
    {TRIG, KEY, 1, 33, 2, 8, 9, 0, 0.125F, 0.0F, false, WEFT_VALUES_TENS},
    {TRIG, QRY, 1, 33, 2, 8, 9, 0, 0.0F, 0.0F, false, WEFT_VALUES_ZEROS},
    {POS, NONE, 1, 1, 1, 1, 1, 0, 0.0F, 0.0F, false, UNIT},
    {POS, NONE, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, false, UNIT},
    {POS, QRY, 2, 17, 2, 8, 16, 0, 0.0F, 1e-6F, true, UNIT},
    {POS, KEY, 2, 17, 2, 8, 16, 0, 0.0F, 1e-6F, true, UNIT},
    {POS, KEY, 3, 131, 3, 5, 7, 0, 0.0F, 1e-6F, false, UNIT},
    {POS, KEY, 1, 1009, 1, 4, 5, 0, 0.0F, 0.0F, false, UNIT},
    {POS, QRY, 1, 9, 1, 64, 256, 0, 0.0F, 1e-6F, false, UNIT},
    {POS, NONE, 1, 9, 2, 131, 3, 0, 0.0F, 0.0F, false, UNIT},
    {POS, QRY, 1, 33, 2, 8, 129, 0, 0.125F, 0.25F, false, WEFT_VALUES_TENS},
    {POS, KEY, 1, 33, 2, 8, 129, 0, 0.125F, 0.0F, false, WEFT_VALUES_TENS},
    {POS, NONE, 1, 12, 2, 6, 6, 0, 0.0F, 0.0F, false, WEFT_VALUES_EQUAL},
    {POS, KEY, 1, 12, 2, 6, 6, 0, 0.0F, 1e-6F, false, WEFT_VALUES_SMALL},
    {POS, QRY, 1, 12, 13, 6, 6, 0, -0.5F, 1e-6F, false, WEFT_VALUES_ZEROS},
    {HYP, NONE, 1, 1, 1, 1, 1, 0, 0.0F, 0.0F, false, UNIT},
    {HYP, NONE, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, false, UNIT},
    {HYP, QRY, 2, 17, 2, 8, 16, 0, 0.0F, 1e-6F, true, UNIT},
    {HYP, KEY, 2, 17, 2, 8, 16, 0, 0.0F, 1e-6F, true, UNIT},
    {HYP, KEY, 1, 131, 3, 5, 7, 0, 0.0F, 1e-6F, false, UNIT},
    {HYP, QRY, 1, 9, 1, 64, 200, 0, 0.0F, 1e-6F, false, UNIT},
    {HYP, KEY, 1, 33, 2, 8, 9, 0, 0.125F, 0.0F, false, WEFT_VALUES_TENS},
    {OPT, NONE, 1, 1, 1, 1, 1, 1, 0.0F, 0.0F, false, UNIT},
    {OPT, NONE, 2, 17, 2, 8, 16, 17, 0.0F, 0.0F, false, UNIT},
    {OPT, QRY, 2, 17, 2, 8, 16, 19, 0.0F, 1e-6F, true, UNIT},
    {OPT, KEY, 2, 17, 2, 8, 16, 5, 0.0F, 1e-6F, true, UNIT},
    {OPT, KEY, 3, 131, 3, 5, 7, 257, 0.0F, 1e-6F, false, UNIT},
    {OPT, NONE, 1, 256, 2, 4, 8, 513, 0.0F, 0.0F, false, UNIT},
    {OPT, QRY, 1, 600, 1, 7, 3, 255, 0.0F, 0.0F, false, UNIT},
    {OPT, QRY, 1, 9, 1, 64, 256, 9, 0.0F, 1e-6F, false, UNIT},
    {OPT, NONE, 1, 9, 2, 131, 3, 7, 0.0F, 0.0F, false, UNIT},
    {OPT, KEY, 1, 33, 2, 8, 129, 20, 0.125F, 0.0F, false, WEFT_VALUES_TENS},
    {OPT, NONE, 1, 12, 2, 6, 6, 12, 0.0F, 0.0F, false, WEFT_VALUES_EQUAL},
    {OPT, QRY, 1, 12, 2, 6, 6, 3, 0.0F, 1e-6F, false, WEFT_VALUES_SMALL},
};

/* Attention through weft_graph_linear_attention, against its weights from the float64 features. */
static const struct row attentions[] = {
    {TRIG, NONE, 1, 40, 2, 4, 512, 0, 0.0F, 0.0F, false, UNIT},
    {POS, QRY, 2, 70, 2, 8, 32, 0, 0.0F, 1e-6F, false, UNIT},
    {POS, QRY, 1, 300, 1, 16, 64, 0, 0.0F, 1e-6F, true, UNIT},
    {HYP, QRY, 2, 33, 3, 5, 17, 0, 0.0F, 1e-6F, false, UNIT},
    {OPT, QRY, 2, 70, 2, 8, 32, 70, 0.0F, 1e-6F, false, UNIT},
    {OPT, QRY, 1, 131, 1, 16, 64, 131, 0.0F, 1e-6F, true, UNIT},
};

#define ROW_COUNT       (sizeof rows / sizeof rows[0])
#define ATTENTION_COUNT (sizeof attentions / sizeof attentions[0])

/* ---- the reference ---- */

static uint32_t features_of(const struct row *row) {
    return row->component == TRIG || row->component == HYP ? 2 * row->features : row->features;
}

static double scale_of(const struct row *row) {
    return row->scale != 0.0F ? (double)row->scale : (double)(float)pow(row->width, -0.25);
}

/* A of OPRF, from the mean of |x_i + y_j|² over all pairs of one sequence and head. */
static double optimal_a(const struct row *row, const double *x, const double *y) {
    const uint32_t step = row->heads * row->width;
    const double scale = scale_of(row);
    double z = 0.0;
    for (uint32_t i = 0; i < row->n; i++) {
        for (uint32_t j = 0; j < row->other; j++) {
            for (uint32_t c = 0; c < row->width; c++) {
                double sum = scale * (x[(uint64_t)i * step + c] + y[(uint64_t)j * step + c]);
                z += sum * sum / ((double)row->n * row->other);
            }
        }
    }
    const double d = row->width;
    const double rho =
        (sqrt((2.0 * z + d) * (2.0 * z + d) + 8.0 * d * z) - 2.0 * z - d) / (4.0 * z);
    return z < 1e-12 ? 0.0 : (1.0 - 1.0 / rho) / 8.0;
}

struct terms {
    double a, b;
    double log_d;
};

/* Exponents of a token's head, [features of the row]; for TRIG the angles, and the one exponent is returned. */
static double exponents(double *out, const struct row *row, const double *x, const double *w,
                        const struct terms *terms) {
    const double scale = scale_of(row);
    double square = 0.0;
    for (uint32_t c = 0; c < row->width; c++) {
        square += scale * scale * x[c] * x[c];
    }
    for (uint32_t f = 0; f < row->features; f++) {
        double p = 0.0;
        double norm = 0.0;
        for (uint32_t c = 0; c < row->width; c++) {
            p += scale * x[c] * w[(uint64_t)f * row->width + c];
            norm += w[(uint64_t)f * row->width + c] * w[(uint64_t)f * row->width + c];
        }
        const double rest = terms->log_d - 0.5 * square;
        out[f] = row->component == TRIG ? p : terms->a * norm + terms->b * p + rest;
        if (row->component == HYP) {
            out[row->features + f] = -p + rest;
        }
    }
    return 0.5 * square;
}

struct arrays {
    const double *x, *w, *other, *coefficients; /* the last two may be null */
};

static double largest_of(const struct row *row, const double *exponent, double trigonometric) {
    double largest = row->component == TRIG ? trigonometric : -INFINITY;
    for (uint32_t f = 0; row->component != TRIG && f < features_of(row); f++) {
        largest = fmax(largest, exponent[f]);
    }
    return largest;
}

static void write_features(double *out, const struct row *row, const double *exponent,
                           double trigonometric, double largest, const double *coefficients) {
    for (uint32_t f = 0; f < features_of(row); f++) {
        const uint32_t own = f % row->features;
        double factor = coefficients != NULL ? coefficients[own] : 1.0 / sqrt(row->features);
        factor *= row->component == HYP ? sqrt(0.5) : 1.0;
        if (row->component == TRIG) {
            const double wave = f < row->features ? cos(exponent[own]) : sin(exponent[own]);
            out[f] = factor * exp(trigonometric - largest) * wave;
        } else {
            out[f] = factor * (exp(exponent[f] - largest) + (double)row->epsilon);
        }
    }
}

/* One sequence and head: x and out are at its first element. */
static void reference_head(weft_case *c, double *out, const struct row *row,
                           const struct arrays *a) {
    const uint32_t count = features_of(row);
    const uint64_t in_step = (uint64_t)row->heads * row->width;
    const uint64_t out_step = (uint64_t)row->heads * count;
    struct terms terms = {.b = 1.0};
    if (row->component == OPT) {
        terms.a = optimal_a(row, a->x, a->other);
        terms.b = sqrt(1.0 - 4.0 * terms.a);
        terms.log_d = 0.25 * row->width * log(1.0 - 4.0 * terms.a);
    }
    double *exponent = weft_case_scratch(c, count);
    double largest = -INFINITY;
    for (uint32_t i = 0; exponent != NULL && row->stabilizer == KEY && i < row->n; i++) {
        double single = exponents(exponent, row, a->x + i * in_step, a->w, &terms);
        largest = fmax(largest, largest_of(row, exponent, single));
    }
    for (uint32_t i = 0; exponent != NULL && i < row->n; i++) {
        double single = exponents(exponent, row, a->x + i * in_step, a->w, &terms);
        double divisor = row->stabilizer == NONE ? 0.0 : largest;
        divisor = row->stabilizer == QRY ? largest_of(row, exponent, single) : divisor;
        write_features(out + i * out_step, row, exponent, single, divisor, a->coefficients);
    }
    weft_case_scratch_free(c, exponent);
}

static void reference(weft_case *c, double *out, const struct row *row, const struct arrays *a) {
    const uint64_t channels = (uint64_t)row->heads * row->width;
    const uint64_t count = features_of(row);
    for (uint32_t b = 0; b < row->batch; b++) {
        for (uint32_t h = 0; h < row->heads; h++) {
            const uint64_t head = (uint64_t)h * row->width;
            struct arrays one = *a;
            one.x = a->x + b * row->n * channels + head;
            one.other =
                a->other != NULL ? a->other + (uint64_t)b * row->other * channels + head : NULL;
            reference_head(c, out + ((uint64_t)b * row->n * row->heads + h) * count, row, &one);
        }
    }
}

/* out [n, heads, values] of one sequence from features of queries and keys [n, heads, features]. */
static void attend(double *out, const struct row *row, const double *q, const double *k,
                   const double *v) {
    const uint64_t count = features_of(row);
    const uint64_t step = row->heads * count;
    const uint64_t values = (uint64_t)row->heads * row->width;
    for (uint64_t i = 0; i < row->n; i++) {
        for (uint64_t h = 0; h < row->heads; h++) {
            double denominator = 0.0;
            for (uint64_t j = 0; j < row->n; j++) {
                double weight = 0.0;
                for (uint64_t f = 0; f < count; f++) {
                    weight += q[i * step + h * count + f] * k[j * step + h * count + f];
                }
                denominator += weight;
                for (uint64_t t = h * row->width; t < (h + 1) * row->width; t++) {
                    out[i * values + t] += weight * v[j * values + t];
                }
            }
            for (uint64_t t = h * row->width; t < (h + 1) * row->width; t++) {
                out[i * values + t] /= denominator;
            }
        }
    }
}

/* ---- the cases ---- */

static const struct row *row_at(uint32_t index) {
    return index < ROW_COUNT ? &rows[index] : &attentions[index - ROW_COUNT];
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = row_at(index);
    char other[24] = "";
    if (row->other != 0) {
        snprintf(other, sizeof other, ",m=%u", row->other);
    }
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s%s/%s/n=%u%s,d=%u,s=%u,heads=%u,batch=%u",
             index < ROW_COUNT ? "" : "attention-", weft_component_name(row->component),
             row->stabilizer == NONE ? "" : (row->stabilizer == QRY ? "-query" : "-key"),
             row->coefficients ? "-weighted" : "", weft_values_name(row->kind), row->n, other,
             row->width, row->features, row->heads, row->batch);
}

static weft_tensor add(weft_case *c, const struct row *row, weft_tensor x, weft_tensor w,
                       weft_tensor coefficients, weft_tensor other) {
    weft_tensor y = {0};
    weft_case_check(
        c, weft_graph_random_features(
               &y, c->graph, x, w,
               weft_random_features_params(.component = row->component, .heads = row->heads,
                                           .stabilizer = row->stabilizer, .scale = row->scale,
                                           .epsilon = row->epsilon, .coefficients = coefficients,
                                           .other = other)));
    return y;
}

static weft_shape tokens_of(const struct row *row, uint32_t n) {
    return weft_shape_of(row->batch, n, row->heads * row->width);
}

static void build_features(weft_case *c, const struct row *row) {
    weft_array x = weft_case_input(c, "x", tokens_of(row, row->n), row->kind);
    weft_array w = weft_case_weight(c, weft_shape_of(row->features, row->width), UNIT);
    weft_array coefficients = {0};
    weft_array other = {0};
    if (row->coefficients) {
        coefficients = weft_case_weight(c, weft_shape_of(row->features), UNIT);
    }
    if (row->other != 0) {
        other = weft_case_input(c, "other", tokens_of(row, row->other), row->kind);
    }
    weft_tensor y = add(c, row, x.tensor, w.tensor, coefficients.tensor, other.tensor);
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        struct arrays arrays = {x.value, w.value, other.value, coefficients.value};
        reference(c, expected, row, &arrays);
    }
}

static void reference_attention(weft_case *c, double *out, const struct row *row,
                                const struct arrays *a, const double *v) {
    struct row key = *row;
    key.stabilizer = row->stabilizer == QRY ? KEY : row->stabilizer;
    const uint64_t features = (uint64_t)row->n * row->heads * features_of(row);
    const uint64_t values = (uint64_t)row->n * row->heads * row->width;
    double *phi = weft_case_scratch(c, row->batch * features);
    double *psi = weft_case_scratch(c, row->batch * features);
    if (phi != NULL && psi != NULL) {
        struct arrays keys = {a->other, a->w, a->x, a->coefficients};
        reference(c, phi, row, a);
        reference(c, psi, &key, &keys);
        for (uint32_t b = 0; b < row->batch; b++) {
            attend(out + b * values, row, phi + b * features, psi + b * features, v + b * values);
        }
    }
    weft_case_scratch_free(c, phi);
    weft_case_scratch_free(c, psi);
}

static void build_attention(weft_case *c, const struct row *row) {
    struct row key = *row;
    key.stabilizer = row->stabilizer == QRY ? KEY : row->stabilizer;
    weft_array q = weft_case_input(c, "q", tokens_of(row, row->n), row->kind);
    weft_array k = weft_case_input(c, "k", tokens_of(row, row->n), row->kind);
    weft_array v = weft_case_input(c, "v", tokens_of(row, row->n), UNIT);
    weft_array w = weft_case_weight(c, weft_shape_of(row->features, row->width), UNIT);
    weft_array coefficients = {0};
    if (row->coefficients) {
        coefficients = weft_case_weight(c, weft_shape_of(row->features), UNIT);
    }
    const weft_tensor none = {0};
    const bool both = row->component == OPT;
    weft_tensor phi = add(c, row, q.tensor, w.tensor, coefficients.tensor, both ? k.tensor : none);
    weft_tensor psi = add(c, &key, k.tensor, w.tensor, coefficients.tensor, both ? q.tensor : none);
    weft_tensor y = {0};
    weft_case_check(c,
                    weft_graph_linear_attention(&y, c->graph, phi, psi, v.tensor,
                                                weft_linear_attention_params(.heads = row->heads)));
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        struct arrays arrays = {q.value, w.value, k.value, coefficients.value};
        reference_attention(c, expected, row, &arrays, v.value);
    }
}

static void build(weft_case *c, uint32_t index) {
    if (index < ROW_COUNT) {
        build_features(c, row_at(index));
    } else {
        build_attention(c, row_at(index));
    }
}

const weft_family weft_family_random_features = {.name = "random_features",
                                                 .count = ROW_COUNT + ATTENTION_COUNT,
                                                 .tolerance = WEFT_TOLERANCE_EXPONENTIAL,
                                                 .name_case = name_case,
                                                 .build = build};
