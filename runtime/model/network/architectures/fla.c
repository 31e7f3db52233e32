/* SPDX-License-Identifier: MIT */
/*
 * Models of flash-linear-attention that are one mixer with a gated state, and a gated feed-forward behind it:
 *
 *   RetNet              Sun et al., "Retentive network: A successor to transformer for large language models", 2023
 *   GLA                 Yang et al., "Gated linear attention transformers with hardware-efficient training", 2024
 *   DeltaNet            Yang et al., "Parallelizing linear transformers with the delta rule over sequence length", 2024
 *   Gated DeltaNet      Yang, Kautz and Hatamizadeh, "Gated delta networks: Improving Mamba2 with delta rule", 2024
 *
 * docs/mixers.md, section 5, has their states; here is what makes the operands.
 */
#include <math.h>
#include <string.h>

#include <weft/arithmetic.h>
#include <weft/mixers.h>
#include <weft/movement.h>

#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/common_fields.h"
#include "model/network/decoder_layout.h"
#include "model/network/fla_layout.h"
#include "model/network/gated_mixer.h"
#include "model/network/network.h"

#define MOST_CHANNELS (1U << 24)
#define LENGTH_EPSILON \
    1e-6F /* of queries and keys of length 1: a constant of fla's code, as are the next two */
#define GATE_RANK       16
#define GATE_NORMALIZER 16.0F

enum decay {
    DECAY_NONE = 0,
    DECAY_OF_HEADS, /* 1 - 2^-(5 + h): RetNet's */
    DECAY_OF_ROWS,  /* sigmoid of a map by way of a few channels: GLA's */
    DECAY_OF_STEPS  /* Mamba-2's */
};
enum key_norm { KEY_NORM_NONE = 0, KEY_NORM_LENGTH, KEY_NORM_SUM };

struct fla {
    uint32_t heads, state_heads; /* of queries, of values */
    uint32_t key_size, value_size;
    uint32_t taps; /* of short filters behind the maps of queries, keys and values; 0: none */
    weft_activation key_activation, value_activation; /* behind the filters */
    weft_activation feature_map;                      /* of queries and keys behind that */
    enum key_norm key_norm;
    enum decay decay;
    float least;     /* of the logarithm of GLA's decays; -INFINITY: none */
    bool turns;      /* rotary positions */
    bool erases;     /* the delta rule */
    bool rates;      /* beta is the sigmoid of a map b_proj, otherwise 1 … */
    bool doubled;    /* … and twice that */
    bool keys_share; /* keys have the heads of values, not those of queries */
    bool gated;
    const char *norm; /* of heads; null: without a weight */
};

/* ---- config.json ---- */

/* Fields that several of these have; each reader takes its own. */
struct given {
    uint32_t heads, taps;
    double keys, values; /* expand_k and expand_v */
    bool filters, gate, fused, affine;
};

static const weft_field own_fields[] = {
    {WEFT_INTEGER("num_heads", struct given, heads, 1, 65536)},
    {WEFT_INTEGER("conv_size", struct given, taps, 1, 1024)},
    {WEFT_BOOL("use_short_conv", struct given, filters)},
    {WEFT_BOOL("fuse_norm", struct given, fused)},
    WEFT_REFUSED("attnres_block_size", weft_field_null),
};
static const weft_field_table own_table = {own_fields, sizeof own_fields / sizeof own_fields[0]};

static weft_status read_common(struct given *given, weft_network_config *config,
                               const weft_json_fields *json, double usual_ratio) {
    const struct weft_fla_width width = {.ratio = usual_ratio, .part = 2.0 / 3.0, .multiple = 256};
    WEFT_TRY(weft_fields_read(given, &own_table, json));
    WEFT_TRY(weft_json_optional_real(&given->keys, json, "expand_k", 1e-3, 65536));
    WEFT_TRY(weft_json_optional_real(&given->values, json, "expand_v", 1e-3, 65536));
    /* That of gates, too: no other is in fla's feed-forwards but one with a power. */
    WEFT_TRY(weft_fla_check_activation(json, "swish"));
    return weft_fla_read_width(config, &width, json);
}

