/* SPDX-License-Identifier: MIT */
/* Layers around the mixers: feed-forward, norms, pooling and heads. api/MODELS.md has the formulas. */
#include <stdio.h>

#include <weft/arithmetic.h>

#include "core/try.h"
#include "graph/graph.h"
#include "model/network/architecture.h"
#include "model/network/gated_mixer.h"
#include "model/network/layer_outputs.h"
#include "model/network/network.h"

static const weft_tensor none = {0};

static void enter(struct weft_builder *builder, const char *part) {
    const uint32_t layer = weft_network_stored_layer(&builder->network->config, builder->layer);
    if (!part) {
        snprintf(builder->scope, sizeof builder->scope, "layers.%u", layer);
    } else {
        snprintf(builder->scope, sizeof builder->scope, "layers.%u.%s", layer, part);
    }
}

static void leave(struct weft_builder *builder) {
    builder->scope[0] = '\0';
}

/* ---- layers ---- */

/* What a feed-forward has between its maps. */
static weft_tensor activate(struct weft_builder *builder, weft_tensor x) {
    const weft_network_config *config = &builder->network->config;
    weft_tensor out = none;
    return config->layer.quick_gelu
               ? WEFT_BUILT(builder, out,
                            weft_graph_unary(&out, builder->graph, WEFT_UNARY_QUICK_GELU, x, 0, 0))
               : weft_build_activate(builder, x, config->activation);
}

static weft_tensor mlp(struct weft_builder *builder, weft_tensor x) {
    const weft_network_config *config = &builder->network->config;
    uint32_t d = config->hidden_size;
    uint32_t wide = config->intermediate_size;
    const bool bias = config->biases.feed_forward;
    x = weft_build_map(builder, x, "in", d, wide, bias);
    x = activate(builder, x);
    x = config->layer.squares ? weft_build_binary(builder, WEFT_BINARY_MULTIPLY, x, x) : x;
    return weft_build_map(builder, x, "out", wide, d, bias);
}

weft_tensor weft_build_gated(struct weft_builder *builder, weft_tensor gate, weft_tensor value) {
    gate = weft_build_scale(builder, gate, builder->network->config.layer.gate_factor);
    return weft_build_binary(builder, WEFT_BINARY_MULTIPLY, activate(builder, gate), value);
}

weft_tensor weft_build_glu(struct weft_builder *builder, weft_tensor x, uint32_t wide) {
    const weft_network_config *config = &builder->network->config;
    uint32_t d = config->hidden_size;
    const bool bias = config->biases.feed_forward;
    weft_tensor gate = weft_build_map(builder, x, "l1", d, wide, bias);
    weft_tensor value = weft_build_map(builder, x, "l2", d, wide, bias);
    x = weft_build_gated(builder, gate, value);
    return weft_build_scale(builder, weft_build_map(builder, x, "l3", wide, d, bias),
                            config->layer.fed_factor);
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x) {
    const struct weft_network *network = builder->network;
    enter(builder, network->family->mixer);
    return builder->status == WEFT_OK ? network->family->mix(builder, x, network->family_config)
                                      : none;
}

weft_tensor weft_build_feed_forward(struct weft_builder *builder, weft_tensor x) {
    const weft_network_config *config = &builder->network->config;
    const weft_expert_form *experts = &config->layer.experts;
    if (experts->count != 0 && !weft_layer_set_has(&experts->dense, builder->layer)) {
        return weft_build_experts(builder, x);
    }
    return config->feed_forward == WEFT_FEED_FORWARD_GLU
               ? weft_build_glu(builder, x, config->intermediate_size)
               : mlp(builder, x);
}

static weft_tensor feed_forward(struct weft_builder *builder, weft_tensor x) {
    enter(builder, builder->network->family->feed_forward_name);
    x = builder->network->config.layer.shifts
            ? weft_build_shifted(builder, x, weft_build_step_back(builder, x), "share")
            : x;
    return weft_build_feed_forward(builder, x);
}

static weft_tensor norm(struct weft_builder *builder, weft_tensor x, const char *name) {
    enter(builder, NULL);
    return weft_build_norm(builder, x, name, builder->width);
}

/* What a part makes, with the norm behind it. */
static weft_tensor result_of(struct weft_builder *builder, weft_tensor x, const char *name,
                             weft_tensor (*part)(struct weft_builder *, weft_tensor)) {
    const weft_network_config *config = &builder->network->config;
    char result[WEFT_SCOPE_SIZE];
    x = part(builder, x);
    if (config->norm_position == WEFT_NORM_BEHIND || config->norm_position == WEFT_NORM_AROUND) {
        snprintf(result, sizeof result, "%s_of_result", name);
        x = norm(builder, x, result);
    }
    if (config->layer.part_scales) {
        enter(builder, NULL);
        snprintf(result, sizeof result, "%s_scale", name);
        x = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, x,
                              weft_build_vector(builder, result, builder->width));
    }
    return weft_build_scale(builder, x, config->layer.residual_scale);
}

