/* SPDX-License-Identifier: MIT */
/*
 * Random features: a projection by the weight matrix, then a component function of each row. What the functions need of
 * the whole sequence (the keys' largest exponent, OPRF's moments) is reduced before. Inputs: x, w, coefficients, other,
 * and instead of w a projection that is made already, for OPRF with the squared lengths of its rows.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/given.h"
#include "core/math/portable_math.h"
#include "core/try.h"
#include "kernels/random_features/features.h"
#include "kernels/random_features/features_lanes.h"
#include "kernels/random_features/features_side.h"
#include "kernels/random_features/moments.h"
#include "kernels/random_features/optimum.h"
#include "kernels/random_features/row_maximum.h"
#include "kernels/random_features/row_maximum_lanes.h"
#include "kernels/random_features/row_maximum_side.h"
#include "kernels/random_features/square_norms.h"
#include "mixers/feature_balance.h"
#include "mixers/feature_rows.h"
#include "ops/mask.h"
#include "ops/row.h"

struct weft_random_features_node {
    weft_component component;
    weft_stabilizer stabilizer;
    uint32_t heads;
    float scale;
    float epsilon;
    float a;   /* GENERALIZED */
    int32_t s; /* GENERALIZED: 1 or -1 */
};

enum {
    W = 1,
    OTHER = 3,
    PROJECTION = 4,
    SQUARE_NORMS = 5,
    LENGTHS = 6,
    OTHER_LENGTHS = 7,
    INPUTS = 8
};

#define GENERALIZED_WAVES WEFT_COMPONENT_COUNT /* to the shaders: generalized, s = -1 */

static const char *const component_names[WEFT_COMPONENT_COUNT] = {
    "trigonometric", "positive", "hyperbolic", "optimal", "generalized", "asymmetric"};
const char *const weft_stabilizer_words[WEFT_STABILIZER_COUNT] = {"none", "query", "key"};

const char *weft_component_name(weft_component component) {
    return (uint32_t)component < WEFT_COMPONENT_COUNT ? component_names[component]
                                                      : "unknown weft_component";
}

const char *weft_stabilizer_name(weft_stabilizer stabilizer) {
    return (uint32_t)stabilizer < WEFT_STABILIZER_COUNT ? weft_stabilizer_words[stabilizer]
                                                        : "unknown weft_stabilizer";
}

/** True if the other side's tokens decide on the features. */
static bool takes_other(const struct weft_random_features_node *params) {
    return params->component == WEFT_COMPONENT_OPTIMAL ||
           params->component == WEFT_COMPONENT_ASYMMETRIC;
}

/* Zeros tokens after the lengths if sums over tokens decide on the features. */
static weft_status mask_tokens(weft_tensor *inputs, weft_graph *graph,
                               const struct weft_random_features_node *node) {
    if (takes_other(node) && inputs[LENGTHS].id != 0) {
        WEFT_TRY(weft_graph_mask(&inputs[0], graph, inputs[0], inputs[LENGTHS]));
    }
    if (takes_other(node) && inputs[OTHER].id != 0 && inputs[OTHER_LENGTHS].id != 0) {
        WEFT_TRY(weft_graph_mask(&inputs[OTHER], graph, inputs[OTHER], inputs[OTHER_LENGTHS]));
    }
    return WEFT_OK;
}

weft_status weft_graph_random_features(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                       weft_tensor w, const weft_random_features_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const weft_random_features_params defaults = {.component = WEFT_COMPONENT_TRIGONOMETRIC};
    const weft_random_features_params *p = params ? params : &defaults;
    struct weft_random_features_node node = {.component = p->component,
                                             .stabilizer = p->stabilizer,
                                             .heads = p->heads ? p->heads : 1,
                                             .scale = p->scale,
                                             .epsilon = p->epsilon,
                                             .a = p->a,
                                             .s = p->s};
    weft_tensor inputs[INPUTS] = {x,
                                  w,
                                  p->coefficients,
                                  p->other,
                                  p->projection,
                                  p->square_norms,
                                  p->lengths,
                                  p->other_lengths};
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    weft_status status = mask_tokens(inputs, graph, &node);
    if (status == WEFT_OK) {
        status = weft_graph_add(out, graph, &weft_op_random_features, inputs, INPUTS, &node,
                                sizeof node);
    }
    return weft_graph_end(graph, mark, status);
}

