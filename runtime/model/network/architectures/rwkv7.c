/* SPDX-License-Identifier: MIT */
/*
 * RWKV-7 in the layout of flash-linear-attention: Peng et al., "RWKV-7 'Goose' with expressive dynamic state evolution", 2025.
 * A gated state whose erase has two vectors, and a feed-forward; both read a token beside the one before it.
 */
#include <math.h>
#include <string.h>

#include <weft/arithmetic.h>
#include <weft/movement.h>

#include "core/try.h"
#include "model/network/architecture.h"
#include "model/network/decoder_layout.h"
#include "model/network/fla_layout.h"
#include "model/network/gated_mixer.h"
#include "model/network/network.h"

#define FASTEST_DECAY (-0.6065306597126334F) /* -exp(-1/2): log w is between it and 0 */
/* Of keys of length 1: what fla's own norm has, and PyTorch's, whose 1e-12 is a least length and no summand. */
#define FUSED_EPSILON   1e-6F
#define UNFUSED_EPSILON 1e-24F

/* What reads a token and the one before it in a mixture of its own, in the order of x_x. */
enum stream { R, W, K, V, A, G, STREAMS };

struct rwkv7 {
    uint32_t head_size, value_size; /* channels of a head's keys and values */
    uint32_t heads;
    uint32_t decay_rank, gate_rank, rate_rank, value_rank;
    bool fused_norm;
};

/* ---- config.json ---- */

static const weft_field network_fields[] = {
    {WEFT_BOOL("norm_bias", weft_network_config, biases.norm)},
    {WEFT_BOOL("norm_first", weft_network_config, embedding_norm)},
};
static const weft_field_table network_table = {network_fields,
                                               sizeof network_fields / sizeof network_fields[0]};

static const weft_field own_fields[] = {
    {WEFT_INTEGER("head_dim", struct rwkv7, head_size, 1, WEFT_MAX_GATED_STATE_ROWS)},
    {WEFT_INTEGER("num_heads", struct rwkv7, heads, 1, 65536)},
    {WEFT_INTEGER("decay_low_rank_dim", struct rwkv7, decay_rank, 1, 65536)},
    {WEFT_INTEGER("gate_low_rank_dim", struct rwkv7, gate_rank, 1, 65536)},
    {WEFT_INTEGER("a_low_rank_dim", struct rwkv7, rate_rank, 1, 65536)},
    {WEFT_INTEGER("v_low_rank_dim", struct rwkv7, value_rank, 1, 65536)},
    {WEFT_BOOL("fuse_norm", struct rwkv7, fused_norm)},
};
static const weft_field_table own_table = {own_fields, sizeof own_fields / sizeof own_fields[0]};

/* head_dim, of which the heads follow; where it is null, num_heads. */
static weft_status read_heads(struct rwkv7 *rwkv, uint32_t channels, const weft_json_fields *json) {
    const bool is_counted = rwkv->head_size == 0;
    const uint32_t given = is_counted ? rwkv->heads : rwkv->head_size;
    if (given == 0 || channels % given != 0) {
        return weft_fields_refuse(json, is_counted ? "num_heads" : "head_dim",
                                  "a divisor of hidden_size");
    }
    const uint32_t other = channels / given;
    rwkv->heads = is_counted ? given : other;
    rwkv->head_size = is_counted ? other : given;
    return rwkv->head_size <= WEFT_MAX_GATED_STATE_ROWS
               ? WEFT_OK
               : weft_fields_refuse(json, "num_heads", "heads of 256 channels or fewer");
}

/* A multiple of hidden_size, the same for all layers, as they share the first one's values; hidden_size where it is null. */
static weft_status read_values(struct rwkv7 *rwkv, const weft_network_config *config,
                               const weft_json_fields *json) {
    static const char name[] = "value_dim";
    const json_t *list = json_object_get(json->object, name);
    const json_int_t usual = config->hidden_size;
    const bool is_list = json_is_array(list);
    if (!weft_json_has(json, name)) {
        rwkv->value_size = rwkv->head_size;
        return WEFT_OK;
    }
    const json_int_t channels = json_integer_value(is_list ? json_array_get(list, 0) : list);
    bool fits = channels >= usual && channels <= 1 << 24 && channels % usual == 0 &&
                (!is_list || json_array_size(list) == config->layers);
    for (size_t i = 0; fits && i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        fits = json_is_integer(entry) && json_integer_value(entry) == channels;
    }
    rwkv->value_size = fits ? (uint32_t)channels / rwkv->heads : 0;
    return fits ? WEFT_OK
                : weft_fields_refuse(json, name,
                                     "a multiple of hidden_size, the same for each layer");
}

