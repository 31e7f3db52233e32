/* SPDX-License-Identifier: MIT */
/* What the published layouts of towers have alike: those that read images, and the texts' that stand beside them. */
#ifndef WEFT_MODEL_TOWER_LAYOUT_H
#define WEFT_MODEL_TOWER_LAYOUT_H

#include "model/network/layout.h"

/** The number of fields that all towers have: their sizes, activation and norms. */
extern const weft_field_table weft_tower_fields;
/** vocab_size and max_position_embeddings of a text's tower. */
extern const weft_field_table weft_text_tower_fields;
/** image_size, patch_size and num_channels. */
extern const weft_field_table weft_image_fields;

/** For weft_layout.check: derives the tokens of an image from its size, and refuses patches that are larger than it. */
weft_status weft_tower_check_image(weft_network_config *config, const struct weft_head *head,
                                   const weft_json_fields *json);

/* Rows of a list of names: the layers of CLIP and SigLIP, of both kinds. */
#define WEFT_TOWER_NAMES                                                              \
    {WEFT_NAMED("layers.#.mixer.query", "encoder.layers.#.self_attn.q_proj")},        \
        {WEFT_NAMED("layers.#.mixer.key", "encoder.layers.#.self_attn.k_proj")},      \
        {WEFT_NAMED("layers.#.mixer.value", "encoder.layers.#.self_attn.v_proj")},    \
        {WEFT_NAMED("layers.#.mixer.output", "encoder.layers.#.self_attn.out_proj")}, \
        {WEFT_NAMED("layers.#.mixer_norm", "encoder.layers.#.layer_norm1")},          \
        {WEFT_NAMED("layers.#.feed_forward.in", "encoder.layers.#.mlp.fc1")},         \
        {WEFT_NAMED("layers.#.feed_forward.out", "encoder.layers.#.mlp.fc2")}, {      \
        WEFT_NAMED("layers.#.feed_forward_norm", "encoder.layers.#.layer_norm2")      \
    }

/* The same of a text's embedding and end, and of an image's embedding. */
#define WEFT_TEXT_TOWER_NAMES                                                                      \
    {WEFT_NAMED("embeddings.tokens", "embeddings.token_embedding")},                               \
        {WEFT_NAMED("embeddings.positions", "embeddings.position_embedding")}, WEFT_TOWER_NAMES, { \
        WEFT_NAMED("norm", "final_layer_norm")                                                     \
    }
#define WEFT_IMAGE_TOWER_NAMES                                        \
    {WEFT_NAMED("embeddings.patches", "embeddings.patch_embedding")}, \
        {WEFT_NAMED("embeddings.positions", "embeddings.position_embedding")}, WEFT_TOWER_NAMES

/* Rows of a list of names: what ViT and DINOv2 have before their layers. */
#define WEFT_VIT_EMBEDDING_NAMES                                                         \
    {WEFT_NAMED("embeddings.patches", "embeddings.patch_embeddings.projection")},        \
        {WEFT_NAMED("embeddings.positions.weight", "embeddings.position_embeddings")}, { \
        WEFT_NAMED("embeddings.class", "embeddings.cls_token")                           \
    }

/* Numbers of positions, which older files have. */
extern const char *const weft_tower_unused[];

#define WEFT_TOWER_DEFAULTS(activation_name)                    \
    .norm = WEFT_NORM_LAYER, .norm_position = WEFT_NORM_BEFORE, \
    .position_embedding = WEFT_POSITION_LEARNED, .activation = (activation_name)

#endif