/* ---- checking ---- */

/** Pairs of cosines and sines, which change sign. */
static bool is_waves(const struct weft_random_features_node *params) {
    return params->component == WEFT_COMPONENT_TRIGONOMETRIC ||
           (params->component == WEFT_COMPONENT_GENERALIZED && params->s < 0);
}

static bool has_pairs(const struct weft_random_features_node *params) {
    return is_waves(params) || params->component == WEFT_COMPONENT_HYPERBOLIC;
}

/* E exp(2A |w|² + …) exists for A < 1/4. */
static weft_status check_generalized(const weft_graph *graph,
                                     struct weft_random_features_node *params) {
    if (params->component != WEFT_COMPONENT_GENERALIZED) {
        return params->a == 0.0F && params->s == 0
                   ? WEFT_OK
                   : weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                               "random_features: a %g and s %d must be 0: %s features have none",
                               (double)params->a, params->s,
                               weft_component_name(params->component));
    }
    if (!(params->a < 0.25F) || !isfinite(params->a)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "random_features: a %g must be finite and below 1/4", (double)params->a);
    }
    if (params->s != 0 && params->s != 1 && params->s != -1) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "random_features: s %d must be 1 or -1 (or 0, for 1)", params->s);
    }
    params->s = params->s == 0 ? 1 : params->s;
    return WEFT_OK;
}

static weft_status check_numbers(const weft_graph *graph,
                                 struct weft_random_features_node *params) {
    if ((uint32_t)params->component >= WEFT_COMPONENT_COUNT) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "random_features: component %u is not in 0 … %u",
                         (uint32_t)params->component, WEFT_COMPONENT_COUNT - 1);
    }
    if (!(params->epsilon >= 0.0F) || !isfinite(params->epsilon)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "random_features: epsilon %g must be finite and at least 0",
                         (double)params->epsilon);
    }
    WEFT_TRY(check_generalized(graph, params));
    if (params->epsilon > 0.0F && is_waves(params)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "random_features: epsilon %g must be 0 with trigonometric features, "
                         "which change sign",
                         (double)params->epsilon);
    }
    return WEFT_OK;
}

/* The rows of the weight matrix, there or not. */
static uint32_t rows_of(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_random_features_node *params = (const void *)node->params.bytes;
    return node->input[PROJECTION] != 0
               ? weft_node_shape(graph, node, PROJECTION)->dim[2] / params->heads
               : weft_node_shape(graph, node, W)->dim[0];
}

static bool has_input(const struct weft_node *node, uint32_t input) {
    return node->input_count > input && node->input[input] != 0;
}

/* Either w or a projection; with a projection, those whose exponents have ‖w‖² take square norms. */
static weft_status check_source(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_random_features_node *params = (const void *)node->params.bytes;
    const bool projected = has_input(node, PROJECTION);
    const bool wanted = projected && (params->component == WEFT_COMPONENT_OPTIMAL ||
                                      params->component == WEFT_COMPONENT_GENERALIZED);
    if (projected == has_input(node, W)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "random_features: w and projection are %s, but exactly one is needed",
                         projected ? "both given" : "both missing");
    }
    if (projected && params->component == WEFT_COMPONENT_ASYMMETRIC) {
        return weft_fail(
            &graph->host, WEFT_INVALID_ARGUMENT,
            "random_features: asymmetric features take w and no projection, since they "
            "scale x before its projection");
    }
    if (wanted != has_input(node, SQUARE_NORMS)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "random_features: square_norms is %s, but %s features of a %s take %s",
                         wanted ? "missing" : "given", weft_component_name(params->component),
                         projected ? "projection" : "matrix w", wanted ? "one" : "none");
    }
    return weft_expect_f32(graph, node, projected ? PROJECTION : W, projected ? "projection" : "w");
}

