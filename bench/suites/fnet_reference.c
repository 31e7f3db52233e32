/* SPDX-License-Identifier: MIT */
/* All tokens go through all layers but the last, which is made for the tokens that are asked for alone. */
#include "bench/suites/fnet_reference.h"

#include <stdio.h>

#include <weft/model.h>

#define NAME_SIZE 128

/** What the tensors of a layout are called. */
struct names {
    const char *words, *positions, *types, *norm, *projection; /* types and projection: or null */
    const char *layer;                                         /* with the number of a layer */
    const char *query, *key, *value, *output;
    const char *mixing_norm[5]; /* of each weft_bench_fnet_mixing */
    const char *up, *down, *down_norm;
};

static const struct names fnet_names = {.words = "embeddings.word_embeddings.weight",
                                        .positions = "embeddings.position_embeddings.weight",
                                        .types = "embeddings.token_type_embeddings.weight",
                                        .norm = "embeddings.LayerNorm",
                                        .projection = "embeddings.projection",
                                        .layer = "encoder.layer.",
                                        .query = "attention.self.query",
                                        .key = "attention.self.key",
                                        .value = "attention.self.value",
                                        .output = "attention.output.dense",
                                        .mixing_norm = {"fourier.output.LayerNorm",
                                                        "mixing.output.LayerNorm",
                                                        "attention.output.LayerNorm", NULL, NULL},
                                        .up = "intermediate.dense",
                                        .down = "output.dense",
                                        .down_norm = "output.LayerNorm"};

static const struct names network_names = {.words = "embeddings.tokens.weight",
                                           .positions = "embeddings.positions.weight",
                                           .norm = "embeddings.norm",
                                           .layer = "layers.",
                                           .query = "mixer.query",
                                           .key = "mixer.key",
                                           .value = "mixer.value",
                                           .output = "mixer.output",
                                           .mixing_norm = {NULL, NULL, NULL, NULL, "mixer_norm"},
                                           .up = "feed_forward.in",
                                           .down = "feed_forward.out",
                                           .down_norm = "feed_forward_norm"};

/** `rest`: the tokens that the last layer is made for, from its mixing on; until then all are. */
struct encoder {
    weft_case *c;
    const weft_bench_fnet *p;
    const struct names *names;
    weft_rows rest;
};

/** The tensor of that name. */
static weft_array tensor(const struct encoder *e, const char *name, weft_shape shape) {
    weft_reference *ref = &e->c->ref;
    const uint64_t count = weft_shape_elements(shape);
    weft_array array = {.shape = shape};
    float *data = weft_reference_memory(ref, count, sizeof *data);
    if (weft_reference_check(ref,
                             data ? weft_model_draw(data, name, shape, e->p->seed) : ref->status)) {
        array.value = weft_reference_of(ref, data, count);
    }
    return array;
}

/** The tensor `name` of a layer, or with `part` its weight or bias. */
static weft_array layer_tensor(const struct encoder *e, uint32_t layer, const char *name,
                               const char *part, weft_shape shape) {
    char full[NAME_SIZE];
    snprintf(full, sizeof full, "%s%u.%s%s", e->names->layer, layer, name, part);
    return tensor(e, full, shape);
}

/** W x + b of [1, n, columns], W [channels, columns]. */
static weft_array layer_linear(const struct encoder *e, uint32_t layer, const char *name,
                               weft_array x, uint32_t channels) {
    const weft_array weight =
        layer_tensor(e, layer, name, ".weight", weft_shape_of(channels, x.shape.dim[2]));
    return weft_case_linear(e->c, x, weight,
                            layer_tensor(e, layer, name, ".bias", weft_shape_of(channels)));
}

/** Normalises x [1, n, d] in place. */
static void normalize(const struct encoder *e, double *x, uint32_t tokens, const double *gamma,
                      const double *beta) {
    const weft_reference_norm norm = {.gamma = gamma, .beta = beta, .epsilon = e->p->epsilon};
    if (x && weft_reference_spend(&e->c->ref, 5.0 * tokens * e->p->d)) {
        weft_reference_normalize(x, &norm, tokens, e->p->d);
    }
}

