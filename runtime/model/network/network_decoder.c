/* SPDX-License-Identifier: MIT */
#include "model/network/network_decoder.h"

#include <stdio.h>

#include <weft/movement.h>

#include "core/try.h"
#include "model/network/family.h"

#define MOST_MEMORY ((size_t)2 * WEFT_MAX_LAYERS)

static uint32_t layers_of(const struct weft_network *network) {
    const struct weft_model_family *family = network->family;
    return weft_network_task(&network->config) == WEFT_TASK_TEXT_TO_TEXT && family->decoder_layers
               ? family->decoder_layers(network->family_config)
               : 0;
}

uint32_t weft_network_memory_count(const struct weft_network *network) {
    return 2 * layers_of(network);
}

uint32_t weft_network_memory_width(const struct weft_network *network) {
    return network->config.attention.heads * weft_network_head_size(&network->config);
}

int32_t weft_network_start_token(const struct weft_network *network) {
    return network->family->start_token(network->family_config);
}

uint32_t weft_network_decoder_positions(const struct weft_network *network) {
    const struct weft_model_family *family = network->family;
    return family->decoder_positions ? family->decoder_positions(network->family_config) : 0;
}

bool weft_network_has_distances(const struct weft_network *network) {
    return network->config.attention.distance_kinds > 0;
}

int32_t weft_network_distance_kind(const struct weft_network *network, uint32_t distance) {
    const weft_attention_form *form = &network->config.attention;
    return (int32_t)weft_distance_kind(distance, form->distance_kinds, form->farthest);
}

/* ---- parts ---- */

static struct weft_builder builder_of(struct weft_network *network, weft_graph *graph,
                                      weft_shape shape) {
    return (struct weft_builder){.graph = graph,
                                 .network = network,
                                 .host = &network->host,
                                 .batch = shape.dim[0],
                                 .length = shape.dim[1],
                                 .width = network->config.hidden_size};
}

static void enter(struct weft_builder *builder, const char *part) {
    snprintf(builder->scope, sizeof builder->scope, "decoder.layers.%u%s", builder->layer, part);
}

static weft_tensor map(struct weft_builder *builder, weft_tensor x, const char *name, bool bias) {
    return weft_build_map(builder, x, name, builder->width,
                          weft_network_memory_width(builder->network), bias);
}

static weft_tensor query_of(struct weft_builder *builder, weft_tensor x) {
    return map(builder, x, "query", builder->network->config.biases.attention);
}

static weft_tensor key_of(struct weft_builder *builder, weft_tensor x) {
    const weft_network_config *config = &builder->network->config;
    return map(builder, x, "key", config->biases.attention && !config->attention.unbiased_keys);
}

static weft_tensor value_of(struct weft_builder *builder, weft_tensor x) {
    return map(builder, x, "value", builder->network->config.biases.attention);
}

/* Attention of one token of each sequence, and the map behind it. */
static weft_tensor attend(struct weft_builder *builder, weft_tensor query, weft_tensor key,
                          weft_tensor value, const weft_attention_params *params) {
    weft_tensor out = {0};
    out = WEFT_BUILT(builder, out,
                     weft_graph_attention(&out, builder->graph, query, key, value, params));
    return weft_build_map(builder, out, "output", weft_network_memory_width(builder->network),
                          builder->width, builder->network->config.biases.output);
}

static weft_tensor add(struct weft_builder *builder, weft_tensor x, weft_tensor y) {
    return weft_build_binary(builder, WEFT_BINARY_ADD, x, y);
}

/* ---- what has been read ---- */

weft_status weft_network_build_memory(weft_tensor *memory, struct weft_network *network,
                                      weft_graph *graph, const weft_model_inputs *inputs) {
    weft_shape shape = {.rank = 0};
    weft_tensor read = {0};
    WEFT_TRY(weft_network_build(&read, network, graph, inputs, (struct weft_network_way){0}, NULL));
    WEFT_TRY(weft_graph_get_tensor(graph, read, &shape, NULL));
    struct weft_builder builder = builder_of(network, graph, shape);
    for (uint32_t i = 0; i < layers_of(network) && builder.status == WEFT_OK; i++) {
        builder.layer = i;
        enter(&builder, ".cross");
        memory[2 * (size_t)i] = key_of(&builder, read);
        memory[2 * (size_t)i + 1] = value_of(&builder, read);
    }
    return builder.status;
}

