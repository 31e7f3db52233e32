/* SPDX-License-Identifier: MIT */
/*
 * MPNet: Song et al., "MPNet: Masked and permuted pre-training for language understanding", 2020. All layers add one bias to the
 * scores, of the distance of two tokens: as in T5, for 32 kinds of distances.
 */
#include <string.h>

#include <weft/movement.h>

#include "graph/graph.h"
#include "model/network/architecture.h"
#include "model/network/network.h"

enum { KINDS = 32, HALF = KINDS / 2, EXACT = HALF / 2, PADDING = 1 };

static const weft_field fields[] = {
    {WEFT_INTEGER("relative_attention_num_buckets", weft_network_config, distance_kinds, KINDS,
                  65536)},
};
static const weft_field_table table = {fields, sizeof fields / sizeof fields[0]};

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.tokens", "embeddings.word_embeddings")},
    {WEFT_NAMED("embeddings.positions", "embeddings.position_embeddings")},
    {WEFT_NAMED("embeddings.norm", "embeddings.LayerNorm")},
    {WEFT_NAMED("distances", "encoder.relative_attention_bias")},
    {WEFT_NAMED("layers.#.mixer.query", "encoder.layer.#.attention.attn.q")},
    {WEFT_NAMED("layers.#.mixer.key", "encoder.layer.#.attention.attn.k")},
    {WEFT_NAMED("layers.#.mixer.value", "encoder.layer.#.attention.attn.v")},
    {WEFT_NAMED("layers.#.mixer.output", "encoder.layer.#.attention.attn.o")},
    {WEFT_NAMED("layers.#.mixer_norm", "encoder.layer.#.attention.LayerNorm")},
    {WEFT_NAMED("layers.#.feed_forward.in", "encoder.layer.#.intermediate.dense")},
    {WEFT_NAMED("layers.#.feed_forward.out", "encoder.layer.#.output.dense")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "encoder.layer.#.output.LayerNorm")},
    {.ours = NULL}};

/* Kinds of a distance: exact ones below 8, then those that begin here, at powers of the root of 2; keys behind the query have their own. */
static int32_t kind_of(uint32_t query, uint32_t key) {
    static const uint32_t begins[] = {8, 12, 16, 23, 32, 46, 64, 91};
    const uint32_t distance = query > key ? query - key : key - query;
    uint32_t kind = distance < EXACT ? distance : EXACT - 1;
    for (size_t i = 0; i < sizeof begins / sizeof begins[0] && distance >= begins[i]; i++) {
        kind++;
    }
    return (int32_t)(kind + (key > query ? HALF : 0));
}

/* i32 [n, n], a weight of the graph alone. */
static weft_tensor kinds(struct weft_builder *builder) {
    const uint32_t n = builder->length;
    weft_weight *weight = NULL;
    weft_tensor out = {0};
    if (builder->status == WEFT_OK) {
        builder->status =
            weft_weight_create_empty(&weight,
                                     weft_weight_params(.name = "distances", .dtype = WEFT_I32,
                                                        .shape = weft_shape_of(n, n)),
                                     builder->host);
    }
    int32_t *data = weight ? weight->owned : NULL;
    for (size_t i = 0; data && i < (size_t)n * n; i++) {
        data[i] = kind_of((uint32_t)(i / n), (uint32_t)(i % n));
    }
    out = WEFT_BUILT(builder, out, weft_graph_weight(&out, builder->graph, weight));
    weft_weight_destroy(&weight);
    return out;
}

/* f32 [heads, n, n], once for all layers. */
static weft_tensor score_bias(struct weft_builder *builder) {
    const weft_network_config *config = &builder->network->config;
    if (builder->score_bias.id != 0 || builder->status != WEFT_OK) {
        return builder->score_bias;
    }
    char scope[WEFT_SCOPE_SIZE];
    memcpy(scope, builder->scope, sizeof scope);
    builder->scope[0] = '\0';
    const weft_embedding_params params = {
        .tokens = kinds(builder),
        .table = weft_build_weight(builder, "distances.weight",
                                   weft_shape_of(config->distance_kinds, config->heads))};
    memcpy(builder->scope, scope, sizeof scope);
    weft_tensor rows = {0};
    rows = WEFT_BUILT(builder, rows, weft_graph_embedding(&rows, builder->graph, &params));
    weft_tensor out = {0};
    out = WEFT_BUILT(builder, out,
                     weft_graph_permute(&out, builder->graph, rows, weft_shape_of(2, 0, 1)));
    builder->score_bias = out;
    return out;
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *config) {
    (void)config;
    struct weft_qkv qkv = weft_layout_qkv(builder, x);
    qkv.bias = score_bias(builder);
    return weft_layout_mix(builder, &qkv);
}

/* Positions begin behind the padding token, which is 1 whatever the config says. */
static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    (void)head;
    return weft_layout_offset_positions(config, PADDING + 1, json);
}

static const weft_network_config defaults = {WEFT_BERT_DEFAULTS, .distance_kinds = KINDS};

static const struct weft_layout layout = {.stem = "MPNet",
                                          .encoder = "MPNetModel",
                                          .prefix = "mpnet.",
                                          .fields = {&weft_size_fields, &weft_bert_fields, &table},
                                          .defaults = &defaults,
                                          .check = check,
                                          .names = names,
                                          .heads = weft_roberta_heads,
                                          .unused = weft_bert_unused};

const struct weft_model_family weft_family_mpnet = {.model_type = "mpnet",
                                                    WEFT_ATTENTION_PARTS,
                                                    .takes_lengths = weft_family_always,
                                                    .mix = mix,
                                                    .layout = &layout};