static weft_array made(const struct encoder *e, uint32_t tokens, double **out) {
    return weft_case_made(e->c, WEFT_OK, (weft_tensor){0}, weft_shape_of(1, tokens, e->p->d), false,
                          out);
}

/** norm(x + y). */
static weft_array norm_of_sum(const struct encoder *e, uint32_t layer, const char *name,
                              weft_array x, weft_array y) {
    const weft_array gamma = layer_tensor(e, layer, name, ".weight", weft_shape_of(e->p->d));
    const weft_array beta = layer_tensor(e, layer, name, ".bias", weft_shape_of(e->p->d));
    const uint32_t tokens = y.shape.dim[1];
    double *out;
    weft_array sum = made(e, tokens, &out);
    for (uint64_t i = 0; out && x.value && y.value && i < (uint64_t)tokens * e->p->d; i++) {
        out[i] = x.value[i] + y.value[i];
    }
    normalize(e, out, tokens, gamma.value, beta.value);
    return sum;
}

/* ---- embeddings ---- */

static weft_array embed(const struct encoder *e, const double *tokens) {
    const weft_bench_fnet *p = e->p;
    const struct names *names = e->names;
    const weft_shape row = weft_shape_of(p->d);
    char norm[2][NAME_SIZE];
    double *out;
    const weft_array words = tensor(e, names->words, weft_shape_of(p->vocabulary, p->d));
    const weft_array positions = tensor(e, names->positions, weft_shape_of(p->n, p->d));
    const weft_array types = names->types ? tensor(e, names->types, weft_shape_of(p->types, p->d))
                                          : (weft_array){.value = NULL};
    snprintf(norm[0], NAME_SIZE, "%s.weight", names->norm);
    snprintf(norm[1], NAME_SIZE, "%s.bias", names->norm);
    const double *gamma = tensor(e, norm[0], row).value;
    const double *beta = tensor(e, norm[1], row).value;
    weft_array sum = made(e, p->n, &out);
    if (out) {
        weft_reference_embedding(out, &(weft_reference_tables){.tokens = tokens,
                                                               .table = words.value,
                                                               .type_table = types.value,
                                                               .positions = positions.value,
                                                               .batch = 1,
                                                               .n = p->n,
                                                               .d = p->d,
                                                               .vocabulary = p->vocabulary,
                                                               .type_count = p->types});
    }
    normalize(e, out, p->n, gamma, beta);
    if (!names->projection) {
        return sum;
    }
    snprintf(norm[0], NAME_SIZE, "%s.weight", names->projection);
    snprintf(norm[1], NAME_SIZE, "%s.bias", names->projection);
    const weft_array weight = tensor(e, norm[0], weft_shape_of(p->d, p->d));
    return weft_case_linear(e->c, sum, weight, tensor(e, norm[1], row));
}

/* ---- mixing ---- */

/** From here on an array has these tokens alone. */
static weft_array shorten(const struct encoder *e, weft_array x) {
    x.shape.dim[1] = e->c->rows.count > 0 ? e->c->rows.count : x.shape.dim[1];
    return x;
}

static weft_array attend(const struct encoder *e, uint32_t layer, weft_array x, weft_rows rows,
                         weft_bench_fnet_mixing mixing) {
    const weft_bench_fnet *p = e->p;
    const weft_array q = layer_linear(e, layer, e->names->query, x, p->d);
    const weft_array k = layer_linear(e, layer, e->names->key, x, p->d);
    const weft_array v = layer_linear(e, layer, e->names->value, x, p->d);
    weft_array w = {.value = NULL};
    if (mixing == WEFT_BENCH_FNET_PERFORMER) {
        w = layer_tensor(e, layer, "mixer.features.weight", "",
                         weft_shape_of(p->features, p->d / p->heads));
    }
    e->c->rows = rows;
    weft_array y =
        mixing == WEFT_BENCH_FNET_PERFORMER
            ? WEFT_MIX(e->c, performer_attention,
                       weft_performer_attention_params(.heads = p->heads), q, k, v, w)
            : weft_case_attention(e->c, q, k, v, weft_attention_params(.heads = p->heads));
    y = shorten(e, y);
    e->c->rows = (weft_rows){0};
    return layer_linear(e, layer, e->names->output, y, p->d);
}

