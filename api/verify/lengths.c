/* SPDX-License-Identifier: MIT */
/*
 * Sequences of different lengths in one batch, with NaN and infinities behind them: what is expected of each is what its
 * mixer's definition makes of it alone.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verify/paired.h"

enum { HEADS = 2, WIDTH = 8 /* channels of a head */, D = HEADS * WIDTH };

/* What a mixer mixes: of all sequences, or of one without lengths. */
struct operands {
    weft_array q, k, v; /* [B, n, D] */
    weft_array w, more; /* constants, as each mixer wants them */
    weft_tensor lengths;
    uint32_t n;
};

struct row;

struct mixer {
    const char *name;
    void (*constants)(weft_case *c, const struct row *r, struct operands *o); /* null: none */
    weft_array (*build)(weft_case *c, const struct row *r, const struct operands *o);
};

struct row {
    const struct mixer *mixer;
    uint32_t batch, n, option;
};

static uint32_t at_most(uint32_t half_width, uint32_t n) {
    return half_width < n ? half_width : n - 1;
}

/* ---- the mixers ---- */

static weft_array build_attention(weft_case *c, const struct row *r, const struct operands *o) {
    (void)r;
    return weft_case_attention(c, o->q, o->k, o->v,
                               weft_attention_params(.heads = HEADS, .lengths = o->lengths));
}

/* option: the half-width. */
static weft_array build_band(weft_case *c, const struct row *r, const struct operands *o) {
    return weft_case_banded_attention(
        c, o->q, o->k, o->v,
        weft_banded_attention_params(.heads = HEADS, .half_width = at_most(r->option, o->n),
                                     .lengths = o->lengths));
}

static weft_array build_causal_band(weft_case *c, const struct row *r, const struct operands *o) {
    return weft_case_banded_attention(
        c, o->q, o->k, o->v,
        weft_banded_attention_params(.heads = HEADS, .half_width = at_most(r->option, o->n),
                                     .causal = true, .lengths = o->lengths));
}

static weft_array build_linear(weft_case *c, const struct row *r, const struct operands *o) {
    (void)r;
    const weft_array phi = weft_case_affine(c, o->q, 1.0F, 1.25F); /* positive */
    const weft_array psi = weft_case_affine(c, o->k, 1.0F, 1.25F);
    return weft_case_linear_attention(
        c, phi, psi, o->v, weft_linear_attention_params(.heads = HEADS, .lengths = o->lengths));
}

static weft_array build_kernels(weft_case *c, const struct row *r, const struct operands *o) {
    static const weft_kernel kernels[] = {{.map = WEFT_FEATURE_TANH1},
                                          {.map = WEFT_FEATURE_EXP, .weight = 0.5F}};
    (void)r;
    return weft_case_kernel_attention(
        c, o->q, o->k, o->v,
        weft_kernel_attention_params(.heads = HEADS, .kernels = kernels, .kernel_count = 2,
                                     .lengths = o->lengths),
        NULL);
}

/* option: M. */
static weft_array build_cosformer(weft_case *c, const struct row *r, const struct operands *o) {
    return weft_case_cosformer(
        c, o->q, o->k, o->v,
        weft_cosformer_params(.heads = HEADS, .length = r->option, .lengths = o->lengths));
}

/* option: the half-width. */
static weft_array build_fmm(weft_case *c, const struct row *r, const struct operands *o) {
    static const weft_kernel kernel = {.map = WEFT_FEATURE_ELU1};
    return weft_case_fmm_attention(
        c, o->q, o->k, o->v,
        weft_fmm_attention_params(.heads = HEADS, .half_width = at_most(r->option, o->n),
                                  .kernels = &kernel, .kernel_count = 1, .lengths = o->lengths));
}

/* option: rows. */
static void make_w(weft_case *c, const struct row *r, struct operands *o) {
    o->w = weft_case_weight(c, weft_shape_of(r->option, WIDTH), WEFT_VALUES_UNIT);
}

static weft_array build_performer(weft_case *c, const struct row *r, const struct operands *o) {
    (void)r;
    return weft_case_performer_attention(
        c, o->q, o->k, o->v, o->w,
        weft_performer_attention_params(.heads = HEADS, .lengths = o->lengths));
}

static weft_array build_rfa(weft_case *c, const struct row *r, const struct operands *o) {
    (void)r;
    return weft_case_rfa_attention(
        c, o->q, o->k, o->v, o->w,
        weft_rfa_attention_params(.heads = HEADS, .lengths = o->lengths));
}