static weft_status check_projection(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_random_features_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(graph, node, 0);
    const weft_shape *found = weft_node_shape(graph, node, PROJECTION);
    if (found->rank != 3 || found->dim[0] != x->dim[0] || found->dim[1] != x->dim[1] ||
        found->dim[2] % params->heads != 0) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "random_features: projection %s must be [B, n, heads · s] for x %s and %u "
                         "heads",
                         weft_shape_text(*found, text[0]), weft_shape_text(*x, text[1]),
                         params->heads);
    }
    return has_input(node, SQUARE_NORMS)
               ? weft_expect_shape(graph, node, SQUARE_NORMS, "square_norms",
                                   weft_shape_of(rows_of(graph, node)))
               : WEFT_OK;
}

static weft_status check_w(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_random_features_node *params = (const void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(graph, node, 0);
    const weft_shape w = *weft_node_shape(graph, node, W);
    const uint32_t width = x.dim[2] / params->heads;
    char text[2][WEFT_SHAPE_TEXT_SIZE];
    if (w.rank != 2 || w.dim[1] != width) {
        return weft_fail(
            &graph->host, WEFT_SHAPE_MISMATCH,
            "random_features: w %s must be [s, d/heads] = [s, %u] for x %s and %u heads",
            weft_shape_text(w, text[0]), width, weft_shape_text(x, text[1]), params->heads);
    }
    return WEFT_OK;
}

/* The other side of OPRF and SADERF: [B, m, d] for any m. */
static weft_status check_other(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_random_features_node *params = (const void *)node->params.bytes;
    const bool wanted = takes_other(params);
    if (wanted != (node->input[OTHER] != 0)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "random_features: other is %s, but %s features take %s",
                         wanted ? "missing" : "given", weft_component_name(params->component),
                         wanted ? "one" : "none");
    }
    if (!wanted) {
        return WEFT_OK;
    }
    weft_shape expected = *weft_node_shape(graph, node, 0);
    const weft_shape *other = weft_node_shape(graph, node, OTHER);
    expected.dim[1] = other->rank == 3 ? other->dim[1] : expected.dim[1];
    return weft_expect_shape(graph, node, OTHER, "other", expected);
}

static weft_status check_lengths(const weft_graph *graph, const struct weft_node *node) {
    if (has_input(node, OTHER_LENGTHS) && !has_input(node, OTHER)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "random_features: other_lengths is given without other");
    }
    return WEFT_OK;
}

static weft_status random_features_infer(const weft_graph *graph, struct weft_node *node,
                                         weft_dtype *dtype, weft_shape *shape) {
    struct weft_random_features_node *params = (void *)node->params.bytes;
    WEFT_TRY(check_numbers(graph, params));
    WEFT_TRY(weft_check_stabilizer(graph, node, params->stabilizer));
    WEFT_TRY(weft_check_feature_rows(&params->scale, graph, node, params->heads));
    WEFT_TRY(check_source(graph, node));
    WEFT_TRY(has_input(node, PROJECTION) ? check_projection(graph, node) : check_w(graph, node));
    WEFT_TRY(check_other(graph, node));
    WEFT_TRY(check_lengths(graph, node));
    const uint32_t features = rows_of(graph, node);
    if (node->input[2] != 0) {
        WEFT_TRY(weft_expect_shape(graph, node, 2, "coefficients", weft_shape_of(features)));
    }
    return weft_infer_features(dtype, shape, graph, node, params->heads,
                               (uint64_t)features * (has_pairs(params) ? 2 : 1));
}

/* ---- lowering ---- */

/** A node while it is lowered: sizes, and storages that several dispatches bind. */
struct lowered {
    struct weft_lowering *lowering;
    const struct weft_random_features_node *params;
    uint32_t batch, tokens, heads, width, features;
    uint64_t rows; /* batch · tokens · heads */
    uint32_t x;
    uint32_t w;                      /* not with a given projection */
    uint32_t projection;             /* [rows, features] */
    uint32_t norms;                  /* [features], where exponents have ‖w‖² */
    uint32_t lengths, other_lengths; /* or WEFT_NO_STORAGE */
    uint32_t terms; /* likewise: A, B and ln D, [batch, heads, 3], GENERALIZED: [3] */
};

static uint32_t scratch(const struct lowered *l, uint64_t count) {
    return weft_lower_scratch(l->lowering, count * sizeof(float));
}