/** S x Hᵀ of learned matrices S [n, n] and H [d, d]. */
static weft_array mix_by_matrices(const struct encoder *e, uint32_t layer, weft_array x,
                                  weft_rows rows) {
    const uint32_t n = e->p->n;
    const uint32_t d = e->p->d;
    const weft_array s = layer_tensor(e, layer, "mixing.seq", ".weight", weft_shape_of(n, n));
    const weft_array h = layer_tensor(e, layer, "mixing.hidden", ".weight", weft_shape_of(d, d));
    const weft_array y = weft_case_linear(e->c, x, h, (weft_array){.value = NULL});
    const uint32_t count = rows.count > 0 ? rows.count : n;
    double *own = weft_reference_array(&e->c->ref, (uint64_t)count * n);
    double *out;
    weft_array mixed = made(e, count, &out);
    if (own && out && weft_reference_spend(&e->c->ref, (double)count * n * d)) {
        weft_reference_take(own, rows.count > 0 ? rows : weft_reference_all(&e->c->ref, n), s.value,
                            n);
        weft_reference_matmul(out, own, y.value,
                              (weft_reference_product){.m = count, .n = d, .k = n, .alpha = 1.0});
    }
    return mixed;
}

/** mixing(x) of these tokens. */
static weft_array mix(const struct encoder *e, uint32_t layer, weft_array x, weft_rows rows,
                      weft_bench_fnet_mixing mixing) {
    if (mixing == WEFT_BENCH_FNET_LINEAR) {
        return mix_by_matrices(e, layer, x, rows);
    }
    if (mixing != WEFT_BENCH_FNET_FOURIER) {
        return attend(e, layer, x, rows, mixing);
    }
    e->c->rows = rows;
    weft_array y = shorten(e, weft_case_fourier(e->c, x));
    e->c->rows = (weft_rows){0};
    return y;
}

/* ---- layers ---- */

static weft_array run_layer(const struct encoder *e, uint32_t layer, weft_array x) {
    const weft_bench_fnet *p = e->p;
    const weft_bench_fnet_mixing mixing =
        layer + p->attention_layers >= p->layers ? WEFT_BENCH_FNET_ATTENTION : p->mixing;
    const weft_rows rows = layer + 1 == p->layers ? e->rest : (weft_rows){0};
    weft_array taken = x;
    double *out;
    if (rows.count > 0) {
        taken = made(e, rows.count, &out);
        if (out && x.value) {
            weft_reference_take(out, rows, x.value, p->d);
        }
    }
    /* Without mixing the sublayer goes with its residual and norm. */
    weft_array y = p->mixing == WEFT_BENCH_FNET_NONE
                       ? taken
                       : norm_of_sum(e, layer, e->names->mixing_norm[mixing], taken,
                                     mix(e, layer, x, rows, mixing));
    weft_array wide = layer_linear(e, layer, e->names->up, y, p->wide);
    wide = weft_case_activate(e->c, wide, p->activation);
    return norm_of_sum(e, layer, e->names->down_norm, y,
                       layer_linear(e, layer, e->names->down, wide, p->d));
}

/** At least; attention and Fourier mixing of all tokens cost more. To be known before gigabytes of weights are drawn. */
static double least_cost(const weft_bench_fnet *p) {
    return (p->layers - 1.0) * p->n * p->d * (2.0 * p->wide + p->n);
}

void weft_bench_define_fnet(weft_case *c, const double *tokens, const weft_bench_fnet *p) {
    const struct encoder e = {.c = c,
                              .p = p,
                              .names = p->mixing == WEFT_BENCH_FNET_PERFORMER ? &network_names
                                                                              : &fnet_names,
                              .rest = c->rows};
    if (c->ref.operations + least_cost(p) > c->ref.limit) {
        weft_reference_spend(&c->ref, least_cost(p));
        return;
    }
    c->rows = (weft_rows){0};
    c->only_values = true;
    weft_array x = weft_reference_spend(&c->ref, 0.0) ? embed(&e, tokens) : (weft_array){0};
    for (uint32_t layer = 0; weft_reference_spend(&c->ref, 0.0) && layer < p->layers; layer++) {
        x = run_layer(&e, layer, x);
    }
    c->rows = e.rest;
    c->expected = x;
}
