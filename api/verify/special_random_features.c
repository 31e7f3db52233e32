/* SPDX-License-Identifier: MIT */
/* Random features, and random feature attention, where the range of float32 ends. */
#include <math.h>
#include <stdio.h>

#include "verify/bounded.h"
#include "verify/sheet.h"

static const weft_bounded anything = {.value = 0.0, .error = INFINITY};

/* ---- what both share ---- */

/* A projection of 0 has cosine 1 and sine 0; an infinite one has NaN for both. */
static weft_bounded wave(weft_bounded p, bool is_cosine) {
    if (isnan(p.value) || isinf(p.value)) {
        return weft_bounded_exact(NAN);
    }
    if (isinf(p.error)) {
        return anything;
    }
    double value = is_cosine ? cos(p.value) : sin(p.value);
    return (weft_bounded){.value = value, .error = p.error + 0x1p-21};
}

/* w_f · x for all f, times scale. */
static void project(weft_bounded *out, const weft_bounded *x, const double *w, uint32_t features,
                    uint32_t width, weft_bounded scale) {
    for (uint32_t f = 0; f < features; f++) {
        weft_bounded_sum sum = {0};
        for (uint32_t c = 0; c < width; c++) {
            weft_bounded_sum_add_product(&sum, x[c],
                                         weft_bounded_exact(w[(uint64_t)f * width + c]));
        }
        out[f] = weft_bounded_multiply(scale, weft_bounded_sum_end(&sum));
    }
}

/* 1/√s: a root and a reciprocal, each rounded. */
static weft_bounded usual_factor(uint32_t features) {
    return weft_bounded_near(1.0 / sqrt(features), 0.0);
}

/* ---- random features ---- */

struct feature_row {
    weft_component component;
    weft_stabilizer stabilizer;
    uint32_t n, heads, width, features;
    float epsilon;
    weft_values x;
    uint32_t other; /* OPTIMAL: tokens of the other side, which are huge */
};

static const struct feature_row feature_rows[] = {
    {WEFT_COMPONENT_POSITIVE, WEFT_STABILIZER_NONE, 9, 2, 4, 6, 0.0F, WEFT_VALUES_SUBNORMAL, 0},
    {WEFT_COMPONENT_POSITIVE, WEFT_STABILIZER_QUERY, 9, 2, 3, 6, 1e-6F, WEFT_VALUES_INFINITE, 0},
    {WEFT_COMPONENT_HYPERBOLIC, WEFT_STABILIZER_KEY, 5, 8, 1, 6, 1e-6F, WEFT_VALUES_NAN, 0},
    {WEFT_COMPONENT_POSITIVE, WEFT_STABILIZER_NONE, 19, 2, 3, 6, 0.0F, WEFT_VALUES_HUNDREDS, 0},
    {WEFT_COMPONENT_TRIGONOMETRIC, WEFT_STABILIZER_NONE, 19, 2, 2, 5, 0.0F, WEFT_VALUES_TENS, 0},
    {WEFT_COMPONENT_OPTIMAL, WEFT_STABILIZER_NONE, 7, 3, 2, 5, 0.0F, WEFT_VALUES_HUGE, 5},
    {WEFT_COMPONENT_OPTIMAL, WEFT_STABILIZER_QUERY, 9, 2, 1, 6, 1e-6F, WEFT_VALUES_HUGE, 1},
};

static void name_features(char text[WEFT_CASE_NAME_SIZE], const struct feature_row *row) {
    char other[24] = "";
    if (row->other != 0) {
        snprintf(other, sizeof other, ",m=%u", row->other);
    }
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s/%s/n=%u%s,d=%u,s=%u,heads=%u",
             weft_component_name(row->component), weft_stabilizer_name(row->stabilizer),
             weft_values_name(row->x), row->n, other, row->heads * row->width, row->features,
             row->heads);
}

static bool has_pairs(const struct feature_row *row) {
    return row->component == WEFT_COMPONENT_HYPERBOLIC ||
           row->component == WEFT_COMPONENT_TRIGONOMETRIC;
}

