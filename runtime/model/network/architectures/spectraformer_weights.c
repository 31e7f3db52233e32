/* SPDX-License-Identifier: MIT */
/*
 * Sources of the weight matrices of spectraformers: the checkpoint, a draw of weft/features.h, or a learned map of
 * noise.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "features/discrete.h"
#include "graph/graph.h"
#include "model/network/architectures/spectraformer.h"

static const weft_tensor none = {0};

/* Inputs of the functions that fill constants. */
struct source {
    const struct weft_spectraformer *config;
    weft_features_params params;
    const float *w;         /* coefficients of powers that are in the checkpoint; otherwise null */
    const float *weights;   /* quadrature weights that are in the checkpoint; otherwise null */
    const float *diagonals; /* of a structured matrix, in the checkpoint; otherwise null */
    const int32_t *permutation; /* likewise */
    bool keys;
};

static struct source source_of(const struct weft_builder *builder,
                               const struct weft_spectraformer *config) {
    return (struct source){.config = config,
                           .params = weft_spectraformer_params(config, builder->layer)};
}

/* A second line behind that of weft/features.h, which knows no file: what cannot be drawn is a wrong file. */
static weft_status where(const struct source *source, weft_status status, const weft_host *host) {
    return status != WEFT_INVALID_ARGUMENT
               ? status
               : weft_fail(host, WEFT_BAD_FILE,
                           "layers.%u.mixer.features: cannot make weight_matrix %s from this "
                           "config.json and checkpoint",
                           (unsigned)source->params.matrix,
                           weft_features_name(source->params.kind));
}

/* ---- dense ---- */

static weft_status fill_dense(float *data, const void *user, const weft_host *host) {
    const struct source *source = user;
    float *weights = weft_alloc(host, source->params.rows * sizeof *weights);
    if (!weights) {
        return weft_fail_memory(host, "the weights of a feature matrix");
    }
    weft_status status = weft_features_fill(data, weights, &source->params, host);
    weft_free(host, weights);
    return where(source, status, host);
}

/* The tensor of the checkpoint where it is there, otherwise the source's matrix. */
static weft_tensor stored_or_drawn(struct weft_builder *builder, const char *name,
                                   const char *drawn, const struct source *source) {
    weft_shape shape = weft_shape_of(source->params.rows, source->params.columns);
    return weft_build_has(builder, name)
               ? weft_build_weight(builder, name, shape)
               : weft_build_constant(builder, drawn, shape, fill_dense, source);
}

/* ---- coefficients ---- */

/* The weights of the rows of W, [rows]. */
static weft_status fill_weights(float *weights, const struct source *source,
                                const weft_host *host) {
    const weft_features_params *params = &source->params;
    if (source->weights) {
        memcpy(weights, source->weights, params->rows * sizeof *weights);
        return WEFT_OK;
    }
    if (source->w) {
        return weft_features_discrete_weights(weights, source->w, params, host);
    }
    float *w = weft_alloc(host, (size_t)params->rows * params->columns * sizeof *w);
    if (!w) {
        return weft_fail_memory(host, "a feature matrix");
    }
    weft_status status = weft_features_fill(w, weights, params, host);
    weft_free(host, w);
    return status;
}

/* √|weight| for queries, with the weight's sign for keys. */
static weft_status fill_coefficients(float *data, const void *user, const weft_host *host) {
    const struct source *source = user;
    WEFT_TRY(where(source, fill_weights(data, source, host), host));
    for (uint32_t i = 0; i < source->params.rows; i++) {
        const float root = sqrtf(fabsf(data[i]));
        data[i] = source->keys && data[i] < 0.0F ? -root : root;
    }
    return WEFT_OK;
}

static const void *elements(struct weft_builder *builder, weft_tensor weight) {
    const void *data = NULL;
    if (builder->status == WEFT_OK) {
        builder->status = weft_weight_data(&data, builder->graph->values[weight.id].weight);
    }
    return data;
}

static void add_coefficients(struct weft_builder *builder, struct weft_spectral_weights *weights,
                             const struct weft_spectraformer *config, bool stored) {
    struct source source = source_of(builder, config);
    weft_shape shape = weft_shape_of(config->rows);
    if (stored && (config->matrix == WEFT_FEATURES_SGQ || config->matrix == WEFT_FEATURES_SSR)) {
        source.weights = elements(builder, weft_build_weight(builder, "features.weights", shape));
    } else if (stored) {
        source.w = elements(builder, weights->w);
    }
    weights->query_coefficients = weft_build_constant(builder, "features.query_coefficients", shape,
                                                      fill_coefficients, &source);
    source.keys = true;
    weights->key_coefficients = weft_build_constant(builder, "features.key_coefficients", shape,
                                                    fill_coefficients, &source);
}

/* ---- structured ---- */

struct parts {
    weft_features_structure structure;
    size_t diagonals_size, permutation_size; /* elements */
    float *diagonals;
    uint32_t *permutation; /* or null */
};