/* Channels of a head, of so many times hidden_size together. */
static weft_status read_size(uint32_t *size, double times, uint32_t most, const struct given *given,
                             const weft_network_config *config, const weft_json_fields *json,
                             const char *name) {
    const double channels = floor(config->hidden_size * times);
    const uint32_t all = channels < MOST_CHANNELS ? (uint32_t)channels : 0;
    *size = all / given->heads;
    return all > 0 && all % given->heads == 0 && *size <= most
               ? WEFT_OK
               : weft_fields_refuse(
                     json, name,
                     "a number of channels that num_heads divides, and that states can have");
}

static weft_status read_sizes(struct fla *fla, const struct given *given,
                              const weft_network_config *config, const weft_json_fields *json) {
    fla->heads = fla->state_heads = given->heads;
    WEFT_TRY(read_size(&fla->key_size, given->keys, WEFT_MAX_GATED_STATE_ROWS, given, config, json,
                       "expand_k"));
    return read_size(&fla->value_size, given->values, MOST_CHANNELS, given, config, json,
                     "expand_v");
}

static weft_status read_feature_map(struct fla *fla, const weft_json_fields *json) {
    static const struct {
        const char *name;
        weft_activation activation;
    } maps[] = {{"relu", WEFT_ACTIVATION_RELU},
                {"sigmoid", WEFT_ACTIVATION_SIGMOID},
                {"silu", WEFT_ACTIVATION_SILU},
                {"swish", WEFT_ACTIVATION_SILU}};
    const char *text = NULL;
    WEFT_TRY(weft_json_optional_string(&text, json, "feature_map"));
    for (size_t i = 0; text && i < sizeof maps / sizeof maps[0]; i++) {
        if (strcmp(text, maps[i].name) == 0) {
            fla->feature_map = maps[i].activation;
            return WEFT_OK;
        }
    }
    return text ? weft_json_fail(json, WEFT_UNSUPPORTED, "feature_map",
                                 "null, relu, sigmoid, silu or swish",
                                 json_object_get(json->object, "feature_map"))
                : WEFT_OK;
}

/* The norm of heads of RetNet and GLA: with a gate in one kernel of fla's it has another name. */
static weft_status read_gate(struct fla *fla, struct given *given, const weft_json_fields *json) {
    given->gate = given->affine = true;
    WEFT_TRY(weft_json_optional_bool(&given->gate, json, "use_output_gate"));
    WEFT_TRY(weft_json_optional_bool(&given->affine, json, "elementwise_affine"));
    fla->gated = given->gate;
    fla->norm = !given->affine                ? NULL
                : given->gate && given->fused ? "g_norm_swish_gate.weight"
                                              : "g_norm.weight";
    return WEFT_OK;
}

/* use_short_conv is in the config, but fla gives it to no layer: its RetNet has no filters. */
static weft_status read_retnet(void *state, weft_network_config *config,
                               const weft_json_fields *json) {
    struct fla *fla = state;
    struct given given = {.heads = 8, .taps = 4, .keys = 1, .values = 2, .fused = true};
    int64_t kv_heads = 0;
    WEFT_TRY(read_common(&given, config, json, 2.0));
    WEFT_TRY(read_sizes(fla, &given, config, json));
    WEFT_TRY(read_feature_map(fla, json));
    WEFT_TRY(read_gate(fla, &given, json));
    WEFT_TRY(weft_json_optional_integer(&kv_heads, json, "num_kv_heads", 1, 65536));
    fla->decay = DECAY_OF_HEADS;
    fla->turns = true;
    if (fla->key_size % 2 != 0) {
        return weft_fields_refuse(json, "expand_k", "an even number of channels of each head");
    }
    return kv_heads == 0 || kv_heads == given.heads
               ? WEFT_OK
               : weft_json_fail(json, WEFT_UNSUPPORTED, "num_kv_heads", "null or num_heads",
                                json_object_get(json->object, "num_kv_heads"));
}

