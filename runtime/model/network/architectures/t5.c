/* SPDX-License-Identifier: MIT */
/*
 * Encoders of T5: Raffel et al., "Exploring the limits of transfer learning with a unified text-to-text transformer", 2020; mT5: Xue et
 * al., 2021; UMT5: Chung et al., 2023. Scores are not scaled, and have biases by distance. Files of whole models have a decoder, too.
 */
#include <string.h>

#include "core/try.h"
#include "model/network/architecture.h"

#define MOST_POSITIONS 16777216.0 /* 2^24 */
#define BLOCK          "encoder.block.#.layer."

#define NAMES                                                                    \
    {WEFT_NAMED("embeddings.tokens", "shared")},                                 \
        {WEFT_NAMED("embeddings.tokens", "encoder.embed_tokens")},               \
        {WEFT_NAMED("layers.#.mixer.query", BLOCK "0.SelfAttention.q")},         \
        {WEFT_NAMED("layers.#.mixer.key", BLOCK "0.SelfAttention.k")},           \
        {WEFT_NAMED("layers.#.mixer.value", BLOCK "0.SelfAttention.v")},         \
        {WEFT_NAMED("layers.#.mixer.output", BLOCK "0.SelfAttention.o")},        \
        {WEFT_NAMED("layers.#.mixer_norm", BLOCK "0.layer_norm")},               \
        {WEFT_NAMED("layers.#.feed_forward.in", BLOCK "1.DenseReluDense.wi")},   \
        {WEFT_NAMED("layers.#.feed_forward.out", BLOCK "1.DenseReluDense.wo")},  \
        {WEFT_NAMED("layers.#.feed_forward.l1", BLOCK "1.DenseReluDense.wi_0")}, \
        {WEFT_NAMED("layers.#.feed_forward.l2", BLOCK "1.DenseReluDense.wi_1")}, \
        {WEFT_NAMED("layers.#.feed_forward.l3", BLOCK "1.DenseReluDense.wo")},   \
        {WEFT_NAMED("layers.#.feed_forward_norm", BLOCK "1.layer_norm")}, {      \
        WEFT_NAMED("norm", "encoder.final_layer_norm")                           \
    }
#define DISTANCES(layer) "encoder.block." layer ".layer.0.SelfAttention.relative_attention_bias"

static const struct weft_tensor_name t5_names[] = {
    NAMES, {WEFT_NAMED("distances", DISTANCES("0"))}, {.ours = NULL}};
static const struct weft_tensor_name umt5_names[] = {
    NAMES, {WEFT_NAMED("layers.#.mixer.distances", DISTANCES("#"))}, {.ours = NULL}};

static const struct weft_head heads[] = {{"EncoderModel", .task = WEFT_TASK_HIDDEN},
                                         {.name = NULL}};

/* The second name of `shared`. */
static const char *const unused[] = {"encoder.embed_tokens.weight", NULL};

/* ---- fields ---- */

static const weft_field fields[] = {
    {WEFT_INTEGER("vocab_size", weft_network_config, vocab_size, 1, MOST_POSITIONS),
     .required = true},
    {WEFT_INTEGER("d_model", weft_network_config, hidden_size, 1, 65536), .required = true},
    {WEFT_INTEGER("d_kv", weft_network_config, attention.head_size, 1, 65536), .required = true},
    {WEFT_INTEGER("d_ff", weft_network_config, intermediate_size, 1, 1048576), .required = true},
    {WEFT_INTEGER("num_layers", weft_network_config, layers, 1, WEFT_MAX_LAYERS), .required = true},
    {WEFT_INTEGER("num_heads", weft_network_config, attention.heads, 1, 65536), .required = true},
    {WEFT_INTEGER("n_positions", weft_network_config, max_positions, 1, MOST_POSITIONS)},
    {WEFT_INTEGER("relative_attention_num_buckets", weft_network_config, attention.distance_kinds,
                  4, 65536)},
    {WEFT_INTEGER("relative_attention_max_distance", weft_network_config, attention.farthest, 2,
                  MOST_POSITIONS)},
    {WEFT_REAL("layer_norm_epsilon", weft_network_config, norm_eps, 0, 1)},
};
static const weft_field_table table = {fields, sizeof fields / sizeof fields[0]};

