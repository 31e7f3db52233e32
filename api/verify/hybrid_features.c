/* SPDX-License-Identifier: MIT */
/* Hybrid random features, and attention against the n × n matrix of Spectraformer's equation (38). */
#include <math.h>
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(hybrid_features, x[0], x[1], x[2])

/* Features of queries and keys, and linear attention with them. */
static weft_array mix_hybrid_features(weft_case *c, const weft_array *x, const void *params) {
    const weft_feature_attention *p = params;
    weft_hybrid_features_params own = {
        .heads = p->heads, .stabilizer = WEFT_STABILIZER_QUERY, .lengths = p->lengths};
    const weft_array phi = weft_case_hybrid_features(c, x[0], x[3], x[4], &own);
    own.keys = true;
    own.stabilizer = WEFT_STABILIZER_KEY;
    return weft_attend_with_features(c, phi, weft_case_hybrid_features(c, x[1], x[3], x[4], &own),
                                     x[2], p);
}

static const weft_use uses[] = {{.name = "hybrid features",
                                 .params = &(const weft_feature_attention){.epsilon = 1e-3F},
                                 .sizes.rows = 9}};

const weft_sheet weft_sheet_hybrid_attention = {
    WEFT_SHEET_FEATURES("hybrid_attention"),
    .operands = {WEFT_OPERANDS_QKV, WEFT_OPERAND_W,
                 WEFT_WEIGHT("directions", WEFT_AXIS_FEW, WEFT_AXIS_WIDTH)},
    .mix = mix_hybrid_features,
    WEFT_SHEET_USES(uses),
};

enum { X, W, DIRECTIONS, COEFFICIENTS };

#define WITH(...) .params = weft_hybrid_features_params(__VA_ARGS__)

static const weft_trial trials[] = {
    {INVALID, WITH(.heads = 2, .stabilizer = WEFT_STABILIZER_COUNT), SAYS("stabilizer 3", "0 … 2")},
    {INVALID, WITH(.heads = 2, .scale = INFINITY), SAYS("scale inf", "finite")},
    {INVALID, WITH(.heads = 3), SAYS("3 heads", "8 channels")},
    {INVALID, IS(AS(W, 1 << 15, 4), AS(DIRECTIONS, 1 << 15, 4)), WITH(.heads = 2, .keys = true),
     SAYS("2 heads of 32768 features", "32768 directions")},
    {MISMATCH, IS(AS(W, 6, 8)), WITH(.heads = 2, .keys = true), SAYS("w [6, 8]", "[s, 4]")},
    {MISMATCH, IS(AS(DIRECTIONS, 6, 8)), WITH(.heads = 2, .keys = true),
     SAYS("directions [6, 8]", "[r, 4]")},
    {MISMATCH, IS(AS(X, 10, 8)), WITH(.heads = 2, .keys = true), SAYS("[10, 8]", "[B, n, d]")},
    {MISMATCH, IS(AS(DIRECTIONS, 6)), WITH(.heads = 2, .keys = true),
     SAYS("directions [6]", "[r, d/heads]")},
    {MISMATCH, IS(AS_I32(DIRECTIONS, 6, 4)), WITH(.heads = 2, .keys = true),
     SAYS("directions must be f32")},
    {MISMATCH, IS(AS(COEFFICIENTS, 7)), SAYS("coefficients", "[7]", "[6]")},
    {ACCEPTED, IS(AS(COEFFICIENTS, 6)), GIVES(2, 5, 2 * 3 * 6 * 4)},
};