static void lower_projection(struct lowered *l, const struct weft_node *node) {
    if (has_input(node, PROJECTION)) {
        l->projection = weft_lower_value(l->lowering, node->input[PROJECTION]);
        return;
    }
    l->w = weft_lower_value(l->lowering, node->input[W]);
    l->projection = weft_lower_row_projection(l->lowering, l->x, l->rows, l->width, l->w,
                                              l->features, l->params->scale);
}

static void lower_norms(struct lowered *l, const struct weft_node *node) {
    if (has_input(node, SQUARE_NORMS)) {
        l->norms = weft_lower_value(l->lowering, node->input[SQUARE_NORMS]);
        return;
    }
    l->norms = scratch(l, l->features);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(l->lowering, random_features_square_norms, weft_grid_of_groups(l->features),
                   .bind = {.w = l->w, .result = l->norms},
                   .push = {.rows = l->features, .columns = l->width});
    dispatch->flops = 2.0 * l->features * l->width;
    dispatch->bytes = 4.0 * l->features * (l->width + 1.0);
}

static uint32_t chunks_of(uint32_t tokens) {
    return (tokens - 1) / WEFT_RANDOM_FEATURES_MOMENTS_CHUNK + 1;
}

static uint32_t lower_moments(const struct lowered *l, uint32_t x, uint32_t lengths,
                              uint32_t tokens) {
    const uint32_t chunks = chunks_of(tokens);
    const uint64_t rows = (uint64_t)l->batch * l->heads * chunks;
    const uint32_t moments = scratch(l, rows * (l->width + 1));
    struct weft_dispatch *dispatch =
        WEFT_LOWER(l->lowering, random_features_moments, weft_grid_of_groups(rows),
                   .bind = {.x = x, .result = moments, .lengths = lengths},
                   .push = {.rows = (uint32_t)rows,
                            .width = l->width,
                            .heads = l->heads,
                            .tokens = tokens,
                            .chunks = chunks,
                            .scale = l->params->scale},
                   .constant = {.has_lengths = lengths != WEFT_NO_STORAGE});
    const double elements = (double)l->batch * tokens * l->heads * l->width;
    dispatch->flops = 4.0 * elements;
    dispatch->bytes = 4.0 * elements;
    return moments;
}

static void lower_optimum(struct lowered *l, uint32_t other, uint32_t other_tokens) {
    const uint32_t x = lower_moments(l, l->x, l->lengths, l->tokens);
    const uint32_t y = lower_moments(l, other, l->other_lengths, other_tokens);
    const uint64_t rows = (uint64_t)l->batch * l->heads;
    l->terms = scratch(l, 3 * rows);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(l->lowering, random_features_optimum, weft_grid_of_groups(rows),
                   .bind = {.x = x,
                            .y = y,
                            .result = l->terms,
                            .x_lengths = l->lengths,
                            .y_lengths = l->other_lengths},
                   .push = {.rows = (uint32_t)rows,
                            .width = l->width,
                            .x_chunks = chunks_of(l->tokens),
                            .y_chunks = chunks_of(other_tokens),
                            .x_share = (float)(1.0 / (double)l->tokens),
                            .y_share = (float)(1.0 / (double)other_tokens),
                            .heads = l->heads},
                   .constant = {.has_x_lengths = l->lengths != WEFT_NO_STORAGE,
                                .has_y_lengths = l->other_lengths != WEFT_NO_STORAGE});
    const double read =
        (double)rows * (chunks_of(l->tokens) + chunks_of(other_tokens)) * (l->width + 1.0);
    dispatch->flops = read;
    dispatch->bytes = 4.0 * read;
}

struct generalized {
    float a;
    uint32_t width;
};

/** A, B = √(1 - 4A) and ln D = d/4 ln(1 - 4A). */
static weft_status fill_generalized(void *user, void *data) {
    const struct generalized *g = user;
    float *terms = data;
    const double square = 1.0 - 4.0 * (double)g->a;
    terms[0] = g->a;
    terms[1] = (float)sqrt(square);
    terms[2] = (float)(0.25 * g->width * weft_portable_log(square));
    return WEFT_OK;
}

