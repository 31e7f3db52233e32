/* SPDX-License-Identifier: MIT */
/* Rotary positions of queries and keys. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/math/portable_math.h"
#include "core/try.h"
#include "kernels/rope/rope.h"
#include "lower/divisor.h"
#include "lower/lowering.h"

enum { X, POSITIONS, FACTORS, INPUTS };

struct weft_rope_node {
    uint32_t heads;
    uint32_t width;
    float base;
    uint32_t interleaved;
    int32_t offset;
    float scale_factor;
    uint32_t scale_length;
    float scale_low, scale_high;
};

weft_status weft_graph_rope(weft_tensor *out, weft_graph *graph, weft_tensor x,
                            const weft_rope_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    static const weft_rope_params usual;
    params = params ? params : &usual;
    const struct weft_rope_node node = {.heads = params->heads ? params->heads : 1,
                                        .width = params->width,
                                        .base = params->base != 0.0F ? params->base : 10000.0F,
                                        .interleaved = params->interleaved,
                                        .offset = params->offset,
                                        .scale_factor = params->scale_factor,
                                        .scale_length = params->scale_length,
                                        .scale_low = params->scale_low,
                                        .scale_high = params->scale_high};
    const weft_tensor inputs[INPUTS] = {x, params->positions, params->factors};
    return weft_graph_add(out, graph, &weft_op_rope, inputs, INPUTS, &node, sizeof node);
}

static weft_status check_scale(const weft_graph *graph, struct weft_rope_node *params) {
    params->scale_factor = params->scale_factor != 0.0F ? params->scale_factor : 1.0F;
    if (!(params->scale_factor >= 1.0F) || isinf(params->scale_factor)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "rope: scale_factor %g must be at least 1 and finite",
                         (double)params->scale_factor);
    }
    const bool some = params->scale_length > 0;
    const bool fits = some ? params->scale_low > 0.0F && params->scale_high > params->scale_low &&
                                 !isinf(params->scale_high)
                           : params->scale_low == 0.0F && params->scale_high == 0.0F;
    return fits ? WEFT_OK
                : weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                            "rope: scale_low %g and scale_high %g must be %s",
                            (double)params->scale_low, (double)params->scale_high,
                            some ? "above 0, the second above the first, and finite"
                                 : "0 without a scale_length");
}

static weft_status check_params(const weft_graph *graph, struct weft_node *node, uint32_t d) {
    struct weft_rope_node *params = (void *)node->params.bytes;
    if (params->heads > d || d % params->heads != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "rope: %u heads do not divide %u channels", params->heads, d);
    }
    const uint32_t head = d / params->heads;
    params->width = params->width ? params->width : head;
    if (params->width > head || params->width % 2 != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "rope: width %u must be even and in 2 … %u, the channels of a head",
                         params->width, head);
    }
    if (!(params->base >= 1.0F) || isinf(params->base)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "rope: base %g must be at least 1 and finite", (double)params->base);
    }
    return check_scale(graph, params);
}

/* [B] or [B, n]. */
static weft_status check_positions(const weft_graph *graph, const struct weft_node *node,
                                   const weft_shape *x) {
    if (!weft_node_has_input(node, POSITIONS)) {
        return WEFT_OK;
    }
    const weft_shape found = *weft_node_shape(graph, node, POSITIONS);
    const weft_dtype dtype = weft_node_dtype(graph, node, POSITIONS);
    const weft_shape first = weft_shape_of(x->dim[0]);
    const weft_shape each = weft_shape_of(x->dim[0], x->dim[x->rank - 2]);
    if (dtype == WEFT_I32 && (weft_shape_equal(found, first) || weft_shape_equal(found, each))) {
        return WEFT_OK;
    }
    char text[3][WEFT_SHAPE_TEXT_SIZE];
    return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                     "rope: positions must be i32 %s or %s, not %s %s",
                     weft_shape_text(first, text[0]), weft_shape_text(each, text[1]),
                     weft_dtype_name(dtype), weft_shape_text(found, text[2]));
}

/* [width/2], in the graph itself: angles are made on the host. */
static weft_status check_factors(const weft_graph *graph, const struct weft_node *node) {
    if (!weft_node_has_input(node, FACTORS)) {
        return WEFT_OK;
    }
    const struct weft_rope_node *params = (const void *)node->params.bytes;
    const weft_shape wanted = weft_shape_of(params->width / 2);
    const weft_shape found = *weft_node_shape(graph, node, FACTORS);
    WEFT_TRY(weft_expect_f32(graph, node, FACTORS, "factors"));
    if (graph->values[node->input[FACTORS]].weight && weft_shape_equal(found, wanted)) {
        return WEFT_OK;
    }
    char text[2][WEFT_SHAPE_TEXT_SIZE];
    return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                     "rope: factors must be a weight %s, not %s %s",
                     weft_shape_text(wanted, text[0]),
                     graph->values[node->input[FACTORS]].weight ? "a weight" : "another tensor",
                     weft_shape_text(found, text[1]));
}

static weft_status rope_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                              weft_shape *shape) {
    WEFT_TRY(weft_expect_f32(graph, node, X, "x"));
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, X);
    if (shape->rank < 3) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "rope: x must be [B, …, n, d], not %s",
                         weft_shape_text(*shape, text));
    }
    WEFT_TRY(check_params(graph, node, shape->dim[shape->rank - 1]));
    WEFT_TRY(check_factors(graph, node));
    return check_positions(graph, node, shape);
}

