/* SPDX-License-Identifier: MIT */
/* ReLU features, reweighted by cosines of distances: Qin et al., "cosFormer: Rethinking softmax in attention", 2022. */
#include <float.h>
#include <stdio.h>

#include "model/network/architecture.h"
#include "model/network/network.h"

struct cosformer {
    uint32_t heads;
    uint32_t length;
    float attention_eps;
};

static const weft_field fields[] = {
    WEFT_FIELD_HEADS(struct cosformer, heads),
    {WEFT_INTEGER("cosformer_length", struct cosformer, length, 0, 16777216)},
    {WEFT_REAL("attention_eps", struct cosformer, attention_eps, 0, FLT_MAX)},
};

/* A distance of M or more has no positive weight. */
static weft_status check(void *config, const weft_network_config *network,
                         const weft_json_fields *json) {
    const struct cosformer *cosformer = config;
    if (cosformer->length == 0 || cosformer->length >= network->max_positions) {
        return WEFT_OK;
    }
    char expected[96];
    snprintf(expected, sizeof expected, "0, or at least max_position_embeddings %u",
             (unsigned)network->max_positions);
    return weft_fields_refuse(json, "cosformer_length", expected);
}

/* Without a length of its own the weights depend on the sequence's. */
static bool has_length(const void *config) {
    return ((const struct cosformer *)config)->length != 0;
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *config) {
    const struct cosformer *cosformer = config;
    struct weft_qkv qkv = weft_build_qkv(builder, x);
    weft_tensor mixed = weft_build_cosformer(
        builder, &qkv,
        weft_cosformer_params(.heads = cosformer->heads, .length = cosformer->length,
                              .epsilon = cosformer->attention_eps));
    return weft_build_linear(builder, mixed, "output", builder->width, builder->width);
}

const struct weft_model_family weft_family_cosformer = {
    .model_type = "cosformer",
    .fields = {fields, sizeof fields / sizeof fields[0]},
    .config_size = sizeof(struct cosformer),
    WEFT_ATTENTION_PARTS,
    .check = check,
    .recurrent = has_length,
    .takes_lengths = has_length,
    .mix = mix,
};
