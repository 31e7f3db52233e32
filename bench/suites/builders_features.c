/* SPDX-License-Identifier: MIT */
/* Random features of queries and keys and attention with them, with relative positions (FLT) or without. */
#include <math.h>

#include "bench/suites/builders_internal.h"
#include "core/host.h"

/* ---- the weight matrix ---- */

struct matrix {
    weft_features_params params;
    weft_tensor w; /* dense, or: */
    weft_tensor diagonals, permutation, square_norms;
    weft_tensor coefficients[2]; /* of queries and keys; none: all the same */
};

/** √|weight|, of keys with the weight's sign. */
static void add_coefficients(struct matrix *matrix, weft_bench_builder *b, const float *weights) {
    const uint32_t rows = matrix->params.rows;
    float *roots = weft_bench_builder_memory(b, rows, sizeof *roots);
    for (uint32_t side = 0; side < 2 && b->status == WEFT_OK; side++) {
        for (uint32_t i = 0; i < rows; i++) {
            const float root = sqrtf(fabsf(weights[i]));
            roots[i] = side == 1 ? copysignf(root, weights[i]) : root;
        }
        matrix->coefficients[side] = weft_bench_builder_weight_of(b, weft_shape_of(rows), roots);
    }
    weft_free(NULL, roots);
}

static void add_dense(struct matrix *matrix, weft_bench_builder *b) {
    const weft_features_params *params = &matrix->params;
    float *w = weft_bench_builder_memory(b, (size_t)params->rows * params->columns, sizeof *w);
    float *weights = weft_bench_builder_memory(b, params->rows, sizeof *weights);
    if (b->status == WEFT_OK) {
        b->status = weft_features_fill(w, weights, params, NULL);
    }
    matrix->w = weft_bench_builder_weight_of(b, weft_shape_of(params->rows, params->columns), w);
    if (weft_bench_mixer_is_weighted(b->mixer)) {
        add_coefficients(matrix, b, weights);
    }
    weft_free(NULL, weights);
    weft_free(NULL, w);
}

static weft_tensor add_indices(weft_bench_builder *b, weft_shape shape, const uint32_t *data) {
    weft_tensor out = {0};
    weft_weight *weight = NULL;
    if (b->status == WEFT_OK) {
        b->status = weft_weight_create(
            &weight, weft_weight_params(.dtype = WEFT_I32, .shape = shape, .data = data), NULL);
    }
    if (b->status == WEFT_OK) {
        b->status = weft_graph_weight(&out, b->graph, weight);
    }
    weft_weight_destroy(&weight);
    return out;
}

/** The parts of a structured matrix, which is never made. */
static void add_parts(struct matrix *matrix, weft_bench_builder *b) {
    const weft_features_params *params = &matrix->params;
    weft_features_structure parts = {.size = 0};
    b->status =
        b->status == WEFT_OK ? weft_features_get_structure(&parts, params, NULL) : b->status;
    const weft_shape shape = weft_shape_of(parts.blocks, parts.diagonals, parts.size);
    const size_t entries = (size_t)parts.blocks * parts.size;
    float *diagonals = weft_bench_builder_memory(b, entries * parts.diagonals, sizeof *diagonals);
    uint32_t *permutation =
        parts.permuted ? weft_bench_builder_memory(b, entries, sizeof *permutation) : NULL;
    float *norms = weft_bench_builder_memory(b, params->rows, sizeof *norms);
    if (b->status == WEFT_OK) {
        b->status = weft_features_parts(diagonals, permutation, params, NULL);
    }
    if (b->status == WEFT_OK) {
        b->status = weft_features_square_norms(norms, diagonals, permutation, params, NULL);
    }
    matrix->diagonals = weft_bench_builder_weight_of(b, shape, diagonals);
    matrix->square_norms = weft_bench_builder_weight_of(b, weft_shape_of(params->rows), norms);
    if (parts.permuted) {
        matrix->permutation = add_indices(b, weft_shape_of(parts.blocks, parts.size), permutation);
    }
    weft_free(NULL, norms);
    weft_free(NULL, permutation);
    weft_free(NULL, diagonals);
}

/* ---- relative positions ---- */

/** Makes queries or keys of `width` channels a head longer by those of their positions. */
static weft_tensor add_positions(weft_bench_builder *b, weft_tensor x, weft_flt_side side,
                                 const weft_tensor frequencies[2], weft_tensor positions) {
    weft_tensor out = {0};
    if (b->status == WEFT_OK) {
        b->status = weft_graph_flt_features(
            &out, b->graph, x, frequencies[0], frequencies[1],
            weft_flt_features_params(.side = side, .heads = b->heads, .positions = positions));
    }
    return out;
}

