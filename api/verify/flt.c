/* SPDX-License-Identifier: MIT */
/* FLT's queries and keys, and attention with them. */
#include <stdio.h>

#include "verify/trials.h"

WEFT_SHEET_CALL(flt_features, x[0], x[1], x[2])

/* Relative positions of queries and keys, PosRF of both, and linear attention with them. */
static weft_array mix_flt(weft_case *c, const weft_array *x, const void *params) {
    const weft_feature_attention *p = params;
    weft_array features[2];
    for (uint32_t i = 0; i < 2; i++) {
        const weft_array longer = weft_case_flt_features(
            c, x[i], x[4], x[5],
            weft_flt_features_params(.side = i == 0 ? WEFT_FLT_QUERY : WEFT_FLT_KEY,
                                     .heads = p->heads));
        features[i] = weft_case_random_features(
            c, longer, x[3],
            weft_random_features_params(.component = WEFT_COMPONENT_POSITIVE, .heads = p->heads,
                                        .stabilizer =
                                            i == 0 ? WEFT_STABILIZER_QUERY : WEFT_STABILIZER_KEY,
                                        .lengths = p->lengths));
    }
    return weft_attend_with_features(c, features[0], features[1], x[2], p);
}

static const weft_use uses[] = {{.name = "FLT", .sizes.rows = 64}};

const weft_sheet weft_sheet_flt_attention = {
    WEFT_SHEET_FEATURES("flt_attention"),
    .operands = {WEFT_OPERANDS_QKV, WEFT_WEIGHT("w", WEFT_AXIS_ROWS, WEFT_AXIS_LONGER),
                 WEFT_WEIGHT("frequencies", WEFT_AXIS_FEW, WEFT_AXIS_ONE),
                 WEFT_WEIGHT("weights", WEFT_AXIS_FEW)},
    .mix = mix_flt,
    WEFT_SHEET_USES(uses),
};

enum { X, FREQUENCIES, WEIGHTS, POSITIONS, PHASES };

#define WITH(...)  .params = weft_flt_features_params(__VA_ARGS__)
#define IN_3D(...) IS(AS(FREQUENCIES, 4, 3), __VA_ARGS__)

static const weft_trial trials[] = {
    {ACCEPTED, .without_params = true, GIVES(2, 5, 14)},
    {ACCEPTED, WITH(.heads = 3), GIVES(2, 5, 30)},
    {INVALID, WITH(.side = (weft_flt_side)2), SAYS("side 2")},
    {INVALID, WITH(.heads = 4), SAYS("4 heads", "6")},
    {INVALID, WITH(.scale = NAN), SAYS("scale nan")},
    {INVALID, IS(AS(PHASES, 4)), WITH(.side = WEFT_FLT_KEY), SAYS("phases", "keys")},
    {ACCEPTED, IN_3D(AS(POSITIONS, 5, 3))},
    {ACCEPTED, IN_3D(AS(POSITIONS, 2, 5, 3))},
    {ACCEPTED, IN_3D(AS(WEIGHTS, 2, 4), AS(POSITIONS, 5, 3), AS(PHASES, 2, 4)), WITH(.heads = 2)},
    {MISMATCH, IN_3D(AS(POSITIONS, 5)), SAYS("positions", "[5, 3]", "[5]")},
    {MISMATCH, IN_3D(AS(POSITIONS, 1, 2, 5, 3)), SAYS("positions", "[1, 2, 5, 3]")},
    {MISMATCH, IN_3D(AS(POSITIONS, 5, 2)), SAYS("positions", "[5, 3]", "[5, 2]")},
    {MISMATCH, IN_3D(AS(POSITIONS, 4, 3)), SAYS("positions", "[4, 3]")},
    {MISMATCH, IN_3D(AS(POSITIONS, 3, 5, 3)), SAYS("positions", "[2, 5, 3]", "[3, 5, 3]")},
    {MISMATCH, IN_3D(AS_I32(POSITIONS, 5, 3)), SAYS("positions", "f32")},
    {MISMATCH, IS(AS(FREQUENCIES, 4, 3)), WITH(.heads = 1), SAYS("not 3", "token numbers")},
    {UNSUPPORTED, IS(AS(X, 1, (1 << 24) + 1, 1)), WITH(.heads = 1), SAYS("16777217", "16777216")},
    {MISMATCH, IS(AS(X, 5, 3)), WITH(.heads = 1), SAYS("[B, n, d]", "[5, 3]")},
    {MISMATCH, IS(AS(FREQUENCIES, 4)), WITH(.heads = 1), SAYS("frequencies", "[4]")},
    {MISMATCH, IS(AS(FREQUENCIES, 3, 5, 3), AS(POSITIONS, 5, 3)), WITH(.heads = 2),
     SAYS("frequencies", "[2, r, l]", "[3, 5, 3]")},
    {MISMATCH, IN_3D(AS(WEIGHTS, 5), AS(POSITIONS, 5, 3)), SAYS("weights", "[4]", "[5]")},
    {MISMATCH, IN_3D(AS(WEIGHTS, 2, 4), AS(POSITIONS, 5, 3)), WITH(.heads = 3),
     SAYS("weights", "[3, 4]", "[2, 4]")},
    {MISMATCH, IN_3D(AS(WEIGHTS, 2, 4), AS(POSITIONS, 5, 3), AS(PHASES, 4)), WITH(.heads = 2),
     SAYS("phases", "[2, 4]", "[4]")},
};