/* ---- a token ---- */

/* Rows of tokens, [B, 1, width], with those of their positions where there is a table of these. */
static weft_tensor embed(struct weft_builder *builder, const struct weft_cross_inputs *inputs) {
    const struct weft_network *network = builder->network;
    const weft_network_config *config = &network->config;
    const uint32_t width = builder->width, positions = weft_network_decoder_positions(network);
    weft_embedding_params params = {.tokens = inputs->tokens};
    weft_tensor out = {0};
    params.table = weft_build_weight(builder, "embeddings.tokens.weight",
                                     weft_shape_of(config->vocab_size, width));
    if (positions > 0) {
        params.types = inputs->position;
        params.type_table =
            weft_build_weight(builder, "decoder.positions.weight", weft_shape_of(positions, width));
    }
    out = WEFT_BUILT(builder, out, weft_graph_embedding(&out, builder->graph, &params));
    return weft_build_scale(builder, out, config->embedding.scale);
}

/* The biases of scores by distance, [heads, 1, m + 1]; or none. */
static weft_tensor distances(struct weft_builder *builder, weft_tensor kinds) {
    const weft_attention_form *form = &builder->network->config.attention;
    const weft_shape shape = weft_shape_of(form->distance_rows, form->heads);
    weft_shape count = {.rank = 0};
    const bool has_all = builder->score_bias.id != 0 && !form->distances_of_layers;
    if (has_all || !weft_network_has_distances(builder->network)) {
        return builder->score_bias;
    }
    const struct weft_scope scope = weft_build_outside(builder);
    if (form->distances_of_layers) {
        weft_build_inside(builder, &scope);
    }
    weft_tensor table = weft_build_weight(
        builder, form->distances_of_layers ? "distances.weight" : "decoder.distances.weight",
        shape);
    weft_build_inside(builder, &scope);
    weft_tensor rows = {0};
    rows = WEFT_BUILT(builder, rows, weft_graph_take(&rows, builder->graph, table, kinds, 0));
    rows = weft_build_permute(builder, rows, weft_shape_of(1, 0));
    if (builder->status == WEFT_OK) {
        builder->status = weft_graph_get_tensor(builder->graph, kinds, &count, NULL);
    }
    builder->score_bias =
        weft_build_reshape(builder, rows, weft_shape_of(form->heads, 1, count.dim[0]));
    return builder->score_bias;
}

/* The token's row x [B, 1, width], then those of the cache with that number: [B, m + 1, width]. */
static weft_tensor with_cache(struct weft_builder *builder, weft_tensor x, weft_tensor cache,
                              uint32_t number) {
    const uint32_t width = weft_network_memory_width(builder->network);
    weft_shape shape = {.rank = 0};
    weft_tensor rows[2] = {x, {0}};
    weft_tensor out = {0};
    if (builder->status != WEFT_OK) {
        return out;
    }
    builder->status = weft_graph_get_tensor(builder->graph, cache, &shape, NULL);
    rows[1] = WEFT_BUILT(builder, rows[1],
                         weft_graph_slice(&rows[1], builder->graph, cache, 1, number, 1, 1));
    rows[1] = weft_build_permute(builder, rows[1], weft_shape_of(2, 0, 1, 3));
    rows[1] =
        weft_build_reshape(builder, rows[1], weft_shape_of(builder->batch, shape.dim[0], width));
    return WEFT_BUILT(builder, out, weft_graph_concat(&out, builder->graph, rows, 2, 1));
}

/* Attention to the tokens made so far; rows[0] and rows[1] are what the cache gets. */
static weft_tensor attend_to_own(struct weft_builder *builder, weft_tensor x, weft_tensor *rows,
                                 const struct weft_cross_inputs *inputs) {
    const weft_network_config *config = &builder->network->config;
    const weft_shape shape =
        weft_shape_of(1, builder->batch, weft_network_memory_width(builder->network));
    enter(builder, "");
    weft_tensor read = weft_build_norm(builder, x, "mixer_norm", builder->width);
    enter(builder, ".mixer");
    weft_tensor query = query_of(builder, read);
    weft_tensor key = key_of(builder, read);
    weft_tensor value = value_of(builder, read);
    rows[0] = weft_build_reshape(builder, key, shape);
    rows[1] = weft_build_reshape(builder, value, shape);
    const weft_attention_params params = {.heads = config->attention.heads,
                                          .scale = config->attention.scale,
                                          .lengths = inputs->filled,
                                          .bias = distances(builder, inputs->kinds)};
    key = with_cache(builder, key, inputs->cache, 2 * builder->layer);
    value = with_cache(builder, value, inputs->cache, 2 * builder->layer + 1);
    return add(builder, x, attend(builder, query, key, value, &params));
}