static void add_frequencies(weft_tensor out[2], weft_bench_builder *b) {
    enum { COUNT = WEFT_BENCH_FLT_FREQUENCIES };
    float frequencies[COUNT * WEFT_FLT_MAX_DIMENSIONS];
    float weights[COUNT];
    const weft_flt_params params = weft_bench_mixer_flt(b->mixer);
    if (b->status == WEFT_OK) {
        b->status = weft_flt_fill(frequencies, weights, &params, NULL);
    }
    out[0] = weft_bench_builder_weight_of(b, weft_shape_of(COUNT, params.dimensions), frequencies);
    out[1] = weft_bench_builder_weight_of(b, weft_shape_of(COUNT), weights);
}

/** None in one dimension, where a token's position is its number. */
static weft_tensor add_places(weft_bench_builder *b) {
    const uint32_t dimensions = weft_bench_mixer_dimensions(b->mixer);
    weft_tensor out = {0};
    if (dimensions > 1) {
        float *places = weft_bench_builder_memory(b, (size_t)b->n * dimensions, sizeof *places);
        if (places) {
            weft_bench_mixer_positions(places, b->mixer, b->n);
        }
        out = weft_bench_builder_weight_of(b, weft_shape_of(b->n, dimensions), places);
        weft_free(NULL, places);
    }
    return out;
}

static void add_relative_positions(weft_bench_qkv *in, weft_bench_builder *b) {
    weft_tensor frequencies[2];
    add_frequencies(frequencies, b);
    const weft_tensor places = add_places(b);
    in->q = add_positions(b, in->q, WEFT_FLT_QUERY, frequencies, places);
    in->k = add_positions(b, in->k, WEFT_FLT_KEY, frequencies, places);
}

/* ---- features ---- */

enum side { QUERY = 0, KEY = 1 };

static const weft_stabilizer stabilizers[] = {
    [QUERY] = WEFT_STABILIZER_QUERY, [KEY] = WEFT_STABILIZER_KEY};

static weft_tensor add_projection(weft_bench_builder *b, weft_tensor x,
                                  const struct matrix *matrix) {
    weft_tensor out = {0};
    if (b->status == WEFT_OK) {
        b->status = weft_graph_structured_projection(
            &out, b->graph, x, matrix->diagonals,
            weft_structured_projection_params(.kind = matrix->params.kind,
                                              .rows = matrix->params.rows, .heads = b->heads,
                                              .permutation = matrix->permutation));
    }
    return out;
}

static bool takes_square_norms(weft_component component) {
    return component == WEFT_COMPONENT_OPTIMAL || component == WEFT_COMPONENT_GENERALIZED;
}

/** `balanced`: ASYMMETRIC features by OPTIMAL ones, of channels that are balanced already. */
static weft_tensor add_random(weft_bench_builder *b, weft_tensor x, weft_tensor other,
                              const struct matrix *matrix, enum side side, bool balanced) {
    const weft_component component = balanced ? WEFT_COMPONENT_OPTIMAL : b->mixer->component;
    const bool pairs = component == WEFT_COMPONENT_TRIGONOMETRIC;
    const bool two_sided =
        component == WEFT_COMPONENT_OPTIMAL || component == WEFT_COMPONENT_ASYMMETRIC;
    weft_random_features_params params = {
        .component = component,
        .heads = b->heads,
        .stabilizer = stabilizers[side],
        .scale = b->mixer->positions != WEFT_BENCH_POSITIONS_NONE ? 1.0F : 0.0F,
        .epsilon = pairs ? 0.0F : WEFT_BENCH_FEATURES_EPSILON,
        .coefficients = matrix->coefficients[side],
        .a = component == WEFT_COMPONENT_GENERALIZED ? WEFT_BENCH_GENERALIZED_A : 0.0F};
    weft_tensor out = {0};
    if (two_sided) {
        params.other = other;
    }
    if (b->mixer->fast) {
        params.projection = add_projection(b, x, matrix);
        params.square_norms =
            takes_square_norms(component) ? matrix->square_norms : (weft_tensor){0};
    }
    if (b->status == WEFT_OK) {
        b->status = weft_graph_random_features(&out, b->graph, x, matrix->w, &params);
    }
    return out;
}

/** Both sides of the graph's features, in place of q and k. */
static void add_random_pair(weft_bench_qkv *in, weft_bench_builder *b,
                            const struct matrix *matrix) {
    const bool balanced = b->mixer->fast && b->mixer->component == WEFT_COMPONENT_ASYMMETRIC;
    weft_tensor q = in->q;
    weft_tensor k = in->k;
    if (balanced && b->status == WEFT_OK) {
        b->status = weft_graph_balance_channels(&q, b->graph, in->q, in->k);
    }
    if (balanced && b->status == WEFT_OK) {
        b->status = weft_graph_balance_channels(&k, b->graph, in->k, in->q);
    }
    in->q = add_random(b, q, k, matrix, QUERY, balanced);
    in->k = add_random(b, k, q, matrix, KEY, balanced);
}

