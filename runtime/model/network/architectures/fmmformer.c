/* SPDX-License-Identifier: MIT */
/*
 * A band of softmax attention and a far field of low rank, by kernels or by fast weights: Nguyen et al., "FMMformer:
 * Efficient and flexible transformer via decomposed near-field and far-field attention", 2021.
 */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "model/network/architecture.h"
#include "model/network/network.h"

#define NO_NEAR_FIELD UINT32_MAX
#define MAPS          "elu1, elu1_negated, tanh, tanh1, relu or exp"

/* Feature maps whose sum over channels never vanishes, as fast weights divide by it. */
#define FAST_WEIGHT_MAPS 2

struct fmmformer {
    uint32_t heads;
    uint32_t half_width; /* NO_NEAR_FIELD: null in the file */
    struct kernels {
        weft_kernel list[WEFT_MAX_KERNELS];
        uint32_t count;
    } kernels;
    struct fast_weights {
        weft_feature_map list[FAST_WEIGHT_MAPS];
        uint32_t count;
    } fast_weights;
    float attention_eps;
};

/* ---- fields ---- */

/* WEFT_FEATURE_COUNT when there is no such map. */
static weft_feature_map find_map(const json_t *word) {
    const char *name = json_is_string(word) ? json_string_value(word) : "";
    weft_feature_map map = WEFT_FEATURE_ELU1;
    while (map < WEFT_FEATURE_COUNT && strcmp(name, weft_feature_map_name(map)) != 0) {
        map++;
    }
    return map;
}

static weft_status refuse_item(const weft_json_fields *json, const char *name, size_t index,
                               const char *expected, const json_t *item) {
    char field[64];
    snprintf(field, sizeof field, "%s[%u]", name, (unsigned)index);
    return weft_json_fail(json, WEFT_BAD_FILE, field, expected, item);
}

static weft_status read_kernels(void *value, const weft_json_fields *json, const char *name) {
    struct kernels *kernels = value;
    if (!weft_json_has(json, name)) {
        return WEFT_OK;
    }
    const json_t *list = json_object_get(json->object, name);
    if (!json_is_array(list) || json_array_size(list) > WEFT_MAX_KERNELS) {
        char expected[64];
        snprintf(expected, sizeof expected, "a list of at most %d names", WEFT_MAX_KERNELS);
        return weft_json_fail(json, WEFT_BAD_FILE, name, expected, list);
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const weft_feature_map map = find_map(item);
        if (map == WEFT_FEATURE_COUNT) {
            return refuse_item(json, name, i, MAPS, item);
        }
        kernels->list[kernels->count++] = (weft_kernel){.map = map};
    }
    return WEFT_OK;
}

/* true, which is the paper's first map alone, or maps by their names. */
static weft_status read_fast_weights(void *value, const weft_json_fields *json, const char *name) {
    struct fast_weights *fast = value;
    const json_t *found = json_object_get(json->object, name);
    if (!weft_json_has(json, name) || json_is_false(found)) {
        return WEFT_OK;
    }
    if (json_is_true(found)) {
        fast->list[fast->count++] = WEFT_FEATURE_ELU1;
        return WEFT_OK;
    }
    if (!json_is_array(found) || json_array_size(found) > FAST_WEIGHT_MAPS) {
        return weft_json_fail(json, WEFT_BAD_FILE, name, "true, false or a list of at most 2 names",
                              found);
    }
    for (size_t i = 0; i < json_array_size(found); i++) {
        const json_t *item = json_array_get(found, i);
        const weft_feature_map map = find_map(item);
        if (map != WEFT_FEATURE_ELU1 && map != WEFT_FEATURE_ELU1_NEGATED) {
            return refuse_item(json, name, i, "elu1 or elu1_negated", item);
        }
        fast->list[fast->count++] = map;
    }
    return WEFT_OK;
}

static const weft_field fields[] = {
    WEFT_FIELD_HEADS(struct fmmformer, heads),
    {WEFT_INTEGER("half_width", struct fmmformer, half_width, 0, 16777216)},
    {WEFT_CUSTOM("kernels", struct fmmformer, kernels, read_kernels)},
    {WEFT_CUSTOM("fast_weight", struct fmmformer, fast_weights, read_fast_weights)},
    {WEFT_REAL("attention_eps", struct fmmformer, attention_eps, 0, FLT_MAX)},
};

static void set_defaults(void *config) {
    ((struct fmmformer *)config)->half_width = NO_NEAR_FIELD;
}

static bool has_near_field(const struct fmmformer *fmmformer) {
    return fmmformer->half_width != NO_NEAR_FIELD;
}

static bool has_far_field(const struct fmmformer *fmmformer) {
    return fmmformer->fast_weights.count > 0 || fmmformer->kernels.count > 0;
}

static weft_status check(void *config, const weft_network_config *network,
                         const weft_json_fields *json) {
    const struct fmmformer *fmmformer = config;
    if (fmmformer->fast_weights.count > 0 && !network->causal) {
        return weft_fields_refuse(json, "fast_weight", "false, as causal is false");
    }
    if (!has_near_field(fmmformer) && !has_far_field(fmmformer)) {
        return weft_fields_refuse(json, "half_width",
                                  "an integer, as there are neither kernels nor fast_weight");
    }
    return WEFT_OK;
}