/* Ranks that the config has as null: fla derives them. */
static void derive_ranks(struct rwkv7 *rwkv, uint32_t channels) {
    const double root = sqrt((double)channels);
    const double share = rwkv->head_size / 64.0;
    const struct {
        uint32_t *rank;
        double factor;
    } ranks[] = {{&rwkv->decay_rank, 2.5 * share},
                 {&rwkv->gate_rank, 5.0},
                 {&rwkv->rate_rank, 2.5 * share},
                 {&rwkv->value_rank, 1.7 * share}};
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        if (*ranks[i].rank == 0) {
            const double tiles = nearbyint(ranks[i].factor * root / 32.0);
            *ranks[i].rank = tiles > 1.0 ? (uint32_t)tiles * 32 : 32;
        }
    }
}

/* The value of a field that is missing; 0 where it is null, or will be read. */
static uint32_t unless_there(uint32_t usual, const weft_json_fields *json, const char *name) {
    return json_object_get(json->object, name) ? 0 : usual;
}

static weft_status read(void *state, weft_network_config *config, const weft_json_fields *json) {
    static const struct weft_fla_width width = {.ratio = 4.0, .part = 1.0, .multiple = 32};
    struct rwkv7 *rwkv = state;
    *rwkv = (struct rwkv7){.head_size = unless_there(64, json, "head_dim"),
                           .decay_rank = unless_there(64, json, "decay_low_rank_dim"),
                           .gate_rank = unless_there(128, json, "gate_low_rank_dim"),
                           .rate_rank = unless_there(64, json, "a_low_rank_dim"),
                           .value_rank = unless_there(16, json, "v_low_rank_dim"),
                           .fused_norm = true};
    WEFT_TRY(weft_fields_read(rwkv, &own_table, json));
    WEFT_TRY(weft_fla_check_activation(json, "sqrelu"));
    WEFT_TRY(read_heads(rwkv, config->hidden_size, json));
    WEFT_TRY(read_values(rwkv, config, json));
    derive_ranks(rwkv, config->hidden_size);
    return weft_fla_read_width(config, &width, json);
}

/* ---- tensors ---- */

static const struct weft_tensor_name names[] = {
    {WEFT_NAMED("embeddings.tokens", "embeddings")},
    {WEFT_NAMED("embeddings.norm", "layers.0.pre_norm")},
    {WEFT_NAMED("layers.#.mixer", "layers.#.attn")},
    {WEFT_NAMED("layers.#.mixer_norm", "layers.#.attn_norm")},
    {WEFT_NAMED("layers.#.feed_forward.share", "layers.#.ffn.x_k")},
    {WEFT_NAMED("layers.#.feed_forward.in", "layers.#.ffn.key")},
    {WEFT_NAMED("layers.#.feed_forward.out", "layers.#.ffn.value")},
    {WEFT_NAMED("layers.#.feed_forward_norm", "layers.#.ffn_norm")},
    {WEFT_NAMED("norm", "norm")},
    {.ours = NULL}};

/* ---- the time mixing ---- */

static weft_tensor add(struct weft_builder *builder, weft_tensor a, weft_tensor b) {
    return weft_build_binary(builder, WEFT_BINARY_ADD, a, b);
}

static weft_tensor multiply(struct weft_builder *builder, weft_tensor a, weft_tensor b) {
    return weft_build_binary(builder, WEFT_BINARY_MULTIPLY, a, b);
}

/* What a stream reads; the first files have the shares of all in one matrix. */
static weft_tensor stream_of(struct weft_builder *builder, weft_tensor x, weft_tensor back,
                             enum stream stream) {
    static const char *const each[] = {
        [R] = "x_r", [W] = "x_w", [K] = "x_k", [V] = "x_v", [A] = "x_a", [G] = "x_g"};
    weft_tensor row = {0};
    if (!weft_build_has(builder, "x_x")) {
        return weft_build_shifted(builder, x, back, each[stream]);
    }
    weft_tensor all = weft_build_weight(builder, "x_x", weft_shape_of(STREAMS, builder->width));
    row = WEFT_BUILT(builder, row,
                     weft_graph_slice(&row, builder->graph, all, 0, (uint32_t)stream, 1, 1));
    return add(builder, x, multiply(builder, back, row));
}