const weft_sheet weft_sheet_flt_features = {
    WEFT_SHEET_OP(flt_features),
    .operands = {WEFT_OPERAND_X, WEFT_WEIGHT("frequencies", WEFT_AXIS_ROWS, WEFT_AXIS_ONE),
                 WEFT_WEIGHT("weights", WEFT_AXIS_ROWS),
                 WEFT_OPTIONAL("positions", weft_flt_features_params, positions, .shape = {0}),
                 WEFT_OPTIONAL("phases", weft_flt_features_params, phases, .shape = {0})},
    .sizes = {.batch = 2, .n = 5, .heads = 1, .width = 6, .rows = 4},
    WEFT_SHEET_TRIALS(trials),
};

#undef WITH

/* ---- cases ---- */

enum positions { NUMBERS = 0, SHARED, BATCHED };

/* Inputs with values of their own for each head, and optional ones. */
enum { OWN_FREQUENCIES = 1, OWN_WEIGHTS = 2, WITH_PHASES = 4 };

struct row {
    weft_flt_side side;
    uint32_t batch, n, heads, width, r, l;
    enum positions positions;
    unsigned flags;
    float scale;
    weft_values x, position, frequency, weight;
};

#define Q     WEFT_FLT_QUERY
#define K     WEFT_FLT_KEY
#define UNIT  WEFT_VALUES_UNIT
#define TENS  WEFT_VALUES_TENS
#define LARGE WEFT_VALUES_LARGE
#define SMALL WEFT_VALUES_SMALL
#define MIXED WEFT_VALUES_MIXED
#define ALL   (OWN_FREQUENCIES | OWN_WEIGHTS | WITH_PHASES)