static weft_array attend(weft_case *c, const struct operands *o, weft_array phi, weft_array psi) {
    return weft_case_linear_attention(
        c, phi, psi, o->v, weft_linear_attention_params(.heads = HEADS, .lengths = o->lengths));
}

static void make_hybrid(weft_case *c, const struct row *r, struct operands *o) {
    make_w(c, r, o);
    o->more = weft_case_weight(c, weft_shape_of(3, WIDTH), WEFT_VALUES_UNIT);
}

static weft_array build_hybrid(weft_case *c, const struct row *r, const struct operands *o) {
    (void)r;
    weft_hybrid_features_params params = {
        .heads = HEADS, .stabilizer = WEFT_STABILIZER_QUERY, .lengths = o->lengths};
    const weft_array phi = weft_case_hybrid_features(c, o->q, o->w, o->more, &params);
    params.keys = true;
    params.stabilizer = WEFT_STABILIZER_KEY;
    return attend(c, o, phi, weft_case_hybrid_features(c, o->k, o->w, o->more, &params));
}

/* Even powers, and coefficients of one sign: no sum of features comes near to 0. */
static void make_discrete(weft_case *c, const struct row *r, struct operands *o) {
    float powers[8 * WIDTH];
    float coefficients[8];
    (void)r;
    for (uint32_t i = 0; i < 8 * WIDTH; i++) {
        const uint32_t feature = i / WIDTH;
        powers[i] = i * i % 7 == 1 ? 2.0F : 0.0F;
        coefficients[feature] = 1.0F + (float)feature / 4.0F;
    }
    o->w = weft_case_weight_of(c, weft_shape_of(8, WIDTH), powers);
    o->more = weft_case_weight_of(c, weft_shape_of(8), coefficients);
}

static weft_array build_discrete(weft_case *c, const struct row *r, const struct operands *o) {
    (void)r;
    weft_discrete_features_params params = {
        .heads = HEADS, .stabilizer = WEFT_STABILIZER_QUERY, .lengths = o->lengths};
    const weft_array phi = weft_case_discrete_features(c, o->q, o->w, o->more, &params);
    params.stabilizer = WEFT_STABILIZER_KEY;
    return attend(c, o, phi, weft_case_discrete_features(c, o->k, o->w, o->more, &params));
}

static void make_coefficients(weft_case *c, const struct row *r, struct operands *o) {
    o->w = weft_case_weight(c, weft_shape_of(2 * r->n - 1, D), WEFT_VALUES_UNIT);
}

static weft_array build_toeplitz(weft_case *c, const struct row *r, const struct operands *o) {
    (void)r;
    return weft_case_toeplitz(c, o->v, o->w, weft_toeplitz_params(.lengths = o->lengths));
}

static void make_bias(weft_case *c, const struct row *r, struct operands *o) {
    o->w = weft_case_weight(c, weft_shape_of(2 * r->n - 1, HEADS), WEFT_VALUES_UNIT);
}

static weft_array build_toeplitz_attention(weft_case *c, const struct row *r,
                                           const struct operands *o) {
    (void)r;
    const weft_array phi = weft_case_affine(c, o->q, 1.0F, 1.25F);
    const weft_array psi = weft_case_affine(c, o->k, 1.0F, 1.25F);
    return weft_case_toeplitz_attention(
        c, phi, psi, o->v, o->w,
        weft_toeplitz_attention_params(.heads = HEADS, .lengths = o->lengths));
}

static const struct mixer attention = {"attention", NULL, build_attention};
static const struct mixer band = {"band", NULL, build_band};
static const struct mixer causal_band = {"causal_band", NULL, build_causal_band};
static const struct mixer linear = {"linear_attention", NULL, build_linear};
static const struct mixer kernel = {"kernel_attention", NULL, build_kernels};
static const struct mixer cosformer = {"cosformer", NULL, build_cosformer};
static const struct mixer fmm = {"fmm_attention", NULL, build_fmm};
static const struct mixer performer = {"performer_attention", make_w, build_performer};
static const struct mixer rfa = {"rfa_attention", make_w, build_rfa};
static const struct mixer hybrid = {"hybrid_features", make_hybrid, build_hybrid};
static const struct mixer discrete = {"discrete_features", make_discrete, build_discrete};
static const struct mixer toeplitz = {"toeplitz", make_coefficients, build_toeplitz};
static const struct mixer relative = {"toeplitz_attention", make_bias, build_toeplitz_attention};

