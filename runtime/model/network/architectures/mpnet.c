/* SPDX-License-Identifier: MIT */
/*
 * MPNet: Song et al., "MPNet: Masked and permuted pre-training for language understanding", 2020. All layers add one bias to the
 * scores, of the distance of two tokens: as in T5, for 32 kinds of distances.
 */
#include "model/network/architecture.h"

enum { KINDS = 32, PADDING = 1 };

static const weft_field fields[] = {
    {WEFT_INTEGER("relative_attention_num_buckets", weft_network_config, attention.distance_rows,
                  KINDS, 65536)},
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

/* Positions begin behind the padding token, which is 1 whatever the config says. */
static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    (void)head;
    return weft_layout_offset_positions(config, PADDING + 1, json);
}

static const weft_network_config defaults = {
    WEFT_BERT_DEFAULTS,
    .attention = {.distance_kinds = KINDS, .distance_rows = KINDS, .farthest = 128}};

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
                                                    WEFT_ENCODER_LAYOUT(&layout)};