static weft_status make_parts(struct parts *parts, const struct source *source,
                              const weft_host *host) {
    *parts = (struct parts){.diagonals = NULL};
    weft_features_structure *structure = &parts->structure;
    WEFT_TRY(weft_features_get_structure(structure, &source->params, host));
    parts->permutation_size = (size_t)structure->blocks * structure->size;
    parts->diagonals_size = parts->permutation_size * structure->diagonals;
    parts->diagonals = weft_alloc(host, parts->diagonals_size * sizeof *parts->diagonals);
    parts->permutation =
        structure->permuted ? weft_alloc(host, parts->permutation_size * sizeof *parts->permutation)
                            : NULL;
    if (!parts->diagonals || (structure->permuted && !parts->permutation)) {
        return weft_fail_memory(host, "the parts of a feature matrix");
    }
    WEFT_TRY(weft_features_parts(parts->diagonals, parts->permutation, &source->params, host));
    if (source->diagonals) {
        memcpy(parts->diagonals, source->diagonals,
               parts->diagonals_size * sizeof *parts->diagonals);
    }
    for (size_t i = 0; source->permutation && i < parts->permutation_size; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): given only where there is one */
        parts->permutation[i] = (uint32_t)source->permutation[i];
    }
    return WEFT_OK;
}

static void free_parts(struct parts *parts, const weft_host *host) {
    weft_free(host, parts->diagonals);
    weft_free(host, parts->permutation);
}

static weft_status fill_diagonals(float *data, const void *user, const weft_host *host) {
    struct parts parts;
    weft_status status = make_parts(&parts, user, host);
    if (status == WEFT_OK) {
        memcpy(data, parts.diagonals, parts.diagonals_size * sizeof *data);
    }
    free_parts(&parts, host);
    return status;
}

static weft_status fill_permutation(int32_t *data, const void *user, const weft_host *host) {
    struct parts parts;
    weft_status status = make_parts(&parts, user, host);
    for (size_t i = 0; status == WEFT_OK && parts.permutation && i < parts.permutation_size; i++) {
        data[i] = (int32_t)parts.permutation[i];
    }
    free_parts(&parts, host);
    return status;
}

static weft_status fill_square_norms(float *data, const void *user, const weft_host *host) {
    const struct source *source = user;
    struct parts parts;
    weft_status status = make_parts(&parts, source, host);
    if (status == WEFT_OK) {
        status = weft_features_square_norms(data, parts.diagonals, parts.permutation,
                                            &source->params, host);
    }
    free_parts(&parts, host);
    return status;
}

/* True if weft_graph_structured_projection applies the matrix; hybrid features take W itself. */
static bool is_structured(const struct weft_spectraformer *config) {
    switch (config->matrix) {
    case WEFT_FEATURES_SORF:
    case WEFT_FEATURES_ROM:
    case WEFT_FEATURES_S_HYBRID:
    case WEFT_FEATURES_FASTFOOD:
    case WEFT_FEATURES_SCRF:
        return config->component != WEFT_SPECTRAL_HYBRID;
    default:
        return false;
    }
}

static bool reads_square_norms(const struct weft_spectraformer *config) {
    return config->component == WEFT_COMPONENT_OPTIMAL ||
           config->component == WEFT_COMPONENT_ASYMMETRIC ||
           config->component == WEFT_COMPONENT_GENERALIZED;
}

/* The diagonals of the checkpoint, FastFood-L's, or drawn ones. */
static weft_tensor diagonals(struct weft_builder *builder, struct source *source,
                             const weft_features_structure *s) {
    static const char name[] = "features.diagonals";
    const weft_shape shape = weft_shape_of(s->blocks, s->diagonals, s->size);
    if (!weft_build_has(builder, name)) {
        return weft_build_constant(builder, "features.drawn_diagonals", shape, fill_diagonals,
                                   source);
    }
    weft_tensor weight = weft_build_weight(builder, name, shape);
    source->diagonals = elements(builder, weight);
    return weight;
}

/* Each of 0 … size - 1 stands once in each block. */
static weft_status check_permutation(const struct weft_builder *builder,
                                     const weft_features_structure *s, const int32_t *entries) {
    bool *seen = weft_alloc_zero(builder->host, s->size, sizeof *seen);
    weft_status status = seen ? WEFT_OK : weft_fail_memory(builder->host, "a permutation");
    for (size_t i = 0; status == WEFT_OK && i < (size_t)s->blocks * s->size; i++) {
        const int32_t entry = entries[i];
        if (i % s->size == 0) {
            memset(seen, 0, s->size * sizeof *seen);
        }
        if (entry < 0 || (uint32_t)entry >= s->size || seen[entry]) {
            status = weft_fail(builder->host, WEFT_BAD_FILE,
                               "%s: tensor \"%s.features.permutation\": expected each of 0 to %u "
                               "once in each row, found %d%s",
                               weft_checkpoint_path(builder->network->checkpoint), builder->scope,
                               (unsigned)s->size - 1, (int)entry,
                               entry >= 0 && (uint32_t)entry < s->size ? " again" : "");
        } else {
            seen[entry] = true;
        }
    }
    weft_free(builder->host, seen);
    return status;
}

