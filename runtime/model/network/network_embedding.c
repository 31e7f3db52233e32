/* SPDX-License-Identifier: MIT */
/* The embedding of tokens or features, and the tables of positions. */
#include <math.h>
#include <stdio.h>

#include "core/math/portable_math.h"
#include "core/math/trig.h"
#include "graph/graph.h"
#include "model/network/architecture.h"
#include "model/network/network.h"

#define MOST_SINUSOIDS (UINT64_C(1) << 24) /* of a table that all graphs share */

static const weft_tensor none = {0};

struct sinusoids {
    uint32_t positions, channels;
};

/* sin and cos of p / 10000^(2c/d), from a fraction of a turn in 2^-52: portable, off by 1e-15 p at most. */
static weft_status fill_sinusoids(float *data, const void *user, const weft_host *host) {
    (void)host;
    const struct sinusoids *table = user;
    const double turn = 6.283185307179586;
    const uint64_t steps = UINT64_C(1) << 52;
    for (uint32_t c = 0; c < table->channels / 2; c++) {
        double exponent = 2.0 * c / table->channels * weft_portable_log(10000.0);
        double turns = weft_portable_exp(-exponent) / turn;
        for (uint32_t p = 0; p < table->positions; p++) {
            double whole = p * turns;
            double fraction = whole - floor(whole);
            double cosine = 0;
            double sine = 0;
            weft_unit_root(&cosine, &sine, (uint64_t)(fraction * (double)steps) % steps, steps);
            float *pair = &data[(size_t)p * table->channels + 2 * (size_t)c];
            pair[0] = (float)sine;
            pair[1] = (float)cosine;
        }
    }
    return WEFT_OK;
}

/* Rows of a table of weights from a row on. */
static weft_tensor table_rows(struct weft_builder *builder, weft_tensor table, uint32_t first,
                              uint32_t count) {
    if (builder->status != WEFT_OK) {
        return none;
    }
    weft_weight *weight = builder->graph->values[table.id].weight;
    const uint32_t width = weight->shape.dim[1];
    weft_weight *rows = NULL;
    weft_tensor out = none;
    builder->status =
        weft_weight_part_of(&rows, weight, (uint64_t)first * width, weft_shape_of(count, width));
    out = WEFT_BUILT(builder, out, weft_graph_weight(&out, builder->graph, rows));
    weft_weight_destroy(&rows);
    return out;
}

/* Positions that the graph reads. */
static uint32_t read_positions(const struct weft_builder *builder) {
    const uint32_t decoded = builder->decoding ? builder->decoding->length : 0;
    return decoded > builder->length ? decoded : builder->length;
}

/* For one graph alone: a config of a few bytes may promise 2^24 positions, and is paid for those that are read. */
static weft_tensor own_sinusoids(struct weft_builder *builder, const struct sinusoids *table) {
    const weft_shape shape = weft_shape_of(table->positions, table->channels);
    weft_weight *weight = NULL;
    weft_tensor tensor = none;
    if (builder->status == WEFT_OK) {
        builder->status = weft_weight_create_empty(
            &weight,
            weft_weight_params(.name = "embeddings.positions.some_sinusoids", .dtype = WEFT_F32,
                               .shape = shape),
            builder->host);
    }
    if (builder->status == WEFT_OK) {
        builder->status = fill_sinusoids(weight->owned, table, builder->host);
    }
    tensor = WEFT_BUILT(builder, tensor, weft_graph_weight(&tensor, builder->graph, weight));
    weft_weight_destroy(&weight);
    return tensor;
}

static weft_tensor sinusoid_table(struct weft_builder *builder) {
    const weft_network_config *config = &builder->network->config;
    struct sinusoids table = {config->max_positions, config->hidden_size};
    if ((uint64_t)table.positions * table.channels > MOST_SINUSOIDS) {
        table.positions = read_positions(builder);
        return own_sinusoids(builder, &table);
    }
    return weft_build_constant(builder, "embeddings.positions.sinusoids",
                               weft_shape_of(table.positions, table.channels), fill_sinusoids,
                               &table);
}

/* [P, d], with a row at least for each position that is read, or none. */
static weft_tensor position_table(struct weft_builder *builder) {
    const weft_network_config *config = &builder->network->config;
    if (config->position_embedding == WEFT_POSITION_LEARNED) {
        const weft_shape shape =
            weft_shape_of(config->max_positions + config->embedding.position_offset,
                          weft_network_embedding_size(config));
        weft_tensor table = weft_build_weight(builder, "embeddings.positions.weight", shape);
        return config->embedding.position_offset == 0
                   ? table
                   : table_rows(builder, table, config->embedding.position_offset,
                                config->max_positions);
    }
    return config->position_embedding == WEFT_POSITION_SINUSOIDAL ? sinusoid_table(builder) : none;
}