static const struct {
    const char *name;
    weft_activation activation;
    bool gated;
} feed_forwards[] = {{"relu", WEFT_ACTIVATION_RELU, false},
                     {"gated-gelu", WEFT_ACTIVATION_GELU_TANH, true},
                     {"gated-silu", WEFT_ACTIVATION_SILU, true}};

static weft_status read_feed_forward(weft_network_config *config, const weft_json_fields *json) {
    static const char field[] = "feed_forward_proj";
    const char *name = feed_forwards[config->feed_forward == WEFT_FEED_FORWARD_GLU].name;
    WEFT_TRY(weft_json_optional_string(&name, json, field));
    for (size_t i = 0; i < sizeof feed_forwards / sizeof feed_forwards[0]; i++) {
        if (strcmp(name, feed_forwards[i].name) == 0) {
            config->activation = feed_forwards[i].activation;
            config->feed_forward =
                feed_forwards[i].gated ? WEFT_FEED_FORWARD_GLU : WEFT_FEED_FORWARD_MLP;
            return WEFT_OK;
        }
    }
    return weft_json_fail(json, WEFT_UNSUPPORTED, field, "relu, gated-gelu or gated-silu",
                          json_object_get(json->object, field));
}

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    weft_attention_form *form = &config->attention;
    (void)head;
    form->distance_rows = form->distance_kinds;
    if (form->distance_kinds % 2 != 0) {
        return weft_fields_refuse(json, "relative_attention_num_buckets", "an even number");
    }
    if (form->farthest <= form->distance_kinds / 4) {
        return weft_fields_refuse(json, "relative_attention_max_distance",
                                  "more than a quarter of relative_attention_num_buckets");
    }
    return read_feed_forward(config, json);
}

/* ---- families ---- */

#define DEFAULTS  .norm = WEFT_NORM_RMS, .norm_eps = 1e-6F, .max_positions = 512
#define ATTENTION .distance_kinds = 32, .farthest = 128, .scale = 1.0F

static const weft_network_config t5_defaults = {DEFAULTS, .attention = {ATTENTION}};
/* mT5 and UMT5 have gates where a file does not say. */
static const weft_network_config mt5_defaults = {DEFAULTS, .feed_forward = WEFT_FEED_FORWARD_GLU,
                                                 .attention = {ATTENTION}};
static const weft_network_config umt5_defaults = {
    DEFAULTS, .feed_forward = WEFT_FEED_FORWARD_GLU,
    .attention = {ATTENTION, .distances_of_layers = true}};

#define LAYOUT(name, own_defaults, own_names)                                                     \
    .stem = (name), .encoder = name "EncoderModel", .prefix = "transformer.", .fields = {&table}, \
    .defaults = &(own_defaults), .check = check, .names = (own_names), .heads = heads,            \
    .unused = unused

static const struct weft_layout t5 = {LAYOUT("T5", t5_defaults, t5_names)};
static const struct weft_layout mt5 = {LAYOUT("MT5", mt5_defaults, t5_names)};
static const struct weft_layout umt5 = {LAYOUT("UMT5", umt5_defaults, umt5_names)};

const struct weft_model_family weft_family_t5 = {.model_type = "t5", WEFT_ENCODER_LAYOUT(&t5)};
const struct weft_model_family weft_family_mt5 = {.model_type = "mt5", WEFT_ENCODER_LAYOUT(&mt5)};
const struct weft_model_family weft_family_umt5 = {.model_type = "umt5",
                                                   WEFT_ENCODER_LAYOUT(&umt5)};
