/* SPDX-License-Identifier: MIT */
/*
 * Sparse plus low-rank Toeplitz mixing by structured kernel interpolation, y = T_sparse x + W A Wᵀ x, in four
 * steps: the coefficients of A, the projection Wᵀ x, A times it, and the interpolation by W with the taps' convolution.
 * No step holds W; shaders/ski/points.glsl makes its rows where they are needed. Inputs of the node: x, rpe, taps.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/math/portable_math.h"
#include "core/try.h"
#include "kernels/ski/apply.h"
#include "kernels/ski/apply_lanes.h"
#include "kernels/ski/collect.h"
#include "kernels/ski/interpolate.h"
#include "kernels/ski/interpolate_lanes.h"
#include "kernels/ski/kernel.h"
#include "kernels/ski/project.h"
#include "lower/divisor.h"
#include "lower/lowering.h"

struct weft_ski_toeplitz_node {
    uint32_t points;
    float gamma;
    weft_interpolation interpolation;
};

#define MOST_POSITIONS (UINT32_C(1) << 24) /* how far float32 holds every whole number */

weft_status weft_graph_ski_toeplitz(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                    const weft_ski_toeplitz_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, params);
    struct weft_ski_toeplitz_node node = {
        .points = params->points, .gamma = params->gamma, .interpolation = params->interpolation};
    weft_tensor inputs[] = {x, params->rpe, params->taps};
    return weft_graph_add(out, graph, &weft_op_ski_toeplitz, inputs, 3, &node, sizeof node);
}

/* ---- shapes ---- */

/** Steps from the middle of the grid to its ends: the g of its 2g + 1 rows. */
static uint32_t grid_steps(const weft_graph *graph, const struct weft_node *node) {
    return weft_node_shape(graph, node, 1)->dim[0] / 2;
}

/** x [B, n, d], rpe [2g + 1, d], taps [m, d] or none. */
static weft_status check_inputs(const weft_graph *graph, const struct weft_node *node) {
    const char *const names[] = {"x", "rpe", "taps"};
    const char *const forms[] = {"[B, n, d]", "[2g + 1, d] with g at least 1", "[m, d], m taps"};
    uint32_t count = node->input[2] ? 3 : 2;
    uint32_t d = 0;
    for (uint32_t i = 0; i < count; i++) {
        WEFT_TRY(weft_expect_f32(graph, node, i, names[i]));
        const weft_shape *shape = weft_node_shape(graph, node, i);
        bool fits = i == 0 ? shape->rank == 3
                           : shape->rank == 2 && shape->dim[1] == d &&
                                 (i == 2 || (shape->dim[0] % 2 == 1 && shape->dim[0] >= 3));
        d = i == 0 && fits ? shape->dim[2] : d;
        if (!fits) {
            char text[WEFT_SHAPE_TEXT_SIZE];
            return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "ski_toeplitz: %s %s must be %s%s",
                             names[i], weft_shape_text(*shape, text), forms[i],
                             i == 0 ? "" : " and x's d channels");
        }
    }
    return WEFT_OK;
}

static weft_status check_params(const weft_graph *graph, struct weft_node *node) {
    struct weft_ski_toeplitz_node *params = (void *)node->params.bytes;
    uint32_t n = weft_node_shape(graph, node, 0)->dim[1];
    if (!(params->gamma >= FLT_MIN && params->gamma <= 1.0F)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "ski_toeplitz: gamma %g must be above 0 (a normal float32) and at most 1",
                         (double)params->gamma);
    }
    if ((uint32_t)params->interpolation >= WEFT_INTERPOLATION_COUNT) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "ski_toeplitz: interpolation %u must be one of 0 … %u",
                         (uint32_t)params->interpolation, WEFT_INTERPOLATION_COUNT - 1);
    }
    params->points = params->points ? params->points : grid_steps(graph, node);
    if (params->points > n) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "ski_toeplitz: points %u must be in 1 … n = %u", params->points, n);
    }
    if (n > MOST_POSITIONS || (uint64_t)(params->points - 1) * (n - 1) > UINT32_MAX) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED,
                         "ski_toeplitz: %u points of %u positions: positions can be at most %u, "
                         "and (points - 1) (positions - 1) at most %u",
                         params->points, n, MOST_POSITIONS, UINT32_MAX);
    }
    return WEFT_OK;
}