/* A part with its norms, as config.norm_position has them. */
static weft_tensor residual(struct weft_builder *builder, weft_tensor x, const char *name,
                            weft_tensor (*part)(struct weft_builder *, weft_tensor)) {
    const weft_network_config *config = &builder->network->config;
    const bool before =
        config->norm_position == WEFT_NORM_BEFORE || config->norm_position == WEFT_NORM_AROUND;
    const bool absent = config->layer.first_norm_absent && builder->layer == 0 && part == mix;
    weft_tensor y = result_of(builder, before && !absent ? norm(builder, x, name) : x, name, part);
    x = weft_build_binary(builder, WEFT_BINARY_ADD, x, y);
    return config->norm_position == WEFT_NORM_AFTER ? norm(builder, x, name) : x;
}

/* x + mixer(norm(x)) + feed_forward(norm(x)), with one norm or two. */
static weft_tensor parallel(struct weft_builder *builder, weft_tensor x, const char *mixer_norm,
                            const char *feed_forward_norm) {
    const bool shared = builder->network->config.layer.order == WEFT_LAYER_PARALLEL_SHARED;
    weft_tensor read = norm(builder, x, mixer_norm);
    weft_tensor other = shared ? read : norm(builder, x, feed_forward_norm);
    weft_tensor mixed = result_of(builder, read, mixer_norm, mix);
    weft_tensor fed = result_of(builder, other, feed_forward_norm, feed_forward);
    x = weft_build_binary(builder, WEFT_BINARY_ADD, x, mixed);
    return weft_build_binary(builder, WEFT_BINARY_ADD, x, fed);
}

static weft_tensor layer(struct weft_builder *builder, weft_tensor x, const char *mixer_norm) {
    const struct weft_network *network = builder->network;
    const char *feed_forward_norm = network->family->feed_forward_norm;
    if (network->config.layer.order != WEFT_LAYER_SERIAL) {
        return parallel(builder, x, mixer_norm, feed_forward_norm);
    }
    x = mixer_norm ? residual(builder, x, mixer_norm, mix) : x;
    return feed_forward_norm ? residual(builder, x, feed_forward_norm, feed_forward) : x;
}

static const char *mixer_norm(const struct weft_network *network, uint32_t layer) {
    const struct weft_model_family *family = network->family;
    return family->mixer_norm_of ? family->mixer_norm_of(network->family_config, layer)
                                 : family->mixer_norm;
}

static weft_tensor encode(struct weft_builder *builder, weft_tensor x) {
    const struct weft_network *network = builder->network;
    for (uint32_t i = 0; i < network->config.layers && builder->status == WEFT_OK; i++) {
        builder->layer = i;
        weft_build_hidden_state(builder, i, x);
        weft_tensor before = x;
        x = layer(builder, x, mixer_norm(network, i));
        leave(builder);
        x = network->family->behind_layer
                ? network->family->behind_layer(builder, x, before, network->family_config)
                : x;
    }
    leave(builder);
    x = network->config.norm_position == WEFT_NORM_AFTER || network->config.layer.last_norm_absent
            ? x
            : weft_build_norm(builder, x, "norm", builder->width);
    weft_build_hidden_state(builder, network->config.layers, x);
    return x;
}

/* ---- heads ---- */

static float one(const void *user, uint64_t index) {
    (void)user;
    (void)index;
    return 1.0F;
}

/* 1 / length; there is no length 0. */
static float share(const void *user, uint64_t index) {
    (void)user;
    return index > 0 ? 1.0F / (float)index : 0.0F;
}

/* The sum over tokens, [B, 1, d], times a factor: a product with a row of ones. */
static weft_tensor sum_tokens(struct weft_builder *builder, weft_tensor x, float factor) {
    weft_tensor row =
        weft_build_filled(builder, "ones", weft_shape_of(1, builder->length), one, NULL);
    weft_tensor sum = none;
    return WEFT_BUILT(
        builder, sum,
        weft_graph_matmul(&sum, builder->graph, row, x, weft_matmul_params(.alpha = factor)));
}

/* 1 / length of each sequence, f32 [B, 1, 1]. */
static weft_tensor shares(struct weft_builder *builder) {
    const weft_embedding_params params = {
        .tokens = weft_build_reshape(builder, builder->lengths, weft_shape_of(builder->batch, 1)),
        .table = weft_build_filled(builder, "shares", weft_shape_of(builder->length + 1, 1), share,
                                   NULL)};
    weft_tensor out = none;
    return WEFT_BUILT(builder, out, weft_graph_embedding(&out, builder->graph, &params));
}

