/* SPDX-License-Identifier: MIT */
/*
 * Random-feature attention with any component function and any weight matrix: Nguyen et al., "Spectraformer: a unified
 * random feature framework for transformer", 2024.
 */
#include "model/network/architectures/spectraformer.h"

/* Settings shared by the features of queries and keys. */
struct features {
    struct weft_builder *builder;
    const struct weft_spectraformer *config;
    struct weft_spectral_weights weights;
    weft_tensor directions;
};

/* As in the Performer, causal features are not divided by the largest one. */
static weft_stabilizer stabilizer(const struct weft_builder *builder, bool keys) {
    if (builder->network->config.causal) {
        return WEFT_STABILIZER_NONE;
    }
    return keys ? WEFT_STABILIZER_KEY : WEFT_STABILIZER_QUERY;
}

static weft_tensor coefficients(const struct features *features, bool keys) {
    return keys ? features->weights.key_coefficients : features->weights.query_coefficients;
}

static weft_tensor balance(struct weft_builder *builder, weft_tensor x, weft_tensor other) {
    weft_tensor out = {0};
    x = weft_build_mask(builder, x);
    other = weft_build_mask(builder, other);
    return WEFT_BUILT(builder, out, weft_graph_balance_channels(&out, builder->graph, x, other));
}

/* W x by its fast transform. */
static weft_tensor project(const struct features *features, weft_tensor x) {
    struct weft_builder *builder = features->builder;
    const struct weft_spectraformer *config = features->config;
    weft_tensor out = {0};
    return WEFT_BUILT(
        builder, out,
        weft_graph_structured_projection(
            &out, builder->graph, x, features->weights.diagonals,
            weft_structured_projection_params(.kind = (weft_features_kind)config->matrix,
                                              .rows = config->rows, .heads = config->heads,
                                              .permutation = features->weights.permutation)));
}

/* Exponentials of W x. other: the keys of queries, the queries of keys. */
static weft_tensor exponentials(const struct features *features, weft_tensor x, weft_tensor other,
                                bool keys) {
    struct weft_builder *builder = features->builder;
    const struct weft_spectraformer *config = features->config;
    bool structured = features->weights.diagonals.id != 0;
    weft_random_features_params params = {.component = (weft_component)config->component,
                                          .heads = config->heads,
                                          .stabilizer = stabilizer(builder, keys),
                                          .epsilon = config->feature_eps,
                                          .coefficients = coefficients(features, keys),
                                          .square_norms = features->weights.square_norms,
                                          .lengths = weft_build_lengths(builder)};
    if (params.component == WEFT_COMPONENT_ASYMMETRIC && structured) {
        /* Equal to optimal features of balanced channels, which can be projected. */
        weft_tensor balanced = balance(builder, x, other);
        other = balance(builder, other, x);
        x = balanced;
        params.component = WEFT_COMPONENT_OPTIMAL;
    }
    if (params.component == WEFT_COMPONENT_OPTIMAL ||
        params.component == WEFT_COMPONENT_ASYMMETRIC) {
        params.other = other;
        params.other_lengths = params.lengths;
    }
    if (params.component == WEFT_COMPONENT_GENERALIZED) {
        params.a = config->a;
        params.s = config->s;
    }
    if (structured) {
        params.projection = project(features, x);
    }
    weft_tensor out = {0};
    return WEFT_BUILT(
        builder, out,
        weft_graph_random_features(&out, builder->graph, x, features->weights.w, &params));
}

static weft_tensor powers(const struct features *features, weft_tensor x, bool keys) {
    struct weft_builder *builder = features->builder;
    weft_tensor out = {0};
    return WEFT_BUILT(builder, out,
                      weft_graph_discrete_features(
                          &out, builder->graph, x, features->weights.w,
                          coefficients(features, keys),
                          weft_discrete_features_params(.heads = features->config->heads,
                                                        .stabilizer = stabilizer(builder, keys),
                                                        .lengths = weft_build_lengths(builder))));
}

static weft_tensor hybrids(const struct features *features, weft_tensor x, bool keys) {
    struct weft_builder *builder = features->builder;
    weft_tensor out = {0};
    return WEFT_BUILT(
        builder, out,
        weft_graph_hybrid_features(
            &out, builder->graph, x, features->weights.w, features->directions,
            weft_hybrid_features_params(.heads = features->config->heads, .keys = keys,
                                        .stabilizer = stabilizer(builder, keys),
                                        .coefficients = coefficients(features, keys),
                                        .lengths = weft_build_lengths(builder))));
}

static weft_tensor features_of(const struct features *features, weft_tensor x, weft_tensor other,
                               bool keys) {
    switch (features->config->component) {
    case WEFT_SPECTRAL_POISSON:
    case WEFT_SPECTRAL_GEOMETRIC:
        return powers(features, x, keys);
    case WEFT_SPECTRAL_HYBRID:
        return hybrids(features, x, keys);
    default:
        return exponentials(features, x, other, keys);
    }
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *config) {
    const struct weft_spectraformer *spectraformer = config;
    struct features features = {.builder = builder,
                                .config = spectraformer,
                                .weights = weft_build_spectral_weights(builder, spectraformer)};
    if (spectraformer->component == WEFT_SPECTRAL_HYBRID) {
        features.directions = weft_build_spectral_directions(builder, spectraformer);
    }
    struct weft_qkv qkv = weft_build_qkv(builder, x);
    struct weft_qkv mapped = {.query = features_of(&features, qkv.query, qkv.key, false),
                              .key = features_of(&features, qkv.key, qkv.query, true),
                              .value = qkv.value};
    weft_tensor mixed = weft_build_linear_attention(builder, &mapped, spectraformer->heads,
                                                    spectraformer->attention_eps);
    return weft_build_linear(builder, mixed, "output", builder->width, builder->width);
}

const struct weft_model_family weft_family_spectraformer = {
    .model_type = "spectraformer",
    .fields = {weft_spectraformer_fields, WEFT_SPECTRAFORMER_FIELDS},
    .config_size = sizeof(struct weft_spectraformer),
    WEFT_ATTENTION_PARTS,
    .set_defaults = weft_spectraformer_defaults,
    .check = weft_spectraformer_check,
    .recurrent = weft_family_always, /* whatever reads the whole sequence is not causal */
    .takes_lengths = weft_family_always,
    .mix = mix,
};