static weft_status read_gla(void *state, weft_network_config *config,
                            const weft_json_fields *json) {
    struct fla *fla = state;
    struct given given = {.heads = 4, .taps = 4, .keys = 0.5, .values = 1, .fused = true};
    double least = -INFINITY;
    WEFT_TRY(read_common(&given, config, json, 4.0));
    WEFT_TRY(read_sizes(fla, &given, config, json));
    fla->taps = given.filters ? given.taps : 0;
    fla->key_activation = fla->value_activation =
        given.filters ? WEFT_ACTIVATION_SILU : WEFT_ACTIVATION_NONE;
    WEFT_TRY(read_feature_map(fla, json));
    WEFT_TRY(read_gate(fla, &given, json));
    int64_t kv_heads = given.heads;
    WEFT_TRY(weft_json_optional_integer(&kv_heads, json, "num_kv_heads", 1, 65536));
    WEFT_TRY(weft_json_optional_real(&least, json, "clamp_min", -1e30, 0));
    fla->decay = DECAY_OF_ROWS;
    fla->least = (float)least;
    fla->state_heads = (uint32_t)kv_heads;
    fla->keys_share = true;
    return given.heads % kv_heads == 0
               ? WEFT_OK
               : weft_fields_refuse(json, "num_kv_heads", "a divisor of num_heads");
}

static weft_status read_key_activation(struct fla *fla, const weft_json_fields *json) {
    static const char *const names[] = {"silu", "relu", "elu", "identity"};
    static const weft_activation kinds[] = {WEFT_ACTIVATION_SILU, WEFT_ACTIVATION_RELU,
                                            WEFT_ACTIVATION_ELU1, WEFT_ACTIVATION_NONE};
    const char *text = names[0];
    WEFT_TRY(weft_json_optional_string(&text, json, "qk_activation"));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            fla->key_activation = kinds[i];
            return WEFT_OK;
        }
    }
    return weft_json_fail(json, WEFT_UNSUPPORTED, "qk_activation", "silu, relu, elu or identity",
                          json_object_get(json->object, "qk_activation"));
}

/* What both delta nets have. */
static weft_status read_delta(struct fla *fla, struct given *given, const weft_json_fields *json) {
    WEFT_TRY(weft_json_optional_bool(&given->gate, json, "use_gate"));
    WEFT_TRY(weft_json_optional_bool(&fla->doubled, json, "allow_neg_eigval"));
    fla->taps = given->filters ? given->taps : 0;
    fla->key_activation = fla->value_activation = WEFT_ACTIVATION_SILU;
    fla->erases = true;
    fla->rates = true;
    fla->gated = given->gate;
    fla->norm = "o_norm.weight";
    fla->key_norm = KEY_NORM_LENGTH;
    return WEFT_OK;
}

static weft_status read_delta_net(void *state, weft_network_config *config,
                                  const weft_json_fields *json) {
    struct fla *fla = state;
    struct given given = {.heads = 16, .taps = 4, .keys = 1, .values = 1, .filters = true};
    const char *norm = "l2";
    WEFT_TRY(read_common(&given, config, json, 4.0));
    WEFT_TRY(read_sizes(fla, &given, config, json));
    WEFT_TRY(read_delta(fla, &given, json));
    WEFT_TRY(read_key_activation(fla, json));
    WEFT_TRY(weft_json_optional_bool(&fla->rates, json, "use_beta"));
    WEFT_TRY(weft_json_optional_string(&norm, json, "qk_norm"));
    fla->key_norm = strcmp(norm, "sum") == 0 ? KEY_NORM_SUM : KEY_NORM_LENGTH;
    return strcmp(norm, "sum") == 0 || strcmp(norm, "l2") == 0
               ? WEFT_OK
               : weft_json_fail(json, WEFT_UNSUPPORTED, "qk_norm", "l2 or sum",
                                json_object_get(json->object, "qk_norm"));
}