static weft_tensor add_discrete(weft_bench_builder *b, weft_tensor x, const struct matrix *matrix,
                                enum side side) {
    weft_tensor out = {0};
    if (b->status == WEFT_OK) {
        b->status = weft_graph_discrete_features(
            &out, b->graph, x, matrix->w, matrix->coefficients[side],
            weft_discrete_features_params(.heads = b->heads, .stabilizer = stabilizers[side]));
    }
    return out;
}

static weft_tensor add_hybrid(weft_bench_builder *b, weft_tensor x, const struct matrix *matrix,
                              weft_tensor directions, enum side side) {
    weft_tensor out = {0};
    if (b->status == WEFT_OK) {
        b->status = weft_graph_hybrid_features(
            &out, b->graph, x, matrix->w, directions,
            weft_hybrid_features_params(.heads = b->heads, .keys = side == KEY,
                                        .stabilizer = stabilizers[side],
                                        .coefficients = matrix->coefficients[side]));
    }
    return out;
}

static weft_tensor add_directions(weft_bench_builder *b, uint32_t width) {
    const weft_features_params params = weft_bench_mixer_directions(width);
    float *data = weft_bench_builder_memory(b, (size_t)params.rows * width, sizeof *data);
    if (b->status == WEFT_OK) {
        b->status = weft_features_fill(data, NULL, &params, NULL);
    }
    const weft_tensor out =
        weft_bench_builder_weight_of(b, weft_shape_of(params.rows, width), data);
    weft_free(NULL, data);
    return out;
}

static void add_features(weft_bench_qkv *in, weft_bench_builder *b, const struct matrix *matrix) {
    if (b->mixer->family == WEFT_BENCH_FAMILY_DISCRETE) {
        in->q = add_discrete(b, in->q, matrix, QUERY);
        in->k = add_discrete(b, in->k, matrix, KEY);
    } else if (b->mixer->family == WEFT_BENCH_FAMILY_HYBRID) {
        const weft_tensor directions = add_directions(b, b->d / b->heads);
        in->q = add_hybrid(b, in->q, matrix, directions, QUERY);
        in->k = add_hybrid(b, in->k, matrix, directions, KEY);
    } else {
        add_random_pair(in, b, matrix);
    }
}

/* ---- attention ---- */

static weft_status add_attention(weft_tensor *y, weft_bench_builder *b, const weft_bench_qkv *in) {
    const bool causal = b->mixer->causal;
    if (!b->mixer->log_linear) {
        return weft_graph_linear_attention(
            y, b->graph, in->q, in->k, in->v,
            weft_linear_attention_params(.heads = b->heads, .causal = causal));
    }
    const uint32_t lags = causal ? b->n : 2 * b->n - 1;
    const weft_tensor bias =
        weft_bench_builder_weight(b, weft_shape_of(lags, b->heads), WEFT_BENCH_STREAM_BIAS);
    return b->status == WEFT_OK
               ? weft_graph_toeplitz_attention(
                     y, b->graph, in->q, in->k, in->v, bias,
                     weft_toeplitz_attention_params(.heads = b->heads, .causal = causal))
               : b->status;
}

static weft_status add_rfa(weft_tensor *y, weft_bench_builder *b, const weft_bench_qkv *in,
                           const struct matrix *matrix) {
    return weft_graph_rfa_attention(
        y, b->graph, in->q, in->k, in->v, matrix->w,
        weft_rfa_attention_params(.heads = b->heads, .causal = b->mixer->causal));
}

weft_tensor weft_bench_build_features(weft_bench_builder *b) {
    const uint32_t positions =
        b->mixer->positions == WEFT_BENCH_POSITIONS_NONE ? 0 : 2 * WEFT_BENCH_FLT_FREQUENCIES;
    struct matrix matrix = {.params =
                                weft_bench_mixer_features(b->mixer, b->d / b->heads + positions)};
    weft_bench_qkv in = weft_bench_builder_qkv(b);
    weft_tensor y = {0};
    if (positions > 0) {
        add_relative_positions(&in, b);
    }
    if (b->mixer->fast) {
        add_parts(&matrix, b);
    } else {
        add_dense(&matrix, b);
    }
    if (b->mixer->kind == WEFT_BENCH_FEATURES) {
        add_features(&in, b, &matrix);
    }
    if (b->status == WEFT_OK) {
        b->status = b->mixer->kind == WEFT_BENCH_RFA ? add_rfa(&y, b, &in, &matrix)
                                                     : add_attention(&y, b, &in);
    }
    return y;
}
