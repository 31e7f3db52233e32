/* SPDX-License-Identifier: MIT */
/* The fast-weight far field where the range of float32 ends, token by token. */
#include <math.h>
#include <stdio.h>

#include "verify/bounded.h"
#include "verify/sheet.h"

static const struct row {
    uint32_t n, heads, width, values;
    weft_values q, k, v, beta; /* beta before its sigmoid */
} rows[] = {
    {11, 2, 4, 3, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL, WEFT_VALUES_SUBNORMAL,
     WEFT_VALUES_SUBNORMAL},
    {9, 2, 4, 3, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT, WEFT_VALUES_HUGE, WEFT_VALUES_UNIT},
    {67, 1, 2, 5, WEFT_VALUES_NAN, WEFT_VALUES_UNIT, WEFT_VALUES_NAN, WEFT_VALUES_UNIT},
    {19, 2, 3, 3, WEFT_VALUES_UNIT, WEFT_VALUES_INFINITE, WEFT_VALUES_UNIT, WEFT_VALUES_UNIT},
    {9, 3, 2, 3, WEFT_VALUES_MASKED, WEFT_VALUES_MASKED, WEFT_VALUES_UNIT, WEFT_VALUES_INFINITE},
};

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *row) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s,%s,%s,%s/n=%u,d=%u,dv=%u,heads=%u",
             weft_values_name(row->q), weft_values_name(row->k), weft_values_name(row->v),
             weft_values_name(row->beta), row->n, row->heads * row->width, row->heads * row->values,
             row->heads);
}

/* Shares of elu(x) + 1 in their sum, for elements that are not surely 0; all 0 when the sum is 0. */
static void normalize(weft_bounded *out, const double *x, uint32_t width) {
    weft_bounded_sum sum = {0};
    for (uint32_t f = 0; f < width; f++) {
        out[f] = weft_bounded_activation(WEFT_ACTIVATION_ELU1, weft_bounded_exact(x[f]));
        weft_bounded_sum_add(&sum, out[f]);
    }
    const weft_bounded total = weft_bounded_sum_end(&sum);
    const bool is_zero = total.value == 0.0 && total.error == 0.0;
    for (uint32_t f = 0; f < width; f++) {
        out[f] = is_zero ? weft_bounded_exact(0.0) : weft_bounded_divide(out[f], total);
    }
}

/* S [values, width] of one head, its features, and whether an input so far was not finite. */
struct state {
    weft_bounded *s, *q, *k;
    bool is_special;
};

struct token {
    const double *q, *k, *v;
    double beta;
};

static bool is_finite(const double *x, uint32_t count) {
    bool finite = true;
    for (uint32_t i = 0; i < count; i++) {
        finite = finite && isfinite(x[i]);
    }
    return finite;
}

/* Widens for chunks: they sum in another order, with more roundings; overflows of finite numbers come elsewhere. */
static weft_bounded by_chunks(weft_bounded x, bool is_special) {
    if (!isfinite(x.value) && !is_special) {
        return (weft_bounded){.value = 0.0, .error = INFINITY};
    }
    x.error *= isfinite(x.error) ? 4.0 : 1.0;
    return x;
}

/* S += β (v - S k) kᵀ; out = S q. */
static void step(weft_bounded *out, struct state *state, const struct token *token,
                 const struct row *row) {
    weft_bounded beta =
        weft_bounded_activation(WEFT_ACTIVATION_SIGMOID, weft_bounded_exact(token->beta));
    normalize(state->q, token->q, row->width);
    normalize(state->k, token->k, row->width);
    bool is_special = !is_finite(token->q, row->width) || !is_finite(&token->beta, 1);
    state->is_special = state->is_special || is_special || !is_finite(token->k, row->width) ||
                        !is_finite(token->v, row->values);
    for (uint32_t t = 0; t < row->values; t++) {
        weft_bounded *s = state->s + (uint64_t)t * row->width;
        weft_bounded_sum held = {0};
        weft_bounded_sum read = {0};
        for (uint32_t f = 0; f < row->width; f++) {
            weft_bounded_sum_add_product(&held, s[f], state->k[f]);
        }
        weft_bounded written =
            weft_bounded_multiply(beta, weft_bounded_subtract(weft_bounded_exact(token->v[t]),
                                                              weft_bounded_sum_end(&held)));
        for (uint32_t f = 0; f < row->width; f++) {
            s[f] = weft_bounded_add(s[f], weft_bounded_multiply(written, state->k[f]));
            weft_bounded_sum_add_product(&read, s[f], state->q[f]);
        }
        out[t] = by_chunks(weft_bounded_sum_end(&read), state->is_special);
    }
}

static void run_head(weft_bounded *out, const weft_array arrays[4], struct state *state,
                     const struct row *row, uint64_t head) {
    const uint64_t size = (uint64_t)row->width * row->values;
    for (uint64_t i = 0; i < size; i++) {
        state->s[i] = weft_bounded_exact(0.0);
    }
    state->is_special = false;
    for (uint64_t i = 0; i < row->n; i++) {
        uint64_t at = i * row->heads + head;
        struct token token = {.q = arrays[0].value + at * row->width,
                              .k = arrays[1].value + at * row->width,
                              .v = arrays[2].value + at * row->values,
                              .beta = arrays[3].value[at]};
        step(out + at * row->values, state, &token, row);
    }
}

static void expect(weft_case *c, const struct row *row, const weft_array arrays[4]) {
    weft_bounded *out = weft_bounded_scratch(c, (uint64_t)row->n * row->heads * row->values);
    struct state state = {.s = weft_bounded_scratch(c, (uint64_t)row->width * row->values),
                          .q = weft_bounded_scratch(c, row->width),
                          .k = weft_bounded_scratch(c, row->width)};
    for (uint64_t head = 0; c->ref.status == WEFT_OK && head < row->heads; head++) {
        run_head(out, arrays, &state, row, head);
    }
    weft_bounded_expect(c, out);
}

static void build(weft_case *c, const struct row *row) {
    const weft_shape keys = weft_shape_of(1, row->n, row->heads * row->width);
    weft_array arrays[4];
    arrays[0] = weft_case_input(c, "q", keys, row->q);
    arrays[1] = weft_case_input(c, "k", keys, row->k);
    arrays[2] = weft_case_input(c, "v", weft_shape_of(1, row->n, row->heads * row->values), row->v);
    arrays[3] = weft_case_input(c, "b", weft_shape_of(1, row->n, row->heads), row->beta);
    weft_array beta = weft_case_activate(c, arrays[3], WEFT_ACTIVATION_SIGMOID);
    weft_case_expect(c, "y",
                     WEFT_MIX(c, fast_weight, weft_fast_weight_params(.heads = row->heads),
                              arrays[0], arrays[1], arrays[2], beta));
    expect(c, row, arrays);
}

WEFT_SPECIAL_TABLE(fast_weight, rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
