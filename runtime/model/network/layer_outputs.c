/* SPDX-License-Identifier: MIT */
#include "model/network/layer_outputs.h"

#include <stdio.h>

#include "model/network/attention_weights.h"
#include "model/network/network.h"

static void add_output(struct weft_builder *builder, const char *stem, uint32_t number,
                       weft_tensor x) {
    char name[32];
    snprintf(name, sizeof name, "%s.%u", stem, number);
    if (builder->status == WEFT_OK) {
        builder->status = weft_graph_output(builder->graph, name, x);
    }
}

void weft_build_hidden_state(struct weft_builder *builder, uint32_t number, weft_tensor x) {
    if (builder->outputs && builder->outputs->hidden_states) {
        add_output(builder, "hidden_states", number, x);
    }
}

void weft_build_attention_map(struct weft_builder *builder, const struct weft_qkv *qkv,
                              uint32_t heads, uint32_t half_width) {
    if (!builder->outputs || !builder->outputs->attentions || builder->status != WEFT_OK) {
        return;
    }
    add_output(builder, "attentions", builder->layer,
               weft_build_attention_weights(builder, qkv, heads, half_width));
    builder->outputs->maps++;
}
