/* SPDX-License-Identifier: MIT */
/* Attention as config.json of a published layout describes it. */
#include <string.h>

#include "model/network/family.h"
#include "model/network/layout.h"
#include "model/network/network.h"

/* A constant of the network, whatever the layer: its name has no scope. */
static weft_tensor shared(struct weft_builder *builder, const char *name, uint32_t elements,
                          weft_status (*fill)(float *, const void *, const weft_host *),
                          const void *user) {
    const struct weft_scope scope = weft_build_outside(builder);
    weft_tensor out = weft_build_constant(builder, name, weft_shape_of(elements), fill, user);
    weft_build_inside(builder, &scope);
    return out;
}

static weft_status fill_factors(float *data, const void *user, const weft_host *host) {
    (void)host;
    const weft_rotary *rotary = user;
    memcpy(data, rotary->factors, rotary->factor_count * sizeof *data);
    return WEFT_OK;
}

static weft_tensor factors(struct weft_builder *builder, const weft_rotary *rotary) {
    const bool local = rotary == &builder->network->config.attention.local_rotary;
    return rotary->factors ? shared(builder, local ? "rotary.local_factors" : "rotary.factors",
                                    rotary->factor_count, fill_factors, rotary)
                           : (weft_tensor){0};
}

static weft_tensor turn(struct weft_builder *builder, weft_tensor x, uint32_t heads,
                        const weft_rotary *rotary) {
    const struct weft_step_builder *decoding = builder->decoding;
    const bool one = decoding && !decoding->prompt;
    weft_tensor out = {0};
    return WEFT_BUILT(
        builder, out,
        weft_graph_rope(&out, builder->graph, x,
                        weft_rope_params(.heads = heads, .width = rotary->width,
                                         .base = rotary->base, .interleaved = rotary->interleaved,
                                         .scale_factor = rotary->scale_factor,
                                         .scale_length = rotary->scale_length,
                                         .scale_low = rotary->scale_low,
                                         .scale_high = rotary->scale_high,
                                         .positions = one ? decoding->position : (weft_tensor){0},
                                         .factors = factors(builder, rotary))));
}

struct turned_channels {
    uint32_t count, size, width; /* of all heads; of one; those of it that turn */
    float factor;
};

static weft_status fill_amplitudes(float *data, const void *user, const weft_host *host) {
    (void)host;
    const struct turned_channels *channels = user;
    for (uint32_t i = 0; i < channels->count; i++) {
        data[i] = i % channels->size < channels->width ? channels->factor : 1.0F;
    }
    return WEFT_OK;
}

/* Turned channels of queries and keys have an amplitude each: queries take both. */
static weft_tensor amplify(struct weft_builder *builder, weft_tensor query,
                           const weft_rotary *rotary) {
    const weft_network_config *config = &builder->network->config;
    const uint32_t size = weft_network_head_size(config);
    const bool local = rotary == &config->attention.local_rotary;
    if (rotary->amplitude == 0.0F || rotary->amplitude == 1.0F) {
        return query;
    }
    const struct turned_channels channels = {.count = config->attention.heads * size,
                                             .size = size,
                                             .width = rotary->width ? rotary->width : size,
                                             .factor = rotary->amplitude * rotary->amplitude};
    weft_tensor vector = shared(builder, local ? "rotary.local_amplitudes" : "rotary.amplitudes",
                                channels.count, fill_amplitudes, &channels);
    return weft_build_binary(builder, WEFT_BINARY_MULTIPLY, query, vector);
}

/* Normalizes each head by itself, or all together. */
static weft_tensor norm_heads(struct weft_builder *builder, weft_tensor x, const char *name,
                              uint32_t heads) {
    const weft_network_config *config = &builder->network->config;
    const uint32_t size = weft_network_head_size(config);
    const uint32_t n = builder->length;
    if (config->attention.head_norm == WEFT_HEAD_NORM_ALL) {
        return weft_build_norm(builder, x, name, heads * size);
    }
    x = weft_build_reshape(builder, x, weft_shape_of(builder->batch, n, heads, size));
    x = weft_build_norm(builder, x, name, size);
    return weft_build_reshape(builder, x, weft_shape_of(builder->batch, n, heads * size));
}

struct weft_qkv weft_layout_qkv(struct weft_builder *builder, weft_tensor x) {
    const weft_network_config *config = &builder->network->config;
    const weft_attention_form *form = &config->attention;
    const uint32_t d = builder->width;
    const uint32_t size = weft_network_head_size(config);
    const uint32_t kv_heads = weft_network_kv_heads(config);
    const bool bias = config->biases.attention;
    return (struct weft_qkv){
        .query = weft_build_map(builder, x, "query", d, form->heads * size, bias),
        .key = weft_build_map(builder, x, "key", d, kv_heads * size, bias && !form->unbiased_keys),
        .value = weft_build_map(builder, x, "value", d, kv_heads * size, bias),
        .kv_heads = kv_heads,
        .scale = form->scale,
        .cap = form->cap,
        .sinks = form->sinks ? weft_build_vector(builder, "sinks", form->heads) : (weft_tensor){0}};
}

/* Norms of queries and keys, then their positions. */
static void place(struct weft_builder *builder, struct weft_qkv *qkv, bool local) {
    const weft_attention_form *form = &builder->network->config.attention;
    const weft_rotary *rotary =
        local && form->local_rotary.base > 0 ? &form->local_rotary : &form->rotary;
    if (form->head_norm != WEFT_HEAD_NORM_NONE) {
        qkv->query = norm_heads(builder, qkv->query, "query_norm", form->heads);
        qkv->key = norm_heads(builder, qkv->key, "key_norm", qkv->kv_heads);
    }
    if (rotary->base > 0 && !weft_layer_set_has(&form->unturned, builder->layer)) {
        qkv->query = turn(builder, qkv->query, form->heads, rotary);
        qkv->key = turn(builder, qkv->key, qkv->kv_heads, rotary);
        qkv->query = amplify(builder, qkv->query, rotary);
    }
}

weft_tensor weft_layout_mix(struct weft_builder *builder, struct weft_qkv *qkv) {
    const weft_network_config *config = &builder->network->config;
    const weft_attention_form *form = &config->attention;
    const bool local = weft_layer_set_has(&form->local, builder->layer);
    place(builder, qkv, local);
    if (form->distance_kinds != 0) {
        qkv->bias = weft_build_distances(builder);
    }
    if (form->slopes) {
        qkv->bias = weft_build_slopes(builder, form->heads);
    }
    weft_tensor mixed =
        local ? weft_build_banded_attention(builder, qkv, form->heads, form->half_width)
              : weft_build_softmax_attention(builder, qkv, form->heads);
    if (qkv->gate.id != 0) {
        weft_tensor open = weft_build_activate(builder, qkv->gate, WEFT_ACTIVATION_SIGMOID);
        mixed = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, mixed, open);
    }
    return weft_build_map(builder, mixed, "output", form->heads * weft_network_head_size(config),
                          builder->width, config->biases.output);
}

weft_tensor weft_layout_attention(struct weft_builder *builder, weft_tensor x, const void *config) {
    (void)config;
    struct weft_qkv qkv = weft_layout_qkv(builder, x);
    return weft_layout_mix(builder, &qkv);
}