static weft_bounded negated(weft_bounded x) {
    x.value = -x.value;
    return x;
}

/* ±|scale x|²/2, what all features of a head of a token have in their exponent. */
static weft_bounded base_of(const struct feature_row *row, const weft_bounded *x,
                            weft_bounded scale) {
    weft_bounded_sum squares = {0};
    for (uint32_t c = 0; c < row->width; c++) {
        weft_bounded scaled = weft_bounded_multiply(scale, x[c]);
        weft_bounded_sum_add_product(&squares, scaled, scaled);
    }
    weft_bounded half =
        weft_bounded_multiply(weft_bounded_exact(0.5), weft_bounded_sum_end(&squares));
    return row->component == WEFT_COMPONENT_TRIGONOMETRIC ? half : negated(half);
}

/* The larger of two; NaN when one of them is. */
static weft_bounded larger(weft_bounded a, weft_bounded b) {
    if (isnan(a.value) || isnan(b.value)) {
        return weft_bounded_exact(NAN);
    }
    if (isinf(a.error) || isinf(b.error)) {
        return anything;
    }
    weft_bounded largest = a.value >= b.value ? a : b;
    largest.error = isinf(largest.value) ? 0.0 : fmax(a.error, b.error);
    return largest;
}

/* The exponents beside base: p, and for pairs -p behind them; none of trigonometric features. */
static uint32_t exponents(weft_bounded *out, const struct feature_row *row, const weft_bounded *p) {
    if (row->component == WEFT_COMPONENT_TRIGONOMETRIC) {
        return 0;
    }
    for (uint32_t f = 0; f < row->features; f++) {
        out[f] = p[f];
        if (has_pairs(row)) {
            out[row->features + f] = negated(p[f]);
        }
    }
    return has_pairs(row) ? 2 * row->features : row->features;
}

/* State of a token's head: its exponents, their largest, and base. */
struct head {
    weft_bounded *p, *exponent;
    uint32_t count;
    weft_bounded base, largest;
};

static void read_head(struct head *head, const struct feature_row *row, const weft_bounded *x,
                      const double *w) {
    const weft_bounded scale = weft_bounded_parameter((float)pow(row->width, -0.25));
    project(head->p, x, w, row->features, row->width, scale);
    head->base = base_of(row, x, scale);
    head->count = exponents(head->exponent, row, head->p);
    head->largest = head->count == 0 ? weft_bounded_exact(0.0) : weft_bounded_exact(-INFINITY);
    for (uint32_t i = 0; i < head->count; i++) {
        head->largest = larger(head->largest, head->exponent[i]);
    }
}

static void write_head(weft_bounded *out, const struct feature_row *row, const struct head *head,
                       weft_bounded offset) {
    const weft_bounded share = row->component == WEFT_COMPONENT_HYPERBOLIC
                                   ? weft_bounded_multiply(weft_bounded_parameter(0.707106769F),
                                                           usual_factor(row->features))
                                   : usual_factor(row->features);
    for (uint32_t i = 0; i < head->count; i++) {
        weft_bounded value = weft_bounded_exp(weft_bounded_add(offset, head->exponent[i]));
        value = weft_bounded_add(value, weft_bounded_parameter(row->epsilon));
        out[i] = weft_bounded_multiply(share, value);
    }
    for (uint32_t f = 0; head->count == 0 && f < row->features; f++) {
        weft_bounded factor = weft_bounded_multiply(share, weft_bounded_exp(offset));
        out[f] = weft_bounded_multiply(factor, wave(head->p[f], true));
        out[row->features + f] = weft_bounded_multiply(factor, wave(head->p[f], false));
    }
}

