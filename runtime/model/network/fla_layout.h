/* SPDX-License-Identifier: MIT */
/* What models of flash-linear-attention (github.com/fla-org/flash-linear-attention) have alike in their config.json. */
#ifndef WEFT_MODEL_FLA_LAYOUT_H
#define WEFT_MODEL_FLA_LAYOUT_H

#include "model/network/layout.h"

/**
 * Sizes, norm_eps and tied embeddings. `attn` is to be null: Weft has no fla model in which some layers are attention. A state
 * has one size however long the text is, so max_position_embeddings is not read.
 */
extern const weft_field_table weft_fla_fields;

/** How many channels a feed-forward has where intermediate_size does not say. */
struct weft_fla_width {
    double ratio, part; /* hidden_ratio where it is missing or null; times this */
    uint32_t multiple;  /* up to the next one of it */
};
/** Reads intermediate_size, or derives it from hidden_ratio. */
weft_status weft_fla_read_width(weft_network_config *config, const struct weft_fla_width *usual,
                                const weft_json_fields *json);

/** WEFT_UNSUPPORTED where hidden_act is another than `only`, which it is where it is missing. */
weft_status weft_fla_check_activation(const weft_json_fields *json, const char *only);

#endif