static weft_status ski_toeplitz_infer(const weft_graph *graph, struct weft_node *node,
                                      weft_dtype *dtype, weft_shape *shape) {
    WEFT_TRY(check_inputs(graph, node));
    WEFT_TRY(check_params(graph, node));
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    return WEFT_OK;
}

/* ---- tables ---- */

/** State that the dispatches of a node share. */
struct ski {
    uint32_t batch, n, d;
    uint32_t points, steps; /* r, and g of the grid */
    uint32_t degree;        /* of the interpolation: fewer points than it needs lower it */
    float gamma;
    float inverse_span; /* 1 / (n - 1) */
    uint32_t segments;  /* of the longest stretch */
    bool fours;         /* d is a multiple of four */
};

/** The lowest position at or behind point k, which is at k (n - 1) / (r - 1); behind the last: n. */
static uint32_t first_position(const struct ski *ski, uint32_t k) {
    if (k >= ski->points) {
        return ski->n;
    }
    uint64_t steps = ski->points > 1 ? ski->points - 1 : 1;
    return (uint32_t)(((uint64_t)k * (ski->n - 1) + steps - 1) / steps);
}

/** The positions that are interpolated from point k among others: first, and the one behind the last. */
static void stretch_of(uint32_t stretch[2], const struct ski *ski, uint32_t k) {
    uint32_t before = ski->degree == 3 ? 1 : 0; /* points before a position, as in points.glsl */
    uint32_t behind = ski->degree - before;
    uint32_t lowest = k <= ski->degree ? 0 : k - behind;
    uint32_t highest = k + ski->degree + 1 >= ski->points ? ski->points - 1 : k + before;
    stretch[0] = first_position(ski, lowest);
    stretch[1] = first_position(ski, highest + 1);
}

static weft_status fill_stretches(void *user, void *data) {
    const struct ski *ski = user;
    uint32_t(*stretches)[2] = data;
    for (uint32_t k = 0; k < ski->points; k++) {
        stretch_of(stretches[k], ski, k);
    }
    return WEFT_OK;
}

static uint32_t count_segments(const struct ski *ski) {
    uint32_t longest = 0;
    for (uint32_t k = 0; k < ski->points; k++) {
        uint32_t stretch[2];
        stretch_of(stretch, ski, k);
        uint32_t length = stretch[1] - stretch[0];
        longest = length > longest ? length : longest;
    }
    return (longest - 1) / WEFT_SKI_PROJECT_SEGMENT + 1;
}

/** How kernel.comp finds a lag between two rows of the grid. */
struct warped_lag {
    uint32_t near, far; /* rows; near is the one towards the middle */
    float near_weight, far_weight;
};

/** Subnormal numbers are zeros on the device. */
static float weight_of(double weight) {
    return weight < (double)FLT_MIN ? 0.0F : (float)weight;
}

/** γ^t for t ≥ 0; 0 where float32 would have it so. */
static double decayed(float gamma, double t) {
    double y = t * weft_portable_log((double)gamma);
    return y < -700.0 ? 0.0 : weft_portable_exp(y);
}

/**
 * The lag of `steps` points, t = steps (n - 1) / (r - 1), at x(t) = sign(t) γ^|t| on a grid of g steps each way. From
 * the middle outwards, so that far lags, whose x is tiny, lose nothing to 1 + x.
 */
