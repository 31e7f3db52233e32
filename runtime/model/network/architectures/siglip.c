/* SPDX-License-Identifier: MIT */
/*
 * SigLIP: Zhai et al., "Sigmoid loss for language image pre-training", 2023; SigLIP 2 with images of one size: Tschannen et al.,
 * 2025. Texts are padded to one length, and no mask hides it: the last token, which may be padding, tells what all say. Their
 * tokenizers change texts by code that no file of a folder has, so that tokens are what is read.
 */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/tower_layout.h"

/* Other models of a file with both towers. */
static const char *const beside_texts[] = {"vision_model", "logit_scale", "logit_bias",
                                           "classifier", NULL};
/* A classifier has a learned query that it does not ask. */
static const char *const beside_images[] = {"text_model", "logit_scale",       "logit_bias",
                                            "head",       "vision_model.head", NULL};

/* ---- texts ---- */

static const struct weft_tensor_name text_names[] = {WEFT_TEXT_TOWER_NAMES, {.ours = NULL}};

static const struct weft_head text_heads[] = {
    {"TextModel", WEFT_TASK_EMBED, WEFT_HEAD_POOLED, .out = "head"}, {.name = NULL}};

static const weft_network_config text_defaults = {WEFT_TOWER_DEFAULTS(WEFT_ACTIVATION_GELU_TANH),
                                                  .vocab_size = 32000,
                                                  .hidden_size = 768,
                                                  .intermediate_size = 3072,
                                                  .layers = 12,
                                                  .attention.heads = 12,
                                                  .max_positions = 64,
                                                  .norm_eps = 1e-6F,
                                                  .eos_token = -1,
                                                  .embedding.padded = true,
                                                  .pooling = WEFT_POOLING_LAST,
                                                  .biases = WEFT_ALL_BIASES};

static const weft_field text_rows[] = {
    {WEFT_INTEGER("projection_size", weft_network_config, head.vector, 1, 65536)}};
static const weft_field_table text_table = {text_rows, 1};

static weft_status check_text(weft_network_config *config, const struct weft_head *head,
                              const weft_json_fields *json) {
    (void)head;
    (void)json;
    config->head.vector = config->head.vector != 0 ? config->head.vector : config->hidden_size;
    return WEFT_OK;
}

static const struct weft_layout text_layout = {
    .stem = "Siglip",
    .encoder = "SiglipTextModel",
    .prefix = "text_model.",
    .fields = {&weft_tower_fields, &weft_text_tower_fields, &text_table},
    .defaults = &text_defaults,
    .check = check_text,
    .names = text_names,
    .heads = text_heads,
    .unused = weft_tower_unused,
    .beside = beside_texts,
    .ignores_end = true};

const struct weft_model_family weft_family_siglip_text_model = {.model_type = "siglip_text_model",
                                                                WEFT_ENCODER_LAYOUT(&text_layout)};

/* ---- images ---- */

#define QUERIES "head.attention.in_proj_"

static const struct weft_tensor_name image_names[] = {
    WEFT_IMAGE_TOWER_NAMES,
    {WEFT_NAMED("norm", "post_layernorm")},
    {WEFT_NAMED("probe.query", "head.probe")},
    {WEFT_NAMED("probe.query_map.weight", QUERIES "weight"), WEFT_PART(0, 3)},
    {WEFT_NAMED("probe.key_map.weight", QUERIES "weight"), WEFT_PART(1, 3)},
    {WEFT_NAMED("probe.value_map.weight", QUERIES "weight"), WEFT_PART(2, 3)},
    {WEFT_NAMED("probe.query_map.bias", QUERIES "bias"), WEFT_PART(0, 3)},
    {WEFT_NAMED("probe.key_map.bias", QUERIES "bias"), WEFT_PART(1, 3)},
    {WEFT_NAMED("probe.value_map.bias", QUERIES "bias"), WEFT_PART(2, 3)},
    {WEFT_NAMED("probe.output", "head.attention.out_proj")},
    {WEFT_NAMED("probe.norm", "head.layernorm")},
    {WEFT_NAMED("probe.feed_forward.in", "head.mlp.fc1")},
    {WEFT_NAMED("probe.feed_forward.out", "head.mlp.fc2")},
    {.ours = NULL}};

static const struct weft_head image_heads[] = {
    {"VisionModel", .task = WEFT_TASK_HIDDEN, .unless = "vision_use_head"},
    {"VisionModel", .task = WEFT_TASK_EMBED, .input = WEFT_HEAD_PROBE},
    {"ForImageClassification", WEFT_TASK_CLASSIFY, WEFT_HEAD_PATCHES, .out = "classifier"},
    {.name = NULL}};

static const weft_network_config image_defaults = {
    WEFT_TOWER_DEFAULTS(WEFT_ACTIVATION_GELU_TANH),
    .hidden_size = 768,
    .intermediate_size = 3072,
    .layers = 12,
    .attention.heads = 12,
    .norm_eps = 1e-6F,
    .eos_token = -1,
    .image = {.size = 224, .channels = 3, .patch = 16, .patch_bias = true},
    .biases = WEFT_ALL_BIASES};

static weft_status check_image(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    bool asks = true;
    WEFT_TRY(weft_json_optional_bool(&asks, json, "vision_use_head"));
    config->head.vector = head->task == WEFT_TASK_EMBED ? config->hidden_size : 0;
    return weft_tower_check_image(config, head, json);
}

static const struct weft_layout image_layout = {.stem = "Siglip",
                                                .encoder = "SiglipVisionModel",
                                                .prefix = "vision_model.",
                                                .fields = {&weft_tower_fields, &weft_image_fields},
                                                .defaults = &image_defaults,
                                                .check = check_image,
                                                .names = image_names,
                                                .heads = image_heads,
                                                .unused = weft_tower_unused,
                                                .beside = beside_images,
                                                .ignores_end = true};

const struct weft_model_family weft_family_siglip_vision_model = {
    .model_type = "siglip_vision_model", WEFT_ENCODER_LAYOUT(&image_layout)};
