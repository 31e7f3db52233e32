/* SPDX-License-Identifier: MIT */
/*
 * RecurrentGemma: De et al., "Griffin: mixing gated linear recurrences with local attention for efficient language models", 2024. Layers
 * of a real-gated linear recurrent unit (section 2.4) behind a short filter, and between them some of attention within a window.
 */
#include <math.h>
#include <string.h>

#include "core/math/half.h"
#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"
#include "model/network/gated_mixer.h"
#include "model/network/network.h"

/* An exponent of e whose power is 0: no token comes before the first, whatever its gate says. */
#define FORGET (-1e4F)

struct griffin {
    uint32_t width; /* channels of the recurrence */
    uint32_t taps;
    weft_layer_set full; /* layers of attention */
};

/* ---- config.json ---- */

static const weft_field network_fields[] = {
    {WEFT_INTEGER("vocab_size", weft_network_config, vocab_size, 1, 1 << 24), .required = true},
    {WEFT_INTEGER("hidden_size", weft_network_config, hidden_size, 1, 65536), .required = true},
    {WEFT_INTEGER("num_hidden_layers", weft_network_config, layers, 1, WEFT_MAX_LAYERS),
     .required = true},
    WEFT_FIELD_HEADS(weft_network_config, attention.heads),
    {WEFT_INTEGER("intermediate_size", weft_network_config, intermediate_size, 2, 1048576),
     .required = true},
    {WEFT_CUSTOM("hidden_activation", weft_network_config, activation, weft_field_activation)},
    {WEFT_BOOL("attention_bias", weft_network_config, biases.attention)},
    {WEFT_BOOL("tie_word_embeddings", weft_network_config, tie_word_embeddings)},
};
static const weft_field_table network_table = {network_fields,
                                               sizeof network_fields / sizeof network_fields[0]};

static const weft_field own_fields[] = {
    {WEFT_INTEGER("lru_width", struct griffin, width, 1, 65536)},
    {WEFT_INTEGER("conv1d_width", struct griffin, taps, 1, 1024)},
};
static const weft_field_table own_table = {own_fields, sizeof own_fields / sizeof own_fields[0]};

/* block_types, again and again; without it every third layer is one of attention. */
static weft_status read_blocks(struct griffin *griffin, const weft_network_config *config,
                               const weft_json_fields *json) {
    static const char name[] = "block_types";
    static const char expected[] = "a list of \"recurrent\" and \"attention\"";
    const json_t *list = json_object_get(json->object, name);
    if (!weft_json_has(json, name)) {
        for (uint32_t i = 2; i < config->layers; i += 3) {
            weft_layer_set_put(&griffin->full, i, true);
        }
        return WEFT_OK;
    }
    const size_t count = json_array_size(list); /* 0 where it is no list */
    for (uint32_t i = 0; i < config->layers; i++) {
        const char *kind = count > 0 ? json_string_value(json_array_get(list, i % count)) : NULL;
        const bool full = kind && strcmp(kind, "attention") == 0;
        if (!kind || (!full && strcmp(kind, "recurrent") != 0)) {
            return weft_fields_refuse(json, name, expected);
        }
        weft_layer_set_put(&griffin->full, i, full);
    }
    return WEFT_OK;
}

static weft_status read(void *state, weft_network_config *config, const weft_json_fields *json) {
    struct griffin *griffin = state;
    *griffin = (struct griffin){.width = config->hidden_size, .taps = 4};
    WEFT_TRY(weft_fields_read(griffin, &own_table, json));
    if (griffin->width % config->attention.heads != 0) {
        return weft_fields_refuse(json, "lru_width", "a multiple of num_attention_heads");
    }
    return read_blocks(griffin, config, json);
}

static const struct weft_rotary_fields half_rotary = {WEFT_ROTARY_FIELDS_BUT_SHARE,
                                                      .usual_share = 0.5, .partial = true};