static struct warped_lag warp(const struct ski *ski, int64_t steps) {
    uint64_t distance = (uint64_t)(steps < 0 ? -steps : steps);
    double t = distance == 0 ? 0.0 : (double)(distance * (ski->n - 1)) / (double)(ski->points - 1);
    double x = decayed(ski->gamma, t) * ski->steps;
    uint32_t row = (uint32_t)x;
    row = row < ski->steps ? row : ski->steps - 1;
    double part = x - row;
    uint32_t middle = ski->steps;
    struct warped_lag lag = {.near = steps < 0 ? middle - row : middle + row,
                             .far = steps < 0 ? middle - row - 1 : middle + row + 1,
                             .near_weight = row == 0 ? 0.0F : weight_of(1.0 - part),
                             .far_weight = weight_of(part)};
    return lag;
}

static weft_status fill_lags(void *user, void *data) {
    const struct ski *ski = user;
    struct warped_lag *lags = data;
    int64_t last = (int64_t)ski->points - 1;
    for (int64_t steps = -last; steps <= last; steps++) {
        lags[steps + last] = warp(ski, steps);
    }
    return WEFT_OK;
}

/* ---- dispatches ---- */

static_assert(sizeof(struct weft_ski_apply_args) == sizeof(struct weft_ski_apply_lanes_args) &&
                  sizeof(struct weft_ski_interpolate_args) ==
                      sizeof(struct weft_ski_interpolate_lanes_args),
              "the kernels of a set have one interface");

/* The forms of a kernel count items of four channels, and have the same tiles. */
static struct weft_grid lanes_grid(uint32_t items, uint32_t d, uint32_t channels) {
    const uint64_t rows = items / ((d - 1) / 4 + 1);
    return weft_grid_of_groups(rows * ((d - 1) / channels + 1));
}

static struct weft_grid apply_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t batches) {
    const struct weft_ski_apply_args *words = args;
    (void)batches;
    return variant->shader == &weft_shader_ski_apply
               ? weft_grid_of_items(words->push.count)
               : lanes_grid(words->push.count, words->push.d, WEFT_SKI_APPLY_LANES_LOCAL_X);
}

static struct weft_grid interpolate_grid(const struct weft_variant *variant, const void *args,
                                         uint32_t batches) {
    const struct weft_ski_interpolate_args *words = args;
    (void)batches;
    return variant->shader == &weft_shader_ski_interpolate
               ? weft_grid_of_items(words->push.count)
               : lanes_grid(words->push.count, words->push.d, WEFT_SKI_INTERPOLATE_LANES_LOCAL_X);
}

/* Processors want channels along the lanes, whose loads are then whole vectors; GPUs four channels for each invocation. */
#define SKI_ROWS(kernel, groups)                                                              \
    {.name = "fours",                                                                         \
     .shader = &weft_shader_##kernel,                                                         \
     .grid = (groups),                                                                        \
     .cost = {.processor = 16.0F}},                                                           \
    {                                                                                         \
        .name = "lanes", .shader = &weft_shader_##kernel##_lanes, .grid = (groups), .cost = { \
            .software = 8.0F,                                                                 \
            .hardware = 16.0F                                                                 \
        }                                                                                     \
    }

WEFT_VARIANTS(ski_apply, "ski/apply", SKI_ROWS(ski_apply, apply_grid))
WEFT_VARIANTS(ski_interpolate, "ski/interpolate", SKI_ROWS(ski_interpolate, interpolate_grid))

/** a [2r - 1, d]: RPE(x(p_i - p_j)) for i - j from -(r - 1) up. */
static uint32_t lower_kernel(struct weft_lowering *lowering, struct ski *ski, uint32_t rpe) {
    uint32_t gamma;
    memcpy(&gamma, &ski->gamma, sizeof gamma);
    char key[80];
    snprintf(key, sizeof key, "ski/lags/%u/%u/%u/%08x", ski->n, ski->points, ski->steps, gamma);
    uint64_t lags = 2 * (uint64_t)ski->points - 1;
    uint32_t table =
        weft_lower_table(lowering, key, lags * sizeof(struct warped_lag), fill_lags, ski);
    uint32_t result = weft_lower_scratch(lowering, lags * ski->d * sizeof(float));
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, ski_kernel, weft_grid_of_items(lags * ski->d),
        .bind = {.rpe = rpe, .lags = table, .result = result},
        .push = {.count = (uint32_t)(lags * ski->d), .d = ski->d, WEFT_INVERSE(d, ski->d)});
    double count = (double)lags * ski->d;
    dispatch->flops = 3.0 * count;
    dispatch->bytes = 4.0 * count + 4.0 * (2.0 * ski->steps + 1.0) * ski->d;
    return result;
}

