/* SPDX-License-Identifier: MIT */
/* Discretely-induced random features c Π x^w, and attention with them. */
#include <math.h>
#include <stdio.h>

#include "verify/trials.h"
#include <weft/features.h>

WEFT_SHEET_CALL(discrete_features, x[0], x[1], x[2])

/* Features of queries and keys, and linear attention with them. */
static weft_array mix_discrete_features(weft_case *c, const weft_array *x, const void *params) {
    const weft_feature_attention *p = params;
    weft_discrete_features_params own = {
        .heads = p->heads, .stabilizer = WEFT_STABILIZER_QUERY, .lengths = p->lengths};
    const weft_array phi = weft_case_discrete_features(c, x[0], x[3], x[4], &own);
    own.stabilizer = WEFT_STABILIZER_KEY;
    return weft_attend_with_features(c, phi, weft_case_discrete_features(c, x[1], x[3], x[4], &own),
                                     x[2], p);
}

static const weft_use uses[] = {{.name = "discrete features",
                                 .params = &(const weft_feature_attention){.epsilon = 1e-3F},
                                 .sizes.rows = 8}};

const weft_sheet weft_sheet_discrete_attention = {
    WEFT_SHEET_FEATURES("discrete_attention"),
    .operands = {WEFT_OPERANDS_QKV,
                 {.name = "w",
                  .axes = {WEFT_AXIS_ROWS, WEFT_AXIS_WIDTH},
                  .is_weight = true,
                  .range = WEFT_RANGE_POWERS},
                 {.name = "coefficients",
                  .axes = {WEFT_AXIS_ROWS},
                  .is_weight = true,
                  .range = WEFT_RANGE_STEPS}},
    .mix = mix_discrete_features,
    WEFT_SHEET_USES(uses),
};

enum { X, W, COEFFICIENTS };

#define WITH(...) .params = weft_discrete_features_params(__VA_ARGS__)

static const weft_trial trials[] = {
    {INVALID, WITH(.heads = 2, .stabilizer = WEFT_STABILIZER_COUNT), SAYS("stabilizer 3", "0 … 2")},
    {INVALID, WITH(.heads = 2, .scale = NAN), SAYS("scale nan", "finite")},
    {INVALID, WITH(.heads = 3), SAYS("3 heads", "8 channels")},
    {INVALID, IS(AS(X, 1, 2, 4097), AS(W, 6, 4097)), WITH(.heads = 1),
     SAYS("width 4097", "1 to 4096")},
    {MISMATCH, WITH(.heads = 1), SAYS("[6, 4]", "[s, 8]")},
    {MISMATCH, IS(AS(X, 10, 8)), SAYS("[10, 8]", "[B, n, d]")},
    {MISMATCH, IS(AS(W, 6)), SAYS("[6]", "[s, d/heads]")},
    {MISMATCH, IS(AS_I32(X, 2, 5, 8)), SAYS("x must be f32")},
    {MISMATCH, IS(AS(COEFFICIENTS, 7)), SAYS("coefficients", "[7]", "[6]")},
    {INVALID, IS(AS_NOTHING(COEFFICIENTS)), SAYS("discrete_features")},
    {ACCEPTED, GIVES(2, 5, 12)},
};

const weft_sheet weft_sheet_discrete_features = {
    WEFT_SHEET_OP(discrete_features),
    WEFT_SHEET_LENGTHS(weft_discrete_features_params),
    .operands = {WEFT_OPERAND_X, WEFT_OPERAND_W, WEFT_WEIGHT("coefficients", WEFT_AXIS_ROWS)},
    .sizes = {.batch = 2, .n = 5, .heads = 2, .width = 4, .rows = 6},
    .usual = weft_discrete_features_params(.heads = 2),
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

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

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s/%s/rate=%g,n=%u,d=%u,s=%u,heads=%u,batch=%u",
             row->attention ? "attention-" : "", weft_features_name(row->law),
             row->stabilizer == NONE ? "" : (row->stabilizer == QRY ? "-query" : "-key"),
             weft_values_name(row->kind), (double)row->rate, row->n, row->width, row->features,
             row->heads, row->batch);
}

struct powers {
    weft_array w, coefficients;
};

static struct powers add_powers(weft_case *c, const struct row *row) {
    const uint32_t s = row->features;
    const uint64_t count = (uint64_t)s * row->width;
    struct powers powers = {.w = {.value = NULL}};
    float *data = weft_reference_memory(&c->ref, count + s, sizeof *data);
    if (data) {
        weft_case_check(c,
                        weft_features_fill(data, data + count,
                                           weft_features_params(.kind = row->law, .rows = s,
                                                                .columns = row->width,
                                                                .seed = c->seed, .rate = row->rate),
                                           &c->ref.host));
        for (uint64_t i = count; i < count + s; i++) {
            data[i] = sqrtf(data[i]);
        }
        powers.w = weft_case_weight_of(c, weft_shape_of(s, row->width), data);
        powers.coefficients = weft_case_weight_of(c, weft_shape_of(s), data + count);
    }
    return powers;
}

static weft_array add(weft_case *c, const struct row *row, weft_array x,
                      const struct powers *powers, weft_stabilizer stabilizer) {
    return weft_case_discrete_features(c, x, powers->w, powers->coefficients,
                                       weft_discrete_features_params(.heads = row->heads,
                                                                     .scale = row->scale,
                                                                     .stabilizer = stabilizer));
}

static weft_array attend(weft_case *c, const struct row *row, weft_array q,
                         const struct powers *powers) {
    weft_array k = weft_case_input(c, "k", q.shape, row->kind);
    weft_array v = weft_case_input(c, "v", q.shape, row->kind);
    weft_array phi = add(c, row, q, powers, row->stabilizer);
    weft_array psi = add(c, row, k, powers, row->stabilizer == QRY ? KEY : row->stabilizer);
    return weft_case_linear_attention(c, phi, psi, v,
                                      weft_linear_attention_params(.heads = row->heads));
}

static void build(weft_case *c, const struct row *row) {
    const weft_shape shape = weft_shape_of(row->batch, row->n, row->heads * row->width);
    weft_array x = weft_case_input(c, "x", shape, row->kind);
    const struct powers powers = add_powers(c, row);
    weft_case_expect(c, "y",
                     row->attention ? attend(c, row, x, &powers)
                                    : add(c, row, x, &powers, row->stabilizer));
}

WEFT_CASE_TABLE(discrete_features, rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