static weft_tensor attend_to_memory(struct weft_builder *builder, weft_tensor x,
                                    const struct weft_cross_inputs *inputs) {
    const weft_network_config *config = &builder->network->config;
    const weft_tensor *memory = &inputs->memory[2 * (size_t)builder->layer];
    enter(builder, "");
    weft_tensor read = weft_build_norm(builder, x, "cross_norm", builder->width);
    enter(builder, ".cross");
    const weft_attention_params params = {.heads = config->attention.heads,
                                          .scale = config->attention.scale,
                                          .lengths = inputs->lengths};
    weft_tensor query = query_of(builder, read);
    return add(builder, x, attend(builder, query, memory[0], memory[1], &params));
}

static weft_tensor feed(struct weft_builder *builder, weft_tensor x) {
    enter(builder, "");
    weft_tensor read = weft_build_norm(builder, x, "feed_forward_norm", builder->width);
    enter(builder, ".feed_forward");
    return add(builder, x, weft_build_feed_forward(builder, read));
}

weft_status weft_network_build_cross_step(weft_tensor *out, weft_tensor *rows,
                                          struct weft_network *network, weft_graph *graph,
                                          const struct weft_cross_inputs *inputs) {
    weft_shape shape = {.rank = 0};
    weft_tensor made[MOST_MEMORY];
    WEFT_TRY(weft_graph_get_tensor(graph, inputs->tokens, &shape, NULL));
    struct weft_builder builder = builder_of(network, graph, shape);
    weft_tensor x = embed(&builder, inputs);
    for (uint32_t i = 0; i < layers_of(network) && builder.status == WEFT_OK; i++) {
        builder.layer = i;
        x = attend_to_own(&builder, x, &made[2 * (size_t)i], inputs);
        x = attend_to_memory(&builder, x, inputs);
        x = feed(&builder, x);
    }
    builder.scope[0] = '\0';
    x = weft_build_norm(&builder, x, "decoder.norm", builder.width);
    *out = weft_layout_build_head(&builder, x);
    *rows = WEFT_BUILT(&builder, *rows,
                       weft_graph_concat(rows, graph, made, weft_network_memory_count(network), 0));
    return builder.status;
}

/* ---- both ---- */

/* With a cache of one token. */
static weft_status add_step_inputs(struct weft_cross_inputs *step, weft_graph *graph,
                                   const struct weft_network *network) {
    const weft_shape cache =
        weft_shape_of(1, weft_network_memory_count(network), 1, weft_network_memory_width(network));
    WEFT_TRY(weft_graph_input(&step->tokens, graph, "token", WEFT_I32, weft_shape_of(1, 1)));
    WEFT_TRY(weft_network_has_distances(network)
                 ? weft_graph_input(&step->kinds, graph, "kinds", WEFT_I32, weft_shape_of(2))
                 : WEFT_OK);
    WEFT_TRY(
        weft_network_decoder_positions(network) > 0
            ? weft_graph_input(&step->position, graph, "position", WEFT_I32, weft_shape_of(1, 1))
            : WEFT_OK);
    WEFT_TRY(weft_graph_input(&step->filled, graph, "filled", WEFT_I32, weft_shape_of(1)));
    return weft_graph_input(&step->cache, graph, "cache", WEFT_F32, cache);
}

weft_status weft_network_build_both(weft_tensor *out, struct weft_network *network,
                                    weft_graph *graph, const weft_model_inputs *inputs) {
    weft_tensor memory[MOST_MEMORY];
    struct weft_cross_inputs step = {.memory = memory};
    weft_tensor rows = {0};
    WEFT_TRY(weft_network_build_memory(memory, network, graph, inputs));
    WEFT_TRY(add_step_inputs(&step, graph, network));
    return weft_network_build_cross_step(out, &rows, network, graph, &step);
}
