/* SPDX-License-Identifier: MIT */
/* FLT's queries and keys by their formula, and attention with them by its n × n weights. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "verify/conformance.h"

enum positions { NUMBERS = 0, SHARED, BATCHED };

/* What has heads of its own, or is there at all. */
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
/* The same, causal. */
static const struct row causals[] = {
    {Q, 2, 150, 2, 8, 16, 1, NUMBERS, OWN_FREQUENCIES, 0.0F, UNIT, UNIT, UNIT, UNIT},
    {Q, 1, 97, 1, 16, 8, 3, BATCHED, 0, 0.0F, UNIT, TENS, UNIT, UNIT},
};

#define ROW_COUNT       (sizeof rows / sizeof rows[0])
#define ATTENTION_COUNT (sizeof attentions / sizeof attentions[0])
#define CAUSAL_COUNT    (sizeof causals / sizeof causals[0])
#define COMPONENTS      24 /* random features of a head */

/* ---- the reference ---- */

struct arrays {
    const double *x, *positions, *frequencies, *weights, *phases; /* the second and last: or null */
};

static uint32_t columns_of(const struct row *row) {
    return row->width + 2 * row->r;
}

/* What is left of a product modulo 1, exactly: float64 holds the product of two float32 numbers. */
static double fraction(double product) {
    return isfinite((float)product) ? remainder(product, 1.0) : NAN;
}

/* 2π t of token i of sequence b. */
static double angle(const struct row *row, const struct arrays *a, uint32_t b, uint32_t i,
                    uint32_t h, uint32_t k) {
    const uint64_t own = row->flags & OWN_FREQUENCIES ? h * row->r + k : k;
    const uint64_t sequence = row->positions == BATCHED ? (uint64_t)b * row->n : 0;
    double turns = 0.0;
    for (uint32_t j = 0; j < row->l; j++) {
        const double position =
            row->positions == NUMBERS ? i : a->positions[(sequence + i) * row->l + j];
        turns += fraction(position * a->frequencies[own * row->l + j]);
    }
    if (a->phases != NULL) {
        turns += fraction(a->phases[row->flags & OWN_WEIGHTS ? h * row->r + k : k]);
    }
    return 2.0 * acos(-1.0) * remainder(turns, 1.0);
}

static void reference_token(double *out, const struct row *row, const struct arrays *a, uint32_t b,
                            uint32_t i) {
    const double scale = row->scale != 0.0F ? (double)row->scale : pow(row->width, -0.25);
    for (uint32_t h = 0; h < row->heads; h++, out += columns_of(row)) {
        const uint64_t at = (((uint64_t)b * row->n + i) * row->heads + h) * row->width;
        for (uint32_t column = 0; column < row->width; column++) {
            out[column] = scale * a->x[at + column];
        }
        for (uint32_t k = 0; k < row->r; k++) {
            const double weight = a->weights[row->flags & OWN_WEIGHTS ? h * row->r + k : k];
            double amplitude = sqrt(fabs(weight) / row->r);
            amplitude = row->side == K && weight < 0.0 ? -amplitude : amplitude;
            const double radians = angle(row, a, b, i, h, k);
            out[row->width + k] = amplitude * cos(radians);
            out[row->width + row->r + k] = amplitude * sin(radians);
        }
    }
}

static void reference(double *out, const struct row *row, const struct arrays *a) {
    for (uint32_t b = 0; b < row->batch; b++) {
        for (uint32_t i = 0; i < row->n; i++) {
            const uint64_t token = (uint64_t)b * row->n + i;
            reference_token(out + token * row->heads * columns_of(row), row, a, b, i);
        }
    }
}

/* exp(wᵀx - |x|²/2) for the components w. */
static void positive_features(double *out, const double *x, const double *w, uint32_t columns) {
    for (uint32_t s = 0; s < COMPONENTS; s++) {
        double exponent = 0.0;
        for (uint32_t c = 0; c < columns; c++) {
            exponent += w[(uint64_t)s * columns + c] * x[c] - 0.5 * x[c] * x[c];
        }
        out[s] = exp(exponent);
    }
}

/* One token of one head over the keys before `end`; v and out are at the head's first channel of the sequence. */
static void attend(double *out, const struct row *row, const double *q, const double *keys,
                   const double *v, const double *w, uint32_t end) {
    const uint32_t columns = columns_of(row);
    double phi[COMPONENTS];
    double psi[COMPONENTS];
    double denominator = 0.0;
    positive_features(phi, q, w, columns);
    for (uint32_t j = 0; j < end; j++) {
        double weight = 0.0;
        positive_features(psi, keys + (uint64_t)j * row->heads * columns, w, columns);
        for (uint32_t s = 0; s < COMPONENTS; s++) {
            weight += phi[s] * psi[s];
        }
        denominator += weight;
        for (uint32_t t = 0; t < row->width; t++) {
            out[t] += weight * v[(uint64_t)j * row->heads * row->width + t];
        }
    }
    for (uint32_t t = 0; t < row->width; t++) {
        out[t] /= denominator;
    }
}

