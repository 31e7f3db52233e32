/* SPDX-License-Identifier: MIT */
/*
 * Qwen3-Next and the text part of Qwen3.5: layers of gated delta nets (Yang, Kautz and Hatamizadeh, "Gated delta networks: Improving
 * Mamba2 with delta rule", 2024), and between them some of attention whose result has a gate; with experts or without.
 */
#include <math.h>

#include <weft/movement.h>

#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"
#include "model/network/gated_mixer.h"
#include "model/network/network.h"

#define LENGTH_EPSILON 1e-6F /* of queries and keys of length 1: a constant of the published code */
#define MOST_CHANNELS  (1U << 24)

struct delta_net {
    uint32_t k_heads, v_heads, key_size, value_size, taps;
    weft_layer_set full; /* layers of attention */
    bool grouped; /* one map, in whose result each key's head stands with what belongs to it */
    bool tiled;   /* heads of values that share one of keys are not side by side: GGUF's order */
    bool
        split; /* where grouped, only rates and decays are, and the rest has maps as without: GGUF's */
};

/* ---- config.json ---- */

static const weft_field own_fields[] = {
    {WEFT_INTEGER("linear_num_key_heads", struct delta_net, k_heads, 1, 65536)},
    {WEFT_INTEGER("linear_num_value_heads", struct delta_net, v_heads, 1, 65536)},
    {WEFT_INTEGER("linear_key_head_dim", struct delta_net, key_size, 1, WEFT_MAX_GATED_STATE_ROWS)},
    {WEFT_INTEGER("linear_value_head_dim", struct delta_net, value_size, 1, 65536)},
    {WEFT_INTEGER("linear_conv_kernel_dim", struct delta_net, taps, 1, 1024)},
    {WEFT_BOOL("weft_tiled_value_heads", struct delta_net, tiled)},
    {WEFT_BOOL("weft_split_maps", struct delta_net, split)},
};
static const weft_field_table own_table = {own_fields, sizeof own_fields / sizeof own_fields[0]};

static weft_status check_sizes(const struct delta_net *net, const weft_network_config *config,
                               const weft_json_fields *json) {
    const uint64_t keys = (uint64_t)net->k_heads * net->key_size;
    const uint64_t values = (uint64_t)net->v_heads * net->value_size;
    const uint64_t queries = (uint64_t)config->attention.heads * weft_network_head_size(config);
    if (net->v_heads % net->k_heads != 0) {
        return weft_fields_refuse(json, "linear_num_key_heads",
                                  "a divisor of linear_num_value_heads");
    }
    if (2 * (keys + values) > MOST_CHANNELS) {
        return weft_fields_refuse(json, "linear_num_value_heads",
                                  "fewer heads: they have too many channels");
    }
    return 2 * queries <= MOST_CHANNELS
               ? WEFT_OK
               : weft_fields_refuse(json, "num_attention_heads",
                                    "fewer heads: they have too many channels");
}

/* layer_types, or every so many-th layer. */
static weft_status read_full(struct delta_net *net, const weft_network_config *config,
                             const weft_json_fields *json) {
    static const struct weft_layer_kinds kinds = {.out = "linear_attention",
                                                  .in = "full_attention"};
    int64_t every = 4;
    if (weft_json_has(json, "layer_types")) {
        return weft_layout_read_layer_kinds(&net->full, config->layers, &kinds, json);
    }
    WEFT_TRY(weft_json_optional_integer(&every, json, "full_attention_interval", 1, INT32_MAX));
    for (uint32_t i = 0; i < config->layers; i++) {
        weft_layer_set_put(&net->full, i, (i + 1) % every == 0);
    }
    return WEFT_OK;
}

static weft_status read(void *state, weft_network_config *config, const weft_json_fields *json) {
    struct delta_net *net = state;
    *net = (struct delta_net){
        .k_heads = 16, .v_heads = 32, .key_size = 128, .value_size = 128, .taps = 4};
    config->biases.output = config->biases.attention;
    WEFT_TRY(weft_fields_read(net, &own_table, json));
    WEFT_TRY(check_sizes(net, config, json));
    return read_full(net, config, json);
}