/* Scales turns per token. */
static double scaled(double turns, const struct weft_rope_node *params) {
    const double slow = turns / (double)params->scale_factor;
    if (params->scale_length == 0) {
        return slow;
    }
    const double low = (double)params->scale_low;
    const double high = (double)params->scale_high;
    const double times = turns * params->scale_length; /* in the old context */
    if (times <= low || times >= high) {
        return times <= low ? slow : turns;
    }
    const double share = (times - low) / (high - low);
    return (1.0 - share) * slow + share * turns;
}

struct frequencies {
    const struct weft_rope_node *params;
    weft_weight *factors; /* or null */
};

/* Turns modulo 1. Those of a factor that is not finite, or that leaves no angle to compute with, are 0. */
static double divided(double turns, const float *factors, uint32_t pair) {
    if (!factors) {
        return turns;
    }
    const double factor = (double)factors[pair];
    const double result = factor >= 0x1p-32 && !isinf(factor) ? turns / factor : 0.0;
    return result - floor(result);
}

/** [width/2, 2]: turns per token base^(-2j/width) / 2π, scaled, as 32 bits behind the point and the next 16. */
static weft_status fill_frequencies(void *user, void *data) {
    const struct frequencies *frequencies = user;
    const struct weft_rope_node *params = frequencies->params;
    const void *factors = NULL;
    if (frequencies->factors) {
        WEFT_TRY(weft_weight_data(&factors, frequencies->factors));
    }
    uint32_t *pair = data;
    const double rate = weft_portable_log((double)params->base) * 2.0 / params->width;
    for (uint32_t j = 0; j < params->width / 2; j++, pair += 2) {
        const double own = weft_portable_exp(-rate * j) * 0.15915494309189533577;
        const double turns = divided(scaled(own, params), factors, j);
        const double high = floor(turns * 0x1p32);
        pair[0] = (uint32_t)high;
        pair[1] = (uint32_t)((turns * 0x1p32 - high) * 0x1p16);
    }
    return WEFT_OK;
}

static uint32_t lower_frequencies(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_rope_node *params = (const void *)node->params.bytes;
    struct frequencies frequencies = {.params = params};
    const float floats[] = {params->base, params->scale_factor, params->scale_low,
                            params->scale_high};
    uint32_t bits[4];
    char key[112];
    memcpy(bits, floats, sizeof bits);
    int used = snprintf(key, sizeof key, "rope/%u/%08x/%u/%08x/%08x/%08x", params->width, bits[0],
                        params->scale_length, bits[1], bits[2], bits[3]);
    if (weft_node_has_input(node, FACTORS)) {
        frequencies.factors = lowering->graph->values[node->input[FACTORS]].weight;
        snprintf(key + used, sizeof key - (size_t)used, "/%llu",
                 (unsigned long long)frequencies.factors->uid);
    }
    return weft_lower_table(lowering, key, UINT64_C(4) * params->width, fill_frequencies,
                            &frequencies);
}

static weft_status rope_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_rope_node *params = (const void *)node->params.bytes;
    const weft_shape *shape = weft_node_shape(lowering->graph, node, X);
    const uint32_t d = shape->dim[shape->rank - 1];
    const uint32_t width = d / params->heads;
    const uint64_t rows = weft_shape_elements(*shape) / d;
    const uint32_t items = width - params->width / 2; /* of a head */
    const uint64_t count = rows * params->heads * items;
    const bool has_positions = weft_node_has_input(node, POSITIONS);
    if (!weft_lower_countable(lowering, (double)weft_shape_elements(*shape), "elements")) {
        return weft_lower_status(lowering);
    }
    const uint32_t x = weft_lower_value(lowering, node->input[X]);
    const uint32_t frequencies = lower_frequencies(lowering, node);
    const uint32_t positions = weft_lower_optional(lowering, node->input[POSITIONS]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, rope_rope, weft_grid_of_items(count),
        .bind = {.x = x, .frequencies = frequencies, .positions = positions, .result = result},
        .push = {.count = (uint32_t)count,
                 .heads = params->heads,
                 .width = width,
                 .rotated = params->width,
                 .n = shape->dim[shape->rank - 2],
                 .rows = (uint32_t)(rows / shape->dim[0]),
                 .offset = params->offset,
                 .items = items,
                 WEFT_INVERSE(items, items),
                 WEFT_INVERSE(heads, params->heads),
                 WEFT_INVERSE(n, shape->dim[shape->rank - 2]),
                 WEFT_INVERSE(rows, (uint32_t)(rows / shape->dim[0]))},
        .constant = {.interleaved = params->interleaved,
                     .positions = has_positions
                                      ? weft_node_shape(lowering->graph, node, POSITIONS)->rank
                                      : 0});
    dispatch->flops = 40.0 * (double)count;
    dispatch->bytes = 8.0 * (double)weft_shape_elements(*shape);
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_rope = {
    .name = "rope",
    .min_inputs = 1,
    .max_inputs = INPUTS,
    .params_size = sizeof(struct weft_rope_node),
    .fields = WEFT_FIELDS(
        WEFT_FIELD(weft_rope_node, heads, COUNT), WEFT_FIELD_OPTIONAL(weft_rope_node, width, U32),
        WEFT_FIELD(weft_rope_node, base, F32), WEFT_FIELD(weft_rope_node, interleaved, BOOL),
        WEFT_FIELD_OPTIONAL(weft_rope_node, offset, I32),
        WEFT_FIELD_OPTIONAL(weft_rope_node, scale_factor, F32),
        WEFT_FIELD_OPTIONAL(weft_rope_node, scale_length, U32),
        WEFT_FIELD_OPTIONAL(weft_rope_node, scale_low, F32),
        WEFT_FIELD_OPTIONAL(weft_rope_node, scale_high, F32)),
    .infer = rope_infer,
    .cuts = WEFT_CUTS({.inputs = 1 << X | 1 << POSITIONS, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "elementwise", .lower = rope_lower}),
};