static uint32_t lower_generalized(const struct lowered *l) {
    struct generalized g = {.a = l->params->a, .width = l->width};
    uint32_t bits;
    char key[56];
    memcpy(&bits, &g.a, sizeof bits);
    snprintf(key, sizeof key, "random_features/generalized/%08x/%u", bits, g.width);
    return weft_lower_table(l->lowering, key, 3 * sizeof(float), fill_generalized, &g);
}

/** Lowers the terms of the exponents beside the projection. `other`: a storage, for kinds that take one. */
static void lower_terms(struct lowered *l, const struct weft_node *node, uint32_t other,
                        uint32_t other_tokens) {
    if (takes_other(l->params)) {
        lower_norms(l, node);
        lower_optimum(l, other, other_tokens);
    } else if (l->params->component == WEFT_COMPONENT_GENERALIZED) {
        lower_norms(l, node);
        l->terms = lower_generalized(l);
    }
}

/** Puts the balanced x into place and gives the other. */
static uint32_t lower_balanced(struct lowered *l, uint32_t other, uint32_t other_tokens) {
    struct weft_balance balance = {.x = l->x,
                                   .other = other,
                                   .tokens = l->tokens,
                                   .other_tokens = other_tokens,
                                   .batch = l->batch,
                                   .heads = l->heads,
                                   .width = l->width};
    weft_lower_balance(l->lowering, &balance);
    l->x = balance.x;
    return balance.other;
}

/** The number of the component in the shaders, which know waves by one of their own. */
static uint32_t component_of(const struct weft_random_features_node *params) {
    const bool waves = params->component == WEFT_COMPONENT_GENERALIZED && is_waves(params);
    return waves ? GENERALIZED_WAVES : (uint32_t)params->component;
}

/** Counts the cost of a pass over the rows and their projections. */
static void count_rows(struct weft_dispatch *dispatch, const struct lowered *l) {
    dispatch->flops = (double)l->rows * (2.0 * l->width + 4.0 * l->features);
    dispatch->bytes = 4.0 * (double)l->rows * (l->width + l->features);
}

/* Longest extent, of features or of a head: the kernels of both sets have the same push constants. */
static uint32_t longest(const struct weft_random_features_features_args *words) {
    return words->push.columns > words->push.width ? words->push.columns : words->push.width;
}

static struct weft_grid lanes_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t batches) {
    const struct weft_random_features_features_args *words = args;
    (void)batches;
    return weft_row_groups(variant, words->push.rows, longest(words));
}

static bool suits_side(const struct weft_variant *variant, const void *args) {
    const struct weft_random_features_features_args *words = args;
    (void)variant;
    return weft_rows_suit_side(words->push.rows, longest(words));
}

WEFT_VARIANTS(random_row_maximum, "random_features/row_maximum",
              WEFT_GROUP_ROW(random_features_row_maximum, weft_grid_of_first_groups, 1.0F),
              WEFT_SIDE_ROW(random_features_row_maximum_side, suits_side),
              WEFT_LANES_ROWS(random_features_row_maximum_lanes, lanes_grid, 1))
WEFT_VARIANTS(random_features, "random_features/features",
              WEFT_GROUP_ROW(random_features_features, weft_grid_of_first_groups, 1.0F),
              WEFT_SIDE_ROW(random_features_features_side, suits_side),
              WEFT_LANES_ROWS(random_features_features_lanes, lanes_grid, 1))

/** The largest exponent of each sequence and head, [batch, heads]. */
static uint32_t lower_key_maximum(const struct lowered *l) {
    const uint32_t of_rows = scratch(l, l->rows);
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        l->lowering, &weft_random_row_maximum_variants, 1, random_features_row_maximum,
        .bind = {.x = l->x,
                 .projection = l->projection,
                 .norms = l->norms,
                 .terms = l->terms,
                 .result = of_rows},
        .push = {.rows = (uint32_t)l->rows,
                 .columns = l->features,
                 .width = l->width,
                 .heads = l->heads,
                 .tokens = l->tokens,
                 .scale = l->params->scale,
                 .epsilon = l->params->epsilon},
        .constant = {.component = component_of(l->params)});
    count_rows(dispatch, l);
    return weft_lower_sequence_maximum(l->lowering, of_rows, l->lengths,
                                       (const uint32_t[]){l->batch, l->tokens, l->heads});
}