/* The mean over the tokens before the lengths, with the bits that the mean of so many tokens has. */
static weft_tensor masked_mean(struct weft_builder *builder, weft_tensor x) {
    weft_tensor masked = none;
    weft_tensor out = none;
    masked =
        WEFT_BUILT(builder, masked, weft_graph_mask(&masked, builder->graph, x, builder->lengths));
    weft_tensor sum = sum_tokens(builder, masked, 1.0F);
    weft_tensor factor = shares(builder);
    return WEFT_BUILT(builder, out, weft_graph_matmul(&out, builder->graph, factor, sum, NULL));
}

/* The mean over tokens, [B, d]. */
static weft_tensor mean(struct weft_builder *builder, weft_tensor x) {
    x = builder->lengths.id != 0 ? masked_mean(builder, x)
                                 : sum_tokens(builder, x, 1.0F / (float)builder->length);
    return weft_build_reshape(builder, x, weft_shape_of(builder->batch, builder->width));
}

static weft_tensor last(struct weft_builder *builder, weft_tensor x) {
    weft_tensor row = none;
    return builder->lengths.id != 0
               ? WEFT_BUILT(builder, row,
                            weft_graph_gather_last(&row, builder->graph, x, builder->lengths))
               : WEFT_BUILT(builder, row,
                            weft_graph_gather(&row, builder->graph, x, builder->length - 1));
}

static weft_tensor gather(struct weft_builder *builder, weft_tensor x, uint32_t position) {
    weft_tensor row = {0};
    return WEFT_BUILT(builder, row, weft_graph_gather(&row, builder->graph, x, position));
}

weft_tensor weft_build_pool(struct weft_builder *builder, weft_tensor x, weft_pooling pooling) {
    if (builder->status != WEFT_OK) {
        return none;
    }
    switch (pooling) {
    case WEFT_POOLING_MEAN:
        return mean(builder, x);
    case WEFT_POOLING_FIRST:
        return gather(builder, x, 0);
    case WEFT_POOLING_LAST:
        return last(builder, x);
    }
    return none;
}

static weft_tensor pool(struct weft_builder *builder, weft_tensor x) {
    return weft_build_pool(builder, x, (weft_pooling)builder->network->config.pooling);
}

/* Logits over the vocabulary for every token. */
static weft_tensor language_head(struct weft_builder *builder, weft_tensor x) {
    const weft_network_config *config = &builder->network->config;
    uint32_t d = config->hidden_size;
    uint32_t vocabulary = config->vocab_size;
    if (!config->tie_word_embeddings) {
        return weft_build_linear(builder, x, "head", d, vocabulary);
    }
    weft_tensor table = weft_build_tied(builder, "head.weight", "embeddings.tokens.weight",
                                        weft_shape_of(vocabulary, d));
    weft_tensor bias = weft_build_weight(builder, "head.bias", weft_shape_of(vocabulary));
    weft_tensor logits = {0};
    return WEFT_BUILT(builder, logits, weft_graph_linear(&logits, builder->graph, x, table, bias));
}

static weft_tensor pair_part(struct weft_builder *builder, weft_tensor x, const char *name) {
    const weft_network_config *config = &builder->network->config;
    weft_tensor weight = weft_build_weight(
        builder, name, weft_shape_of(config->intermediate_size, config->hidden_size));
    weft_tensor out = {0};
    return WEFT_BUILT(builder, out, weft_graph_linear(&out, builder->graph, x, weight, none));
}

/* head(act(first a + second b + product (a ⊙ b) + difference (a - b))) of the pooled a and b of each pair. */
static weft_tensor retrieval_head(struct weft_builder *builder, weft_tensor pooled) {
    const weft_network_config *config = &builder->network->config;
    uint32_t d = config->hidden_size;
    uint32_t pairs = builder->batch / 2;
    weft_tensor both = weft_build_reshape(builder, pooled, weft_shape_of(pairs, 2, d));
    weft_tensor a = gather(builder, both, 0);
    weft_tensor b = gather(builder, both, 1);
    weft_tensor x = weft_build_linear(builder, a, "pair.first", d, config->intermediate_size);
    const struct {
        const char *name;
        weft_tensor value;
    } parts[] = {
        {"pair.second.weight", b},
        {"pair.product.weight", weft_build_binary(builder, WEFT_BINARY_MULTIPLY, a, b)},
        {"pair.difference.weight", weft_build_binary(builder, WEFT_BINARY_SUBTRACT, a, b)},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        weft_tensor part = pair_part(builder, parts[i].value, parts[i].name);
        x = weft_build_binary(builder, WEFT_BINARY_ADD, x, part);
    }
    x = weft_build_activate(builder, x, config->activation);
    return weft_build_linear(builder, x, "head", config->intermediate_size, config->label_count);
}

