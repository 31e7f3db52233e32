/* SPDX-License-Identifier: MIT */
/*
 * CLIP: Radford et al., "Learning transferable visual models from natural language supervision", 2021. A tower of texts, which is
 * causal and whose last token tells what all say, and one of images. model/towers.h has what both are together.
 */
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/tower_layout.h"

#define MOST_TOKENS  16777216 /* 2^24 */
#define MOST_VALUES  65536.0
#define USUAL_END    49407 /* of a config that does not say */
#define WIDTH_OF(to) WEFT_INTEGER("projection_dim", weft_network_config, to, 1, MOST_VALUES)

/* Other models of a file with both towers. */
static const char *const beside_texts[] = {"vision_model", "visual_projection", "logit_scale",
                                           "classifier", NULL};
static const char *const beside_images[] = {"text_model", "text_projection", "logit_scale", NULL};

static const weft_field projection_rows[] = {{WIDTH_OF(head.vector)}};
static const weft_field_table projection = {projection_rows, 1};

/* Only a class with a projection makes a vector. */
static void keep_vector(weft_network_config *config, const struct weft_head *head) {
    config->head.vector = head->task == WEFT_TASK_EMBED ? config->head.vector : 0;
}

/* ---- texts ---- */

static const struct weft_tensor_name text_names[] = {WEFT_TEXT_TOWER_NAMES, {.ours = NULL}};

static const struct weft_head text_heads[] = {
    {"TextModel", .task = WEFT_TASK_HIDDEN},
    {"TextModelWithProjection", WEFT_TASK_EMBED, WEFT_HEAD_END_TOKEN, .out = "text_projection"},
    {.name = NULL}};

static const weft_network_config text_defaults = {WEFT_TOWER_DEFAULTS(WEFT_ACTIVATION_NONE),
                                                  .layer.quick_gelu = true,
                                                  .vocab_size = 49408,
                                                  .hidden_size = 512,
                                                  .intermediate_size = 2048,
                                                  .layers = 12,
                                                  .attention.heads = 8,
                                                  .max_positions = 77,
                                                  .norm_eps = 1e-5F,
                                                  .causal = true,
                                                  .head.vector = 512,
                                                  .eos_token = -1,
                                                  .biases = {true, true, true, true, true, false}};

static weft_status check_text(weft_network_config *config, const struct weft_head *head,
                              const weft_json_fields *json) {
    int64_t end = USUAL_END;
    keep_vector(config, head);
    if (head->task != WEFT_TASK_EMBED) {
        return WEFT_OK;
    }
    if (json_object_get(json->object, "eos_token_id")) { /* null is not the usual one */
        WEFT_TRY(weft_json_integer(&end, json, "eos_token_id", 0, MOST_TOKENS));
    }
    config->head.end_token = end;
    return end < (int64_t)config->vocab_size
               ? WEFT_OK
               : weft_fields_refuse(json, "eos_token_id",
                                    "a token of the vocabulary, which ends a text");
}

static const struct weft_layout text_layout = {
    .stem = "CLIP",
    .encoder = "CLIPTextModel",
    .prefix = "text_model.",
    .fields = {&weft_tower_fields, &weft_text_tower_fields, &projection},
    .defaults = &text_defaults,
    .check = check_text,
    .names = text_names,
    .heads = text_heads,
    .unused = weft_tower_unused,
    .beside = beside_texts,
    .ignores_end = true};

const struct weft_model_family weft_family_clip_text_model = {.model_type = "clip_text_model",
                                                              WEFT_ENCODER_LAYOUT(&text_layout)};

/* ---- images ---- */

static const struct weft_tensor_name image_names[] = {
    WEFT_IMAGE_TOWER_NAMES,
    {WEFT_NAMED("embeddings.class", "embeddings.class_embedding")},
    {WEFT_NAMED("embeddings.norm", "pre_layrnorm")},
    {.ours = NULL}};

static const struct weft_head image_heads[] = {
    {"VisionModel", .task = WEFT_TASK_HIDDEN},
    {"VisionModelWithProjection", WEFT_TASK_EMBED, WEFT_HEAD_FIRST_TOKEN, .norm = "post_layernorm",
     .out = "visual_projection"},
    {"ForImageClassification", WEFT_TASK_CLASSIFY, WEFT_HEAD_PATCHES, .out = "classifier"},
    {.name = NULL}};

static const weft_network_config image_defaults = {
    WEFT_TOWER_DEFAULTS(WEFT_ACTIVATION_NONE),
    .layer = {.quick_gelu = true, .last_norm_absent = true},
    .hidden_size = 768,
    .intermediate_size = 3072,
    .layers = 12,
    .attention.heads = 12,
    .norm_eps = 1e-5F,
    .head.vector = 512,
    .embedding_norm = true,
    .eos_token = -1,
    .image = {.size = 224, .channels = 3, .patch = 32, .class_token = true},
    .biases = {true, true, true, true, true, false}};

static weft_status check_image(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    keep_vector(config, head);
    config->biases.head = head->task == WEFT_TASK_CLASSIFY;
    return weft_tower_check_image(config, head, json);
}

static const struct weft_layout image_layout = {
    .stem = "CLIP",
    .encoder = "CLIPVisionModel",
    .prefix = "vision_model.",
    .fields = {&weft_tower_fields, &weft_image_fields, &projection},
    .defaults = &image_defaults,
    .check = check_image,
    .names = image_names,
    .heads = image_heads,
    .unused = weft_tower_unused,
    .beside = beside_images,
    .ignores_end = true};

const struct weft_model_family weft_family_clip_vision_model = {.model_type = "clip_vision_model",
                                                                WEFT_ENCODER_LAYOUT(&image_layout)};