/* Experts, and beside them a feed-forward of all tokens with a gate. */
static weft_status read_experts(weft_network_config *config, uint32_t usual,
                                const weft_json_fields *json) {
    config->layer.experts.shared_gate = true;
    return weft_decoder_read_experts(config, usual, "num_experts", json);
}

static weft_status read_grouped(void *state, weft_network_config *config,
                                const weft_json_fields *json) {
    struct delta_net *net = state;
    WEFT_TRY(read(state, config, json));
    net->grouped = true;
    return read_experts(config, 10, json);
}

static weft_status read_with_experts(void *state, weft_network_config *config,
                                     const weft_json_fields *json) {
    WEFT_TRY(read(state, config, json));
    return read_experts(config, 8, json);
}

static const struct weft_rotary_fields rotary = {WEFT_ROTARY_FIELDS_BUT_SHARE, .usual_share = 0.25,
                                                 .partial = true};

static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    return weft_decoder_check_with(config, head, &rotary, json);
}

/* ---- tensors ---- */

#define QUERY "layers.#.self_attn.q_proj"

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("layers.#.mixer.query", QUERY), .packed = WEFT_PACKED_GATED},
    {WEFT_NAMED("layers.#.mixer.gate", QUERY), .packed = WEFT_PACKED_GATE},
    WEFT_LLAMA_ATTENTION_NAMES,
    {WEFT_NAMED("layers.#.mixer.delta", "layers.#.linear_attn")},
    WEFT_LLAMA_FEED_FORWARD_NAMES,
    WEFT_QWEN_EXPERT_NAMES,
    WEFT_LLAMA_NORM_NAMES,
    {.ours = NULL}};

static const struct weft_head text_heads[] = {
    {"TextModel", .task = WEFT_TASK_HIDDEN},
    {"ForCausalLM", WEFT_TASK_CAUSAL_LM, .out = "lm_head"},
    {"TextForSequenceClassification", WEFT_TASK_CLASSIFY, WEFT_HEAD_POOLED, .out = "score"},
    {.name = NULL}};

/* ---- the delta net ---- */

/* What it reads of its tokens. */
struct parts {
    weft_tensor mixed; /* queries, keys and values */
    weft_tensor gate, rate, decay;
};

struct grouping {
    const struct delta_net *net;
    uint32_t size[4]; /* of the parts of a group */
    uint32_t count;
};

/* Where each channel of the parts, one behind the other, stands in the groups. */
static weft_status fill_order(int32_t *data, const void *user, const weft_host *host) {
    const struct grouping *grouping = user;
    uint32_t whole = 0, before = 0, used = 0;
    (void)host;
    for (uint32_t i = 0; i < grouping->count; i++) {
        whole += grouping->size[i];
    }
    for (uint32_t part = 0; part < grouping->count; part++) {
        for (uint32_t group = 0; group < grouping->net->k_heads; group++) {
            for (uint32_t i = 0; i < grouping->size[part]; i++) {
                data[used++] = (int32_t)(group * whole + before + i);
            }
        }
        before += grouping->size[part];
    }
    return WEFT_OK;
}

static weft_tensor take_channels(struct weft_builder *builder, weft_tensor x, weft_tensor order) {
    weft_tensor out = {0};
    return WEFT_BUILT(builder, out, weft_graph_take(&out, builder->graph, x, order, 2));
}

static weft_tensor regroup(struct weft_builder *builder, weft_tensor x, const char *name,
                           uint32_t channels, const struct grouping *grouping) {
    return take_channels(
        builder, x,
        weft_build_integers(builder, name, weft_shape_of(channels), fill_order, grouping));
}

/* The channels of all heads of keys, once for each of the values' heads that share them. */
static weft_status fill_tiles(int32_t *data, const void *user, const weft_host *host) {
    const struct delta_net *net = user;
    const uint32_t keys = net->k_heads * net->key_size;
    (void)host;
    for (uint32_t i = 0; i < net->v_heads * net->key_size; i++) {
        data[i] = (int32_t)(i % keys);
    }
    return WEFT_OK;
}