static weft_status read_gated_delta_net(void *state, weft_network_config *config,
                                        const weft_json_fields *json) {
    struct fla *fla = state;
    struct given given = {.heads = 6, .taps = 4, .values = 2, .filters = true, .gate = true};
    int64_t size = 256;
    WEFT_TRY(read_common(&given, config, json, 4.0));
    WEFT_TRY(read_delta(fla, &given, json));
    int64_t v_heads = given.heads;
    WEFT_TRY(weft_json_optional_integer(&size, json, "head_dim", 1, WEFT_MAX_GATED_STATE_ROWS));
    WEFT_TRY(weft_json_optional_integer(&v_heads, json, "num_v_heads", 1, 65536));
    const double value_size = (double)size * given.values;
    fla->heads = given.heads;
    fla->state_heads = (uint32_t)v_heads;
    fla->key_size = (uint32_t)size;
    fla->value_size = value_size < MOST_CHANNELS ? (uint32_t)value_size : 0;
    fla->decay = DECAY_OF_STEPS;
    if (v_heads % given.heads != 0) {
        return weft_fields_refuse(json, "num_v_heads", "a multiple of num_heads");
    }
    if (fla->value_size == 0 || fabs(fla->value_size - value_size) > 1e-5 * value_size) {
        return weft_fields_refuse(json, "expand_v", "a whole number of channels of each head");
    }
    const uint64_t most = (uint64_t)fla->state_heads *
                          (fla->key_size > fla->value_size ? fla->key_size : fla->value_size);
    return most <= MOST_CHANNELS
               ? WEFT_OK
               : weft_fields_refuse(json, "num_heads", "fewer heads: they have too many channels");
}

/* ---- tensors ---- */

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.tokens", "embeddings")},
    {WEFT_NAMED("layers.#.mixer", "layers.#.attn")},
    {WEFT_NAMED("layers.#.mixer_norm", "layers.#.attn_norm")},
    WEFT_LLAMA_FEED_FORWARD_NAMES,
    {WEFT_NAMED("layers.#.feed_forward_norm", "layers.#.mlp_norm")},
    {WEFT_NAMED("norm", "norm")},
    {.ours = NULL}};

/* ---- operands ---- */

static weft_tensor multiply(struct weft_builder *builder, weft_tensor a, weft_tensor b) {
    return weft_build_binary(builder, WEFT_BINARY_MULTIPLY, a, b);
}

static weft_tensor activate(struct weft_builder *builder, weft_tensor x,
                            weft_activation activation) {
    return activation == WEFT_ACTIVATION_NONE ? x : weft_build_activate(builder, x, activation);
}

/* The map of that name, with its short filter. */
static weft_tensor project(struct weft_builder *builder, weft_tensor x, const char *name,
                           const char *filter, uint32_t channels, const struct fla *fla) {
    x = weft_build_map(builder, x, name, builder->width, channels, false);
    return fla->taps == 0 ? x
                          : weft_build_short_filter(builder, x, filter, channels, fla->taps, false);
}

static weft_tensor turn(struct weft_builder *builder, weft_tensor x, uint32_t heads) {
    const struct weft_step_builder *decoding = builder->decoding;
    const bool one = decoding && !decoding->prompt;
    weft_tensor out = {0};
    return WEFT_BUILT(builder, out,
                      weft_graph_rope(&out, builder->graph, x,
                                      weft_rope_params(.heads = heads, .base = 10000.0F,
                                                       .positions = one ? decoding->position
                                                                        : (weft_tensor){0})));
}

/* x / Σ x of each head. */
static weft_tensor share_of_sum(struct weft_builder *builder, weft_tensor x, uint32_t heads,
                                uint32_t size) {
    const weft_reduce_params each = {.axes = {3}, .axis_count = 1, .keep_axes = true};
    weft_tensor sum = {0};
    x = weft_build_reshape(builder, x, weft_shape_of(builder->batch, builder->length, heads, size));
    sum = WEFT_BUILT(builder, sum,
                     weft_graph_reduce(&sum, builder->graph, WEFT_REDUCTION_SUM, x, &each));
    x = weft_build_binary(builder, WEFT_BINARY_DIVIDE, x, sum);
    return weft_build_reshape(builder, x,
                              weft_shape_of(builder->batch, builder->length, heads * size));
}

