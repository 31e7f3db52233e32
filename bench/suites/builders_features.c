/* SPDX-License-Identifier: MIT */
#include "bench/suites/builders_features.h"

#include <math.h>

#include "bench/graph.h"

/* ---- the weight matrix ---- */

enum side { QUERY = 0, KEY = 1 };

/** The rows of a matrix; where it is applied by a fast transform, w has no tensor. */
struct matrix {
    weft_features_params params;
    weft_array w;
    weft_tensor diagonals, permutation, square_norms;
    weft_tensor coefficients[2]; /* of queries and keys; none: all the same */
};

/** Memory until the case is made. */
static float *floats(weft_case *c, uint64_t count) {
    return weft_reference_memory(&c->ref, count, sizeof(float));
}

/**
 * √|weight|, of keys with the weight's sign. A quadrature whose weights cancel (SGQ's centre has 1 - d/3) has sums of
 * products of features that cancel as much, and their rounding errors grow by how much larger the sum of the weights is
 * without their signs: so does the tolerance.
 */
static void add_coefficients(struct matrix *matrix, weft_case *c, const float *weights) {
    const uint32_t rows = matrix->params.rows;
    float *roots = floats(c, rows);
    double sum = 0.0;
    double size = 0.0;
    for (uint32_t side = 0; side < 2 && roots; side++) {
        for (uint32_t i = 0; i < rows; i++) {
            const float root = sqrtf(fabsf(weights[i]));
            roots[i] = side == KEY ? copysignf(root, weights[i]) : root;
            sum += side == KEY ? (double)root * (double)roots[i] : 0.0;
            size += side == KEY ? (double)root * (double)root : 0.0;
        }
        matrix->coefficients[side] = weft_case_weight_of(c, weft_shape_of(rows), roots).tensor;
    }
    c->tolerance *= size > 0.0 ? size / fabs(sum) : 1.0;
}

/** Draws the matrix; `weights` [rows] may be null. */
static float *draw(weft_case *c, const weft_features_params *params, float *weights) {
    float *w = floats(c, (uint64_t)params->rows * params->columns);
    if (c->ref.status == WEFT_OK) {
        weft_case_check(c, weft_features_fill(w, weights, params, &c->ref.host));
    }
    return w;
}

static void add_dense(struct matrix *matrix, weft_case *c, bool weighted) {
    const weft_features_params *params = &matrix->params;
    float *weights = floats(c, params->rows);
    const float *w = draw(c, params, weights);
    matrix->w = weft_case_weight_of(c, weft_shape_of(params->rows, params->columns), w);
    if (weighted) {
        add_coefficients(matrix, c, weights);
    }
}

/** The parts of a structured matrix, which the graph never makes. */
static void add_parts(struct matrix *matrix, weft_case *c) {
    const weft_features_params *params = &matrix->params;
    weft_features_structure parts = {.size = 0};
    if (c->ref.status == WEFT_OK) {
        weft_case_check(c, weft_features_get_structure(&parts, params, &c->ref.host));
    }
    const uint64_t entries = (uint64_t)parts.blocks * parts.size;
    float *diagonals = floats(c, entries * parts.diagonals);
    uint32_t *permutation =
        parts.permuted ? weft_reference_memory(&c->ref, entries, sizeof *permutation) : NULL;
    float *norms = floats(c, params->rows);
    if (c->ref.status == WEFT_OK) {
        weft_case_check(c, weft_features_parts(diagonals, permutation, params, &c->ref.host));
    }
    if (c->ref.status == WEFT_OK) {
        weft_case_check(
            c, weft_features_square_norms(norms, diagonals, permutation, params, &c->ref.host));
    }
    matrix->diagonals =
        weft_case_weight_of(c, weft_shape_of(parts.blocks, parts.diagonals, parts.size), diagonals)
            .tensor;
    matrix->square_norms = weft_case_weight_of(c, weft_shape_of(params->rows), norms).tensor;
    if (parts.permuted) {
        matrix->permutation = weft_case_indices_of(c, weft_shape_of(parts.blocks, parts.size),
                                                   (const int32_t *)permutation);
    }
    matrix->w.shape = weft_shape_of(params->rows, params->columns);
    if (!c->only_graph) {
        matrix->w.value = weft_reference_of(&c->ref, draw(c, params, NULL),
                                            (uint64_t)params->rows * params->columns);
    }
}

