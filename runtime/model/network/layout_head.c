/* SPDX-License-Identifier: MIT */
/* Heads that the classes of transformers have on top of the encoder. */
#include <stdio.h>

#include <weft/movement.h>

#include "model/network/family.h"
#include "model/network/layout.h"
#include "model/network/network.h"

static const weft_tensor none = {0};

static weft_tensor first_and_patches(struct weft_builder *builder, weft_tensor x) {
    const weft_tensor parts[] = {weft_build_pool(builder, x, WEFT_POOLING_FIRST),
                                 weft_build_patch_mean(builder, x)};
    weft_tensor out = none;
    return WEFT_BUILT(builder, out, weft_graph_concat(&out, builder->graph, parts, 2, 1));
}

static weft_tensor read(struct weft_builder *builder, weft_tensor x, enum weft_head_input input) {
    switch (input) {
    case WEFT_HEAD_EACH_TOKEN:
        return x;
    case WEFT_HEAD_FIRST_TOKEN:
        return weft_build_pool(builder, x, WEFT_POOLING_FIRST);
    case WEFT_HEAD_POOLED:
        return weft_build_pool(builder, x, (weft_pooling)builder->network->config.pooling);
    case WEFT_HEAD_END_TOKEN:
        return weft_build_end_token(builder, x);
    case WEFT_HEAD_PATCHES:
        return weft_build_patch_mean(builder, x);
    case WEFT_HEAD_FIRST_AND_PATCHES:
        return first_and_patches(builder, x);
    case WEFT_HEAD_PROBE:
        return weft_build_probe(builder, x);
    }
    return none;
}

/* The factor of a vocabulary's table has the table's width. */
static uint32_t inner_width(const weft_network_config *config, const struct weft_head *head) {
    const uint32_t parts = head->input == WEFT_HEAD_FIRST_AND_PATCHES ? 2 : 1;
    return weft_head_is_language(head) ? weft_network_embedding_size(config)
                                       : parts * config->hidden_size;
}

/* A config without labels says nothing about their number; the classifier has a row for each. */
static uint32_t output_count(struct weft_network *network, const struct weft_head *head) {
    weft_network_config *config = &network->config;
    if (head->outputs != 0) {
        return head->outputs;
    }
    if (head->task == WEFT_TASK_EMBED) {
        return config->head.vector;
    }
    if (weft_head_is_language(head)) {
        return config->vocab_size;
    }
    if (network->checkpoint && !config->labels) {
        struct weft_stored_name stored;
        char name[WEFT_SCOPE_SIZE];
        snprintf(name, sizeof name, "%s.weight", head->out);
        weft_layout_find(&stored, network, name);
        const uint32_t rows = weft_checkpoint_rows(network->checkpoint, stored.text);
        config->label_count = rows != 0 ? rows : config->label_count;
    }
    return config->label_count;
}

/* The last map's bias, which a file may have under a second name: where nothing is tied the second is of no use. */
static weft_tensor last_bias(struct weft_builder *builder, const struct weft_head *head,
                             uint32_t outputs) {
    char name[WEFT_SCOPE_SIZE];
    if (!builder->network->config.biases.head) {
        return none;
    }
    snprintf(name, sizeof name, "%s.bias", head->out);
    const bool own = !builder->network->config.tie_word_embeddings && weft_build_has(builder, name);
    return head->bias && !own ? weft_build_tied(builder, name, head->bias, weft_shape_of(outputs))
                              : weft_build_weight(builder, name, weft_shape_of(outputs));
}

static weft_tensor last_map(struct weft_builder *builder, weft_tensor x,
                            const struct weft_head *head, uint32_t width) {
    const weft_network_config *config = &builder->network->config;
    const uint32_t outputs = output_count(builder->network, head);
    const bool vocabulary = weft_head_is_language(head);
    const weft_shape shape = weft_shape_of(outputs, width);
    char name[WEFT_SCOPE_SIZE];
    snprintf(name, sizeof name, "%s.weight", head->out);
    if (head->older && !weft_build_has(builder, name)) {
        snprintf(name, sizeof name, "%s.weight", head->older);
    }
    /* A decoder's is the table wherever the file has no other, whatever the config says. */
    const bool tied = config->tie_word_embeddings || head->task == WEFT_TASK_TEXT_TO_TEXT;
    weft_tensor matrix = vocabulary && tied
                             ? weft_build_tied(builder, name, "embeddings.tokens.weight", shape)
                             : weft_build_weight(builder, name, shape);
    weft_tensor bias = last_bias(builder, head, outputs);
    weft_tensor out = none;
    out = WEFT_BUILT(builder, out, weft_graph_linear(&out, builder->graph, x, matrix, bias));
    if (!vocabulary) {
        return out;
    }
    return weft_build_cap(builder, weft_build_scale(builder, out, config->head.scale),
                          config->head.cap);
}

weft_tensor weft_layout_build_head(struct weft_builder *builder, weft_tensor x) {
    const struct weft_head *head = builder->network->head;
    const weft_network_config *config = &builder->network->config;
    if (builder->status != WEFT_OK) {
        return x;
    }
    const uint32_t width = inner_width(config, head);
    x = read(builder, x, head->input);
    if (head->dense) {
        x = weft_build_map(builder, x, head->dense, config->hidden_size, width,
                           config->biases.head_dense);
        x = weft_build_activate(builder, x,
                                head->own_activation ? config->head.activation : head->activation);
    }
    if (head->norm) {
        x = weft_build_norm(builder, x, head->norm, width);
    }
    return head->out ? last_map(builder, x, head, width) : x;
}