/* A map by way of a few channels, with an activation there. */
struct low_rank {
    const char *name;
    uint32_t rank, channels;
    weft_activation activation;
    bool bias;
};

static weft_tensor map_by(struct weft_builder *builder, weft_tensor x, const struct low_rank *way) {
    const size_t entered = weft_build_enter(builder, way->name);
    x = weft_build_map(builder, x, "lora.0", builder->width, way->rank, false);
    x = way->activation != WEFT_ACTIVATION_NONE ? weft_build_activate(builder, x, way->activation)
                                                : x;
    x = weft_build_map(builder, x, "lora.2", way->rank, way->channels, way->bias);
    weft_build_leave(builder, entered);
    return x;
}

static weft_tensor sigmoid_of(struct weft_builder *builder, weft_tensor x, const char *name,
                              uint32_t rank, uint32_t channels) {
    x = map_by(builder, x,
               &(struct low_rank){.name = name, .rank = rank, .channels = channels, .bias = true});
    return weft_build_activate(builder, x, WEFT_ACTIVATION_SIGMOID);
}

/* w = exp(-exp(-1/2) sigmoid(d)). */
static weft_tensor decay_of(struct weft_builder *builder, weft_tensor x, const struct rwkv7 *rwkv) {
    x = map_by(builder, x,
               &(struct low_rank){.name = "w_lora",
                                  .rank = rwkv->decay_rank,
                                  .channels = builder->width,
                                  .activation = WEFT_ACTIVATION_TANH,
                                  .bias = true});
    x = weft_build_activate(builder, x, WEFT_ACTIVATION_SIGMOID);
    return weft_build_activate(builder, weft_build_affine(builder, x, FASTEST_DECAY, 0.0F),
                               WEFT_ACTIVATION_EXP);
}

/* Values, between the layer's own and the first layer's. */
static weft_tensor values_of(struct weft_builder *builder, weft_tensor x,
                             const struct rwkv7 *rwkv) {
    const uint32_t channels = rwkv->heads * rwkv->value_size;
    weft_tensor own = weft_build_map(builder, x, "v_proj", builder->width, channels, false);
    if (builder->layer == 0) {
        builder->first_values = own;
        return own;
    }
    weft_tensor share = sigmoid_of(builder, x, "v_lora", rwkv->value_rank, channels);
    weft_tensor apart =
        weft_build_binary(builder, WEFT_BINARY_SUBTRACT, builder->first_values, own);
    return add(builder, own, multiply(builder, apart, share));
}

/* k ⊙ (1 + (a - 1) ⊙ k_a). */
static weft_tensor replace_keys(struct weft_builder *builder, weft_tensor k, weft_tensor a) {
    weft_tensor less = weft_build_affine(builder, a, 1.0F, -1.0F);
    less = multiply(builder, less, weft_build_vector(builder, "k_a", builder->width));
    return multiply(builder, k, weft_build_affine(builder, less, 1.0F, 1.0F));
}

/* What the state is given of each token, [B, n, …]. */
struct operands {
    weft_tensor r, k, v, decay, removed, rate;
};

static struct operands operands_of(struct weft_builder *builder, const weft_tensor x[STREAMS],
                                   const struct rwkv7 *rwkv) {
    const uint32_t d = builder->width;
    struct operands made = {.r = weft_build_map(builder, x[R], "r_proj", d, d, false),
                            .decay = decay_of(builder, x[W], rwkv),
                            .k = weft_build_map(builder, x[K], "k_proj", d, d, false),
                            .v = values_of(builder, x[V], rwkv),
                            .rate = sigmoid_of(builder, x[A], "a_lora", rwkv->rate_rank, d)};
    made.removed = multiply(builder, made.k, weft_build_vector(builder, "k_k", d));
    made.removed = weft_build_unit_parts(builder, made.removed, d, rwkv->heads,
                                         rwkv->fused_norm ? FUSED_EPSILON : UNFUSED_EPSILON);
    made.k = replace_keys(builder, made.k, made.rate);
    return made;
}