/* ---- relative positions ---- */

/** None in one dimension, where a token's position is its number. */
static weft_tensor add_places(weft_case *c, const weft_bench_mixer *mixer, uint32_t n) {
    const uint32_t dimensions = weft_bench_mixer_dimensions(mixer);
    if (dimensions < 2) {
        return (weft_tensor){0};
    }
    float *places = floats(c, (uint64_t)n * dimensions);
    if (places) {
        weft_bench_mixer_positions(places, mixer, n);
    }
    return weft_case_weight_of(c, weft_shape_of(n, dimensions), places).tensor;
}

/** Makes queries and keys longer by those of their positions. */
static void add_relative_positions(weft_bench_qkv *in, weft_case *c,
                                   const weft_bench_mixer *mixer) {
    enum { COUNT = WEFT_BENCH_FLT_FREQUENCIES };
    float frequencies[COUNT * WEFT_FLT_MAX_DIMENSIONS];
    float weights[COUNT];
    const weft_flt_params params = weft_bench_mixer_flt(mixer);
    if (c->ref.status == WEFT_OK) {
        weft_case_check(c, weft_flt_fill(frequencies, weights, &params, &c->ref.host));
    }
    const weft_array f =
        weft_case_weight_of(c, weft_shape_of(COUNT, params.dimensions), frequencies);
    const weft_array w = weft_case_weight_of(c, weft_shape_of(COUNT), weights);
    const weft_tensor places = add_places(c, mixer, in->q.shape.dim[1]);
    in->q = weft_case_flt_features(
        c, in->q, f, w,
        weft_flt_features_params(.side = WEFT_FLT_QUERY, .heads = in->heads, .positions = places));
    in->k = weft_case_flt_features(
        c, in->k, f, w,
        weft_flt_features_params(.side = WEFT_FLT_KEY, .heads = in->heads, .positions = places));
}

/* ---- features ---- */

static const weft_stabilizer stabilizers[] = {
    [QUERY] = WEFT_STABILIZER_QUERY, [KEY] = WEFT_STABILIZER_KEY};

static weft_tensor add_projection(weft_case *c, weft_array x, const struct matrix *matrix,
                                  uint32_t heads) {
    weft_tensor out = {0};
    weft_case_check(
        c, WEFT_CASE_ADD(
               c, weft_graph_structured_projection(
                      &out, c->graph, x.tensor, matrix->diagonals,
                      weft_structured_projection_params(.kind = matrix->params.kind,
                                                        .rows = matrix->params.rows, .heads = heads,
                                                        .permutation = matrix->permutation))));
    return out;
}

static weft_array add_random(weft_case *c, const weft_bench_mixer *mixer, weft_array x,
                             weft_array other, const struct matrix *matrix, enum side side,
                             uint32_t heads) {
    /* A projection is of channels that are balanced already. */
    const bool balanced = mixer->fast && mixer->component == WEFT_COMPONENT_ASYMMETRIC;
    const weft_component component = balanced ? WEFT_COMPONENT_OPTIMAL : mixer->component;
    const bool optimal = component == WEFT_COMPONENT_OPTIMAL;
    const bool generalized = component == WEFT_COMPONENT_GENERALIZED;
    weft_random_features_params params = {
        .component = component,
        .heads = heads,
        .stabilizer = stabilizers[side],
        .scale = mixer->positions != WEFT_BENCH_POSITIONS_NONE ? 1.0F : 0.0F,
        .epsilon = component == WEFT_COMPONENT_TRIGONOMETRIC ? 0.0F : WEFT_BENCH_FEATURES_EPSILON,
        .coefficients = matrix->coefficients[side],
        .a = generalized ? WEFT_BENCH_GENERALIZED_A : 0.0F};
    if (optimal || component == WEFT_COMPONENT_ASYMMETRIC) {
        params.other = other.tensor;
    }
    if (mixer->fast) {
        params.projection = add_projection(c, x, matrix, heads);
        params.square_norms = optimal || generalized ? matrix->square_norms : (weft_tensor){0};
    }
    return weft_case_random_features(c, x, matrix->w, &params);
}