/* ---- the mixer ---- */

static weft_tensor negated(struct weft_builder *builder, weft_tensor x) {
    weft_tensor out = {0};
    return WEFT_BUILT(builder, out, weft_graph_affine(&out, builder->graph, x, -1.0F, 0.0F));
}

/* The sum of all; none without any. The fast weights of all maps write with the same strength. */
static weft_tensor fast_weights(struct weft_builder *builder, weft_tensor x,
                                const struct weft_qkv *qkv, const struct fmmformer *fmmformer) {
    weft_tensor sum = {0};
    weft_tensor beta = {0};
    for (uint32_t i = 0; i < fmmformer->fast_weights.count; i++) {
        struct weft_qkv own = *qkv;
        if (fmmformer->fast_weights.list[i] == WEFT_FEATURE_ELU1_NEGATED) {
            own.query = negated(builder, qkv->query);
            own.key = negated(builder, qkv->key);
        }
        if (i == 0) {
            beta = weft_build_linear(builder, x, "beta", builder->width, fmmformer->heads);
            beta = weft_build_activate(builder, beta, WEFT_ACTIVATION_SIGMOID);
        }
        const weft_tensor one = weft_build_fast_weight(builder, &own, beta, fmmformer->heads);
        sum = i == 0 ? one : weft_build_binary(builder, WEFT_BINARY_ADD, sum, one);
    }
    return sum;
}

static weft_tensor far_field(struct weft_builder *builder, weft_tensor x,
                             const struct weft_qkv *qkv, const struct fmmformer *fmmformer) {
    const weft_tensor fast = fast_weights(builder, x, qkv, fmmformer);
    if (fmmformer->kernels.count == 0) {
        return fast;
    }
    const weft_tensor kernels = weft_build_kernel_attention(
        builder, qkv,
        weft_kernel_attention_params(.heads = fmmformer->heads, .kernels = fmmformer->kernels.list,
                                     .kernel_count = fmmformer->kernels.count,
                                     .epsilon = fmmformer->attention_eps));
    return fmmformer->fast_weights.count == 0
               ? kernels
               : weft_build_binary(builder, WEFT_BINARY_ADD, fast, kernels);
}

struct head_channels {
    uint32_t heads, width; /* channels of a head */
};

/* E [d, heads]: row c has a 1 at the head of channel c. */
static weft_status fill_head_channels(float *data, const void *user, const weft_host *host) {
    (void)host;
    const struct head_channels *shape = user;
    for (uint32_t c = 0; c < shape->heads * shape->width; c++) {
        data[(size_t)c * shape->heads + c / shape->width] = 1.0F;
    }
    return WEFT_OK;
}

/* sigmoid of [heads] for every channel, [1, d]: a product with 0 and 1, so exact; made once per plan, as weights are. */
static weft_tensor blend_weight(struct weft_builder *builder, const char *name, uint32_t heads) {
    struct head_channels shape = {.heads = heads, .width = builder->width / heads};
    weft_tensor raw = weft_build_weight(builder, name, weft_shape_of(heads));
    weft_tensor weight = weft_build_activate(builder, raw, WEFT_ACTIVATION_SIGMOID);
    weft_tensor channels = weft_build_constant(
        builder, "head_channels", weft_shape_of(builder->width, heads), fill_head_channels, &shape);
    weft_tensor none = {0};
    weft_tensor out = none;
    weight = weft_build_reshape(builder, weight, weft_shape_of(1, heads));
    out = WEFT_BUILT(builder, out, weft_graph_linear(&out, builder->graph, weight, channels, none));
    return weft_build_reshape(builder, out, weft_shape_of(builder->width));
}

/* w_1 D v + w_2 L v, equation (12). */
static weft_tensor blend(struct weft_builder *builder, weft_tensor near, weft_tensor far,
                         uint32_t heads) {
    weft_tensor near_weight = blend_weight(builder, "near_weight", heads);
    weft_tensor far_weight = blend_weight(builder, "far_weight", heads);
    near = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, near, near_weight);
    far = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, far, far_weight);
    return weft_build_binary(builder, WEFT_BINARY_ADD, near, far);
}

static weft_tensor fields_of(struct weft_builder *builder, weft_tensor x,
                             const struct fmmformer *fmmformer) {
    uint32_t heads = fmmformer->heads;
    struct weft_qkv qkv = weft_build_qkv(builder, x);
    if (!has_near_field(fmmformer)) {
        return far_field(builder, x, &qkv, fmmformer);
    }
    weft_tensor near = weft_build_banded_attention(builder, &qkv, heads, fmmformer->half_width);
    if (!has_far_field(fmmformer)) {
        return near;
    }
    return blend(builder, near, far_field(builder, x, &qkv, fmmformer), heads);
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *config) {
    weft_tensor mixed = fields_of(builder, x, config);
    return weft_build_linear(builder, mixed, "output", builder->width, builder->width);
}

const struct weft_model_family weft_family_fmmformer = {
    .model_type = "fmmformer",
    .fields = {fields, sizeof fields / sizeof fields[0]},
    .config_size = sizeof(struct fmmformer),
    WEFT_ATTENTION_PARTS,
    .set_defaults = set_defaults,
    .check = check,
    .recurrent = weft_family_always,
    .takes_lengths = weft_family_always,
    .mix = mix,
};