/* All tokens of head `h` of the one sequence. */
static void expect_heads(weft_bounded *out, const struct feature_row *row, const weft_bounded *x,
                         const double *w, struct head *head, uint64_t h) {
    const uint64_t columns = has_pairs(row) ? 2 * (uint64_t)row->features : row->features;
    weft_bounded largest = weft_bounded_exact(-INFINITY);
    for (uint64_t i = 0; i < row->n; i++) {
        read_head(head, row, x + (i * row->heads + h) * row->width, w);
        largest = larger(largest, weft_bounded_add(head->base, head->largest));
    }
    for (uint64_t i = 0; i < row->n; i++) {
        const uint64_t at = i * row->heads + h;
        read_head(head, row, x + at * row->width, w);
        weft_bounded offset = head->base;
        if (row->stabilizer == WEFT_STABILIZER_QUERY) {
            offset = negated(head->largest);
        } else if (row->stabilizer == WEFT_STABILIZER_KEY) {
            offset = weft_bounded_subtract(head->base, largest);
        }
        write_head(out + at * columns, row, head, offset);
    }
}

/*
 * OPRF's z, the mean of |x + y|² over all pairs, is mean |x|² + mean |y|² + 2 mean x · mean y. The squares of huge numbers overflow, so that
 * z is infinite, or NaN where the last product, or its double alone, overflows to the other side. A has a quotient of z's square and z: NaN.
 */
static void expect_optimal(weft_bounded *out, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        out[i] = weft_bounded_exact(NAN);
    }
}

static void build_features(weft_case *c, const struct feature_row *row) {
    const uint64_t size = (uint64_t)row->n * row->heads;
    const uint32_t d = row->heads * row->width;
    const uint64_t columns = (uint64_t)row->features * (has_pairs(row) ? 2 : 1);
    weft_array x = weft_case_input(c, "x", weft_shape_of(1, row->n, d), row->x);
    weft_array w = weft_case_weight(c, weft_shape_of(row->features, row->width), WEFT_VALUES_UNIT);
    weft_array other = {.value = NULL};
    if (row->other != 0) {
        other = weft_case_input(c, "other", weft_shape_of(1, row->other, d), WEFT_VALUES_HUGE);
    }
    weft_case_expect(
        c, "y",
        weft_case_random_features(
            c, x, w,
            weft_random_features_params(.component = row->component, .heads = row->heads,
                                        .stabilizer = row->stabilizer, .epsilon = row->epsilon,
                                        .other = other.tensor)));
    weft_bounded *source = weft_bounded_of(c, x.value, size * row->width);
    weft_bounded *out = weft_bounded_scratch(c, size * columns);
    struct head head = {.p = weft_bounded_scratch(c, row->features),
                        .exponent = weft_bounded_scratch(c, 2 * (uint64_t)row->features)};
    if (c->ref.status == WEFT_OK && row->component == WEFT_COMPONENT_OPTIMAL) {
        expect_optimal(out, size * columns);
    }
    for (uint64_t h = 0; c->ref.status == WEFT_OK && row->other == 0 && h < row->heads; h++) {
        expect_heads(out, row, source, w.value, &head, h);
    }
    weft_bounded_expect(c, out);
}

WEFT_SPECIAL_TABLE(random_features, feature_rows, WEFT_TOLERANCE_EXPONENTIAL, name_features,
                   build_features);

/* ---- random feature attention ---- */

static const struct attention_row {
    uint32_t n, m; /* m 0: causal */
    uint32_t heads, width, values, features;
    weft_values q, k, v;
} attention_rows[] = {
    {9, 7, 2, 2, 3, 5, WEFT_VALUES_ZEROS, WEFT_VALUES_TINY, WEFT_VALUES_SUBNORMAL},
    {19, 0, 3, 2, 3, 5, WEFT_VALUES_INFINITE, WEFT_VALUES_UNIT, WEFT_VALUES_NAN},
    {67, 0, 2, 2, 3, 5, WEFT_VALUES_UNIT, WEFT_VALUES_NAN, WEFT_VALUES_UNIT},
};