const weft_sheet weft_sheet_hybrid_features = {
    WEFT_SHEET_OP(hybrid_features),
    WEFT_SHEET_LENGTHS(weft_hybrid_features_params),
    .operands = {WEFT_OPERAND_X, WEFT_OPERAND_W,
                 WEFT_WEIGHT("directions", WEFT_AXIS_FEW, WEFT_AXIS_WIDTH),
                 WEFT_OPTIONAL("coefficients", weft_hybrid_features_params, coefficients,
                               WEFT_AXES(WEFT_AXIS_ROWS), .is_weight = true)},
    .sizes = {.batch = 2, .n = 5, .heads = 2, .width = 4, .rows = 6},
    .usual = weft_hybrid_features_params(.heads = 2),
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

struct row {
    bool attention,
        keys; /* attention: queries and keys, the latter with KEY where the former have QUERY */
    weft_stabilizer stabilizer;
    uint32_t batch, n, heads, width, features, directions;
    float scale;
    bool coefficients;
    weft_values kind;
};

#define NONE WEFT_STABILIZER_NONE
#define QRY  WEFT_STABILIZER_QUERY
#define KEY  WEFT_STABILIZER_KEY
#define UNIT WEFT_VALUES_UNIT

static const struct row rows[] = {
    {false, false, NONE, 1, 1, 1, 1, 1, 1, 0.0F, false, UNIT},
    {false, true, NONE, 1, 1, 1, 1, 1, 1, 0.0F, false, UNIT},
    {false, false, NONE, 2, 17, 2, 8, 16, 3, 0.0F, false, UNIT},
    {false, false, QRY, 2, 17, 2, 8, 16, 3, 0.0F, true, UNIT},
    {false, true, KEY, 2, 17, 2, 8, 16, 3, 0.0F, true, UNIT},
    {false, true, KEY, 3, 131, 3, 5, 7, 2, 0.0F, false, UNIT},
    {false, false, QRY, 1, 9, 1, 64, 257, 5, 0.0F, false, UNIT},
    {false, false, NONE, 1, 9, 2, 131, 3, 7, 0.0F, false, UNIT},
    {false, true, NONE, 1, 5, 2, 3, 129, 17, 0.0F, false, UNIT},
    {false, true, KEY, 1, 33, 2, 8, 9, 2, 0.125F, false, WEFT_VALUES_TENS},
    {false, false, QRY, 1, 33, 2, 8, 9, 2, -0.125F, false, WEFT_VALUES_TENS},
    {false, false, QRY, 1, 12, 13, 1, 6, 2, 0.0F, false, WEFT_VALUES_ZEROS},
    {false, true, NONE, 1, 12, 2, 6, 6, 4, 0.0F, false, WEFT_VALUES_EQUAL},
    {false, true, KEY, 1, 12, 2, 6, 6, 2, 0.0F, false, WEFT_VALUES_SMALL},
    {false, false, NONE, 2, 2, 3, 7, 11, 13, 1.0F, false, WEFT_VALUES_IMPULSE},
    {true, false, NONE, 1, 1, 1, 1, 1, 1, 0.0F, false, UNIT},
    {true, false, NONE, 1, 40, 2, 4, 64, 4, 0.0F, false, UNIT},
    {true, false, QRY, 2, 23, 2, 8, 64, 3, 0.0F, false, UNIT},
    {true, false, QRY, 1, 71, 1, 16, 33, 7, 0.0F, false, UNIT},
    {true, false, QRY, 1, 31, 3, 5, 41, 2, 0.5F, true, UNIT},
};

struct arrays {
    const double *x, *w, *directions, *coefficients; /* the last may be null */
};

static double scale_of(const struct row *row) {
    return row->scale != 0.0F ? (double)row->scale : (double)(float)pow(row->width, -0.25);
}

static double dot(const double *a, const double *b, uint32_t width) {
    double sum = 0.0;
    for (uint32_t c = 0; c < width; c++) {
        sum += a[c] * b[c];
    }
    return sum;
}

/* ln of PosRF's feature f of one token's head, and of the size of TrigRF's. */
static double positive_exponent(const struct row *row, const double *x, const double *w,
                                uint32_t f) {
    const double scale = scale_of(row);
    return scale * dot(x, w + (uint64_t)f * row->width, row->width) -
           0.5 * scale * scale * dot(x, x, row->width);
}

static double wave_exponent(const struct row *row, const double *x) {
    const double scale = scale_of(row);
    return 0.5 * scale * scale * dot(x, x, row->width);
}

static double side_of(const struct row *row, const double *x, const double *directions,
                      uint32_t k) {
    const double p = scale_of(row) * dot(x, directions + (uint64_t)k * row->width, row->width);
    return p < 0.0 ? -1.0 : 1.0;
}

/* Equation (38), with λ̂ of the angle: the estimate of exp(xᵀy), without features of its own. */
static double estimate(const struct row *row, const double *x, const double *y,
                       const struct arrays *a) {
    double agreement = 0.0;
    for (uint32_t k = 0; k < row->directions; k++) {
        agreement += side_of(row, x, a->directions, k) * side_of(row, y, a->directions, k);
    }
    const double lambda = 0.5 * (1.0 - agreement / row->directions);
    const double size = exp(wave_exponent(row, x) + wave_exponent(row, y));
    double positive = 0.0;
    double wave = 0.0;
    for (uint32_t f = 0; f < row->features; f++) {
        const double factor = a->coefficients ? a->coefficients[f] : 1.0;
        const double weight = a->coefficients ? factor * factor : 1.0 / row->features;
        const double *w = a->w + (uint64_t)f * row->width;
        positive +=
            weight * exp(positive_exponent(row, x, a->w, f) + positive_exponent(row, y, a->w, f));
        wave +=
            weight * size * cos(scale_of(row) * (dot(x, w, row->width) - dot(y, w, row->width)));
    }
    return lambda * positive + (1.0 - lambda) * wave;
}

static void attend(double *out, const struct row *row, const struct arrays *a, const double *k,
                   const double *v) {
    for (uint64_t i = 0; i < (uint64_t)row->batch * row->n * row->heads; i++) {
        const uint64_t sequence = i / ((uint64_t)row->n * row->heads) * row->n * row->heads;
        double sum = 0.0;
        for (uint64_t j = 0; j < row->n; j++) {
            const uint64_t key = (sequence + j * row->heads + i % row->heads) * row->width;
            const double weight = estimate(row, a->x + i * row->width, k + key, a);
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

/* ---- the cases ---- */

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    const char *side = row->keys ? "keys" : "queries";
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s/%s/n=%u,d=%u,s=%u,r=%u,heads=%u,batch=%u",
             row->attention ? "attention" : side,
             row->stabilizer == NONE ? "" : (row->stabilizer == QRY ? "-query" : "-key"),
             row->coefficients ? "-weighted" : "", weft_values_name(row->kind), row->n, row->width,
             row->features, row->directions, row->heads, row->batch);
}

struct inputs {
    weft_array w, directions, coefficients;
};

static weft_array add(weft_case *c, const struct row *row, bool keys, weft_stabilizer stabilizer,
                      weft_array x, const struct inputs *inputs) {
    return weft_case_hybrid_features(
        c, x, inputs->w, inputs->directions,
        weft_hybrid_features_params(.heads = row->heads, .keys = keys, .stabilizer = stabilizer,
                                    .scale = row->scale,
                                    .coefficients = inputs->coefficients.tensor));
}

static void build_attention(weft_case *c, const struct row *row, weft_array x,
                            const struct inputs *inputs) {
    weft_array k = weft_case_input(c, "k", x.shape, row->kind);
    weft_array v = weft_case_input(c, "v", x.shape, row->kind);
    weft_array phi = add(c, row, false, row->stabilizer, x, inputs);
    weft_array psi = add(c, row, true, row->stabilizer == QRY ? KEY : row->stabilizer, k, inputs);
    weft_tensor y = {0};
    weft_case_check(c,
                    weft_graph_linear_attention(&y, c->graph, phi.tensor, psi.tensor, v.tensor,
                                                weft_linear_attention_params(.heads = row->heads)));
    double *expected = weft_case_output(c, "y", y);
    if (expected) {
        const struct arrays arrays = {x.value, inputs->w.value, inputs->directions.value,
                                      inputs->coefficients.value};
        attend(expected, row, &arrays, k.value, v.value);
    }
}

static void build(weft_case *c, const struct row *row) {
    const weft_shape shape = weft_shape_of(row->batch, row->n, row->heads * row->width);
    weft_array x = weft_case_input(c, "x", shape, row->kind);
    struct inputs inputs;
    inputs.w = weft_case_weight(c, weft_shape_of(row->features, row->width), UNIT);
    inputs.directions = weft_case_weight(c, weft_shape_of(row->directions, row->width), UNIT);
    inputs.coefficients =
        weft_case_optional_weight(c, row->coefficients, weft_shape_of(row->features));
    if (row->attention) {
        build_attention(c, row, x, &inputs);
    } else {
        weft_case_expect(c, "y", add(c, row, row->keys, row->stabilizer, x, &inputs));
    }
}

WEFT_CASE_TABLE(hybrid_features, rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
