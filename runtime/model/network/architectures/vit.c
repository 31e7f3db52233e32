/* SPDX-License-Identifier: MIT */
/* ViT: Dosovitskiy et al., "An image is worth 16x16 words: Transformers for image recognition at scale", 2021. */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/tower_layout.h"

#define LAYER "encoder.layer.#."

/* In memory transformers 5 has other names than in its files. */
static const struct weft_tensor_name names[] = {
    WEFT_VIT_EMBEDDING_NAMES,
    {WEFT_NAMED("layers.#.mixer.query", LAYER "attention.attention.query")},
    {WEFT_NAMED("layers.#.mixer.key", LAYER "attention.attention.key")},
    {WEFT_NAMED("layers.#.mixer.value", LAYER "attention.attention.value")},
    {WEFT_NAMED("layers.#.mixer.output", LAYER "attention.output.dense")},
    {WEFT_NAMED("layers.#.mixer_norm", LAYER "layernorm_before")},
    {WEFT_NAMED("layers.#.feed_forward.in", LAYER "intermediate.dense")},
    {WEFT_NAMED("layers.#.feed_forward.out", LAYER "output.dense")},
    {WEFT_NAMED("layers.#.feed_forward_norm", LAYER "layernorm_after")},
    {WEFT_NAMED("layers.#.mixer.query", "layers.#.attention.q_proj")},
    {WEFT_NAMED("layers.#.mixer.key", "layers.#.attention.k_proj")},
    {WEFT_NAMED("layers.#.mixer.value", "layers.#.attention.v_proj")},
    {WEFT_NAMED("layers.#.mixer.output", "layers.#.attention.o_proj")},
    {WEFT_NAMED("layers.#.mixer_norm", "layers.#.layernorm_before")},
    {WEFT_NAMED("layers.#.feed_forward.in", "layers.#.mlp.fc1")},
    {WEFT_NAMED("layers.#.feed_forward.out", "layers.#.mlp.fc2")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "layers.#.layernorm_after")},
    {WEFT_NAMED("norm", "layernorm")},
    {.ours = NULL}};

static const struct weft_head heads[] = {
    {"Model", .task = WEFT_TASK_HIDDEN},
    {"ForImageClassification", WEFT_TASK_CLASSIFY, WEFT_HEAD_FIRST_TOKEN, .out = "classifier"},
    {.name = NULL}};

/* The pooler reads the first token, and no class that is here reads it. */
static const char *const unused[] = {"embeddings.mask_token", "pooler.dense.weight",
                                     "pooler.dense.bias", NULL};

static const weft_field fields[] = {{WEFT_BOOL("qkv_bias", weft_network_config, biases.attention)}};
static const weft_field_table table = {fields, 1};

static const weft_network_config defaults = {
    WEFT_TOWER_DEFAULTS(WEFT_ACTIVATION_GELU_ERF),
    .hidden_size = 768,
    .intermediate_size = 3072,
    .layers = 12,
    .attention.heads = 12,
    .norm_eps = 1e-12F,
    .eos_token = -1,
    .image = {.size = 224, .channels = 3, .patch = 16, .class_token = true, .patch_bias = true},
    .biases = WEFT_ALL_BIASES};

static const struct weft_layout layout = {
    .stem = "ViT",
    .encoder = "ViTModel",
    .prefix = "vit.",
    .fields = {&weft_tower_fields, &weft_image_fields, &table},
    .defaults = &defaults,
    .check = weft_tower_check_image,
    .names = names,
    .heads = heads,
    .unused = unused,
    .ignores_end = true};

const struct weft_model_family weft_family_vit = {.model_type = "vit",
                                                  WEFT_ENCODER_LAYOUT(&layout)};