static void name_attention(char text[WEFT_CASE_NAME_SIZE], const struct attention_row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%s,%s,%s/n=%u,m=%u,d=%u,dv=%u,s=%u,heads=%u",
             row->m == 0 ? "causal" : "full", weft_values_name(row->q), weft_values_name(row->k),
             weft_values_name(row->v), row->n, row->m == 0 ? row->n : row->m,
             row->heads * row->width, row->heads * row->values, row->features, row->heads);
}

/* max(|x|, 1e-12), also where nothing is left of the squares. */
static weft_bounded length_of(const weft_bounded *x, uint32_t width) {
    const weft_bounded least = weft_bounded_parameter(1e-12F);
    weft_bounded_sum sum = {0};
    for (uint32_t c = 0; c < width; c++) {
        weft_bounded_sum_add_product(&sum, x[c], x[c]);
    }
    weft_bounded squares = weft_bounded_sum_end(&sum);
    bool is_short = squares.value + squares.error < 0.99 * least.value * least.value;
    return is_short ? least : larger(weft_bounded_sqrt(squares), least);
}

/* The unit vector of x, its projection, cosines and sines. */
static void make_features(weft_bounded *out, const struct attention_row *row, weft_bounded *x,
                          const double *w) {
    const weft_bounded length = length_of(x, row->width);
    for (uint32_t c = 0; c < row->width; c++) {
        x[c] = weft_bounded_divide(x[c], length);
    }
    project(out, x, w, row->features, row->width, weft_bounded_exact(1.0));
    const weft_bounded factor = usual_factor(row->features);
    for (uint32_t f = 0; f < row->features; f++) {
        const weft_bounded p = out[f];
        out[f] = weft_bounded_multiply(factor, wave(p, true));
        out[row->features + f] = weft_bounded_multiply(factor, wave(p, false));
    }
}

static weft_bounded *features_of(weft_case *c, const struct attention_row *row, const double *x,
                                 const double *w, uint32_t tokens) {
    const uint64_t heads = (uint64_t)tokens * row->heads;
    weft_bounded *source = weft_bounded_of(c, x, heads * row->width);
    weft_bounded *out = weft_bounded_scratch(c, heads * 2 * row->features);
    for (uint64_t i = 0; c->ref.status == WEFT_OK && i < heads; i++) {
        make_features(out + i * 2 * row->features, row, source + i * row->width, w);
    }
    return out;
}

static void build_attention(weft_case *c, const struct attention_row *row) {
    const uint32_t keys = row->m == 0 ? row->n : row->m;
    const uint32_t d = row->heads * row->width;
    const uint32_t values = row->heads * row->values;
    weft_array q = weft_case_input(c, "q", weft_shape_of(1, row->n, d), row->q);
    weft_array k = weft_case_input(c, "k", weft_shape_of(1, keys, d), row->k);
    weft_array v = weft_case_input(c, "v", weft_shape_of(1, keys, values), row->v);
    weft_array w = weft_case_weight(c, weft_shape_of(row->features, row->width), WEFT_VALUES_UNIT);
    weft_case_expect(c, "y",
                     WEFT_MIX(c, rfa_attention,
                              weft_rfa_attention_params(.heads = row->heads, .causal = row->m == 0),
                              q, k, v, w));
    weft_bounded *phi = features_of(c, row, q.value, w.value, row->n);
    weft_bounded *psi = features_of(c, row, k.value, w.value, keys);
    weft_bounded *source = weft_bounded_of(c, v.value, (uint64_t)keys * values);
    weft_bounded *out = weft_bounded_scratch(c, (uint64_t)row->n * values);
    const weft_bounded_attention attention = {.n = row->n,
                                              .keys = keys,
                                              .heads = row->heads,
                                              .features = 2 * row->features,
                                              .values = row->values,
                                              .causal = row->m == 0,
                                              .epsilon = 1e-6F};
    weft_bounded_linear_attention(c, out, phi, psi, source, &attention);
    weft_bounded_expect(c, out);
}

WEFT_SPECIAL_TABLE(rfa_attention, attention_rows, WEFT_TOLERANCE_EXPONENTIAL, name_attention,
                   build_attention);