/* All tokens are of the first task. */
static weft_tensor add_task(struct weft_builder *builder, weft_tensor x) {
    const weft_network_config *config = &builder->network->config;
    if (config->embedding.tasks == 0) {
        return x;
    }
    weft_tensor table = weft_build_weight(
        builder, "embeddings.tasks.weight",
        weft_shape_of(config->embedding.tasks, weft_network_embedding_size(config)));
    return weft_build_binary(builder, WEFT_BINARY_ADD, x, table_rows(builder, table, 0, 1));
}

static weft_tensor embed_tokens(struct weft_builder *builder, const weft_model_inputs *inputs) {
    const weft_network_config *config = &builder->network->config;
    const uint32_t width = weft_network_embedding_size(config);
    weft_embedding_params params = {.tokens = inputs->tokens, .types = inputs->types};
    params.table = weft_build_weight(builder, "embeddings.tokens.weight",
                                     weft_shape_of(config->vocab_size, width));
    if (config->embedding.types > 0) {
        params.type_table = weft_build_weight(builder, "embeddings.types.weight",
                                              weft_shape_of(config->embedding.types, width));
    }
    weft_tensor positions = position_table(builder);
    if (builder->decoding && !builder->decoding->prompt && positions.id != 0) {
        params.types = weft_build_reshape(builder, builder->decoding->position,
                                          weft_shape_of(builder->batch, 1));
        params.type_table = positions; /* row p is added as that of position p would be */
    } else {
        params.positions = positions;
    }
    weft_tensor x = {0};
    x = WEFT_BUILT(builder, x, weft_graph_embedding(&x, builder->graph, &params));
    return add_task(builder, weft_build_scale(builder, x, config->embedding.scale));
}

static weft_tensor add_positions(struct weft_builder *builder, weft_tensor x) {
    weft_tensor table = position_table(builder);
    if (builder->status != WEFT_OK || table.id == 0) {
        return x;
    }
    weft_tensor positions = table_rows(builder, table, 0, builder->length);
    return weft_build_binary(builder, WEFT_BINARY_ADD, x, positions);
}

/* ---- speech ---- */

/* x f32 [B, channels, l] by windows of three, of which every `stride`-th counts. */
static weft_tensor convolve(struct weft_builder *builder, weft_tensor x, const char *name,
                            uint32_t channels, uint32_t stride) {
    const uint32_t d = builder->width;
    char text[WEFT_SCOPE_SIZE];
    weft_tensor out = none;
    snprintf(text, sizeof text, "%s.weight", name);
    weft_tensor weight = weft_build_weight(builder, text, weft_shape_of(d, channels, 3));
    snprintf(text, sizeof text, "%s.bias", name);
    const weft_conv_params params = {.bias = weft_build_weight(builder, text, weft_shape_of(d)),
                                     .strides = {stride},
                                     .before = {1},
                                     .after = {1}};
    out = WEFT_BUILT(builder, out, weft_graph_conv(&out, builder->graph, x, weight, &params));
    return weft_build_activate(builder, out, builder->network->config.activation);
}

/* [B, n, 2 bands], two frames a token, to [B, n, d]: Radford et al., 2022, section 2.2. */
static weft_tensor read_spectrum(struct weft_builder *builder, weft_tensor features) {
    const uint32_t bands = builder->network->config.speech.bands;
    const weft_shape swapped = weft_shape_of(0, 2, 1);
    weft_tensor x = weft_build_reshape(builder, features,
                                       weft_shape_of(builder->batch, 2 * builder->length, bands));
    x = weft_build_permute(builder, x, swapped);
    x = convolve(builder, x, "embeddings.first", bands, 1);
    x = convolve(builder, x, "embeddings.second", builder->width, 2);
    return weft_build_permute(builder, x, swapped);
}

weft_tensor weft_build_embedding(struct weft_builder *builder, const weft_model_inputs *inputs) {
    const weft_network_config *config = &builder->network->config;
    weft_tensor x = none;
    if (config->image.size != 0) {
        x = weft_build_patches(builder, inputs->pixels);
    } else if (config->input == 0) {
        x = embed_tokens(builder, inputs);
    } else if (config->speech.bands != 0) {
        x = add_positions(builder, read_spectrum(builder, inputs->features));
    } else {
        x = weft_build_linear(builder, inputs->features, "embeddings.input", config->input_size,
                              config->hidden_size);
        x = add_positions(builder, x);
    }
    uint32_t width = weft_network_embedding_size(config);
    if (config->embedding.projection == WEFT_PROJECTION_BEFORE_NORM) {
        x = weft_build_map(builder, x, "embeddings.projection", width, config->hidden_size, false);
        width = config->hidden_size;
    }
    x = config->embedding_norm ? weft_build_norm(builder, x, "embeddings.norm", width) : x;
    return config->embedding.projection == WEFT_PROJECTION_BEHIND_NORM
               ? weft_build_linear(builder, x, "embeddings.projection", width, config->hidden_size)
               : x;
}