static weft_tensor permutation(struct weft_builder *builder, struct source *source,
                               const weft_features_structure *s) {
    static const char name[] = "features.permutation";
    const weft_shape shape = weft_shape_of(s->blocks, s->size);
    if (!weft_build_has(builder, name)) {
        return weft_build_integers(builder, "features.drawn_permutation", shape, fill_permutation,
                                   source);
    }
    weft_tensor weight = weft_build_stored_integers(builder, name, shape);
    source->permutation = elements(builder, weight);
    if (builder->status == WEFT_OK && builder->network->checkpoint) {
        builder->status = check_permutation(builder, s, source->permutation);
    }
    return weight;
}

static struct weft_spectral_weights structured(struct weft_builder *builder,
                                               const struct weft_spectraformer *config) {
    struct source source = source_of(builder, config);
    struct weft_spectral_weights weights = {.w = none};
    weft_features_structure s = {.transform = WEFT_FEATURES_DENSE};
    builder->status = weft_features_get_structure(&s, &source.params, builder->host);
    weights.diagonals = diagonals(builder, &source, &s);
    if (s.permuted) {
        weights.permutation = permutation(builder, &source, &s);
    }
    if (reads_square_norms(config)) {
        weights.square_norms =
            weft_build_constant(builder, "features.square_norms", weft_shape_of(config->rows),
                                fill_square_norms, &source);
    }
    return weights;
}

/* ---- learned ---- */

/* Rows of a mixture of Gaussians. */
static weft_tensor mixture(struct weft_builder *builder, const struct weft_spectraformer *config) {
    struct source source = source_of(builder, config);
    uint32_t count = config->gmm_components;
    uint32_t d = config->columns;
    weft_tensor noise = stored_or_drawn(builder, "features.noise", "features.drawn_noise", &source);
    weft_tensor sigma = weft_build_weight(builder, "features.sigma",
                                          config->gmm_covariance ? weft_shape_of(count, d, d)
                                                                 : weft_shape_of(count, d));
    weft_tensor mu = weft_build_weight(builder, "features.mu", weft_shape_of(count, d));
    weft_tensor w = {0};
    return WEFT_BUILT(builder, w, weft_graph_gmm_weights(&w, builder->graph, noise, sigma, mu));
}

/* Rows of a generator. */
static weft_tensor generated(struct weft_builder *builder,
                             const struct weft_spectraformer *config) {
    struct source source = source_of(builder, config);
    weft_dgm_weights_params params = {.layers = config->dgm.count, .activation = config->dgm_act};
    weft_tensor noise = stored_or_drawn(builder, "features.noise", "features.drawn_noise", &source);
    for (uint32_t i = 0; i < config->dgm.count; i++) {
        uint32_t in = config->dgm.size[i];
        uint32_t out = i + 1 < config->dgm.count ? config->dgm.size[i + 1] : config->columns;
        char name[48];
        snprintf(name, sizeof name, "features.generator.%u.weight", (unsigned)i);
        params.weight[i] = weft_build_weight(builder, name, weft_shape_of(out, in));
        snprintf(name, sizeof name, "features.generator.%u.bias", (unsigned)i);
        params.bias[i] = weft_build_weight(builder, name, weft_shape_of(out));
    }
    weft_tensor w = {0};
    return WEFT_BUILT(builder, w, weft_graph_dgm_weights(&w, builder->graph, noise, &params));
}

/* ---- of a layer ---- */

/* Makes a matrix that the checkpoint lacks and no fast transform applies. */
static weft_tensor made(struct weft_builder *builder, const struct weft_spectraformer *config) {
    struct source source = source_of(builder, config);
    switch (config->matrix) {
    case WEFT_SPECTRAL_GMM:
        return mixture(builder, config);
    case WEFT_SPECTRAL_DGM:
        return generated(builder, config);
    default:
        return weft_build_constant(builder, "features.drawn",
                                   weft_shape_of(config->rows, config->columns), fill_dense,
                                   &source);
    }
}

struct weft_spectral_weights weft_build_spectral_weights(struct weft_builder *builder,
                                                         const struct weft_spectraformer *config) {
    struct weft_spectral_weights weights = {.w = none};
    if (builder->status != WEFT_OK) {
        return weights;
    }
    bool stored = weft_build_has(builder, "features.weight");
    if (stored) {
        weights.w = weft_build_weight(builder, "features.weight",
                                      weft_shape_of(config->rows, config->columns));
    } else if (is_structured(config)) {
        weights = structured(builder, config);
    } else {
        weights.w = made(builder, config);
    }
    if (weft_spectraformer_weighted(config)) {
        add_coefficients(builder, &weights, config, stored);
    }
    return weights;
}

weft_tensor weft_build_spectral_directions(struct weft_builder *builder,
                                           const struct weft_spectraformer *config) {
    /* Numbers behind those of the layers' matrices: independent of W. */
    uint32_t matrix = builder->network->config.layers + builder->layer;
    struct source source = {.config = config,
                            .params = {.kind = WEFT_FEATURES_BASE,
                                       .rows = config->directions,
                                       .columns = config->columns,
                                       .matrix = matrix,
                                       .seed = config->seed}};
    return stored_or_drawn(builder, "features.directions", "features.drawn_directions", &source);
}
