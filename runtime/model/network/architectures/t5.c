/* SPDX-License-Identifier: MIT */
/*
 * T5: Raffel et al., "Exploring the limits of transfer learning with a unified text-to-text transformer", 2020; mT5: Xue et
 * al., 2021; UMT5: Chung et al., 2023. Scores are not scaled, and have biases by distance. network_decoder.c has what the decoders are.
 */
#include <math.h>
#include <string.h>

#include "core/try.h"
#include "model/network/architecture.h"

#define MOST_POSITIONS 16777216.0 /* 2^24 */
#define BLOCK          "encoder.block.#.layer."
#define DECODER        "decoder.block.#.layer."

/* The decoder, of which an encoder alone has none. */
struct t5 {
    uint32_t layers; /* 0: as many as the encoder */
    uint32_t start;  /* the token that texts begin with; NO_TOKEN: config.json does not say */
};
#define NO_TOKEN UINT32_MAX

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
#define DECODER_NAMES                                                                      \
    {WEFT_NAMED("decoder.layers.#.mixer.query", DECODER "0.SelfAttention.q")},             \
        {WEFT_NAMED("decoder.layers.#.mixer.key", DECODER "0.SelfAttention.k")},           \
        {WEFT_NAMED("decoder.layers.#.mixer.value", DECODER "0.SelfAttention.v")},         \
        {WEFT_NAMED("decoder.layers.#.mixer.output", DECODER "0.SelfAttention.o")},        \
        {WEFT_NAMED("decoder.layers.#.mixer_norm", DECODER "0.layer_norm")},               \
        {WEFT_NAMED("decoder.layers.#.cross.query", DECODER "1.EncDecAttention.q")},       \
        {WEFT_NAMED("decoder.layers.#.cross.key", DECODER "1.EncDecAttention.k")},         \
        {WEFT_NAMED("decoder.layers.#.cross.value", DECODER "1.EncDecAttention.v")},       \
        {WEFT_NAMED("decoder.layers.#.cross.output", DECODER "1.EncDecAttention.o")},      \
        {WEFT_NAMED("decoder.layers.#.cross_norm", DECODER "1.layer_norm")},               \
        {WEFT_NAMED("decoder.layers.#.feed_forward.in", DECODER "2.DenseReluDense.wi")},   \
        {WEFT_NAMED("decoder.layers.#.feed_forward.out", DECODER "2.DenseReluDense.wo")},  \
        {WEFT_NAMED("decoder.layers.#.feed_forward.l1", DECODER "2.DenseReluDense.wi_0")}, \
        {WEFT_NAMED("decoder.layers.#.feed_forward.l2", DECODER "2.DenseReluDense.wi_1")}, \
        {WEFT_NAMED("decoder.layers.#.feed_forward.l3", DECODER "2.DenseReluDense.wo")},   \
        {WEFT_NAMED("decoder.layers.#.feed_forward_norm", DECODER "2.layer_norm")}, {      \
        WEFT_NAMED("decoder.norm", "decoder.final_layer_norm")                             \
    }
#define DISTANCES(layer) "encoder.block." layer ".layer.0.SelfAttention.relative_attention_bias"
#define DECODER_DISTANCES(layer) \
    "decoder.block." layer ".layer.0.SelfAttention.relative_attention_bias"

static const struct weft_tensor_name t5_names[] = {
    NAMES,
    DECODER_NAMES,
    {WEFT_NAMED("distances", DISTANCES("0"))},
    {WEFT_NAMED("decoder.distances", DECODER_DISTANCES("0"))},
    {.ours = NULL}};
static const struct weft_tensor_name umt5_names[] = {
    NAMES,
    DECODER_NAMES,
    {WEFT_NAMED("layers.#.mixer.distances", DISTANCES("#"))},
    {WEFT_NAMED("decoder.layers.#.mixer.distances", DECODER_DISTANCES("#"))},
    {.ours = NULL}};