static weft_tensor tile(struct weft_builder *builder, weft_tensor x, const struct delta_net *net) {
    return take_channels(builder, x,
                         weft_build_integers(builder, "tiles",
                                             weft_shape_of(net->v_heads * net->key_size),
                                             fill_tiles, net));
}

static void read_mixed(struct parts *parts, struct weft_builder *builder, weft_tensor x,
                       const struct delta_net *net) {
    const uint32_t d = builder->width;
    const uint32_t values = net->v_heads * net->value_size;
    const uint32_t mixed = 2 * net->k_heads * net->key_size + values;
    if (!net->grouped || net->split) {
        parts->mixed = weft_build_map(builder, x, "in_proj_qkv", d, mixed, false);
        parts->gate = weft_build_map(builder, x, "in_proj_z", d, values, false);
        return;
    }
    const uint32_t own = net->v_heads / net->k_heads * net->value_size;
    weft_tensor all = weft_build_map(builder, x, "in_proj_qkvz", d, mixed + values, false);
    all = regroup(builder, all, "order", mixed + values,
                  &(struct grouping){net, {net->key_size, net->key_size, own, own}, 4});
    parts->mixed = weft_build_channels(builder, all, 0, mixed);
    parts->gate = weft_build_channels(builder, all, mixed, values);
}

static void read_rates(struct parts *parts, struct weft_builder *builder, weft_tensor x,
                       const struct delta_net *net) {
    const uint32_t d = builder->width, heads = net->v_heads;
    const uint32_t each = heads / net->k_heads;
    if (!net->grouped) {
        parts->rate = weft_build_map(builder, x, "in_proj_b", d, heads, false);
        parts->decay = weft_build_map(builder, x, "in_proj_a", d, heads, false);
        return;
    }
    weft_tensor rates = weft_build_map(builder, x, "in_proj_ba", d, 2 * heads, false);
    rates =
        regroup(builder, rates, "rate_order", 2 * heads, &(struct grouping){net, {each, each}, 2});
    parts->rate = weft_build_channels(builder, rates, 0, heads);
    parts->decay = weft_build_channels(builder, rates, heads, heads);
}

static weft_tensor take_state(struct weft_builder *builder, const struct parts *parts,
                              const struct delta_net *net) {
    const uint32_t keys = net->k_heads * net->key_size;
    const uint32_t values = net->v_heads * net->value_size;
    weft_tensor step = {0};
    weft_tensor mixed = weft_build_short_filter(builder, parts->mixed, "conv1d", 2 * keys + values,
                                                net->taps, false);
    mixed = weft_build_activate(builder, mixed, builder->network->config.activation);
    weft_tensor q = weft_build_part_norm(
        builder, weft_build_channels(builder, mixed, 0, keys),
        &(struct weft_part_norm){.channels = keys,
                                 .parts = net->k_heads,
                                 .epsilon = LENGTH_EPSILON / (float)net->key_size});
    weft_tensor k = weft_build_unit_parts(builder, weft_build_channels(builder, mixed, keys, keys),
                                          keys, net->k_heads, LENGTH_EPSILON);
    if (net->tiled) {
        q = tile(builder, q, net);
        k = tile(builder, k, net);
    }
    const uint32_t k_heads = net->tiled ? net->v_heads : net->k_heads;
    const weft_gated_state_params params = {
        .heads = net->v_heads,
        .q_heads = k_heads,
        .k_heads = k_heads,
        .scale = 1.0F / (float)net->key_size, /* of a query's length, and of attention */
        .decay = weft_build_step_decay(builder, &step, parts->decay, net->v_heads, 0.0F, INFINITY),
        .beta = weft_build_activate(builder, parts->rate, WEFT_ACTIVATION_SIGMOID),
        .erase = k};
    return weft_build_gated_state(builder, q, k,
                                  weft_build_channels(builder, mixed, 2 * keys, values), &params);
}