static const struct row rows[] = {
    {&attention, 3, 37, 0},   {&attention, 2, 130, 0},  {&band, 3, 37, 0},
    {&band, 3, 37, 5},        {&band, 2, 131, 40},      {&band, 3, 70, 69},
    {&causal_band, 3, 67, 9}, {&linear, 3, 37, 0},      {&linear, 2, 300, 0},
    {&kernel, 3, 67, 0},      {&cosformer, 3, 67, 100}, {&fmm, 3, 67, 7},
    {&performer, 3, 67, 20},  {&rfa, 2, 67, 40},        {&hybrid, 3, 33, 9},
    {&discrete, 3, 33, 0},    {&toeplitz, 3, 37, 0},    {&toeplitz, 3, 130, 0},
    {&relative, 3, 41, 0},
};

/* ---- cases ---- */

static void name_case(char text[WEFT_CASE_NAME_SIZE], const struct row *r) {
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/n=%u,d=%u,heads=%u,batch=%u%s", r->mixer->name, r->n, D,
             HEADS, r->batch, WEFT_CASE_PART(r->option != 0, ",k=%u", r->option));
}

/* NaN and infinities behind the lengths of the inputs so far. */
static void poison(weft_case *c, const double *lengths) {
    for (uint32_t p = 0; p < c->input_count && c->ref.status == WEFT_OK; p++) {
        const weft_case_port *port = &c->inputs[p];
        const uint64_t size = port->count / port->shape.dim[0];
        for (uint64_t i = 0; port->dtype == WEFT_F32 && i < port->count; i++) {
            const uint64_t token = i % size / D;
            const bool is_behind = (double)token >= lengths[i / size];
            const uint32_t words[] = {0x7fc00000U, 0xff800000U, 0x7f800000U};
            if (is_behind) {
                memcpy((uint32_t *)port->data + i, &words[i % 3], sizeof words[0]);
            }
        }
    }
}

/* Sequence b alone, as it is before its length. */
static struct operands alone(const struct operands *all, uint32_t b, uint32_t length) {
    struct operands one = {.w = all->w, .more = all->more, .n = length};
    weft_array *const parts[] = {&one.q, &one.k, &one.v};
    const weft_array *const whole[] = {&all->q, &all->k, &all->v};
    for (uint32_t i = 0; i < 3; i++) {
        parts[i]->shape = weft_shape_of(1, length, D);
        parts[i]->value = whole[i]->value + (uint64_t)b * all->n * D;
    }
    return one;
}

/* The mixer of all sequences in the graph, and the elements of each alone. */
static weft_array mix(weft_case *c, const struct row *r, const struct operands *all,
                      const double *lengths) {
    c->only_ops = true;
    weft_array y = r->mixer->build(c, r, all);
    c->only_ops = false;
    double *value = weft_case_scratch(c, (uint64_t)r->batch * r->n * D);
    for (uint32_t b = 0; value && b < r->batch; b++) {
        const struct operands one = alone(all, b, (uint32_t)lengths[b]);
        c->only_values = true;
        const weft_array found = r->mixer->build(c, r, &one);
        c->only_values = false;
        if (found.value) {
            memcpy(value + (uint64_t)b * r->n * D, found.value,
                   (uint64_t)one.n * D * sizeof *value);
        }
    }
    y.value = value;
    return y;
}

static void build(weft_case *c, const struct row *r) {
    const weft_shape shape = weft_shape_of(r->batch, r->n, D);
    struct operands all = {.n = r->n};
    all.q = weft_case_input(c, "q", shape, WEFT_VALUES_UNIT);
    all.k = weft_case_input(c, "k", shape, WEFT_VALUES_UNIT);
    all.v = weft_case_input(c, "v", shape, WEFT_VALUES_UNIT);
    const weft_array lengths =
        weft_case_indices(c, "lengths", weft_shape_of(r->batch), 1, (int32_t)r->n);
    all.lengths = lengths.tensor;
    if (r->mixer->constants) {
        r->mixer->constants(c, r, &all);
    }
    if (c->ref.status == WEFT_OK) {
        poison(c, lengths.value);
        weft_case_expect(c, "y", weft_case_mask(c, mix(c, r, &all, lengths.value), lengths));
    }
}

WEFT_CASE_TABLE(lengths, rows, WEFT_TOLERANCE_EXPONENTIAL, name_case, build);
