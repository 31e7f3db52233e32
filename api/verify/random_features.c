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