static const struct row rows[] = {
    {Q, 1, 1, 1, 1, 1, 1, NUMBERS, 0, 0.0F, UNIT, UNIT, UNIT, UNIT},
    {K, 1, 1, 1, 1, 1, 1, SHARED, 0, 0.0F, UNIT, UNIT, UNIT, UNIT},
    {Q, 2, 17, 2, 8, 16, 1, NUMBERS, 0, 0.0F, UNIT, UNIT, UNIT, UNIT},
    {K, 2, 17, 2, 8, 16, 1, NUMBERS, 0, 0.0F, UNIT, UNIT, UNIT, UNIT},
    {Q, 1, 1009, 1, 4, 5, 1, NUMBERS, 0, 0.0F, UNIT, UNIT, UNIT, UNIT},
    {K, 1, 131, 3, 5, 7, 1, NUMBERS, OWN_FREQUENCIES, 0.0F, UNIT, UNIT, TENS, UNIT},
    {Q, 2, 33, 2, 6, 9, 1, SHARED, WITH_PHASES, 0.0F, UNIT, TENS, UNIT, UNIT},
    {Q, 2, 33, 2, 6, 9, 1, BATCHED, ALL, 0.0F, UNIT, TENS, UNIT, UNIT},
    {K, 2, 33, 2, 6, 9, 1, BATCHED, OWN_WEIGHTS, 0.0F, UNIT, TENS, UNIT, TENS},
    {Q, 1, 19, 1, 3, 129, 1, SHARED, 0, 0.0F, UNIT, LARGE, UNIT, UNIT},
    {K, 1, 19, 1, 3, 129, 1, SHARED, 0, 0.0F, UNIT, UNIT, LARGE, UNIT},
    {Q, 1, 19, 1, 3, 129, 1, SHARED, WITH_PHASES, 0.0F, UNIT, LARGE, LARGE, UNIT},
    {K, 1, 19, 1, 3, 64, 1, SHARED, 0, 0.0F, UNIT, SMALL, UNIT, UNIT},
    {Q, 1, 19, 1, 3, 64, 1, SHARED, 0, 0.0F, UNIT, WEFT_VALUES_EQUAL, WEFT_VALUES_EQUAL, UNIT},
    {Q, 2, 17, 2, 8, 16, 2, SHARED, 0, 0.0F, UNIT, UNIT, UNIT, UNIT},
    {K, 2, 17, 2, 8, 16, 2, BATCHED, 0, 0.0F, UNIT, TENS, UNIT, UNIT},
    {Q, 1, 196, 3, 4, 32, 2, SHARED, ALL, 0.25F, UNIT, WEFT_VALUES_HUNDREDS, UNIT, UNIT},
    {K, 1, 196, 3, 4, 32, 2, SHARED, OWN_FREQUENCIES, 0.25F, UNIT, WEFT_VALUES_HUNDREDS, UNIT,
     MIXED},
    {Q, 1, 21, 1, 2, 65, 2, BATCHED, 0, 0.0F, MIXED, LARGE, UNIT, UNIT},
    {K, 1, 21, 1, 2, 65, 2, BATCHED, 0, -0.5F, TENS, MIXED, LARGE, WEFT_VALUES_ZEROS},
    {Q, 2, 17, 2, 8, 16, 3, SHARED, 0, 0.0F, UNIT, UNIT, UNIT, UNIT},
    {K, 2, 17, 2, 8, 16, 3, SHARED, 0, 0.0F, UNIT, UNIT, UNIT, UNIT},
    {Q, 3, 29, 4, 5, 16, 3, BATCHED, ALL, 0.0F, UNIT, TENS, TENS, UNIT},
    {K, 3, 29, 4, 5, 16, 3, BATCHED, OWN_FREQUENCIES | OWN_WEIGHTS, 0.0F, UNIT, TENS, TENS, UNIT},
    {Q, 1, 300, 1, 1, 1, 3, BATCHED, 0, 0.0F, UNIT, MIXED, MIXED, MIXED},
    {K, 1, 23, 1, 2, 31, 3, SHARED, 0, 0.0F, UNIT, LARGE, LARGE, UNIT},
    {Q, 1, 23, 1, 2, 31, 3, SHARED, 0, 0.0F, WEFT_VALUES_ZEROS, WEFT_VALUES_ZEROS, UNIT, UNIT},
    {K, 1, 7, 2, 2, 3, 7, BATCHED, 0, 0.0F, UNIT, TENS, TENS, UNIT},
    {Q, 1, 64, 1, 2, 8, 1, SHARED, 0, 0.0F, UNIT, WEFT_VALUES_HUGE, UNIT, UNIT},
    {Q, 1, 64, 1, 2, 8, 3, SHARED, 0, 0.0F, UNIT, WEFT_VALUES_TINY, WEFT_VALUES_HUGE, UNIT},
    {Q, 1, 64, 1, 2, 8, 1, SHARED, WITH_PHASES, 0.0F, UNIT, WEFT_VALUES_HUGE, WEFT_VALUES_HUGE,
     UNIT},
    {K, 1, 64, 1, 2, 8, 2, SHARED, 0, 0.0F, UNIT, WEFT_VALUES_INFINITE, UNIT, UNIT},
    {Q, 1, 64, 1, 2, 8, 2, SHARED, 0, 0.0F, WEFT_VALUES_NAN, WEFT_VALUES_NAN, UNIT, UNIT},
    {K, 1, 64, 1, 2, 8, 2, SHARED, 0, 0.0F, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL,
     WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL},
};

/* Linear attention over positive random features of the queries and keys. */
static const struct row attentions[] = {
    {Q, 1, 40, 2, 4, 8, 1, NUMBERS, 0, 0.0F, UNIT, UNIT, UNIT, UNIT},
    {Q, 2, 70, 2, 8, 16, 2, SHARED, OWN_WEIGHTS, 0.0F, UNIT, TENS, UNIT, UNIT},
    {Q, 2, 131, 3, 5, 7, 3, BATCHED, ALL, 0.0F, UNIT, TENS, UNIT, UNIT},
};
/* Causal rows. */
static const struct row causals[] = {
    {Q, 2, 150, 2, 8, 16, 1, NUMBERS, OWN_FREQUENCIES, 0.0F, UNIT, UNIT, UNIT, UNIT},
    {Q, 1, 97, 1, 16, 8, 3, BATCHED, 0, 0.0F, UNIT, TENS, UNIT, UNIT},
};

#define ROW_COUNT       WEFT_COUNT(rows)
#define ATTENTION_COUNT WEFT_COUNT(attentions)
#define CAUSAL_COUNT    WEFT_COUNT(causals)
#define COMPONENTS      24 /* random features of a head */

/* ---- the cases ---- */

static const struct row *row_at(uint32_t index, bool *attention, bool *causal) {
    *attention = index >= ROW_COUNT;
    *causal = index >= ROW_COUNT + ATTENTION_COUNT;
    if (*causal) {
        return &causals[index - ROW_COUNT - ATTENTION_COUNT];
    }
    return *attention ? &attentions[index - ROW_COUNT] : &rows[index];
}