/** [B, r, segments, d]: the segments of Wᵀ x. */
static uint32_t lower_project(struct weft_lowering *lowering, struct ski *ski, uint32_t x) {
    const uint32_t channels = 4 * WEFT_SKI_PROJECT_LOCAL_X; /* of a workgroup */
    char key[64];
    snprintf(key, sizeof key, "ski/stretches/%u/%u/%u", ski->n, ski->points, ski->degree);
    uint32_t table =
        weft_lower_table(lowering, key, UINT64_C(8) * ski->points, fill_stretches, ski);
    uint64_t rows = (uint64_t)ski->batch * ski->points * ski->segments;
    uint32_t result = weft_lower_scratch(lowering, rows * ski->d * sizeof(float));
    const uint64_t groups = rows * ((ski->d - 1) / channels + 1);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, ski_project, weft_grid_of_groups(groups),
                   .bind = {.x = x, .stretches = table, .result = result},
                   .push = {.groups = (uint32_t)groups,
                            .d = ski->d,
                            .n = ski->n,
                            .points = ski->points,
                            .segments = ski->segments,
                            .inverse_span = ski->inverse_span},
                   .constant = {.degree = ski->degree, .vector = ski->fours});
    double elements = (double)ski->batch * ski->n * ski->d;
    dispatch->flops = 2.0 * (ski->degree + 1.0) * elements;
    dispatch->bytes = 4.0 * elements + 4.0 * (double)rows * ski->d;
    return result;
}

/** [B, r, d]: Wᵀ x, from its segments. */
static uint32_t lower_collect(struct weft_lowering *lowering, const struct ski *ski,
                              uint32_t parts) {
    uint64_t count = (uint64_t)ski->batch * ski->points * ski->d;
    uint32_t result = weft_lower_scratch(lowering, count * sizeof(float));
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, ski_collect, weft_grid_of_items(count),
                   .bind = {.parts = parts, .result = result},
                   .push = {.count = (uint32_t)count, .d = ski->d, .segments = ski->segments});
    dispatch->flops = (double)count * ski->segments;
    dispatch->bytes = 4.0 * (double)count * (ski->segments + 1.0);
    return result;
}

/** [B, r, d]: A times the projection. */
static uint32_t lower_apply(struct weft_lowering *lowering, const struct ski *ski, uint32_t a,
                            uint32_t projection) {
    const uint32_t rows =
        WEFT_SKI_APPLY_TILE_ROWS; /* of an invocation, which makes four channels */
    uint64_t count = (uint64_t)ski->batch * ski->points * ski->d;
    uint32_t result = weft_lower_scratch(lowering, count * sizeof(float));
    const uint64_t items =
        (uint64_t)ski->batch * ((ski->points - 1) / rows + 1) * ((ski->d - 1) / 4 + 1);
    struct weft_dispatch *dispatch =
        WEFT_LOWER_VARIANTS(lowering, &weft_ski_apply_variants, ski->batch, ski_apply,
                            .bind = {.a = a, .z = projection, .result = result},
                            .push = {.count = (uint32_t)items, .d = ski->d, .points = ski->points},
                            .constant = {.vector = ski->fours});
    dispatch->flops = 2.0 * (double)count * ski->points;
    dispatch->bytes = 8.0 * (double)count + 8.0 * ski->points * ski->d;
    return result;
}

