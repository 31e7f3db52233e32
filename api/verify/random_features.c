/* SPDX-License-Identifier: MIT */
/* Random features, and attention with them. */
#include <stdio.h>

#include "verify/paired.h"

struct row {
    weft_component component;
    weft_stabilizer stabilizer;
    uint32_t batch, n, heads, width, features;
    uint32_t other; /* OPTIMAL, ASYMMETRIC: tokens of the other side */
    float scale;
    float epsilon;
    bool coefficients;
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
    {TRIG, NONE, 1, 1, 1, 1, 1, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {TRIG, NONE, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {TRIG, QRY, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, true, UNIT, 0.0F, 0},
    {TRIG, KEY, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, true, UNIT, 0.0F, 0},
    {TRIG, KEY, 1, 131, 3, 5, 7, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {TRIG, NONE, 1, 9, 1, 64, 256, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {TRIG, QRY, 1, 9, 1, 131, 3, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {TRIG, KEY, 1, 33, 2, 8, 9, 0, 0.125F, 0.0F, false, WEFT_VALUES_TENS, 0.0F, 0},
    {TRIG, QRY, 1, 33, 2, 8, 9, 0, 0.0F, 0.0F, false, WEFT_VALUES_ZEROS, 0.0F, 0},
    {POS, NONE, 1, 1, 1, 1, 1, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {POS, NONE, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {POS, QRY, 2, 17, 2, 8, 16, 0, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {POS, KEY, 2, 17, 2, 8, 16, 0, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {POS, KEY, 3, 131, 3, 5, 7, 0, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {POS, KEY, 1, 1009, 1, 4, 5, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {POS, QRY, 1, 9, 1, 64, 256, 0, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {POS, NONE, 1, 9, 2, 131, 3, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {POS, QRY, 1, 33, 2, 8, 129, 0, 0.125F, 0.25F, false, WEFT_VALUES_TENS, 0.0F, 0},
    {POS, KEY, 1, 33, 2, 8, 129, 0, 0.125F, 0.0F, false, WEFT_VALUES_TENS, 0.0F, 0},
    {POS, NONE, 1, 12, 2, 6, 6, 0, 0.0F, 0.0F, false, WEFT_VALUES_EQUAL, 0.0F, 0},
    {POS, KEY, 1, 12, 2, 6, 6, 0, 0.0F, 1e-6F, false, WEFT_VALUES_SMALL, 0.0F, 0},
    {POS, QRY, 1, 12, 13, 6, 6, 0, -0.5F, 1e-6F, false, WEFT_VALUES_ZEROS, 0.0F, 0},
    {HYP, NONE, 1, 1, 1, 1, 1, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {HYP, NONE, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {HYP, QRY, 2, 17, 2, 8, 16, 0, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {HYP, KEY, 2, 17, 2, 8, 16, 0, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {HYP, KEY, 1, 131, 3, 5, 7, 0, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {HYP, QRY, 1, 9, 1, 64, 200, 0, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {HYP, KEY, 1, 33, 2, 8, 9, 0, 0.125F, 0.0F, false, WEFT_VALUES_TENS, 0.0F, 0},
    {OPT, NONE, 1, 1, 1, 1, 1, 1, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {OPT, NONE, 2, 17, 2, 8, 16, 17, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {OPT, QRY, 2, 17, 2, 8, 16, 19, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {OPT, KEY, 2, 17, 2, 8, 16, 5, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {OPT, KEY, 3, 131, 3, 5, 7, 257, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {OPT, NONE, 1, 256, 2, 4, 8, 513, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {OPT, QRY, 1, 600, 1, 7, 3, 255, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {OPT, QRY, 1, 9, 1, 64, 256, 9, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {OPT, NONE, 1, 9, 2, 131, 3, 7, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {OPT, KEY, 1, 33, 2, 8, 129, 20, 0.125F, 0.0F, false, WEFT_VALUES_TENS, 0.0F, 0},
    {OPT, NONE, 1, 12, 2, 6, 6, 12, 0.0F, 0.0F, false, WEFT_VALUES_EQUAL, 0.0F, 0},
    {OPT, QRY, 1, 12, 2, 6, 6, 3, 0.0F, 1e-6F, false, WEFT_VALUES_SMALL, 0.0F, 0},
};

/* Attention through weft_graph_linear_attention. */
static const struct row attentions[] = {
    {TRIG, NONE, 1, 40, 2, 4, 512, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {POS, QRY, 2, 70, 2, 8, 32, 0, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {POS, QRY, 1, 300, 1, 16, 64, 0, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {HYP, QRY, 2, 33, 3, 5, 17, 0, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {OPT, QRY, 2, 70, 2, 8, 32, 70, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {OPT, QRY, 1, 131, 1, 16, 64, 131, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
};

/* Those that take A and s, and SADERF. */
static const struct row later[] = {
    {GEN, NONE, 1, 1, 1, 1, 1, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {GEN, NONE, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, false, UNIT, -0.125F, 1},
    {GEN, QRY, 2, 17, 2, 8, 16, 0, 0.0F, 1e-6F, true, UNIT, -0.03F, 1},
    {GEN, KEY, 1, 131, 3, 5, 7, 0, 0.0F, 1e-6F, false, UNIT, 0.0625F, 0},
    {GEN, QRY, 1, 9, 1, 64, 256, 0, 0.0F, 1e-6F, false, UNIT, -0.01F, 1},
    {GEN, NONE, 1, 9, 2, 131, 3, 0, 0.0F, 0.0F, false, UNIT, -0.02F, 1},
    {GEN, KEY, 1, 33, 2, 8, 129, 0, 0.125F, 0.0F, false, WEFT_VALUES_TENS, -0.25F, 1},
    {GEN, QRY, 1, 12, 13, 6, 6, 0, -0.5F, 1e-6F, false, WEFT_VALUES_ZEROS, 0.2F, 1},
    {GEN, NONE, 1, 1, 1, 1, 1, 0, 0.0F, 0.0F, false, UNIT, 0.0F, -1},
    {GEN, NONE, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, false, UNIT, 0.0625F, -1},
    {GEN, QRY, 2, 17, 2, 8, 16, 0, 0.0F, 0.0F, true, UNIT, -0.125F, -1},
    {GEN, KEY, 1, 131, 3, 5, 7, 0, 0.0F, 0.0F, false, UNIT, 0.03F, -1},
    {GEN, KEY, 1, 9, 1, 64, 200, 0, 0.0F, 0.0F, false, UNIT, -0.01F, -1},
    {GEN, QRY, 1, 33, 2, 8, 9, 0, 0.125F, 0.0F, false, WEFT_VALUES_TENS, -0.25F, -1},
    {ASY, NONE, 1, 1, 1, 1, 1, 1, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {ASY, NONE, 2, 17, 2, 8, 16, 17, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {ASY, QRY, 2, 17, 2, 8, 16, 19, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {ASY, KEY, 3, 131, 3, 5, 7, 257, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {ASY, QRY, 1, 600, 1, 7, 3, 255, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {ASY, QRY, 1, 9, 1, 64, 256, 9, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {ASY, NONE, 1, 9, 2, 131, 3, 7, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {ASY, KEY, 1, 33, 2, 8, 129, 20, 0.125F, 0.0F, false, WEFT_VALUES_TENS, 0.0F, 0},
    {ASY, NONE, 2, 2, 3, 5, 6, 1, 0.0F, 0.0F, false, WEFT_VALUES_ZEROS, 0.0F, 0},
    {ASY, NONE, 1, 12, 2, 6, 6, 3, 0.0F, 0.0F, false, WEFT_VALUES_IMPULSE, 0.0F, 0},
    {ASY, QRY, 1, 12, 2, 6, 6, 3, 0.0F, 1e-6F, false, WEFT_VALUES_SMALL, 0.0F, 0},
};

static const struct row later_attentions[] = {
    {GEN, QRY, 2, 70, 2, 8, 32, 0, 0.0F, 1e-6F, false, UNIT, -0.1F, 1},
    {GEN, NONE, 1, 40, 2, 4, 512, 0, 0.0F, 0.0F, false, UNIT, 0.03F, -1},
    {ASY, QRY, 2, 70, 2, 8, 32, 70, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {ASY, QRY, 1, 131, 3, 7, 65, 131, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
};

/* By the kernels that make eight rows of 16 lanes side by side. */
static const struct row side[] = {
    {TRIG, NONE, 1, 1, 1, 1, 1, 0, 0.0F, 0.0F, false, UNIT, 0.0F, 0},
    {TRIG, KEY, 1, 33, 2, 8, 9, 0, 0.125F, 0.0F, false, WEFT_VALUES_TENS, 0.0F, 0},
    {POS, QRY, 2, 17, 2, 8, 16, 0, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {POS, KEY, 3, 13, 3, 5, 7, 0, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {POS, QRY, 1, 9, 1, 64, 256, 0, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {HYP, KEY, 2, 17, 2, 8, 16, 0, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {HYP, QRY, 1, 9, 1, 131, 33, 0, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {OPT, QRY, 2, 17, 2, 8, 16, 19, 0.0F, 1e-6F, true, UNIT, 0.0F, 0},
    {OPT, KEY, 3, 13, 3, 5, 7, 25, 0.0F, 1e-6F, false, UNIT, 0.0F, 0},
    {GEN, KEY, 1, 31, 3, 5, 7, 0, 0.0F, 1e-6F, false, UNIT, 0.0625F, 0},
    {GEN, KEY, 1, 9, 1, 64, 200, 0, 0.0F, 0.0F, false, UNIT, -0.01F, -1},
    {ASY, KEY, 1, 33, 2, 8, 129, 20, 0.125F, 0.0F, false, WEFT_VALUES_TENS, 0.0F, 0},
};

#define SIDE_FIRST \
    (WEFT_COUNT(rows) + WEFT_COUNT(attentions) + WEFT_COUNT(later) + WEFT_COUNT(later_attentions))

/* The tables one after the other. */
static const struct row *row_at(uint32_t index) {
    const struct {
        const struct row *rows;
        uint32_t count;
    } tables[] = {{rows, WEFT_COUNT(rows)},
                  {attentions, WEFT_COUNT(attentions)},
                  {later, WEFT_COUNT(later)},
                  {later_attentions, WEFT_COUNT(later_attentions)},
                  {side, WEFT_COUNT(side)}};
    uint32_t table = 0;
    while (index >= tables[table].count) {
        index -= tables[table++].count;
    }
    return &tables[table].rows[index];
}

static bool is_attention(uint32_t index) {
    const uint32_t first = WEFT_COUNT(rows);
    const uint32_t second = first + WEFT_COUNT(attentions) + WEFT_COUNT(later);
    return (index >= second && index < SIDE_FIRST) ||
           (index >= first && index < first + WEFT_COUNT(attentions));
}

/* ---- the cases ---- */

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    const struct row *row = row_at(index);
    char other[24] = "";
    if (row->other != 0) {
        snprintf(other, sizeof other, ",m=%u", row->other);
    }
    if (row->component == GEN) {
        snprintf(other, sizeof other, ",A=%g", (double)row->a);
    }
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s%s%s%s%s%s/%s/n=%u%s,d=%u,s=%u,heads=%u,batch=%u",
             index < SIDE_FIRST ? "" : "side/", is_attention(index) ? "attention-" : "",
             weft_component_name(row->component), row->s < 0 ? "-waves" : "",
             row->stabilizer == NONE ? "" : (row->stabilizer == QRY ? "-query" : "-key"),
             row->coefficients ? "-weighted" : "", weft_values_name(row->kind), row->n, other,
             row->width, row->features, row->heads, row->batch);
}

/* What both have besides x: the others are empty where the row has none. */
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
    given.coefficients =
        weft_case_optional_weight(c, row->coefficients, weft_shape_of(row->features));
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
    c->implementation = index < SIDE_FIRST ? NULL : "side";
    if (is_attention(index)) {
        build_attention(c, row_at(index));
    } else {
        build_features(c, row_at(index));
    }
}

WEFT_CASE_FAMILY(random_features, SIDE_FIRST + WEFT_COUNT(side), WEFT_TOLERANCE_EXPONENTIAL,
                 name_case, build);
