/* SPDX-License-Identifier: MIT */
/* Random features, and attention with them. */
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(random_features, x[0], x[1])

/* Features of queries and keys, and linear attention with them. */
static weft_array mix_random_features(weft_case *c, const weft_array *x, const void *params) {
    const weft_feature_attention *p = params;
    const bool both =
        p->component == WEFT_COMPONENT_OPTIMAL || p->component == WEFT_COMPONENT_ASYMMETRIC;
    weft_array features[2];
    for (uint32_t i = 0; i < 2; i++) {
        const weft_tensor none = {0};
        features[i] = weft_case_random_features(
            c, x[i], x[3],
            weft_random_features_params(.component = p->component, .heads = p->heads,
                                        .stabilizer =
                                            i == 0 ? WEFT_STABILIZER_QUERY : WEFT_STABILIZER_KEY,
                                        .other = both ? x[1 - i].tensor : none,
                                        .lengths = p->lengths,
                                        .other_lengths = both ? p->lengths : none));
    }
    return weft_attend_with_features(c, features[0], features[1], x[2], p);
}

#define WITH_COMPONENT(of)                                                                         \
    .params = &(const weft_feature_attention){.component = WEFT_COMPONENT_##of, .epsilon = 1e-3F}, \
    .sizes.rows = 20

static const weft_use uses[] = {
    {.name = "trigonometric features", WITH_COMPONENT(TRIGONOMETRIC)},
    {.name = "positive features", WITH_COMPONENT(POSITIVE)},
    {.name = "hyperbolic features", WITH_COMPONENT(HYPERBOLIC)},
    {.name = "optimal features", WITH_COMPONENT(OPTIMAL)},
    {.name = "asymmetric features", WITH_COMPONENT(ASYMMETRIC)},
};

const weft_sheet weft_sheet_random_attention = {
    WEFT_SHEET_FEATURES("random_attention"),
    .operands = {WEFT_OPERANDS_QKV, WEFT_OPERAND_W},
    .mix = mix_random_features,
    WEFT_SHEET_USES(uses),
};

enum { X, W, OTHER, COEFFICIENTS, PROJECTION, NORMS, OTHER_LENGTHS };

#define WITH(...)          .params = weft_random_features_params(.heads = 2, __VA_ARGS__)
#define WITH_POSITIVE(...) WITH(.component = WEFT_COMPONENT_POSITIVE, __VA_ARGS__)
#define WITH_GENERAL(...)  WITH(.component = WEFT_COMPONENT_GENERALIZED, __VA_ARGS__)
#define WITH_OPTIMAL       WITH(.component = WEFT_COMPONENT_OPTIMAL)
#define WITH_ASYMMETRIC    WITH(.component = WEFT_COMPONENT_ASYMMETRIC)
#define A_PROJECTION       AS_NOTHING(W), AS(PROJECTION, 2, 5, 12)

static const weft_trial trials[] = {
    {INVALID, WITH(.component = WEFT_COMPONENT_COUNT), SAYS("component 6", "0 … 5")},
    {INVALID, WITH(.stabilizer = WEFT_STABILIZER_COUNT), SAYS("stabilizer 3", "0 … 2")},
    {INVALID, WITH(.scale = INFINITY), SAYS("scale inf")},
    {INVALID, WITH_POSITIVE(.epsilon = -1.0F), SAYS("epsilon -1", "at least 0")},
    {INVALID, WITH_POSITIVE(.epsilon = NAN), SAYS("epsilon")},
    {INVALID, WITH(.epsilon = 1e-6F), SAYS("epsilon 1e-06", "trigonometric")},
    {INVALID, .params = weft_random_features_params(.heads = 3), SAYS("3 heads", "8 channels")},
    {INVALID, WITH_OPTIMAL, SAYS("other is missing")},
    {INVALID, IS(AS(OTHER, 2, 9, 8)), SAYS("other is given")},
    {INVALID, WITH_ASYMMETRIC, SAYS("other is missing", "asymmetric")},
    {INVALID, WITH_GENERAL(.a = 0.25F), SAYS("a 0.25", "below 1/4")},
    {INVALID, WITH_GENERAL(.a = NAN), SAYS("a nan", "below 1/4")},
    {INVALID, WITH_GENERAL(.a = -INFINITY), SAYS("a -inf", "finite")},
    {INVALID, WITH_GENERAL(.s = 2), SAYS("s 2", "1 or -1")},
    {INVALID, WITH_GENERAL(.s = -1, .epsilon = 1e-6F), SAYS("epsilon 1e-06")},
    {INVALID, IS(AS(OTHER, 2, 9, 8)), WITH_GENERAL(.s = 0), SAYS("other is given", "generalized")},
    {INVALID, WITH(.a = -0.5F), SAYS("a -0.5", "trigonometric")},
    {INVALID, WITH_POSITIVE(.s = 1), SAYS("s 1", "positive")},
    {MISMATCH, IS(AS(W, 6, 8)), SAYS("[6, 8]", "[s, 4]")},
    {MISMATCH, IS(AS(X, 10, 8)), SAYS("[10, 8]", "[B, n, d]")},
    {MISMATCH, IS(AS(W, 6)), SAYS("[6]", "[s, d/heads]")},
    {MISMATCH, IS(AS_I32(X, 2, 5, 8)), SAYS("x must be f32")},
    {MISMATCH, IS(AS(COEFFICIENTS, 7)), SAYS("coefficients", "[6]", "[7]")},
    {MISMATCH, IS(AS(OTHER, 3, 5, 8)), WITH_OPTIMAL, SAYS("other", "[3, 5, 8]")},
    {MISMATCH, IS(AS(OTHER, 10, 8)), WITH_OPTIMAL, SAYS("other", "[10, 8]")},
    {MISMATCH, IS(AS(OTHER, 3, 5, 8)), WITH_ASYMMETRIC, SAYS("other", "[3, 5, 8]")},
    {ACCEPTED, IS(AS(OTHER, 2, 9, 8), AS(COEFFICIENTS, 6)), WITH_OPTIMAL, GIVES(2, 5, 12)},
    {ACCEPTED, WITH(.component = WEFT_COMPONENT_HYPERBOLIC), GIVES(2, 5, 24)},
    {ACCEPTED, WITH_GENERAL(.s = -1, .a = 0.2F), GIVES(2, 5, 24)},
    {ACCEPTED, WITH_GENERAL(.a = 0.2F), GIVES(2, 5, 12)},
    /* A mask that was added before the mistake was found is gone again. */
    {INVALID, IS(AS_I32(WEFT_LENGTHS, 2)), WITH_OPTIMAL,
     SAYS("other is missing", "random_features")},
    {INVALID, IS(AS_I32(OTHER_LENGTHS, 2)),
     SAYS("other_lengths is given without other", "random_features")},
    /* A projection in place of w. */
    {INVALID, IS(AS(PROJECTION, 2, 5, 12)), SAYS("w and projection", "both given")},
    {INVALID, IS(AS_NOTHING(W)), SAYS("w and projection", "both missing")},
    {INVALID, IS(A_PROJECTION, AS(OTHER, 2, 5, 8)), WITH_OPTIMAL,
     SAYS("square_norms is missing", "optimal")},
    {INVALID, IS(A_PROJECTION, AS(NORMS, 6)), SAYS("square_norms is given", "trigonometric")},
    {INVALID, IS(AS(OTHER, 2, 5, 8), AS(NORMS, 6)), WITH_OPTIMAL,
     SAYS("square_norms is given", "matrix w")},
    {MISMATCH, IS(A_PROJECTION, AS(OTHER, 2, 5, 8), AS(NORMS, 7)), WITH_OPTIMAL,
     SAYS("square_norms", "[6]", "[7]")},
    {MISMATCH, IS(A_PROJECTION, AS(COEFFICIENTS, 7)), SAYS("coefficients", "[6]", "[7]")},
    {MISMATCH, IS(AS_NOTHING(W), AS(PROJECTION, 2, 5, 13)),
     SAYS("projection", "[2, 5, 13]", "2 heads")},
    {MISMATCH, IS(AS_NOTHING(W), AS(PROJECTION, 2, 6, 12)), SAYS("projection", "[2, 6, 12]")},
    {MISMATCH, IS(AS_NOTHING(W), AS_I32(PROJECTION, 2, 5, 12)), SAYS("projection must be f32")},
    {ACCEPTED, IS(A_PROJECTION, AS(OTHER, 2, 5, 8), AS(NORMS, 6), AS(COEFFICIENTS, 6)),
     WITH_OPTIMAL, GIVES(2, 5, 12)},
};

#define OPTIONAL(text, member)                                         \
    {                                                                  \
        .name = (text), .axes = {WEFT_AXIS_ROWS}, .is_optional = true, \
        .field = WEFT_SHEET_FIELD(weft_random_features_params, member) \
    }

const weft_sheet weft_sheet_random_features = {
    WEFT_SHEET_OP(random_features),
    WEFT_SHEET_LENGTHS(weft_random_features_params),
    .operands = {WEFT_OPERAND_X, WEFT_OPERAND_W, OPTIONAL("other", other),
                 OPTIONAL("coefficients", coefficients), OPTIONAL("projection", projection),
                 OPTIONAL("square_norms", square_norms), OPTIONAL("other_lengths", other_lengths)},
    .sizes = {.batch = 2, .n = 5, .heads = 2, .width = 4, .rows = 6},
    .usual = weft_random_features_params(.heads = 2),
    WEFT_SHEET_TRIALS(trials),
};

/* ---- cases ---- */

struct row {
    weft_component component;
    weft_stabilizer stabilizer;
    uint32_t batch, n, heads, width, features;
    uint32_t other; /* OPTIMAL, ASYMMETRIC: tokens of the other side */
    float scale;
    float epsilon;
    bool weighted; /* by coefficients */
    weft_values kind;
    float a;   /* GENERALIZED */
    int32_t s; /* likewise */
};

#define TRIG WEFT_COMPONENT_TRIGONOMETRIC
#define POS  WEFT_COMPONENT_POSITIVE
#define HYP  WEFT_COMPONENT_HYPERBOLIC
#define OPT  WEFT_COMPONENT_OPTIMAL
#define GEN  WEFT_COMPONENT_GENERALIZED
#define ASY  WEFT_COMPONENT_ASYMMETRIC
#define NONE WEFT_STABILIZER_NONE
#define QRY  WEFT_STABILIZER_QUERY
#define KEY  WEFT_STABILIZER_KEY
#define UNIT WEFT_VALUES_UNIT

static const struct row rows[] = {
    {TRIG, NONE, 1, 1, 1, 1, 1, .kind = UNIT},
    {TRIG, NONE, 2, 17, 2, 8, 16, .kind = UNIT},
    {TRIG, QRY, 2, 17, 2, 8, 16, .weighted = true, .kind = UNIT},
    {TRIG, KEY, 2, 17, 2, 8, 16, .weighted = true, .kind = UNIT},
    {TRIG, KEY, 1, 131, 3, 5, 7, .kind = UNIT},
    {TRIG, NONE, 1, 9, 1, 64, 256, .kind = UNIT},
    {TRIG, QRY, 1, 9, 1, 131, 3, .kind = UNIT},
    {TRIG, KEY, 1, 33, 2, 8, 9, .scale = 0.125F, .kind = WEFT_VALUES_TENS},
    {TRIG, QRY, 1, 33, 2, 8, 9, .kind = WEFT_VALUES_ZEROS},
    {POS, NONE, 1, 1, 1, 1, 1, .kind = UNIT},
    {POS, NONE, 2, 17, 2, 8, 16, .kind = UNIT},
    {POS, QRY, 2, 17, 2, 8, 16, .epsilon = 1e-6F, .weighted = true, .kind = UNIT},
    {POS, KEY, 2, 17, 2, 8, 16, .epsilon = 1e-6F, .weighted = true, .kind = UNIT},
    {POS, KEY, 3, 131, 3, 5, 7, .epsilon = 1e-6F, .kind = UNIT},
    {POS, KEY, 1, 1009, 1, 4, 5, .kind = UNIT},
    {POS, QRY, 1, 9, 1, 64, 256, .epsilon = 1e-6F, .kind = UNIT},
    {POS, NONE, 1, 9, 2, 131, 3, .kind = UNIT},
    {POS, QRY, 1, 33, 2, 8, 129, .scale = 0.125F, .epsilon = 0.25F, .kind = WEFT_VALUES_TENS},
    {POS, KEY, 1, 33, 2, 8, 129, .scale = 0.125F, .kind = WEFT_VALUES_TENS},
    {POS, NONE, 1, 12, 2, 6, 6, .kind = WEFT_VALUES_EQUAL},
    {POS, KEY, 1, 12, 2, 6, 6, .epsilon = 1e-6F, .kind = WEFT_VALUES_SMALL},
    {POS, QRY, 1, 12, 13, 6, 6, .scale = -0.5F, .epsilon = 1e-6F, .kind = WEFT_VALUES_ZEROS},
    {HYP, NONE, 1, 1, 1, 1, 1, .kind = UNIT},
    {HYP, NONE, 2, 17, 2, 8, 16, .kind = UNIT},
    {HYP, QRY, 2, 17, 2, 8, 16, .epsilon = 1e-6F, .weighted = true, .kind = UNIT},
    {HYP, KEY, 2, 17, 2, 8, 16, .epsilon = 1e-6F, .weighted = true, .kind = UNIT},
    {HYP, KEY, 1, 131, 3, 5, 7, .epsilon = 1e-6F, .kind = UNIT},
    {HYP, QRY, 1, 9, 1, 64, 200, .epsilon = 1e-6F, .kind = UNIT},
    {HYP, KEY, 1, 33, 2, 8, 9, .scale = 0.125F, .kind = WEFT_VALUES_TENS},
    {OPT, NONE, 1, 1, 1, 1, 1, .other = 1, .kind = UNIT},
    {OPT, NONE, 2, 17, 2, 8, 16, .other = 17, .kind = UNIT},
    {OPT, QRY, 2, 17, 2, 8, 16, .other = 19, .epsilon = 1e-6F, .weighted = true, .kind = UNIT},
    {OPT, KEY, 2, 17, 2, 8, 16, .other = 5, .epsilon = 1e-6F, .weighted = true, .kind = UNIT},
    {OPT, KEY, 3, 131, 3, 5, 7, .other = 257, .epsilon = 1e-6F, .kind = UNIT},
    {OPT, NONE, 1, 256, 2, 4, 8, .other = 513, .kind = UNIT},
    {OPT, QRY, 1, 600, 1, 7, 3, .other = 255, .kind = UNIT},
    {OPT, QRY, 1, 9, 1, 64, 256, .other = 9, .epsilon = 1e-6F, .kind = UNIT},
    {OPT, NONE, 1, 9, 2, 131, 3, .other = 7, .kind = UNIT},
    {OPT, KEY, 1, 33, 2, 8, 129, .other = 20, .scale = 0.125F, .kind = WEFT_VALUES_TENS},
    {OPT, NONE, 1, 12, 2, 6, 6, .other = 12, .kind = WEFT_VALUES_EQUAL},
    {OPT, QRY, 1, 12, 2, 6, 6, .other = 3, .epsilon = 1e-6F, .kind = WEFT_VALUES_SMALL},
};

/* Attention through weft_graph_linear_attention. */
static const struct row attentions[] = {
    {TRIG, NONE, 1, 40, 2, 4, 512, .kind = UNIT},
    {POS, QRY, 2, 70, 2, 8, 32, .epsilon = 1e-6F, .kind = UNIT},
    {POS, QRY, 1, 300, 1, 16, 64, .epsilon = 1e-6F, .weighted = true, .kind = UNIT},
    {HYP, QRY, 2, 33, 3, 5, 17, .epsilon = 1e-6F, .kind = UNIT},
    {OPT, QRY, 2, 70, 2, 8, 32, .other = 70, .epsilon = 1e-6F, .kind = UNIT},
    {OPT, QRY, 1, 131, 1, 16, 64, .other = 131, .epsilon = 1e-6F, .weighted = true, .kind = UNIT},
};

/* Those that take A and s, and SADERF. */
static const struct row later[] = {
    {GEN, NONE, 1, 1, 1, 1, 1, .kind = UNIT},
    {GEN, NONE, 2, 17, 2, 8, 16, .kind = UNIT, .a = -0.125F, .s = 1},
    {GEN, QRY, 2, 17, 2, 8, 16, .epsilon = 1e-6F, .weighted = true, .kind = UNIT, .a = -0.03F,
     .s = 1},
    {GEN, KEY, 1, 131, 3, 5, 7, .epsilon = 1e-6F, .kind = UNIT, .a = 0.0625F},
    {GEN, QRY, 1, 9, 1, 64, 256, .epsilon = 1e-6F, .kind = UNIT, .a = -0.01F, .s = 1},
    {GEN, NONE, 1, 9, 2, 131, 3, .kind = UNIT, .a = -0.02F, .s = 1},
    {GEN, KEY, 1, 33, 2, 8, 129, .scale = 0.125F, .kind = WEFT_VALUES_TENS, .a = -0.25F, .s = 1},
    {GEN, QRY, 1, 12, 13, 6, 6, .scale = -0.5F, .epsilon = 1e-6F, .kind = WEFT_VALUES_ZEROS,
     .a = 0.2F, .s = 1},
    {GEN, NONE, 1, 1, 1, 1, 1, .kind = UNIT, .s = -1},
    {GEN, NONE, 2, 17, 2, 8, 16, .kind = UNIT, .a = 0.0625F, .s = -1},
    {GEN, QRY, 2, 17, 2, 8, 16, .weighted = true, .kind = UNIT, .a = -0.125F, .s = -1},
    {GEN, KEY, 1, 131, 3, 5, 7, .kind = UNIT, .a = 0.03F, .s = -1},
    {GEN, KEY, 1, 9, 1, 64, 200, .kind = UNIT, .a = -0.01F, .s = -1},
    {GEN, QRY, 1, 33, 2, 8, 9, .scale = 0.125F, .kind = WEFT_VALUES_TENS, .a = -0.25F, .s = -1},
    {ASY, NONE, 1, 1, 1, 1, 1, .other = 1, .kind = UNIT},
    {ASY, NONE, 2, 17, 2, 8, 16, .other = 17, .kind = UNIT},
    {ASY, QRY, 2, 17, 2, 8, 16, .other = 19, .epsilon = 1e-6F, .weighted = true, .kind = UNIT},
    {ASY, KEY, 3, 131, 3, 5, 7, .other = 257, .epsilon = 1e-6F, .kind = UNIT},
    {ASY, QRY, 1, 600, 1, 7, 3, .other = 255, .kind = UNIT},
    {ASY, QRY, 1, 9, 1, 64, 256, .other = 9, .epsilon = 1e-6F, .kind = UNIT},
    {ASY, NONE, 1, 9, 2, 131, 3, .other = 7, .kind = UNIT},
    {ASY, KEY, 1, 33, 2, 8, 129, .other = 20, .scale = 0.125F, .kind = WEFT_VALUES_TENS},
    {ASY, NONE, 2, 2, 3, 5, 6, .other = 1, .kind = WEFT_VALUES_ZEROS},
    {ASY, NONE, 1, 12, 2, 6, 6, .other = 3, .kind = WEFT_VALUES_IMPULSE},
    {ASY, QRY, 1, 12, 2, 6, 6, .other = 3, .epsilon = 1e-6F, .kind = WEFT_VALUES_SMALL},
};

static const struct row later_attentions[] = {
    {GEN, QRY, 2, 70, 2, 8, 32, .epsilon = 1e-6F, .kind = UNIT, .a = -0.1F, .s = 1},
    {GEN, NONE, 1, 40, 2, 4, 512, .kind = UNIT, .a = 0.03F, .s = -1},
    {ASY, QRY, 2, 70, 2, 8, 32, .other = 70, .epsilon = 1e-6F, .kind = UNIT},
    {ASY, QRY, 1, 131, 3, 7, 65, .other = 131, .epsilon = 1e-6F, .weighted = true, .kind = UNIT},
};

/* By the kernels that make eight rows of 16 lanes side by side. */
static const struct row side[] = {
    {TRIG, NONE, 1, 1, 1, 1, 1, .kind = UNIT},
    {TRIG, KEY, 1, 33, 2, 8, 9, .scale = 0.125F, .kind = WEFT_VALUES_TENS},
    {POS, QRY, 2, 17, 2, 8, 16, .epsilon = 1e-6F, .weighted = true, .kind = UNIT},
    {POS, KEY, 3, 13, 3, 5, 7, .epsilon = 1e-6F, .kind = UNIT},
    {POS, QRY, 1, 9, 1, 64, 256, .epsilon = 1e-6F, .kind = UNIT},
    {HYP, KEY, 2, 17, 2, 8, 16, .epsilon = 1e-6F, .weighted = true, .kind = UNIT},
    {HYP, QRY, 1, 9, 1, 131, 33, .epsilon = 1e-6F, .kind = UNIT},
    {OPT, QRY, 2, 17, 2, 8, 16, .other = 19, .epsilon = 1e-6F, .weighted = true, .kind = UNIT},
    {OPT, KEY, 3, 13, 3, 5, 7, .other = 25, .epsilon = 1e-6F, .kind = UNIT},
    {GEN, KEY, 1, 31, 3, 5, 7, .epsilon = 1e-6F, .kind = UNIT, .a = 0.0625F},
    {GEN, KEY, 1, 9, 1, 64, 200, .kind = UNIT, .a = -0.01F, .s = -1},
    {ASY, KEY, 1, 33, 2, 8, 129, .other = 20, .scale = 0.125F, .kind = WEFT_VALUES_TENS},
};

/* The cases of all tables, one after the other. */
static const struct table {
    const struct row *rows;
    uint32_t count;
    bool is_attention;
    const char *implementation;
} tables[] = {
    {.rows = rows, .count = WEFT_COUNT(rows)},
    {.rows = attentions, .count = WEFT_COUNT(attentions), .is_attention = true},
    {.rows = later, .count = WEFT_COUNT(later)},
    {.rows = later_attentions, .count = WEFT_COUNT(later_attentions), .is_attention = true},
    {.rows = side, .count = WEFT_COUNT(side), .implementation = "side"},
};

#define CASES                                                        \
    (WEFT_COUNT(rows) + WEFT_COUNT(attentions) + WEFT_COUNT(later) + \
     WEFT_COUNT(later_attentions) + WEFT_COUNT(side))

/* The table that has a case, whose row in it takes the place of its index. */
static const struct table *find_table(uint32_t *index) {
    const struct table *table = tables;
    while (*index >= table->count) {
        *index -= table->count;
        table++;
    }
    return table;
}

/* ---- the cases ---- */

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct table *table = find_table(&index);
    const struct row *row = &table->rows[index];
    char other[24] = "";
    if (row->other != 0) {
        snprintf(other, sizeof other, ",m=%u", row->other);
    }
    if (row->component == GEN) {
        snprintf(other, sizeof other, ",A=%g", (double)row->a);
    }
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s%s%s%s%s/%s/n=%u%s,d=%u,s=%u,heads=%u,batch=%u",
             table->implementation ? table->implementation : "", table->implementation ? "/" : "",
             table->is_attention ? "attention-" : "", weft_component_name(row->component),
             row->s < 0 ? "-waves" : "",
             row->stabilizer == NONE ? "" : (row->stabilizer == QRY ? "-query" : "-key"),
             row->weighted ? "-weighted" : "", weft_values_name(row->kind), row->n, other,
             row->width, row->features, row->heads, row->batch);
}

