/* SPDX-License-Identifier: MIT */
/* Softmax attention: Vaswani et al., "Attention is all you need", 2017. The baseline for all others. */
#include "model/network/architecture.h"
#include "model/network/network.h"

struct transformer {
    uint32_t heads;
};

static const weft_field fields[] = {WEFT_FIELD_HEADS(struct transformer, heads)};

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *config) {
    const struct transformer *transformer = config;
    struct weft_qkv qkv = weft_build_qkv(builder, x);
    weft_tensor mixed = weft_build_softmax_attention(builder, &qkv, transformer->heads);
    return weft_build_linear(builder, mixed, "output", builder->width, builder->width);
}

const struct weft_model_family weft_family_transformer = {
    .model_type = "transformer",
    .fields = {fields, sizeof fields / sizeof fields[0]},
    .config_size = sizeof(struct transformer),
    WEFT_ATTENTION_PARTS,
    .recurrent = weft_family_always,
    .takes_lengths = weft_family_always,
    .mix = mix,
};