static weft_tensor head(struct weft_builder *builder, weft_tensor x) {
    const weft_network_config *config = &builder->network->config;
    if (builder->network->head && weft_network_task(config) != WEFT_TASK_TEXT_TO_TEXT) {
        return weft_layout_build_head(builder, x);
    }
    switch (weft_network_task(config)) {
    case WEFT_TASK_CAUSAL_LM:
    case WEFT_TASK_MASKED_LM:
        return language_head(builder, x);
    case WEFT_TASK_CLASSIFY:
    case WEFT_TASK_REGRESS:
        return weft_build_linear(builder, pool(builder, x), "head", config->hidden_size,
                                 config->label_count);
    case WEFT_TASK_RETRIEVE:
        return retrieval_head(builder, pool(builder, x));
    case WEFT_TASK_HIDDEN:
    case WEFT_TASK_NEXT_SENTENCE: /* of published layouts alone, as the next */
    case WEFT_TASK_CLASSIFY_TOKENS:
    case WEFT_TASK_PROGRAM: /* has no network */
    case WEFT_TASK_EMBED: /* of published layouts alone, or reads the last hidden state: embedding.h */
    case WEFT_TASK_TEXT_TO_TEXT: /* so does its decoder: network_decoder.h */
        break;
    }
    return x;
}

/* Last token of each sequence, [B, 1, d]: a prompt needs only the prediction after it. */
static weft_tensor take_last(struct weft_builder *builder, weft_tensor x, weft_tensor lengths) {
    weft_tensor rows = none;
    x = WEFT_BUILT(builder, rows,
                   lengths.id != 0
                       ? weft_graph_gather_last(&rows, builder->graph, x, lengths)
                       : weft_graph_gather(&rows, builder->graph, x, builder->length - 1));
    return weft_build_reshape(builder, x, weft_shape_of(builder->batch, 1, builder->width));
}

static weft_status build(weft_tensor *out, struct weft_builder *builder,
                         const weft_model_inputs *inputs) {
    builder->tokens = inputs->tokens;
    weft_tensor x = encode(builder, weft_build_embedding(builder, inputs));
    if (builder->decoding && builder->decoding->prompt) {
        x = take_last(builder, x, builder->decoding->lengths);
    } else if (builder->way.end == WEFT_END_LAST) {
        x = take_last(builder, x, builder->lengths);
    }
    x = builder->way.end == WEFT_END_HEADLESS ? x : head(builder, x);
    if (builder->status == WEFT_OK) {
        *out = x;
    }
    return builder->status;
}

weft_status weft_network_build(weft_tensor *out, struct weft_network *network, weft_graph *graph,
                               const weft_model_inputs *inputs, struct weft_network_way way,
                               struct weft_layer_outputs *outputs) {
    weft_shape shape = {.rank = 0};
    const bool reads_images = network->config.image.size != 0;
    weft_tensor input = reads_images                 ? inputs->pixels
                        : network->config.input == 0 ? inputs->tokens
                                                     : inputs->features;
    WEFT_TRY(weft_graph_get_tensor(graph, input, &shape, NULL));
    struct weft_builder builder = {.graph = graph,
                                   .network = network,
                                   .way = way,
                                   .outputs = outputs,
                                   .host = &network->host,
                                   .batch = shape.dim[0],
                                   .length =
                                       reads_images ? network->config.max_positions : shape.dim[1],
                                   .width = network->config.hidden_size,
                                   .positions = inputs->positions,
                                   .lengths = inputs->lengths};
    return build(out, &builder, inputs);
}

weft_status weft_network_build_step(weft_tensor *out, struct weft_network *network,
                                    weft_graph *graph, const struct weft_step_inputs *inputs) {
    weft_shape shape = {.rank = 0};
    WEFT_TRY(weft_graph_get_tensor(graph, inputs->tokens, &shape, NULL));
    struct weft_step_builder decoding = {.prompt = inputs->lengths.id != 0,
                                         .position = inputs->position,
                                         .lengths = inputs->lengths,
                                         .length = inputs->length};
    struct weft_builder builder = {.graph = graph,
                                   .network = network,
                                   .host = &network->host,
                                   .batch = shape.dim[0],
                                   .length = shape.dim[1],
                                   .width = network->config.hidden_size,
                                   .way = {.state = inputs->state},
                                   .decoding = &decoding};
    return build(out, &builder, weft_model_inputs(.tokens = inputs->tokens));
}