static void attend_all(double *out, const struct row *row, const double *q, const double *k,
                       const double *v, const double *w, bool causal) {
    const uint64_t columns = columns_of(row);
    for (uint64_t b = 0; b < row->batch; b++) {
        for (uint64_t i = 0; i < row->n; i++) {
            for (uint64_t h = 0; h < row->heads; h++) {
                const uint64_t first = b * row->n * row->heads + h;
                const uint64_t own = (b * row->n + i) * row->heads + h;
                attend(out + own * row->width, row, q + own * columns, k + first * columns,
                       v + first * row->width, w, causal ? (uint32_t)i + 1 : row->n);
            }
        }
    }
}

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

/* What queries and keys share. */
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

static weft_tensor add(weft_case *c, const struct row *row, weft_tensor x,
                       const struct parts *parts) {
    weft_tensor y = {0};
    weft_case_check(
        c, weft_graph_flt_features(
               &y, c->graph, x, parts->frequencies.tensor, parts->weights.tensor,
               weft_flt_features_params(.side = row->side, .heads = row->heads, .scale = row->scale,
                                        .positions = parts->positions.tensor,
                                        .phases = parts->phases.tensor)));
    return y;
}

static struct arrays values_of(const struct parts *parts, const double *x) {
    return (struct arrays){x, parts->positions.value, parts->frequencies.value,
                           parts->weights.value, parts->phases.value};
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
    double *expected = weft_case_output(c, "y", add(c, row, x.tensor, &parts));
    if (expected != NULL) {
        const struct arrays arrays = values_of(&parts, x.value);
        reference(expected, row, &arrays);
    }
}

static weft_tensor add_components(weft_case *c, const struct row *row, weft_tensor x,
                                  weft_tensor w) {
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_random_features(
                           &y, c->graph, x, w,
                           weft_random_features_params(.component = WEFT_COMPONENT_POSITIVE,
                                                       .heads = row->heads, .scale = 1.0F)));
    return y;
}

static void reference_attention(weft_case *c, double *out, const struct row *row,
                                const struct arrays *queries, const struct arrays *keys,
                                const double *v, const double *w, bool causal) {
    struct row key = *row;
    key.side = K;
    const uint64_t count = (uint64_t)row->batch * row->n * row->heads * columns_of(row);
    double *q = weft_case_scratch(c, count);
    double *k = weft_case_scratch(c, count);
    if (q != NULL && k != NULL) {
        reference(q, row, queries);
        reference(k, &key, keys);
        attend_all(out, row, q, k, v, w, causal);
    }
    weft_case_scratch_free(c, q);
    weft_case_scratch_free(c, k);
}

static void build_attention(weft_case *c, const struct row *row, bool causal) {
    struct row key = *row;
    key.side = K;
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    weft_array q = weft_case_input(c, "q", tokens_of(row), row->x);
    weft_array k = weft_case_input(c, "k", tokens_of(row), row->x);
    weft_array v = weft_case_input(c, "v", tokens_of(row), UNIT);
    const struct parts parts = make_parts(c, row);
    weft_array w = weft_case_weight(c, weft_shape_of(COMPONENTS, columns_of(row)), UNIT);
    struct parts key_parts = parts;
    key_parts.phases = (weft_array){.value = NULL};
    weft_tensor phi = add_components(c, row, add(c, row, q.tensor, &parts), w.tensor);
    weft_tensor psi = add_components(c, row, add(c, &key, k.tensor, &key_parts), w.tensor);
    weft_tensor y = {0};
    weft_case_check(c, weft_graph_linear_attention(
                           &y, c->graph, phi, psi, v.tensor,
                           weft_linear_attention_params(.heads = row->heads, .causal = causal)));
    double *expected = weft_case_output(c, "y", y);
    if (expected != NULL) {
        const struct arrays queries = values_of(&parts, q.value);
        const struct arrays keys = values_of(&key_parts, k.value);
        reference_attention(c, expected, row, &queries, &keys, v.value, w.value, causal);
    }
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

const weft_case_family weft_family_flt_features = {.name = "flt_features",
                                                   .count =
                                                       ROW_COUNT + ATTENTION_COUNT + CAUSAL_COUNT,
                                                   .tolerance = WEFT_TOLERANCE_LINEAR,
                                                   .name_case = name_case,
                                                   .build = build};
