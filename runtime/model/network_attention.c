/* SPDX-License-Identifier: MIT */
/* The mixers with queries, keys and values, as families build them. */
#include "model/network.h"

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
    if (is_causal(builder)) {
        return weft_build_banded_attention(builder, qkv, heads, UINT32_MAX);
    }
    weft_tensor out = {0};
    if (builder->status != WEFT_OK) {
        return out;
    }
    weft_status status = weft_graph_attention(&out, builder->graph, qkv->query, qkv->key,
                                              qkv->value, weft_attention_params(.heads = heads));
    return weft_built(builder, status, out);
}

weft_tensor weft_build_banded_attention(struct weft_builder *builder, const struct weft_qkv *qkv,
                                        uint32_t heads, uint32_t half_width) {
    weft_tensor out = {0};
    if (builder->status != WEFT_OK) {
        return out;
    }
    uint32_t widest = builder->length - 1;
    weft_status status = weft_graph_banded_attention(
        &out, builder->graph, qkv->query, qkv->key, qkv->value,
        weft_banded_attention_params(.heads = heads, .causal = is_causal(builder),
                                     .half_width = half_width < widest ? half_width : widest));
    return weft_built(builder, status, out);
}

weft_tensor weft_build_linear_attention(struct weft_builder *builder, const struct weft_qkv *qkv,
                                        uint32_t heads, float epsilon) {
    weft_tensor out = {0};
    if (builder->status != WEFT_OK) {
        return out;
    }
    weft_status status = weft_graph_linear_attention(
        &out, builder->graph, qkv->query, qkv->key, qkv->value,
        weft_linear_attention_params(.heads = heads, .causal = is_causal(builder),
                                     .epsilon = epsilon));
    return weft_built(builder, status, out);
}

weft_tensor weft_build_kernel_attention(struct weft_builder *builder, const struct weft_qkv *qkv,
                                        const weft_kernel_attention_params *params) {
    weft_tensor out = {0};
    if (builder->status != WEFT_OK) {
        return out;
    }
    weft_kernel_attention_params causal = *params;
    causal.causal = is_causal(builder);
    weft_status status = weft_graph_kernel_attention(&out, builder->graph, qkv->query, qkv->key,
                                                     qkv->value, &causal);
    return weft_built(builder, status, out);
}

weft_tensor weft_build_cosformer(struct weft_builder *builder, const struct weft_qkv *qkv,
                                 const weft_cosformer_params *params) {
    weft_tensor out = {0};
    if (builder->status != WEFT_OK) {
        return out;
    }
    weft_cosformer_params causal = *params;
    causal.causal = is_causal(builder);
    weft_status status =
        weft_graph_cosformer(&out, builder->graph, qkv->query, qkv->key, qkv->value, &causal);
    return weft_built(builder, status, out);
}

weft_tensor weft_build_fast_weight(struct weft_builder *builder, const struct weft_qkv *qkv,
                                   weft_tensor beta, uint32_t heads) {
    weft_tensor out = {0};
    if (builder->status != WEFT_OK) {
        return out;
    }
    weft_status status =
        weft_graph_fast_weight(&out, builder->graph, qkv->query, qkv->key, qkv->value, beta,
                               weft_fast_weight_params(.heads = heads));
    return weft_built(builder, status, out);
}