/** Both sides of the graph's features, in place of q and k. */
static void add_random_pair(weft_bench_qkv *in, weft_case *c, const weft_bench_mixer *mixer,
                            const struct matrix *matrix) {
    weft_array q = in->q;
    weft_array k = in->k;
    if (mixer->fast && mixer->component == WEFT_COMPONENT_ASYMMETRIC) {
        q = weft_case_balance_channels(c, in->q, in->k);
        k = weft_case_balance_channels(c, in->k, in->q);
    }
    in->q = add_random(c, mixer, q, k, matrix, QUERY, in->heads);
    in->k = add_random(c, mixer, k, q, matrix, KEY, in->heads);
}

static weft_array add_discrete(weft_case *c, weft_array x, const struct matrix *matrix,
                               enum side side, uint32_t heads) {
    return weft_case_discrete_features(
        c, x, matrix->w, weft_case_find(c, matrix->coefficients[side]),
        weft_discrete_features_params(.heads = heads, .stabilizer = stabilizers[side]));
}

static weft_array add_hybrid(weft_case *c, weft_array x, const struct matrix *matrix,
                             weft_array directions, enum side side, uint32_t heads) {
    return weft_case_hybrid_features(
        c, x, matrix->w, directions,
        weft_hybrid_features_params(.heads = heads, .keys = side == KEY,
                                    .stabilizer = stabilizers[side],
                                    .coefficients = matrix->coefficients[side]));
}

static void add_features(weft_bench_qkv *in, weft_case *c, const weft_bench_mixer *mixer,
                         const struct matrix *matrix) {
    if (mixer->family == WEFT_BENCH_FAMILY_DISCRETE) {
        in->q = add_discrete(c, in->q, matrix, QUERY, in->heads);
        in->k = add_discrete(c, in->k, matrix, KEY, in->heads);
    } else if (mixer->family == WEFT_BENCH_FAMILY_HYBRID) {
        const weft_features_params params =
            weft_bench_mixer_directions(in->q.shape.dim[2] / in->heads);
        const weft_array directions = weft_case_weight_of(
            c, weft_shape_of(params.rows, params.columns), draw(c, &params, NULL));
        in->q = add_hybrid(c, in->q, matrix, directions, QUERY, in->heads);
        in->k = add_hybrid(c, in->k, matrix, directions, KEY, in->heads);
    } else {
        add_random_pair(in, c, mixer, matrix);
    }
}

/* ---- attention ---- */

weft_array weft_bench_feature_attention(weft_case *c, const weft_bench_mixer *mixer,
                                        const weft_bench_qkv *inputs) {
    weft_bench_qkv in = *inputs;
    const uint32_t n = in.q.shape.dim[1];
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    if (mixer->positions != WEFT_BENCH_POSITIONS_NONE) {
        add_relative_positions(&in, c, mixer);
    }
    struct matrix matrix = {.params =
                                weft_bench_mixer_features(mixer, in.q.shape.dim[2] / in.heads)};
    if (mixer->fast) {
        add_parts(&matrix, c);
    } else {
        add_dense(&matrix, c, weft_bench_mixer_is_weighted(mixer));
    }
    if (mixer->rfa) {
        return WEFT_MIX(c, rfa_attention,
                        weft_rfa_attention_params(.heads = in.heads, .causal = mixer->causal), in.q,
                        in.k, in.v, matrix.w);
    }
    add_features(&in, c, mixer, &matrix);
    if (mixer->log_linear) {
        const weft_array bias = weft_bench_weight(
            c, weft_shape_of(mixer->causal ? n : 2 * n - 1, in.heads), WEFT_BENCH_STREAM_BIAS);
        return WEFT_MIX(c, toeplitz_attention,
                        weft_toeplitz_attention_params(.heads = in.heads, .causal = mixer->causal),
                        in.q, in.k, in.v, bias);
    }
    return weft_case_linear_attention(
        c, in.q, in.k, in.v,
        weft_linear_attention_params(.heads = in.heads, .causal = mixer->causal));
}
