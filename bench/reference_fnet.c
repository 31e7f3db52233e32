/* SPDX-License-Identifier: MIT */
/*
 * Encoders of Lee-Thorp et al., "FNet: Mixing tokens with Fourier transforms", 2022, with post-norm: embeddings, then in each
 * layer norm(x + mixing(x)) and norm(x + W_2 act(W_1 x)). All tokens go through all layers but the last, which is made for
 * the tokens that are asked for alone.
 */
#include <stdio.h>
#include <string.h>

#include <weft/model.h>

#include "bench/reference.h"
#include "verify/conformance.h"

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

struct encoder {
    weft_bench_reference *ref;
    const weft_bench_fnet *p;
    const struct names *names;
};

/** The tensor of that name, as float64. */
static const double *tensor(const struct encoder *e, const char *name, weft_shape shape) {
    weft_bench_reference *ref = e->ref;
    const double *value = NULL;
    float *data = weft_alloc(&ref->host, (size_t)weft_shape_elements(shape) * sizeof *data);
    if (data == NULL && ref->status == WEFT_OK) {
        ref->status = weft_fail_memory(&ref->host, name);
    }
    if (ref->status == WEFT_OK) {
        ref->status = weft_model_draw(data, name, shape, e->p->seed);
    }
    if (ref->status == WEFT_OK) {
        value = weft_bench_reference_weight_of(ref, data, weft_shape_elements(shape));
    }
    weft_free(&ref->host, data);
    return value;
}

struct pair {
    const double *weight, *bias;
};

static struct pair pair_of(const struct encoder *e, const char *name, weft_shape shape) {
    char full[NAME_SIZE];
    snprintf(full, sizeof full, "%s.weight", name);
    struct pair pair = {.weight = tensor(e, full, shape)};
    snprintf(full, sizeof full, "%s.bias", name);
    pair.bias = tensor(e, full, weft_shape_of(shape.dim[0]));
    return pair;
}

/** The tensor `name` of a layer. */
static const double *layer_tensor(const struct encoder *e, uint32_t layer, const char *name,
                                  weft_shape shape) {
    char full[NAME_SIZE];
    snprintf(full, sizeof full, "%s%u.%s", e->names->layer, layer, name);
    return tensor(e, full, shape);
}

static struct pair layer_pair(const struct encoder *e, uint32_t layer, const char *name,
                              weft_shape shape) {
    char full[NAME_SIZE / 2];
    snprintf(full, sizeof full, "%s%u.%s", e->names->layer, layer, name);
    return pair_of(e, full, shape);
}

static double *array(const struct encoder *e, uint32_t tokens, uint32_t channels) {
    return weft_bench_reference_array(e->ref, (uint64_t)tokens * channels);
}

/** W x + b of these tokens of x [.., columns], [rows.count, channels]; null after a failure. */
static double *linear(const struct encoder *e, const double *x, weft_bench_rows rows,
                      uint32_t columns, uint32_t channels, struct pair pair) {
    double *out = array(e, rows.count, channels);
    weft_bench_reference_linear(e->ref, out, rows, x, columns, pair.weight, channels, pair.bias);
    return out;
}

/** norm(x + y), in y [tokens, d]; row r of y belongs to token rows.at[r] of x. */
static void norm_of_sum(const struct encoder *e, double *y, const double *x, weft_bench_rows rows,
                        struct pair norm) {
    const uint64_t d = e->p->d;
    if (!x || !y || !weft_bench_reference_spend(e->ref, 5.0 * rows.count * (double)d)) {
        return;
    }
    for (uint64_t i = 0; i < rows.count * d; i++) {
        y[i] += x[rows.at[i / d] * d + i % d];
    }
    weft_reference_layer_norm(y, y, norm.weight, norm.bias, rows.count, e->p->d, e->p->epsilon);
}

/* ---- embeddings ---- */

static const double *embed(const struct encoder *e, const double *tokens, weft_bench_rows all) {
    const weft_bench_fnet *p = e->p;
    const struct names *names = e->names;
    const double *words = tensor(e, names->words, weft_shape_of(p->vocabulary, p->d));
    const double *positions = tensor(e, names->positions, weft_shape_of(p->n, p->d));
    const double *types =
        names->types ? tensor(e, names->types, weft_shape_of(p->types, p->d)) : NULL;
    const struct pair norm = pair_of(e, names->norm, weft_shape_of(p->d));
    double *sum = array(e, p->n, p->d);
    if (!sum) {
        return NULL;
    }
    for (uint64_t i = 0; i < (uint64_t)p->n * p->d; i++) {
        const uint64_t word = (uint64_t)tokens[i / p->d];
        sum[i] = words[word * p->d + i % p->d] + positions[i] + (types ? types[i % p->d] : 0.0);
    }
    weft_reference_layer_norm(sum, sum, norm.weight, norm.bias, p->n, p->d, p->epsilon);
    return names->projection ? linear(e, sum, all, p->d, p->d,
                                      pair_of(e, names->projection, weft_shape_of(p->d, p->d)))
                             : sum;
}

/* ---- mixing ---- */