static const struct weft_head heads[] = {
    {"EncoderModel", .task = WEFT_TASK_HIDDEN},
    {"ForConditionalGeneration", WEFT_TASK_TEXT_TO_TEXT, .out = "lm_head", .part = "decoder"},
    {.name = NULL}};

/* The other names of `shared`, and a table that the first files have and no model. */
static const char *const unused[] = {
    "encoder.embed_tokens.weight", "decoder.embed_tokens.weight",
    "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight", NULL};

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
    {WEFT_BOOL("tie_word_embeddings", weft_network_config, tie_word_embeddings)},
};
static const weft_field_table table = {fields, sizeof fields / sizeof fields[0]};

static const weft_field own_fields[] = {
    {WEFT_INTEGER("num_decoder_layers", struct t5, layers, 1, WEFT_MAX_LAYERS)},
    {WEFT_INTEGER("decoder_start_token_id", struct t5, start, 0, MOST_POSITIONS)},
};

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

/* T5's first version scales what its last map reads: files of later ones say so by another field, unless they have this. */
static weft_status read_scale(weft_network_config *config, const weft_json_fields *json) {
    bool scaled = config->tie_word_embeddings;
    WEFT_TRY(weft_json_optional_bool(&scaled, json, "scale_decoder_outputs"));
    config->head.scale = scaled ? (float)(1.0 / sqrt(config->hidden_size)) : 0.0F;
    return WEFT_OK;
}

static weft_status check_unscaled(weft_network_config *config, const struct weft_head *head,
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

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    WEFT_TRY(read_scale(config, json));
    return check_unscaled(config, head, json);
}

static weft_status check_decoder(void *config, const weft_network_config *network,
                                 const weft_json_fields *json) {
    struct t5 *t5 = config;
    t5->layers = t5->layers != 0 ? t5->layers : network->layers;
    if (weft_network_task(network) != WEFT_TASK_TEXT_TO_TEXT) {
        return WEFT_OK;
    }
    if (t5->start >= network->vocab_size) {
        return weft_fields_refuse(json, "decoder_start_token_id",
                                  "a token's number, which texts begin with");
    }
    return network->attention.farthest > network->attention.distance_kinds / 2
               ? WEFT_OK
               : weft_fields_refuse(json, "relative_attention_max_distance",
                                    "more than half of relative_attention_num_buckets");
}

static void no_start(void *config) {
    ((struct t5 *)config)->start = NO_TOKEN;
}

static uint32_t decoder_layers(const void *config) {
    return ((const struct t5 *)config)->layers;
}

static int32_t start_token(const void *config) {
    return (int32_t)((const struct t5 *)config)->start;
}

/* ---- families ---- */

#define DEFAULTS \
    .norm = WEFT_NORM_RMS, .norm_eps = 1e-6F, .max_positions = 512, .tie_word_embeddings = true
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
    .defaults = &(own_defaults), .names = (own_names), .heads = heads, .unused = unused

static const struct weft_layout t5 = {LAYOUT("T5", t5_defaults, t5_names), .check = check};
static const struct weft_layout mt5 = {LAYOUT("MT5", mt5_defaults, t5_names),
                                       .check = check_unscaled};
static const struct weft_layout umt5 = {LAYOUT("UMT5", umt5_defaults, umt5_names), .check = check};

#define FAMILY(layout)                                                                          \
    .fields = {own_fields, sizeof own_fields / sizeof own_fields[0]},                           \
    .config_size = sizeof(struct t5), .check = check_decoder, .decoder_layers = decoder_layers, \
    .start_token = start_token, WEFT_ENCODER_LAYOUT(layout)

const struct weft_model_family weft_family_t5 = {
    .model_type = "t5", .set_defaults = no_start, FAMILY(&t5)};
/* Texts of these begin with token 0 where a file does not say. */
const struct weft_model_family weft_family_mt5 = {.model_type = "mt5", FAMILY(&mt5)};
const struct weft_model_family weft_family_umt5 = {.model_type = "umt5", FAMILY(&umt5)};