/* Queries or keys. */
static weft_tensor key_like(struct weft_builder *builder, weft_tensor x, const char *name,
                            const char *filter, uint32_t heads, const struct fla *fla) {
    const uint32_t channels = heads * fla->key_size;
    x = project(builder, x, name, filter, channels, fla);
    x = activate(builder, activate(builder, x, fla->key_activation), fla->feature_map);
    x = fla->turns ? turn(builder, x, heads) : x;
    switch (fla->key_norm) {
    case KEY_NORM_LENGTH:
        return weft_build_unit_parts(builder, x, channels, heads, LENGTH_EPSILON);
    case KEY_NORM_SUM:
        return share_of_sum(builder, x, heads, fla->key_size);
    case KEY_NORM_NONE:
        break;
    }
    return x;
}

/* A constant of each head, whatever the token: one for all layers, as a device keeps what becomes of it. */
static weft_tensor of_heads(struct weft_builder *builder, const char *name, uint32_t heads,
                            weft_status (*fill)(float *, const void *, const weft_host *)) {
    weft_tensor out = {0};
    const struct weft_scope scope = weft_build_outside(builder);
    weft_tensor x = weft_build_constant(builder, name, weft_shape_of(heads), fill, &heads);
    weft_build_inside(builder, &scope);
    x = weft_build_reshape(builder, x, weft_shape_of(1, 1, heads));
    return WEFT_BUILT(builder, out,
                      weft_graph_expand(&out, builder->graph, x,
                                        weft_shape_of(builder->batch, builder->length, heads)));
}

static weft_status fill_retention(float *data, const void *user, const weft_host *host) {
    const uint32_t *heads = user;
    (void)host;
    for (uint32_t i = 0; i < *heads; i++) {
        data[i] = 1.0F - ldexpf(1.0F, -5 - (int)i);
    }
    return WEFT_OK;
}

static weft_status fill_twos(float *data, const void *user, const weft_host *host) {
    const uint32_t *heads = user;
    (void)host;
    for (uint32_t i = 0; i < *heads; i++) {
        data[i] = 2.0F;
    }
    return WEFT_OK;
}

/* exp(max(log sigmoid(x) / 16, least)) */
static weft_tensor row_decay(struct weft_builder *builder, weft_tensor x, const struct fla *fla) {
    weft_tensor out = {0};
    x = weft_build_map(builder, x, "gk_proj.0", builder->width, GATE_RANK, false);
    x = weft_build_map(builder, x, "gk_proj.1", GATE_RANK, fla->state_heads * fla->key_size, true);
    x = weft_build_unary(builder, WEFT_UNARY_LOG_SIGMOID, x);
    x = weft_build_affine(builder, x, 1.0F / GATE_NORMALIZER, 0.0F);
    x = isinf(fla->least)
            ? x
            : WEFT_BUILT(builder, out, weft_graph_clamp(&out, builder->graph, x, fla->least, 0.0F));
    return weft_build_activate(builder, x, WEFT_ACTIVATION_EXP);
}

static weft_tensor decay_of(struct weft_builder *builder, weft_tensor x, const struct fla *fla) {
    weft_tensor step = {0};
    switch (fla->decay) {
    case DECAY_OF_HEADS:
        return of_heads(builder, "retention", fla->heads, fill_retention);
    case DECAY_OF_ROWS:
        return row_decay(builder, x, fla);
    case DECAY_OF_STEPS:
        x = weft_build_map(builder, x, "a_proj", builder->width, fla->state_heads, false);
        return weft_build_step_decay(builder, &step, x, fla->state_heads, 0.0F, INFINITY);
    case DECAY_NONE:
        break;
    }
    return step;
}