static void lower_interpolate(struct weft_lowering *lowering, const struct ski *ski,
                              const struct weft_node *node, uint32_t points) {
    const uint32_t positions = WEFT_SKI_INTERPOLATE_TILE_POSITIONS; /* of four channels */
    const bool has_taps = node->input[2] != 0;
    uint32_t tap_count = has_taps ? weft_node_shape(lowering->graph, node, 2)->dim[0] : 0;
    uint32_t x = weft_lower_value(lowering, node->input[0]);
    uint32_t taps = weft_lower_optional(lowering, node->input[2]);
    uint32_t result = weft_lower_value(lowering, node->output);
    const uint64_t items =
        (uint64_t)ski->batch * ((ski->n - 1) / positions + 1) * ((ski->d - 1) / 4 + 1);
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_ski_interpolate_variants, ski->batch, ski_interpolate,
        .bind = {.x = x, .v = points, .taps = taps, .result = result},
        .push = {.count = (uint32_t)items,
                 .d = ski->d,
                 .n = ski->n,
                 .points = ski->points,
                 .tap_count = tap_count,
                 .inverse_span = ski->inverse_span},
        .constant = {.degree = ski->degree, .vector = ski->fours, .has_taps = has_taps});
    double elements = (double)ski->batch * ski->n * ski->d;
    dispatch->flops = 2.0 * (ski->degree + 1.0 + tap_count) * elements;
    dispatch->bytes = (has_taps ? 8.0 : 4.0) * elements +
                      4.0 * ((double)ski->batch * ski->points + tap_count) * ski->d;
}

static struct ski ski_of(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_ski_toeplitz_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(graph, node, 0);
    uint32_t degree = params->interpolation == WEFT_INTERPOLATION_CUBIC ? 3 : 1;
    struct ski ski = {.batch = x->dim[0],
                      .n = x->dim[1],
                      .d = x->dim[2],
                      .points = params->points,
                      .steps = grid_steps(graph, node),
                      .degree = degree < params->points ? degree : params->points - 1,
                      .gamma = params->gamma,
                      .fours = x->dim[2] % 4 == 0};
    ski.inverse_span = ski.n > 1 ? (float)(1.0 / (double)(ski.n - 1)) : 0.0F;
    ski.segments = count_segments(&ski);
    return ski;
}

static weft_status ski_toeplitz_lower(struct weft_lowering *lowering,
                                      const struct weft_node *node) {
    struct ski ski = ski_of(lowering->graph, node);
    uint32_t x = weft_lower_value(lowering, node->input[0]);
    uint32_t rpe = weft_lower_value(lowering, node->input[1]);
    uint32_t a = lower_kernel(lowering, &ski, rpe);
    uint32_t projection = lower_project(lowering, &ski, x);
    if (ski.segments > 1) {
        projection = lower_collect(lowering, &ski, projection);
    }
    uint32_t points = lower_apply(lowering, &ski, a, projection);
    lower_interpolate(lowering, &ski, node, points);
    return weft_lower_status(lowering);
}

static const char *const interpolation_words[WEFT_INTERPOLATION_COUNT] = {
    [WEFT_INTERPOLATION_LINEAR] = "linear", [WEFT_INTERPOLATION_CUBIC] = "cubic"};

const struct weft_op weft_op_ski_toeplitz = {
    .name = "ski_toeplitz",
    .min_inputs = 2,
    .max_inputs = 3,
    .params_size = sizeof(struct weft_ski_toeplitz_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_ski_toeplitz_node, points, U32),
                          WEFT_FIELD(weft_ski_toeplitz_node, gamma, F32),
                          WEFT_FIELD_WORDS(weft_ski_toeplitz_node, interpolation, "interpolation",
                                           interpolation_words)),
    .infer = ski_toeplitz_infer,
    .cuts = WEFT_CUTS({.inputs = 1, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "points", .lower = ski_toeplitz_lower}),
};