/* (Σ r ⊙ r_k ⊙ k) v of each head: what a token reads of itself. */
static weft_tensor bonus(struct weft_builder *builder, const struct operands *from,
                         const struct rwkv7 *rwkv) {
    const uint32_t heads = rwkv->heads;
    const weft_shape keys = weft_shape_of(builder->batch, builder->length, heads, rwkv->head_size);
    const weft_shape values =
        weft_shape_of(builder->batch, builder->length, heads, rwkv->value_size);
    const weft_reduce_params each = {.axes = {3}, .axis_count = 1, .keep_axes = true};
    weft_tensor x = multiply(builder, from->r, from->k);
    x = multiply(builder, x, weft_build_vector(builder, "r_k", builder->width));
    x = weft_build_reshape(builder, x, keys);
    weft_tensor sum = {0};
    sum = WEFT_BUILT(builder, sum,
                     weft_graph_reduce(&sum, builder->graph, WEFT_REDUCTION_SUM, x, &each));
    x = multiply(builder, weft_build_reshape(builder, from->v, values), sum);
    return weft_build_reshape(
        builder, x, weft_shape_of(builder->batch, builder->length, heads * rwkv->value_size));
}

static weft_tensor norm_heads(struct weft_builder *builder, weft_tensor x,
                              const struct rwkv7 *rwkv) {
    const uint32_t channels = rwkv->heads * rwkv->value_size;
    return weft_build_part_norm(
        builder, x,
        &(struct weft_part_norm){
            .weight = weft_build_weight(builder, "g_norm.weight", weft_shape_of(channels)),
            .bias = weft_build_weight(builder, "g_norm.bias", weft_shape_of(channels)),
            .centred = true,
            .channels = channels,
            .parts = rwkv->heads,
            .epsilon = (float)rwkv->head_size * builder->network->config.norm_eps});
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *state) {
    const struct rwkv7 *rwkv = state;
    const uint32_t values = rwkv->heads * rwkv->value_size;
    weft_tensor mixed[STREAMS];
    weft_tensor back = weft_build_step_back(builder, x);
    for (enum stream i = R; i < STREAMS; i++) {
        mixed[i] = stream_of(builder, x, back, i);
    }
    const struct operands made = operands_of(builder, mixed, rwkv);
    const weft_gated_state_params params = {.heads = rwkv->heads,
                                            .decay = made.decay,
                                            .erase = made.removed,
                                            .erase_along =
                                                multiply(builder, made.removed, made.rate),
                                            .erase_first = true};
    weft_tensor y = weft_build_gated_state(builder, made.r, made.k, made.v, &params);
    y = add(builder, norm_heads(builder, y, rwkv), bonus(builder, &made, rwkv));
    y = multiply(builder, y,
                 map_by(builder, mixed[G],
                        &(struct low_rank){.name = "g_lora",
                                           .rank = rwkv->gate_rank,
                                           .channels = values,
                                           .activation = WEFT_ACTIVATION_SIGMOID}));
    return weft_build_map(builder, y, "o_proj", values, builder->width, false);
}

static const weft_network_config defaults = {.norm = WEFT_NORM_LAYER,
                                             .norm_eps = 1e-5F,
                                             .activation = WEFT_ACTIVATION_RELU,
                                             .layer = {.squares = true, .shifts = true},
                                             .pooling = WEFT_POOLING_LAST,
                                             .max_positions = 1 << 24,
                                             .biases.norm = true,
                                             .embedding_norm = true,
                                             .causal = true};

static const struct weft_layout layout = {.stem = "RWKV7",
                                          .encoder = "RWKV7Model",
                                          .prefix = "model.",
                                          .fields = {&weft_fla_fields, &network_table},
                                          .defaults = &defaults,
                                          .read = read,
                                          .names = names,
                                          .heads = weft_causal_heads};

const struct weft_model_family weft_family_rwkv7 = {.model_type = "rwkv7",
                                                    .config_size = sizeof(struct rwkv7),
                                                    WEFT_ATTENTION_PARTS,
                                                    .takes_lengths = weft_family_always,
                                                    .recurrent = weft_family_always,
                                                    .mix = mix,
                                                    .layout = &layout};