/* The embedding's factor is in bfloat16, as the file's weights are. A feed-forward has half the size that the file names. */
static weft_status check(weft_network_config *config, const struct weft_head *head,
                         const weft_json_fields *json) {
    int64_t window = 2048;
    const double scale = sqrt((double)config->hidden_size);
    config->embedding.scale = weft_float_of_bfloat(weft_bfloat_of_float((float)scale));
    config->intermediate_size /= 2;
    WEFT_TRY(weft_json_optional_integer(&window, json, "attention_window_size", 1, INT32_MAX));
    config->attention.half_width = (uint32_t)window - 1;
    weft_decoder_choose_local(config, 0, 0);
    WEFT_TRY(weft_decoder_read_real(&config->head.cap, 30.0, 1e-6, json, "logits_soft_cap"));
    return weft_decoder_check_with(config, head, &half_rotary, json);
}

/* ---- tensors ---- */

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.tokens", "embed_tokens")},
    {WEFT_NAMED("layers.#.mixer.query", "layers.#.temporal_block.q_proj")},
    {WEFT_NAMED("layers.#.mixer.key", "layers.#.temporal_block.k_proj")},
    {WEFT_NAMED("layers.#.mixer.value", "layers.#.temporal_block.v_proj")},
    {WEFT_NAMED("layers.#.mixer.output", "layers.#.temporal_block.o_proj")},
    {WEFT_NAMED("layers.#.mixer.recurrent", "layers.#.temporal_block")},
    {WEFT_NAMED("layers.#.feed_forward.l1", "layers.#.mlp_block.gate_proj")},
    {WEFT_NAMED("layers.#.feed_forward.l2", "layers.#.mlp_block.up_proj")},
    {WEFT_NAMED("layers.#.feed_forward.l3", "layers.#.mlp_block.down_proj")},
    {WEFT_NAMED("layers.#.mixer_norm", "layers.#.temporal_pre_norm")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "layers.#.channel_pre_norm")},
    {WEFT_NAMED("norm", "final_norm")},
    {.ours = NULL}};

/* ---- the recurrent unit ---- */

static weft_tensor multiply(struct weft_builder *builder, weft_tensor a, weft_tensor b) {
    return weft_build_binary(builder, WEFT_BINARY_MULTIPLY, a, b);
}

/* sigmoid(x W + b) of each head's own channels: W [heads, channels, channels]. */
static weft_tensor gate(struct weft_builder *builder, weft_tensor x, const char *weight,
                        const char *bias, uint32_t width) {
    const uint32_t heads = builder->network->config.attention.heads;
    const uint32_t size = width / heads;
    const uint32_t rows = builder->batch * builder->length;
    const weft_shape swapped = weft_shape_of(1, 0, 2);
    weft_tensor out = {0};
    x = weft_build_reshape(builder, x, weft_shape_of(rows, heads, size));
    x = weft_build_permute(builder, x, swapped);
    weft_tensor w = weft_build_weight(builder, weight, weft_shape_of(heads, size, size));
    x = WEFT_BUILT(builder, out, weft_graph_matmul(&out, builder->graph, x, w, NULL));
    x = weft_build_permute(builder, x, swapped);
    x = weft_build_binary(builder, WEFT_BINARY_ADD, x,
                          weft_build_weight(builder, bias, weft_shape_of(heads, size)));
    x = weft_build_reshape(builder, x, weft_shape_of(builder->batch, builder->length, width));
    return weft_build_activate(builder, x, WEFT_ACTIVATION_SIGMOID);
}

static float forget(const void *user, uint64_t token) {
    (void)user;
    return token == 0 ? FORGET : 0.0F;
}

/* FORGET for a sequence's first token, 0 for the others. */
static weft_tensor first_token(struct weft_builder *builder) {
    weft_tensor out = {0};
    weft_tensor number = weft_build_position_number(builder);
    if (number.id == 0) {
        return weft_build_filled(builder, "first_token", weft_shape_of(1, builder->length, 1),
                                 forget, NULL);
    }
    number = WEFT_BUILT(builder, out, weft_graph_clamp(&out, builder->graph, number, 0.0F, 1.0F));
    return weft_build_affine(builder, number, -FORGET, FORGET);
}

static float one(const void *user, uint64_t index) {
    (void)user;
    (void)index;
    return 1.0F;
}

/* h = a h + x, each channel by itself: a gated state of one row and one column, written and read by ones. */
static weft_tensor recur(struct weft_builder *builder, weft_tensor x, weft_tensor a,
                         uint32_t width) {
    const weft_shape shape = weft_shape_of(builder->batch, builder->length, 1);
    const weft_gated_state_params params = {.heads = width, .q_heads = 1, .k_heads = 1, .decay = a};
    weft_tensor ones = weft_build_filled(builder, "ones", shape, one, NULL);
    return weft_build_gated_state(builder, ones, ones, x, &params);
}

