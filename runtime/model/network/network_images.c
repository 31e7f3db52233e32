/* SPDX-License-Identifier: MIT */
/* Networks that read images, and those that stand beside them: patches as tokens, and vectors of images and of texts. */
#include <stdio.h>

#include <weft/arithmetic.h>
#include <weft/movement.h>

#include "model/network/architecture.h"
#include "model/network/network.h"

#define TOKENS 1U /* the axis */

static const weft_tensor none = {0};

/* ---- patches ---- */

/* Each patch by one map: Dosovitskiy et al., "An image is worth 16x16 words", 2021, equation 1. [B, d, rows, columns]. */
static weft_tensor map_patches(struct weft_builder *builder, weft_tensor pixels) {
    const weft_network_config *config = &builder->network->config;
    const uint32_t edge = config->image.patch;
    const weft_conv_params params = {
        .strides = {edge, edge},
        .bias = config->image.patch_bias ? weft_build_weight(builder, "embeddings.patches.bias",
                                                             weft_shape_of(config->hidden_size))
                                         : none};
    weft_tensor weight =
        weft_build_weight(builder, "embeddings.patches.weight",
                          weft_shape_of(config->hidden_size, config->image.channels, edge, edge));
    weft_tensor out = none;
    return WEFT_BUILT(builder, out, weft_graph_conv(&out, builder->graph, pixels, weight, &params));
}

static weft_tensor put_class(struct weft_builder *builder, weft_tensor patches) {
    const uint32_t d = builder->width;
    weft_tensor token = weft_build_vector(builder, "embeddings.class", d);
    weft_tensor parts[] = {none, patches};
    weft_tensor out = none;
    token = weft_build_reshape(builder, token, weft_shape_of(1, 1, d));
    parts[0] = WEFT_BUILT(
        builder, parts[0],
        weft_graph_expand(&parts[0], builder->graph, token, weft_shape_of(builder->batch, 1, d)));
    return WEFT_BUILT(builder, out, weft_graph_concat(&out, builder->graph, parts, 2, TOKENS));
}

weft_tensor weft_build_patches(struct weft_builder *builder, weft_tensor pixels) {
    const weft_image_form *image = &builder->network->config.image;
    const uint32_t d = builder->width;
    const uint32_t edge = image->size / image->patch;
    const uint32_t n = builder->length;
    weft_tensor x = map_patches(builder, pixels);
    x = weft_build_reshape(builder, x, weft_shape_of(builder->batch, d, edge * edge));
    x = weft_build_permute(builder, x, weft_shape_of(0, 2, 1));
    x = image->class_token ? put_class(builder, x) : x;
    weft_tensor positions = weft_build_vector(builder, "embeddings.positions.weight", n * d);
    positions = weft_build_reshape(builder, positions, weft_shape_of(n, d));
    return weft_build_binary(builder, WEFT_BINARY_ADD, x, positions);
}

weft_tensor weft_build_patch_mean(struct weft_builder *builder, weft_tensor x) {
    const uint32_t first = builder->network->config.image.class_token ? 1 : 0;
    weft_tensor patches = x;
    weft_tensor out = none;
    if (first > 0) {
        patches = WEFT_BUILT(builder, patches,
                             weft_graph_slice(&patches, builder->graph, x, TOKENS, first,
                                              builder->length - first, 1));
    }
    return WEFT_BUILT(builder, out,
                      weft_graph_reduce(&out, builder->graph, WEFT_REDUCTION_MEAN, patches,
                                        weft_reduce_params(.axes = {TOKENS}, .axis_count = 1)));
}

/* ---- the end of a text ---- */

/* What the largest of is looked for: whether a token is the one, or its number. Below 2^24 a float is that. */
static weft_status fill_scores(float *data, const void *user, const weft_host *host) {
    const weft_network_config *config = user;
    (void)host;
    for (uint32_t token = 0; token < config->vocab_size; token++) {
        const bool is_end = token == (uint64_t)config->head.end_token;
        data[token] = config->head.end_token == WEFT_OLDEST_END_TOKEN ? (float)token
                      : is_end                                        ? 1.0F
                                                                      : 0.0F;
    }
    return WEFT_OK;
}

/* The number of each sequence's first such token, i32 [B]; 0 where there is none, as in transformers. */
static weft_tensor find_end(struct weft_builder *builder) {
    const weft_network_config *config = &builder->network->config;
    const weft_embedding_params params = {
        .tokens = builder->tokens,
        .table = weft_build_constant(builder, "end_scores", weft_shape_of(config->vocab_size, 1),
                                     fill_scores, config)};
    weft_tensor scores = none;
    weft_tensor out = none;
    scores = WEFT_BUILT(builder, scores, weft_graph_embedding(&scores, builder->graph, &params));
    if (builder->lengths.id != 0) {
        scores = WEFT_BUILT(builder, scores,
                            weft_graph_mask(&scores, builder->graph, scores, builder->lengths));
    }
    scores = weft_build_reshape(builder, scores, weft_shape_of(builder->batch, builder->length));
    return WEFT_BUILT(builder, out, weft_graph_argmax(&out, builder->graph, scores, TOKENS, false));
}

static int32_t the_one(const void *user, uint64_t index) {
    (void)user;
    (void)index;
    return 1;
}

weft_tensor weft_build_end_token(struct weft_builder *builder, weft_tensor x) {
    weft_tensor one = weft_build_indices(builder, "one", weft_shape_of(1), the_one, NULL);
    weft_tensor counted = weft_build_binary(builder, WEFT_BINARY_ADD, find_end(builder), one);
    weft_tensor out = none;
    return WEFT_BUILT(builder, out, weft_graph_gather_last(&out, builder->graph, x, counted));
}

/* ---- a learned query ---- */

/* Of one token of each image: Zhai et al., "Scaling vision transformers", 2022, section 3.2. [B, 1, d]. */
static weft_tensor ask(struct weft_builder *builder, weft_tensor x) {
    const weft_network_config *config = &builder->network->config;
    const uint32_t d = builder->width;
    const weft_attention_params params = {.heads = config->attention.heads};
    weft_tensor out = none;
    weft_tensor query = weft_build_vector(builder, "probe.query", d);
    query = weft_build_reshape(builder, query, weft_shape_of(1, 1, d));
    query = weft_build_linear(builder, query, "probe.query_map", d, d);
    query = WEFT_BUILT(
        builder, out,
        weft_graph_expand(&out, builder->graph, query, weft_shape_of(builder->batch, 1, d)));
    weft_tensor key = weft_build_linear(builder, x, "probe.key_map", d, d);
    weft_tensor value = weft_build_linear(builder, x, "probe.value_map", d, d);
    out = WEFT_BUILT(builder, out,
                     weft_graph_attention(&out, builder->graph, query, key, value, &params));
    return weft_build_linear(builder, out, "probe.output", d, d);
}

weft_tensor weft_build_probe(struct weft_builder *builder, weft_tensor x) {
    const uint32_t d = builder->width;
    weft_tensor found = ask(builder, x);
    weft_tensor read = weft_build_norm(builder, found, "probe.norm", d);
    snprintf(builder->scope, sizeof builder->scope, "probe.feed_forward");
    read = weft_build_feed_forward(builder, read);
    builder->scope[0] = '\0';
    found = weft_build_binary(builder, WEFT_BINARY_ADD, found, read);
    return weft_build_reshape(builder, found, weft_shape_of(builder->batch, d));
}