static weft_tensor mix_delta(struct weft_builder *builder, weft_tensor x,
                             const struct delta_net *net) {
    const uint32_t values = net->v_heads * net->value_size;
    struct parts parts = {.mixed = {0}};
    read_mixed(&parts, builder, x, net);
    read_rates(&parts, builder, x, net);
    weft_tensor y = take_state(builder, &parts, net);
    y = weft_build_part_norm(
        builder, y,
        &(struct weft_part_norm){
            .weight = weft_build_weight(builder, "norm.weight", weft_shape_of(net->value_size)),
            .channels = values,
            .parts = net->v_heads,
            .epsilon = builder->network->config.norm_eps});
    weft_tensor open = weft_build_activate(builder, parts.gate, WEFT_ACTIVATION_SILU);
    y = weft_build_binary(builder, WEFT_BINARY_MULTIPLY, y, open);
    return weft_build_map(builder, y, "out_proj", values, builder->width, false);
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *state) {
    const struct delta_net *net = state;
    const weft_network_config *config = &builder->network->config;
    if (!weft_layer_set_has(&net->full, builder->layer)) {
        const size_t entered = weft_build_enter(builder, "delta");
        x = mix_delta(builder, x, net);
        weft_build_leave(builder, entered);
        return x;
    }
    struct weft_qkv qkv = weft_layout_qkv(builder, x);
    qkv.gate = weft_build_map(builder, x, "gate", builder->width,
                              config->attention.heads * weft_network_head_size(config),
                              config->biases.attention);
    return weft_layout_mix(builder, &qkv);
}

/* ---- families ---- */

#define DEFAULTS                                                                  \
    WEFT_LLAMA_DEFAULTS, .attention.head_size = 256, .layer.norm_adds_one = true, \
                         .attention.head_norm = WEFT_HEAD_NORM_EACH

#define EXPERTS(number)                                                                      \
    .layer.experts.count = (number), .layer.experts.size = 512, .layer.experts.shared = 512, \
    .layer.experts.normalized = true

static const weft_network_config next_defaults = {DEFAULTS, .attention.kv_heads = 2, EXPERTS(512)};
static const weft_network_config text_defaults = {DEFAULTS, .attention.kv_heads = 4};
static const weft_network_config moe_defaults = {DEFAULTS, .attention.kv_heads = 2, EXPERTS(256)};

#define LAYOUT(own_stem, model, own_defaults, own_read, own_heads, ...)                  \
    {                                                                                    \
        .stem = (own_stem), .encoder = own_stem model, .prefix = "model.",               \
        .fields = {WEFT_LLAMA_FIELDS, &weft_attention_bias_fields, __VA_ARGS__},         \
        .defaults = &(own_defaults), .read = (own_read), .check = check, .names = names, \
        .heads = (own_heads), .unused = weft_decoder_unused                              \
    }
#define EXPERT_FIELDS &weft_expert_count_fields, &weft_expert_fields, &weft_shared_expert_fields

static const struct weft_layout next_layout =
    LAYOUT("Qwen3Next", "Model", next_defaults, read_grouped, weft_decoder_heads, EXPERT_FIELDS);
static const struct weft_layout text_layout =
    LAYOUT("Qwen3_5", "TextModel", text_defaults, read, text_heads, NULL);
static const struct weft_layout moe_layout =
    LAYOUT("Qwen3_5Moe", "TextModel", moe_defaults, read_with_experts, text_heads, EXPERT_FIELDS);

#define FAMILY(type, own_layout)                                                             \
    {                                                                                        \
        .model_type = (type), .config_size = sizeof(struct delta_net), WEFT_ATTENTION_PARTS, \
        .takes_lengths = weft_family_always, .recurrent = weft_family_always, .mix = mix,    \
        .layout = (own_layout)                                                               \
    }
const struct weft_model_family weft_family_qwen3_next = FAMILY("qwen3_next", &next_layout);
const struct weft_model_family weft_family_qwen3_5_text = FAMILY("qwen3_5_text", &text_layout);
const struct weft_model_family weft_family_qwen3_5_moe_text =
    FAMILY("qwen3_5_moe_text", &moe_layout);