static void name_case(char text[WEFT_CASE_NAME_SIZE], uint32_t index) {
    static const char *const positions[] = {"numbers", "shared", "batched"};
    bool attention;
    bool causal;
    const struct row *row = row_at(index, &attention, &causal);
    const char *kind = row->side == K ? "keys" : "queries";
    kind = attention ? (causal ? "causal" : "attention") : kind;
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s-%s%s%s%s/%s-%s/n=%u,d=%u,r=%u,l=%u,heads=%u,batch=%u",
             kind, positions[row->positions], row->flags & OWN_FREQUENCIES ? "-f" : "",
             row->flags & OWN_WEIGHTS ? "-w" : "", row->flags & WITH_PHASES ? "-phases" : "",
             weft_values_name(row->position), weft_values_name(row->frequency), row->n, row->width,
             row->r, row->l, row->heads, row->batch);
}

/* Parts shared by queries and keys. */
struct parts {
    weft_array positions, frequencies, weights, phases;
};

static struct parts make_parts(weft_case *c, const struct row *row) {
    struct parts parts = {.phases = {.value = NULL}};
    if (row->positions != NUMBERS) {
        parts.positions =
            weft_case_input(c, "positions",
                            row->positions == BATCHED ? weft_shape_of(row->batch, row->n, row->l)
                                                      : weft_shape_of(row->n, row->l),
                            row->position);
    }
    parts.frequencies =
        weft_case_weight(c,
                         row->flags & OWN_FREQUENCIES ? weft_shape_of(row->heads, row->r, row->l)
                                                      : weft_shape_of(row->r, row->l),
                         row->frequency);
    const weft_shape each =
        row->flags & OWN_WEIGHTS ? weft_shape_of(row->heads, row->r) : weft_shape_of(row->r);
    parts.weights = weft_case_weight(c, each, row->weight);
    if (row->flags & WITH_PHASES) {
        parts.phases = weft_case_weight(c, each, TENS);
    }
    return parts;
}

static weft_array add(weft_case *c, const struct row *row, weft_flt_side side, weft_array x,
                      const struct parts *parts) {
    return weft_case_flt_features(
        c, x, parts->frequencies, parts->weights,
        weft_flt_features_params(.side = side, .heads = row->heads, .scale = row->scale,
                                 .positions = parts->positions.tensor,
                                 .phases =
                                     side == row->side ? parts->phases.tensor : (weft_tensor){0}));
}

static weft_shape tokens_of(const struct row *row) {
    return weft_shape_of(row->batch, row->n, row->heads * row->width);
}

static bool is_special(weft_values values) {
    return values >= WEFT_VALUES_SUBNORMAL;
}

static void build_features(weft_case *c, const struct row *row) {
    c->only_reproducible = is_special(row->position) || is_special(row->frequency);
    weft_array x = weft_case_input(c, "x", tokens_of(row), row->x);
    const struct parts parts = make_parts(c, row);
    weft_case_expect(c, "y", add(c, row, row->side, x, &parts));
}

static weft_array add_components(weft_case *c, const struct row *row, weft_array x, weft_array w) {
    return weft_case_random_features(
        c, x, w,
        weft_random_features_params(.component = WEFT_COMPONENT_POSITIVE, .heads = row->heads,
                                    .scale = 1.0F));
}

static void build_attention(weft_case *c, const struct row *row, bool causal) {
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    weft_array q = weft_case_input(c, "q", tokens_of(row), row->x);
    weft_array k = weft_case_input(c, "k", tokens_of(row), row->x);
    weft_array v = weft_case_input(c, "v", tokens_of(row), UNIT);
    const struct parts parts = make_parts(c, row);
    weft_array w = weft_case_weight(c, weft_shape_of(COMPONENTS, row->width + 2 * row->r), UNIT);
    weft_array phi = add_components(c, row, add(c, row, Q, q, &parts), w);
    weft_array psi = add_components(c, row, add(c, row, K, k, &parts), w);
    weft_case_expect(
        c, "y",
        weft_case_linear_attention(
            c, phi, psi, v, weft_linear_attention_params(.heads = row->heads, .causal = causal)));
}

static void build(weft_case *c, uint32_t index) {
    bool attention;
    bool causal;
    const struct row *row = row_at(index, &attention, &causal);
    if (attention) {
        build_attention(c, row, causal);
    } else {
        build_features(c, row);
    }
}

WEFT_CASE_FAMILY(flt_features, ROW_COUNT + ATTENTION_COUNT + CAUSAL_COUNT, WEFT_TOLERANCE_LINEAR,
                 name_case, build);