static double *attend(const struct encoder *e, uint32_t layer, const double *x,
                      weft_bench_rows rows, weft_bench_rows all, weft_bench_fnet_mixing mixing) {
    const weft_bench_fnet *p = e->p;
    const weft_shape square = weft_shape_of(p->d, p->d);
    double *mixed = array(e, rows.count, p->d);
    const weft_bench_rows same = weft_bench_reference_all(e->ref, rows.count);
    const weft_bench_attention in = {
        .q = linear(e, x, all, p->d, p->d, layer_pair(e, layer, e->names->query, square)),
        .k = linear(e, x, all, p->d, p->d, layer_pair(e, layer, e->names->key, square)),
        .v = linear(e, x, all, p->d, p->d, layer_pair(e, layer, e->names->value, square)),
        .n = p->n,
        .heads = p->heads,
        .width = p->d / p->heads};
    if (mixing == WEFT_BENCH_FNET_PERFORMER) {
        const weft_shape shape = weft_shape_of(p->features, in.width);
        const double *w = layer_tensor(e, layer, "mixer.features.weight", shape);
        weft_bench_reference_performer(e->ref, mixed, rows, &in, w, p->features, 0.0);
    } else {
        weft_bench_reference_softmax_attention(e->ref, mixed, rows, &in, UINT32_MAX, 0.0);
    }
    return linear(e, mixed, same, p->d, p->d, layer_pair(e, layer, e->names->output, square));
}

/** S x Hᵀ of learned matrices S [n, n] and H [d, d]. */
static double *mix_by_matrices(const struct encoder *e, uint32_t layer, const double *x,
                               weft_bench_rows rows, weft_bench_rows all) {
    const weft_bench_fnet *p = e->p;
    const double *sequence = layer_tensor(e, layer, "mixing.seq.weight", weft_shape_of(p->n, p->n));
    const struct pair hidden = {
        .weight = layer_tensor(e, layer, "mixing.hidden.weight", weft_shape_of(p->d, p->d))};
    const double *y = linear(e, x, all, p->d, p->d, hidden);
    double *out = array(e, rows.count, p->d);
    if (!weft_bench_reference_spend(e->ref, (double)rows.count * p->n * p->d)) {
        return NULL;
    }
    for (uint64_t r = 0; r < rows.count; r++) {
        for (uint64_t j = 0; j < p->n; j++) {
            const double factor = sequence[(uint64_t)rows.at[r] * p->n + j];
            for (uint64_t c = 0; c < p->d; c++) {
                out[r * p->d + c] += factor * y[j * p->d + c];
            }
        }
    }
    return out;
}

/** norm(x + mixing(x)) of these tokens. */
static double *mix(const struct encoder *e, uint32_t layer, const double *x, weft_bench_rows rows,
                   weft_bench_rows all) {
    const weft_bench_fnet *p = e->p;
    const weft_bench_fnet_mixing mixing =
        layer + p->attention_layers >= p->layers ? WEFT_BENCH_FNET_ATTENTION : p->mixing;
    double *y;
    if (mixing == WEFT_BENCH_FNET_FOURIER) {
        y = array(e, rows.count, p->d);
        weft_bench_reference_fourier(e->ref, y, rows, x, p->n, p->d);
    } else if (mixing == WEFT_BENCH_FNET_LINEAR) {
        y = mix_by_matrices(e, layer, x, rows, all);
    } else {
        y = attend(e, layer, x, rows, all, mixing);
    }
    norm_of_sum(e, y, x, rows,
                layer_pair(e, layer, e->names->mixing_norm[mixing], weft_shape_of(p->d)));
    return y;
}

/** Without mixing the sublayer goes with its residual and norm. */
static double *take(const struct encoder *e, const double *x, weft_bench_rows rows) {
    const uint64_t d = e->p->d;
    double *y = array(e, rows.count, e->p->d);
    for (uint64_t r = 0; x && y && r < rows.count; r++) {
        memcpy(y + r * d, x + rows.at[r] * d, d * sizeof *y);
    }
    return y;
}

/* ---- layers ---- */

static double *run_layer(const struct encoder *e, uint32_t layer, const double *x,
                         weft_bench_rows rows, weft_bench_rows all) {
    const weft_bench_fnet *p = e->p;
    const bool mixes = p->mixing != WEFT_BENCH_FNET_NONE;
    const double *y = mixes ? mix(e, layer, x, rows, all) : take(e, x, rows);
    const weft_bench_rows same = weft_bench_reference_all(e->ref, rows.count);
    double *wide = linear(e, y, same, p->d, p->wide,
                          layer_pair(e, layer, e->names->up, weft_shape_of(p->wide, p->d)));
    weft_bench_reference_activation(e->ref, wide, same, wide, p->wide, p->activation);
    double *out = linear(e, wide, same, p->wide, p->d,
                         layer_pair(e, layer, e->names->down, weft_shape_of(p->d, p->wide)));
    norm_of_sum(e, out, y, same, layer_pair(e, layer, e->names->down_norm, weft_shape_of(p->d)));
    return out;
}

/** At least; attention and Fourier mixing of all tokens cost more. To be known before gigabytes of weights are drawn. */
static double least_cost(const weft_bench_fnet *p) {
    return (p->layers - 1.0) * p->n * p->d * (2.0 * p->wide + p->n);
}

void weft_bench_reference_fnet(weft_bench_reference *ref, double *out, weft_bench_rows rows,
                               const double *tokens, const weft_bench_fnet *p) {
    const struct encoder e = {.ref = ref,
                              .p = p,
                              .names = p->mixing == WEFT_BENCH_FNET_PERFORMER ? &network_names
                                                                              : &fnet_names};
    if (ref->operations + least_cost(p) > ref->limit) {
        weft_bench_reference_spend(ref, least_cost(p));
        return;
    }
    const weft_bench_rows all = weft_bench_reference_all(ref, p->n);
    const double *x = ref->status == WEFT_OK ? embed(&e, tokens, all) : NULL;
    for (uint32_t layer = 0; weft_bench_reference_spend(ref, 0.0) && layer < p->layers; layer++) {
        x = run_layer(&e, layer, x, layer + 1 == p->layers ? rows : all, all);
    }
    if (x && weft_bench_reference_spend(ref, 0.0)) {
        memcpy(out, x, (size_t)rows.count * p->d * sizeof *out);
    }
}