/* What a write, and so the erase, is multiplied by; none: 1. */
static weft_tensor beta_of(struct weft_builder *builder, weft_tensor x, const struct fla *fla) {
    if (!fla->rates) {
        return fla->doubled ? of_heads(builder, "twos", fla->state_heads, fill_twos)
                            : (weft_tensor){0};
    }
    x = weft_build_map(builder, x, "b_proj", builder->width, fla->state_heads, false);
    x = weft_build_activate(builder, x, WEFT_ACTIVATION_SIGMOID);
    return fla->doubled ? weft_build_affine(builder, x, 2.0F, 0.0F) : x;
}

static weft_tensor take_state(struct weft_builder *builder, weft_tensor x, const struct fla *fla) {
    const uint32_t k_heads = fla->keys_share ? fla->state_heads : fla->heads;
    weft_tensor q = key_like(builder, x, "q_proj", "q_conv1d", fla->heads, fla);
    weft_tensor k = key_like(builder, x, "k_proj", "k_conv1d", k_heads, fla);
    weft_tensor v =
        project(builder, x, "v_proj", "v_conv1d", fla->state_heads * fla->value_size, fla);
    const weft_gated_state_params params = {.heads = fla->state_heads,
                                            .q_heads = fla->heads,
                                            .k_heads = k_heads,
                                            .scale = (float)(1.0 / sqrt((double)fla->key_size)),
                                            .decay = decay_of(builder, x, fla),
                                            .beta = beta_of(builder, x, fla),
                                            .erase = fla->erases ? k : (weft_tensor){0}};
    return weft_build_gated_state(builder, q, k, activate(builder, v, fla->value_activation),
                                  &params);
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *state) {
    const struct fla *fla = state;
    const uint32_t heads = fla->heads > fla->state_heads ? fla->heads : fla->state_heads;
    const uint32_t values = heads * fla->value_size;
    weft_tensor y = take_state(builder, x, fla);
    weft_tensor weight = {0};
    weight =
        fla->norm ? weft_build_weight(builder, fla->norm, weft_shape_of(fla->value_size)) : weight;
    y = weft_build_part_norm(
        builder, y,
        &(struct weft_part_norm){.weight = weight,
                                 .channels = values,
                                 .parts = heads,
                                 .epsilon = builder->network->config.norm_eps});
    if (fla->gated) {
        weft_tensor gate = weft_build_map(builder, x, "g_proj", builder->width, values, false);
        y = multiply(builder, y, weft_build_activate(builder, gate, WEFT_ACTIVATION_SILU));
    }
    return weft_build_map(builder, y, "o_proj", values, builder->width, false);
}

/* ---- families ---- */

static const weft_network_config defaults = {WEFT_LLAMA_DEFAULTS, .max_positions = 1 << 24};

#define LAYOUT(own_stem, reader)                                                               \
    {                                                                                          \
        .stem = (own_stem), .encoder = own_stem "Model", .prefix = "model.",                   \
        .fields = {&weft_fla_fields}, .defaults = &defaults, .read = (reader), .names = names, \
        .heads = weft_causal_heads                                                             \
    }
static const struct weft_layout retnet_layout = LAYOUT("RetNet", read_retnet);
static const struct weft_layout gla_layout = LAYOUT("GLA", read_gla);
static const struct weft_layout delta_layout = LAYOUT("DeltaNet", read_delta_net);
static const struct weft_layout gated_layout = LAYOUT("GatedDeltaNet", read_gated_delta_net);

#define FAMILY(type, own_layout)                                                          \
    {                                                                                     \
        .model_type = (type), .config_size = sizeof(struct fla), WEFT_ATTENTION_PARTS,    \
        .takes_lengths = weft_family_always, .recurrent = weft_family_always, .mix = mix, \
        .layout = (own_layout)                                                            \
    }
const struct weft_model_family weft_family_retnet = FAMILY("retnet", &retnet_layout);
const struct weft_model_family weft_family_gla = FAMILY("gla", &gla_layout);
const struct weft_model_family weft_family_delta_net = FAMILY("delta_net", &delta_layout);
const struct weft_model_family weft_family_gated_deltanet = FAMILY("gated_deltanet", &gated_layout);