/* Inputs of both besides x: those that the row lacks are empty. */
struct given {
    weft_array w, coefficients;
};

static weft_array add(weft_case *c, const struct row *row, weft_stabilizer stabilizer, weft_array x,
                      const struct given *given, weft_array other) {
    return weft_case_random_features(
        c, x, given->w,
        weft_random_features_params(.component = row->component, .heads = row->heads,
                                    .stabilizer = stabilizer, .scale = row->scale,
                                    .epsilon = row->epsilon,
                                    .coefficients = given->coefficients.tensor,
                                    .other = other.tensor, .a = row->a, .s = row->s));
}

static weft_shape tokens_of(const struct row *row, uint32_t n) {
    return weft_shape_of(row->batch, n, row->heads * row->width);
}

static struct given add_given(weft_case *c, const struct row *row) {
    struct given given;
    given.w = weft_case_weight(c, weft_shape_of(row->features, row->width), UNIT);
    given.coefficients = weft_case_optional_weight(c, row->weighted, weft_shape_of(row->features));
    return given;
}

static void build_features(weft_case *c, const struct row *row) {
    weft_array x = weft_case_input(c, "x", tokens_of(row, row->n), row->kind);
    const struct given given = add_given(c, row);
    weft_array other = {0};
    if (row->other != 0) {
        other = weft_case_input(c, "other", tokens_of(row, row->other), row->kind);
    }
    weft_case_expect(c, "y", add(c, row, row->stabilizer, x, &given, other));
}

static void build_attention(weft_case *c, const struct row *row) {
    const weft_array none = {0};
    const bool both = row->component == OPT || row->component == ASY;
    weft_array q = weft_case_input(c, "q", tokens_of(row, row->n), row->kind);
    weft_array k = weft_case_input(c, "k", tokens_of(row, row->n), row->kind);
    weft_array v = weft_case_input(c, "v", tokens_of(row, row->n), UNIT);
    const struct given given = add_given(c, row);
    weft_array phi = add(c, row, row->stabilizer, q, &given, both ? k : none);
    weft_array psi =
        add(c, row, row->stabilizer == QRY ? KEY : row->stabilizer, k, &given, both ? q : none);
    weft_case_expect(c, "y",
                     weft_case_linear_attention(c, phi, psi, v,
                                                weft_linear_attention_params(.heads = row->heads)));
}

static void build(weft_case *c, uint32_t index) {
    const struct table *table = find_table(&index);
    c->implementation = table->implementation;
    if (table->is_attention) {
        build_attention(c, &table->rows[index]);
    } else {
        build_features(c, &table->rows[index]);
    }
}

WEFT_CASE_FAMILY(random_features, CASES, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
