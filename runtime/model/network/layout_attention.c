/* SPDX-License-Identifier: MIT */
/* Attention as config.json of a published layout describes it. */
#include "model/network/family.h"
#include "model/network/layout.h"
#include "model/network/network.h"

static weft_tensor turn(struct weft_builder *builder, weft_tensor x, uint32_t heads, float base) {
    const weft_rotary *rotary = &builder->network->config.rotary;
    const struct weft_step_builder *decoding = builder->decoding;
    const bool one = decoding && !decoding->prompt;
    weft_tensor out = {0};
    return WEFT_BUILT(
        builder, out,
        weft_graph_rope(
            &out, builder->graph, x,
            weft_rope_params(.heads = heads, .width = rotary->width, .base = base,
                             .interleaved = rotary->interleaved,
                             .scale_factor = rotary->scale_factor,
                             .scale_length = rotary->scale_length, .scale_low = rotary->scale_low,
                             .scale_high = rotary->scale_high,
                             .positions = one ? decoding->position : (weft_tensor){0})));
}

/* Normalizes each head by itself. */
static weft_tensor norm_heads(struct weft_builder *builder, weft_tensor x, const char *name,
                              uint32_t heads) {
    const uint32_t size = weft_network_head_size(&builder->network->config);
    const uint32_t n = builder->length;
    x = weft_build_reshape(builder, x, weft_shape_of(builder->batch, n, heads, size));
    x = weft_build_norm(builder, x, name, size);
    return weft_build_reshape(builder, x, weft_shape_of(builder->batch, n, heads * size));
}

struct weft_qkv weft_layout_qkv(struct weft_builder *builder, weft_tensor x) {
    const weft_network_config *config = &builder->network->config;
    const uint32_t d = builder->width;
    const uint32_t size = weft_network_head_size(config);
    const uint32_t kv_heads = config->kv_heads != 0 ? config->kv_heads : config->heads;
    const bool bias = config->biases.attention;
    return (struct weft_qkv){.query =
                                 weft_build_map(builder, x, "query", d, config->heads * size, bias),
                             .key = weft_build_map(builder, x, "key", d, kv_heads * size, bias),
                             .value = weft_build_map(builder, x, "value", d, kv_heads * size, bias),
                             .kv_heads = kv_heads};
}

weft_tensor weft_layout_mix(struct weft_builder *builder, struct weft_qkv *qkv) {
    const weft_network_config *config = &builder->network->config;
    const bool local = weft_network_layer_is_local(config, builder->layer);
    if (config->query_key_norm) {
        qkv->query = norm_heads(builder, qkv->query, "query_norm", config->heads);
        qkv->key = norm_heads(builder, qkv->key, "key_norm", qkv->kv_heads);
    }
    if (config->rotary.base > 0) {
        const float base = local ? config->local_base : config->rotary.base;
        qkv->query = turn(builder, qkv->query, config->heads, base);
        qkv->key = turn(builder, qkv->key, qkv->kv_heads, base);
    }
    weft_tensor mixed =
        local ? weft_build_banded_attention(builder, qkv, config->heads, config->half_width)
              : weft_build_softmax_attention(builder, qkv, config->heads);
    return weft_build_map(builder, mixed, "output", config->heads * weft_network_head_size(config),
                          builder->width, config->biases.output);
}

weft_tensor weft_layout_attention(struct weft_builder *builder, weft_tensor x, const void *config) {
    (void)config;
    struct weft_qkv qkv = weft_layout_qkv(builder, x);
    return weft_layout_mix(builder, &qkv);
}
