/* SPDX-License-Identifier: MIT */
/* The mixers that have steps, as families build them: those with queries, keys and values, and those of Toeplitz matrices. */
#include <stdio.h>

#include <weft/arithmetic.h>
#include <weft/decode.h>

#include "model/network/architecture.h"
#include "model/network/attention_weights.h"
#include "model/network/gated_mixer.h"
#include "model/network/layer_outputs.h"
#include "model/network/network.h"
#include "model/network/toeplitz_family.h"

struct state_name {
    char text[2 * WEFT_SCOPE_SIZE];
};

/* The step of the mixer being built, with a state of its own whose name goes into *name. */
static weft_step next_step(struct state_name *name, struct weft_builder *builder) {
    struct weft_step_builder *decoding = builder->decoding;
    snprintf(name->text, sizeof name->text, "%s.state.%u", builder->scope, decoding->states++);
    return (weft_step){.position = decoding->position, .state = name->text};
}

static bool is_causal(const struct weft_builder *builder) {
    return builder->network->config.causal;
}

struct weft_qkv weft_build_qkv(struct weft_builder *builder, weft_tensor x) {
    uint32_t d = builder->width;
    return (struct weft_qkv){.query = weft_build_linear(builder, x, "query", d, d),
                             .key = weft_build_linear(builder, x, "key", d, d),
                             .value = weft_build_linear(builder, x, "value", d, d)};
}

weft_tensor weft_build_softmax_attention(struct weft_builder *builder, const struct weft_qkv *qkv,
                                         uint32_t heads) {
    if (qkv->cap != 0 || (is_causal(builder) && qkv->bias.id == 0)) {
        return weft_build_banded_attention(builder, qkv, heads, UINT32_MAX);
    }
    weft_build_attention_map(builder, qkv, heads, UINT32_MAX);
    weft_tensor out = {0};
    return WEFT_BUILT(
        builder, out,
        weft_graph_attention(&out, builder->graph, qkv->query, qkv->key, qkv->value,
                             weft_attention_params(.heads = heads, .scale = qkv->scale,
                                                   .lengths = weft_build_lengths(builder),
                                                   .bias = qkv->bias, .causal = is_causal(builder),
                                                   .kv_heads = qkv->kv_heads)));
}

/* The mixer `op` of these inputs, or its step when the builder is decoding. */
#define BUILD_MIXER(op, params, ...)                                                           \
    do {                                                                                       \
        struct state_name name;                                                                \
        weft_step step;                                                                        \
        weft_tensor out = {0};                                                                 \
        return WEFT_BUILT(                                                                     \
            builder, out,                                                                      \
            builder->decoding                                                                  \
                ? (step = next_step(&name, builder),                                           \
                   weft_graph_##op##_step(&out, builder->graph, __VA_ARGS__, &step, (params))) \
                : weft_graph_##op(&out, builder->graph, __VA_ARGS__, (params)));               \
    } while (0)

/* Each key as attention reads it. */
static weft_tensor nearest_f16(struct weft_builder *builder, weft_tensor x) {
    weft_tensor out = {0};
    out = WEFT_BUILT(builder, out, weft_graph_convert(&out, builder->graph, x, WEFT_F16));
    return WEFT_BUILT(builder, out, weft_graph_convert(&out, builder->graph, out, WEFT_F32));
}

/* The weights, where they are asked for. */
static void build_map(struct weft_builder *builder, const struct weft_qkv *qkv, uint32_t heads,
                      uint32_t half_width, bool f16) {
    struct weft_qkv read = *qkv;
    if (f16 && builder->outputs && builder->outputs->attentions) {
        read.key = nearest_f16(builder, qkv->key);
    }
    weft_build_attention_map(builder, &read, heads, half_width);
}

weft_tensor weft_build_banded_attention(struct weft_builder *builder, const struct weft_qkv *qkv,
                                        uint32_t heads, uint32_t half_width) {
    const uint32_t length = weft_build_reach(builder);
    const weft_banded_attention_params params = {
        .heads = heads,
        .causal = is_causal(builder),
        .half_width = half_width < length - 1 ? half_width : length - 1,
        .scale = qkv->scale,
        .lengths = weft_build_lengths(builder),
        .kv_heads = qkv->kv_heads,
        .sinks = qkv->sinks,
        .f16 = is_causal(builder) && builder->way.state == WEFT_F16};
    build_map(builder, qkv, heads, half_width, params.f16);
    if (qkv->cap != 0) {
        return weft_build_capped_attention(builder, qkv, heads, half_width);
    }
    BUILD_MIXER(banded_attention, &params, qkv->query, qkv->key, qkv->value);
}

weft_tensor weft_build_linear_attention(struct weft_builder *builder, const struct weft_qkv *qkv,
                                        uint32_t heads, float epsilon) {
    const weft_linear_attention_params params = {.heads = heads,
                                                 .causal = is_causal(builder),
                                                 .epsilon = epsilon,
                                                 .lengths = weft_build_lengths(builder)};
    BUILD_MIXER(linear_attention, &params, qkv->query, qkv->key, qkv->value);
}

weft_tensor weft_build_kernel_attention(struct weft_builder *builder, const struct weft_qkv *qkv,
                                        const weft_kernel_attention_params *params) {
    weft_kernel_attention_params own = *params;
    own.causal = is_causal(builder);
    own.lengths = weft_build_lengths(builder);
    BUILD_MIXER(kernel_attention, &own, qkv->query, qkv->key, qkv->value);
}

weft_tensor weft_build_cosformer(struct weft_builder *builder, const struct weft_qkv *qkv,
                                 const weft_cosformer_params *params) {
    weft_cosformer_params own = *params;
    own.causal = is_causal(builder);
    own.lengths = weft_build_lengths(builder);
    BUILD_MIXER(cosformer, &own, qkv->query, qkv->key, qkv->value);
}

weft_tensor weft_build_fast_weight(struct weft_builder *builder, const struct weft_qkv *qkv,
                                   weft_tensor beta, uint32_t heads) {
    const weft_fast_weight_params params = {.heads = heads};
    BUILD_MIXER(fast_weight, &params, qkv->query, qkv->key, qkv->value, beta);
}

weft_tensor weft_build_gated_state(struct weft_builder *builder, weft_tensor q, weft_tensor k,
                                   weft_tensor v, const weft_gated_state_params *params) {
    BUILD_MIXER(gated_state, params, q, k, v);
}

weft_tensor weft_build_selective_scan(struct weft_builder *builder, weft_tensor x,
                                      weft_tensor delta, weft_tensor a, weft_tensor b,
                                      weft_tensor c, const weft_selective_scan_params *params) {
    BUILD_MIXER(selective_scan, params, x, delta, a, b, c);
}

uint32_t weft_build_reach(const struct weft_builder *builder) {
    return builder->decoding ? builder->decoding->length : builder->length;
}

weft_tensor weft_build_conv1d(struct weft_builder *builder, weft_tensor x, weft_tensor taps,
                              weft_tensor bias) {
    const weft_conv1d_params params = {.causal = true, .bias = bias};
    BUILD_MIXER(conv1d, &params, x, taps);
}

weft_tensor weft_build_toeplitz(struct weft_builder *builder, weft_tensor x,
                                weft_tensor coefficients) {
    const weft_toeplitz_params params = {.causal = true};
    BUILD_MIXER(toeplitz, &params, x, coefficients);
}

weft_tensor weft_build_gtu_of(struct weft_builder *builder, weft_tensor x,
                              const weft_gtu_params *params) {
    BUILD_MIXER(gtu, params, x);
}