/*
 * log a = -8 r softplus(Λ), h = a h + √(1 - a²) (i x), with the gates r and i: equations 3 to 6. The first token's root is 1.
 */
static weft_tensor unit(struct weft_builder *builder, weft_tensor x, uint32_t width) {
    weft_tensor opened = gate(builder, x, "input_gate_weight", "input_gate_bias", width);
    weft_tensor log_a = gate(builder, x, "recurrent_gate_weight", "recurrent_gate_bias", width);
    weft_tensor rate = weft_build_weight(builder, "recurrent_param", weft_shape_of(width));
    rate = weft_build_unary(builder, WEFT_UNARY_SOFTPLUS, rate);
    log_a = multiply(builder, log_a, weft_build_affine(builder, rate, -8.0F, 0.0F));
    log_a = weft_build_binary(builder, WEFT_BINARY_ADD, log_a, first_token(builder));
    weft_tensor lost = weft_build_affine(builder, log_a, 2.0F, 0.0F); /* 1 - a² near a = 1, too */
    lost = weft_build_unary(builder, WEFT_UNARY_EXPM1, lost);
    lost = weft_build_affine(builder, lost, -1.0F, 0.0F);
    lost = weft_build_unary(builder, WEFT_UNARY_SQRT, lost);
    x = multiply(builder, multiply(builder, x, opened), lost);
    return recur(builder, x, weft_build_activate(builder, log_a, WEFT_ACTIVATION_EXP), width);
}

/* linear_out(unit(filter(linear_x(x))) ⊙ gelu(linear_y(x))) */
static weft_tensor mix_recurrent(struct weft_builder *builder, weft_tensor x,
                                 const struct griffin *griffin) {
    const uint32_t d = builder->width;
    const uint32_t width = griffin->width;
    weft_tensor branch = weft_build_map(builder, x, "linear_y", d, width, true);
    branch = weft_build_activate(builder, branch, builder->network->config.activation);
    x = weft_build_map(builder, x, "linear_x", d, width, true);
    x = weft_build_short_filter(builder, x, "conv_1d", width, griffin->taps, true);
    const size_t entered = weft_build_enter(builder, "rg_lru");
    x = unit(builder, x, width);
    weft_build_leave(builder, entered);
    return weft_build_map(builder, multiply(builder, x, branch), "linear_out", width, d, true);
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *state) {
    const struct griffin *griffin = state;
    if (weft_layer_set_has(&griffin->full, builder->layer)) {
        return weft_layout_attention(builder, x, NULL);
    }
    const size_t entered = weft_build_enter(builder, "recurrent");
    x = mix_recurrent(builder, x, griffin);
    weft_build_leave(builder, entered);
    return x;
}

static const weft_network_config defaults = {.norm = WEFT_NORM_RMS,
                                             .norm_eps = 1e-6F,
                                             .activation = WEFT_ACTIVATION_GELU_TANH,
                                             .feed_forward = WEFT_FEED_FORWARD_GLU,
                                             .pooling = WEFT_POOLING_LAST,
                                             .max_positions = 1 << 24,
                                             .biases = {.output = true, .feed_forward = true},
                                             .layer.norm_adds_one = true,
                                             .tie_word_embeddings = true,
                                             .causal = true};

static const struct weft_layout layout = {
    .stem = "RecurrentGemma",
    .encoder = "RecurrentGemmaModel",
    .prefix = "model.",
    .fields = {&network_table, &weft_kv_fields, &weft_rms_fields},
    .defaults = &defaults,
    .read = read,
    .check = check,
    .names = names,
    .heads = weft_causal_heads,
    .unused = weft_decoder_unused};

const struct weft_model_family weft_family_recurrent_gemma = {.model_type = "recurrent_gemma",
                                                              .config_size = sizeof(struct griffin),
                                                              WEFT_ATTENTION_PARTS,
                                                              .takes_lengths = weft_family_always,
                                                              .recurrent = weft_family_always,
                                                              .mix = mix,
                                                              .layout = &layout};
