/* SPDX-License-Identifier: MIT */
/* DINOv2: Oquab et al., "DINOv2: Learning robust visual features without supervision", 2023. */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/tower_layout.h"

#define LAYER "encoder.layer.#."
#define MIXER LAYER "attention."

/* In memory transformers 5 has other names of attention and gates than in its files. */
static const struct weft_tensor_name names[] = {
    WEFT_VIT_EMBEDDING_NAMES,
    {WEFT_NAMED("layers.#.mixer.query", MIXER "attention.query")},
    {WEFT_NAMED("layers.#.mixer.key", MIXER "attention.key")},
    {WEFT_NAMED("layers.#.mixer.value", MIXER "attention.value")},
    {WEFT_NAMED("layers.#.mixer.output", MIXER "output.dense")},
    {WEFT_NAMED("layers.#.mixer.query", MIXER "q_proj")},
    {WEFT_NAMED("layers.#.mixer.key", MIXER "k_proj")},
    {WEFT_NAMED("layers.#.mixer.value", MIXER "v_proj")},
    {WEFT_NAMED("layers.#.mixer.output", MIXER "o_proj")},
    {WEFT_NAMED("layers.#.mixer_norm", LAYER "norm1")},
    {WEFT_NAMED("layers.#.mixer_norm_scale", LAYER "layer_scale1.lambda1")},
    {WEFT_NAMED("layers.#.feed_forward.in", LAYER "mlp.fc1")},
    {WEFT_NAMED("layers.#.feed_forward.out", LAYER "mlp.fc2")},
    {WEFT_NAMED("layers.#.feed_forward.l1", LAYER "mlp.gate_proj")},
    {WEFT_NAMED("layers.#.feed_forward.l2", LAYER "mlp.up_proj")},
    {WEFT_NAMED("layers.#.feed_forward.l3", LAYER "mlp.down_proj")},
    {WEFT_NAMED("layers.#.feed_forward.l1", LAYER "mlp.weights_in"), WEFT_PART(0, 2)},
    {WEFT_NAMED("layers.#.feed_forward.l2", LAYER "mlp.weights_in"), WEFT_PART(1, 2)},
    {WEFT_NAMED("layers.#.feed_forward.l3", LAYER "mlp.weights_out")},
    {WEFT_NAMED("layers.#.feed_forward_norm", LAYER "norm2")},
    {WEFT_NAMED("layers.#.feed_forward_norm_scale", LAYER "layer_scale2.lambda1")},
    {WEFT_NAMED("norm", "layernorm")},
    {.ours = NULL}};

static const struct weft_head heads[] = {{"Model", .task = WEFT_TASK_HIDDEN},
                                         {"ForImageClassification", WEFT_TASK_CLASSIFY,
                                          WEFT_HEAD_FIRST_AND_PATCHES, .out = "classifier"},
                                         {.name = NULL}};

static const char *const unused[] = {"embeddings.mask_token", NULL};

/* The feed-forward is so many times as wide as a layer; one with gates two thirds of that, rounded up to a multiple of 8. */
static weft_status read_width(void *value, const weft_json_fields *json, const char *name) {
    weft_network_config *config = value;
    int64_t times = 4;
    bool gated = false;
    WEFT_TRY(weft_json_optional_integer(&times, json, name, 1, 16));
    WEFT_TRY(weft_json_optional_bool(&gated, json, "use_swiglu_ffn"));
    config->intermediate_size = config->hidden_size * (uint32_t)times;
    if (gated) {
        config->intermediate_size = (config->intermediate_size * 2 / 3 + 7) / 8 * 8;
        config->feed_forward = WEFT_FEED_FORWARD_GLU;
        config->activation = WEFT_ACTIVATION_SILU;
        config->layer.quick_gelu = false;
    }
    return WEFT_OK;
}

static const weft_field fields[] = {
    {WEFT_BOOL("qkv_bias", weft_network_config, biases.attention)},
    {.name = "mlp_ratio", .kind = WEFT_FIELD_CUSTOM, .read = read_width}};
static const weft_field_table table = {fields, sizeof fields / sizeof fields[0]};

static const weft_network_config defaults = {
    WEFT_TOWER_DEFAULTS(WEFT_ACTIVATION_GELU_ERF),
    .hidden_size = 768,
    .layers = 12,
    .attention.heads = 12,
    .norm_eps = 1e-6F,
    .layer.part_scales = true,
    .eos_token = -1,
    .image = {.size = 224, .channels = 3, .patch = 14, .class_token = true, .patch_bias = true},
    .biases = WEFT_ALL_BIASES};

static const struct weft_layout layout = {
    .stem = "Dinov2",
    .encoder = "Dinov2Model",
    .prefix = "dinov2.",
    .fields = {&weft_tower_fields, &weft_image_fields, &table},
    .defaults = &defaults,
    .check = weft_tower_check_image,
    .names = names,
    .heads = heads,
    .unused = unused,
    .ignores_end = true};

const struct weft_model_family weft_family_dinov2 = {.model_type = "dinov2",
                                                     WEFT_ENCODER_LAYOUT(&layout)};
