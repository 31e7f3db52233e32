/* SPDX-License-Identifier: MIT */
#include "model/network/tower_layout.h"

#include <string.h>

#include "core/try.h"
#include "model/network/family.h"

#define COUNT(array)     (sizeof(array) / sizeof(array)[0])
#define MOST_POSITIONS   16777216.0 /* 2^24 */
#define MOST_PATCH_EDGES 4096U      /* the same for patches and a class token */
#define MOST_VALUES      1048576U   /* of a patch, 2^20: as wide as a feed-forward may be */

/* An activation of transformers, or CLIP's own. */
static weft_status read_activation(void *value, const weft_json_fields *json, const char *name) {
    weft_network_config *config = value;
    const char *text = NULL;
    WEFT_TRY(weft_json_optional_string(&text, json, name));
    if (text) {
        config->layer.quick_gelu = strcmp(text, "quick_gelu") == 0;
    }
    return config->layer.quick_gelu ? WEFT_OK
                                    : weft_field_activation(&config->activation, json, name);
}

static const weft_field tower_rows[] = {
    {WEFT_INTEGER("hidden_size", weft_network_config, hidden_size, 1, 65536)},
    {WEFT_INTEGER("num_hidden_layers", weft_network_config, layers, 1, WEFT_MAX_LAYERS)},
    {WEFT_INTEGER("num_attention_heads", weft_network_config, attention.heads, 1, 65536)},
    {WEFT_INTEGER("intermediate_size", weft_network_config, intermediate_size, 1, 1048576)},
    {.name = "hidden_act", .kind = WEFT_FIELD_CUSTOM, .read = read_activation},
    {WEFT_REAL("layer_norm_eps", weft_network_config, norm_eps, 0, 1)},
};
const weft_field_table weft_tower_fields = {tower_rows, COUNT(tower_rows)};

static const weft_field text_rows[] = {
    {WEFT_INTEGER("vocab_size", weft_network_config, vocab_size, 1, MOST_POSITIONS)},
    {WEFT_INTEGER("max_position_embeddings", weft_network_config, max_positions, 1,
                  MOST_POSITIONS)},
};
const weft_field_table weft_text_tower_fields = {text_rows, COUNT(text_rows)};

/* A list of two numbers is refused: images are squares. */
static const weft_field image_rows[] = {
    {WEFT_INTEGER("image_size", weft_network_config, image.size, 1, 16384)},
    {WEFT_INTEGER("patch_size", weft_network_config, image.patch, 1, 16384)},
    {WEFT_INTEGER("num_channels", weft_network_config, image.channels, 1, 1024)},
};
const weft_field_table weft_image_fields = {image_rows, COUNT(image_rows)};

weft_status weft_tower_check_image(weft_network_config *config, const struct weft_head *head,
                                   const weft_json_fields *json) {
    (void)head;
    const weft_image_form *image = &config->image;
    const uint32_t edge = image->size / image->patch;
    if (edge == 0) {
        return weft_fields_refuse(json, "patch_size", "at most image_size");
    }
    if (edge >= MOST_PATCH_EDGES) {
        return weft_fields_refuse(json, "patch_size", "more than a 4096th of image_size");
    }
    if ((uint64_t)image->channels * image->patch * image->patch > MOST_VALUES) {
        return weft_fields_refuse(json, "patch_size",
                                  "patches of at most 1048576 values, over all num_channels");
    }
    config->max_positions = edge * edge + (image->class_token ? 1 : 0);
    return (uint64_t)config->max_positions * config->hidden_size <= UINT32_MAX
               ? WEFT_OK
               : weft_fields_refuse(json, "image_size",
                                    "so few patches that their positions, hidden_size values each, "
                                    "have at most 4294967295");
}

const char *const weft_tower_unused[] = {"embeddings.position_ids", NULL};
