/* SPDX-License-Identifier: MIT */
/*
 * Feed-forwards of experts, of which each token goes through some: Shazeer et al., "Outrageously large neural networks: the
 * sparsely-gated mixture-of-experts layer", 2017, (1) to (5), without noise.
 */
#include <math.h>
#include <stdio.h>

#include <weft/arithmetic.h>
#include <weft/movement.h>

#include "model/network/network.h"
#include "model/network/network_build.h"

#define CHANNELS 2 /* the last axis of [B, n, d] */

/* Of each token the experts, the likeliest first, and the factors of what they make: both [B, n, chosen]. */
struct choices {
    weft_tensor experts, factors;
};

static weft_tensor normalize(struct weft_builder *builder, weft_tensor factors, float more) {
    weft_tensor sum = {0}, divisor = {0};
    sum = WEFT_BUILT(builder, sum,
                     weft_graph_reduce(&sum, builder->graph, WEFT_REDUCTION_SUM, factors,
                                       weft_reduce_params(.axes = {CHANNELS}, .axis_count = 1,
                                                          .keep_axes = true)));
    divisor = more == 0.0F ? sum
                           : WEFT_BUILT(builder, divisor,
                                        weft_graph_affine(&divisor, builder->graph, sum, 1, more));
    return weft_build_binary(builder, WEFT_BINARY_DIVIDE, factors, divisor);
}

/* Of each expert, whether it is chosen or not. */
static weft_tensor factors_of(struct weft_builder *builder, weft_tensor x,
                              const weft_expert_form *form) {
    weft_tensor scores =
        weft_build_map(builder, x, "router", builder->width, form->count, form->biases);
    weft_tensor shares = {0};
    weft_build_exact(builder, "router.weight"); /* small errors would choose others */
    return form->sigmoid
               ? weft_build_activate(builder, scores, WEFT_ACTIVATION_SIGMOID)
               : WEFT_BUILT(builder, shares, weft_graph_softmax(&shares, builder->graph, scores));
}

static struct choices choose(struct weft_builder *builder, weft_tensor x,
                             const weft_expert_form *form) {
    struct choices chosen = {.experts = {0}};
    weft_tensor all = factors_of(builder, x, form), compared = all;
    if (form->choice_bias) {
        compared = weft_build_binary(builder, WEFT_BINARY_ADD, all,
                                     weft_build_vector(builder, "choice_bias", form->count));
    }
    chosen.experts = WEFT_BUILT(
        builder, chosen.experts,
        weft_graph_top_k(&chosen.experts, builder->graph, compared, CHANNELS, form->chosen, false));
    chosen.factors = WEFT_BUILT(
        builder, chosen.factors,
        weft_graph_take_along(&chosen.factors, builder->graph, all, chosen.experts, CHANNELS));
    if (form->normalized) {
        chosen.factors = normalize(builder, chosen.factors, form->more);
    }
    chosen.factors = weft_build_scale(builder, chosen.factors, form->scale);
    return chosen;
}

static weft_tensor map(struct weft_builder *builder, weft_tensor x, weft_tensor experts,
                       const char *name, uint32_t in, uint32_t out) {
    const weft_expert_form *form = &builder->network->config.layer.experts;
    weft_tensor weight = weft_build_weight(builder, name, weft_shape_of(form->count * out, in));
    weft_tensor result = {0}, bias = {0};
    result = WEFT_BUILT(
        builder, result,
        weft_graph_expert_linear(&result, builder->graph, x, experts, weight, form->count));
    if (!form->biases) {
        return result;
    }
    char text[32];
    snprintf(text, sizeof text, "%s_bias", name);
    bias = weft_build_weight(builder, text, weft_shape_of(form->count, out));
    weft_build_exact(builder, text);
    bias = WEFT_BUILT(builder, bias, weft_graph_take(&bias, builder->graph, bias, experts, 0));
    return weft_build_binary(builder, WEFT_BINARY_ADD, result, bias);
}

static weft_tensor clamp(struct weft_builder *builder, weft_tensor x, float low, float high) {
    weft_tensor out = {0};
    return WEFT_BUILT(builder, out, weft_graph_clamp(&out, builder->graph, x, low, high));
}

/* gate · sigmoid(gain · gate) · (value + 1), of what is within the limit. */
static weft_tensor gate_within(struct weft_builder *builder, weft_tensor gate, weft_tensor value,
                               const weft_expert_form *form) {
    weft_tensor open = {0}, more = {0};
    gate = clamp(builder, gate, -INFINITY, form->limit);
    value = clamp(builder, value, -form->limit, form->limit);
    open = weft_build_activate(builder, weft_build_scale(builder, gate, form->gain),
                               WEFT_ACTIVATION_SIGMOID);
    more = WEFT_BUILT(builder, more, weft_graph_affine(&more, builder->graph, value, 1, 1));
    gate = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, gate, open);
    return weft_build_binary(builder, WEFT_BINARY_MULTIPLY, gate, more);
}

/* What the experts make, times the factors, added up: a product for each token. */
static weft_tensor add_up(struct weft_builder *builder, weft_tensor factors, weft_tensor x,
                          uint32_t chosen) {
    const weft_shape whole = weft_shape_of(builder->batch, builder->length, builder->width);
    weft_tensor sum = {0};
    factors = weft_build_reshape(builder, factors,
                                 weft_shape_of(builder->batch, builder->length, 1, chosen));
    sum = WEFT_BUILT(builder, sum, weft_graph_matmul(&sum, builder->graph, factors, x, NULL));
    return weft_build_reshape(builder, sum, whole);
}

static weft_tensor add_shared(struct weft_builder *builder, weft_tensor sum, weft_tensor x,
                              const weft_expert_form *form) {
    const size_t entered = weft_build_enter(builder, "shared");
    weft_tensor shared = weft_build_glu(builder, x, form->shared);
    if (form->shared_gate) {
        weft_tensor gate = weft_build_map(builder, x, "gate", builder->width, 1, false);
        gate = weft_build_activate(builder, gate, WEFT_ACTIVATION_SIGMOID);
        shared = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, shared, gate);
    }
    weft_build_leave(builder, entered);
    return weft_build_binary(builder, WEFT_BINARY_ADD, sum, shared);
}

weft_tensor weft_build_experts(struct weft_builder *builder, weft_tensor x) {
    const weft_expert_form *form = &builder->network->config.layer.experts;
    const uint32_t d = builder->width;
    const struct choices chosen = choose(builder, x, form);
    weft_tensor gate = map(builder, x, chosen.experts, "experts.l1", d, form->size);
    weft_tensor value = map(builder, x, chosen.experts, "experts.l2", d, form->size);
    weft_tensor y = form->limit != 0.0F ? gate_within(builder, gate, value, form)
                                        : weft_build_gated(builder, gate, value);
    y = map(builder, y, chosen.experts, "experts.l3", form->size, d);
    y = add_up(builder, chosen.factors, y, form->chosen);
    return form->shared != 0 ? add_shared(builder, y, x, form) : y;
}
