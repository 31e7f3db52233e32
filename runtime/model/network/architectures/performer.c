/* SPDX-License-Identifier: MIT */
/* Positive orthogonal random features (FAVOR+): Choromanski et al., "Rethinking attention with Performers", 2021. */
#include <float.h>

#include "model/network/architecture.h"
#include "model/network/network.h"

struct performer {
    uint32_t heads;
    uint32_t features;
    float feature_eps;
};

static const weft_field fields[] = {
    WEFT_FIELD_HEADS(struct performer, heads),
    {WEFT_INTEGER("num_features", struct performer, features, 1, 1048576), .required = true},
    {WEFT_REAL("feature_eps", struct performer, feature_eps, 0, FLT_MAX)},
};

static void set_defaults(void *config) {
    ((struct performer *)config)->feature_eps = 1e-6F;
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *config) {
    const struct performer *performer = config;
    struct weft_qkv qkv = weft_build_qkv(builder, x);
    uint32_t width = builder->width / performer->heads;
    weft_tensor w =
        weft_build_weight(builder, "features.weight", weft_shape_of(performer->features, width));
    struct weft_qkv features =
        weft_build_positive_features(builder, &qkv, w, performer->heads, 0, performer->feature_eps);
    weft_tensor mixed = weft_build_linear_attention(builder, &features, performer->heads, 0);
    return weft_build_linear(builder, mixed, "output", builder->width, builder->width);
}

const struct weft_model_family weft_family_performer = {
    .model_type = "performer",
    .fields = {fields, sizeof fields / sizeof fields[0]},
    .config_size = sizeof(struct performer),
    WEFT_ATTENTION_PARTS,
    .set_defaults = set_defaults,
    .recurrent = weft_family_always,
    .takes_lengths = weft_family_always,
    .mix = mix,
};