static void lower_features(const struct lowered *l, uint32_t largest, uint32_t coefficients,
                           uint32_t result) {
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        l->lowering, &weft_random_features_variants, 1, random_features_features,
        .bind = {.x = l->x,
                 .projection = l->projection,
                 .norms = l->norms,
                 .terms = l->terms,
                 .largest = largest,
                 .coefficients = coefficients,
                 .result = result},
        .push = {.rows = (uint32_t)l->rows,
                 .columns = l->features,
                 .width = l->width,
                 .heads = l->heads,
                 .tokens = l->tokens,
                 .scale = l->params->scale,
                 .epsilon = l->params->epsilon},
        .constant = {.component = component_of(l->params),
                     .stabilizer = (uint32_t)l->params->stabilizer,
                     .has_coefficients = coefficients != WEFT_NO_STORAGE});
    const double outputs = (double)l->rows * l->features * (has_pairs(l->params) ? 2.0 : 1.0);
    count_rows(dispatch, l);
    dispatch->flops += 20.0 * outputs;
    dispatch->bytes += 4.0 * outputs;
}

static weft_status random_features_lower(struct weft_lowering *lowering,
                                         const struct weft_node *node) {
    const weft_shape *x = weft_node_shape(lowering->graph, node, 0);
    const struct weft_random_features_node *params = (const void *)node->params.bytes;
    struct lowered l = {.lowering = lowering,
                        .params = params,
                        .batch = x->dim[0],
                        .tokens = x->dim[1],
                        .heads = params->heads,
                        .width = x->dim[2] / params->heads,
                        .features = rows_of(lowering->graph, node),
                        .rows = (uint64_t)x->dim[0] * x->dim[1] * params->heads,
                        .x = weft_lower_value(lowering, node->input[0]),
                        .lengths = weft_lower_lengths(lowering, node, LENGTHS),
                        .other_lengths = weft_lower_lengths(lowering, node, OTHER_LENGTHS),
                        .norms = WEFT_NO_STORAGE,
                        .terms = WEFT_NO_STORAGE};
    if (!weft_lower_countable(lowering, (double)l.rows * l.features,
                              "elements in the projection")) {
        return weft_lower_status(lowering);
    }
    const uint32_t coefficients = weft_lower_optional(lowering, node->input[2]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    const bool two_sided = takes_other(params);
    const uint32_t other_tokens =
        two_sided ? weft_node_shape(lowering->graph, node, OTHER)->dim[1] : 0;
    uint32_t other = two_sided ? weft_lower_value(lowering, node->input[OTHER]) : WEFT_NO_STORAGE;
    if (params->component == WEFT_COMPONENT_ASYMMETRIC) {
        other = lower_balanced(&l, other, other_tokens);
    }
    lower_projection(&l, node);
    lower_terms(&l, node, other, other_tokens);
    const uint32_t largest =
        params->stabilizer == WEFT_STABILIZER_KEY ? lower_key_maximum(&l) : WEFT_NO_STORAGE;
    lower_features(&l, largest, coefficients, result);
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_random_features = {
    .name = "random_features",
    .min_inputs = 1,
    .max_inputs = INPUTS,
    .lengths = {{.input = LENGTHS, .of = 0}, {.input = OTHER_LENGTHS, .of = OTHER}},
    .params_size = sizeof(struct weft_random_features_node),
    .fields = WEFT_FIELDS(
        WEFT_FIELD_WORDS(weft_random_features_node, component, "component", component_names),
        WEFT_FIELD_WORDS(weft_random_features_node, stabilizer, "stabilizer",
                         weft_stabilizer_words),
        WEFT_FIELD(weft_random_features_node, heads, COUNT),
        WEFT_FIELD(weft_random_features_node, scale, F32),
        WEFT_FIELD(weft_random_features_node, epsilon, F32),
        WEFT_FIELD(weft_random_features_node, a, F32),
        WEFT_FIELD(weft_random_features_node, s, I32)),
    .infer = random_features_infer,
    .cuts =
        WEFT_CUTS({.inputs = 1 | 1 << OTHER | 1 << PROJECTION | 1 << LENGTHS | 1 << OTHER_LENGTHS,
                   .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "rows", .lower = random_features_lower}),
};
