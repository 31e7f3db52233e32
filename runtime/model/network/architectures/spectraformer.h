/* SPDX-License-Identifier: MIT */
/* The spectraformer family's config and weight matrices, shared by its files. */
#ifndef WEFT_MODEL_SPECTRAFORMER_H
#define WEFT_MODEL_SPECTRAFORMER_H

#include <weft/features.h>

#include "model/network/architecture.h"
#include "model/network/network.h"

/** `component`: the values of weft_component, and those that other ops make. */
enum weft_spectral_component {
    WEFT_SPECTRAL_POISSON = WEFT_COMPONENT_COUNT,
    WEFT_SPECTRAL_GEOMETRIC,
    WEFT_SPECTRAL_HYBRID,
    WEFT_SPECTRAL_COMPONENT_COUNT
};

/** `weight_matrix`: the values of weft_features_kind, and the learned ones. */
enum weft_spectral_matrix {
    WEFT_SPECTRAL_GMM = WEFT_FEATURES_KIND_COUNT,
    WEFT_SPECTRAL_DGM,
    WEFT_SPECTRAL_MATRIX_COUNT
};

/** `dgm_sizes`: widths of the generator's input and of what is between its layers. */
struct weft_spectral_sizes {
    uint32_t count; /* the number of layers */
    uint32_t size[WEFT_DGM_MAX_LAYERS];
};

struct weft_spectraformer {
    uint32_t heads;
    uint32_t columns;   /* d/heads */
    uint32_t component; /* weft_spectral_component */
    uint32_t matrix;    /* weft_spectral_matrix */
    uint32_t rows;
    uint64_t seed;
    uint32_t norm; /* weft_features_norm */
    uint32_t factors, budget, sweeps;
    uint32_t sequence; /* weft_features_sequence */
    bool shift;
    float rate;
    uint32_t directions; /* of hybrid features */
    uint32_t gmm_components;
    uint32_t gmm_covariance; /* 0 diagonal, 1 full */
    struct weft_spectral_sizes dgm;
    weft_activation dgm_act;
    float a; /* generalized */
    int32_t s;
    float feature_eps, attention_eps;
};

#define WEFT_SPECTRAFORMER_FIELDS 21
extern const weft_field weft_spectraformer_fields[WEFT_SPECTRAFORMER_FIELDS];

/* weft_model_family's functions. */
void weft_spectraformer_defaults(void *config);
weft_status weft_spectraformer_check(void *config, const weft_network_config *network,
                                     const weft_json_fields *json);

/** Parameters of a layer's matrix, or with gmm and dgm of its noise. */
weft_features_params weft_spectraformer_params(const struct weft_spectraformer *config,
                                               uint32_t matrix);

/** True if the rows of W have weights that differ. */
bool weft_spectraformer_weighted(const struct weft_spectraformer *config);

/** A layer's matrix W: either w, or the parts of a structured one. */
struct weft_spectral_weights {
    weft_tensor w;            /* [rows, columns], or none */
    weft_tensor diagonals;    /* [blocks, diagonals, size], or none */
    weft_tensor permutation;  /* [blocks, size], or none */
    weft_tensor square_norms; /* [rows], of a structured one where the component reads them */
    weft_tensor query_coefficients, key_coefficients; /* [rows], or none: all alike */
};

struct weft_spectral_weights weft_build_spectral_weights(struct weft_builder *builder,
                                                         const struct weft_spectraformer *config);

/** The directions of hybrid features, [directions, columns]. */
weft_tensor weft_build_spectral_directions(struct weft_builder *builder,
                                           const struct weft_spectraformer *config);

#endif
