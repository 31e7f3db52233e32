/* SPDX-License-Identifier: MIT */
/* Softmax attention: Vaswani et al., "Attention is all you need", 2017. The baseline of all others. */
#include "model/network.h"

struct transformer {
    uint32_t heads;
};

static const weft_field fields[] = {WEFT_FIELD_HEADS(struct transformer, heads)};

static weft_status check(void *config, const weft_network_config *network,
                         const weft_json_fields *json) {
    const struct transformer *transformer = config;
    return weft_family_check_heads(transformer->heads, network, json);
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *config) {
    const struct transformer *transformer = config;
    struct weft_qkv qkv = weft_build_qkv(builder, x);
    weft_tensor mixed = weft_build_softmax_attention(builder, &qkv, transformer->heads);
    return weft_build_linear(builder, mixed, "output", builder->width, builder->width);
}

static const struct weft_model_family transformer = {
    .fields = {fields, sizeof fields / sizeof fields[0]},
    .config_size = sizeof(struct transformer),
    WEFT_ATTENTION_PARTS,
    .check = check,
    .recurrent = weft_family_is_recurrent,
    .mix = mix,
};

const struct weft_architecture weft_architecture_transformer =
    WEFT_NETWORK_ARCHITECTURE("transformer", transformer);
