/* SPDX-License-Identifier: MIT */
/*
 * A model family: its fields and its mixer. One file each in architectures/; what stands around the mixers is network.c's.
 */
#ifndef WEFT_MODEL_FAMILY_H
#define WEFT_MODEL_FAMILY_H

#include "model/network/layout.h"
#include "model/network/network_build.h"
#include "model/network/network_config.h"

struct weft_model_family {
    const char *model_type;         /* of config.json */
    weft_field_table fields;        /* in a published layout besides its tables */
    size_t config_size;             /* of the struct that the fields fill */
    weft_feed_forward feed_forward; /* when the config does not say */
    /* Names of a layer's parts; without a feed-forward its norm is null. */
    const char *mixer, *mixer_norm, *feed_forward_name, *feed_forward_norm;
    /** Defaults other than zero; may be null. */
    void (*set_defaults)(void *config);
    /** Checks beyond ranges; may be null. Also fills in fields that follow from others. */
    weft_status (*check)(void *config, const weft_network_config *network,
                         const weft_json_fields *json);
    /** Frees what custom fields hold; may be null. */
    void (*clear)(void *config, const weft_host *host);
    /** The only length it can run, or 0; may be null. */
    uint32_t (*exact_length)(const void *config);
    /** l of the input "positions" f32 [B, n, l], or 0; may be null. */
    uint32_t (*position_size)(const void *config);
    /**
     * True if `mix` can take the tokens of a causal network one by one: whatever in it sees other tokens, or a token's
     * number, is made by the functions below. Null: no.
     */
    bool (*recurrent)(const void *config);
    /**
     * True if the sequences of a batch may have lengths of their own, each with the bits that it has alone: all that sees other
     * tokens is made by the functions below, or told of the builder's lengths. Null: no.
     */
    bool (*takes_lengths)(const void *config);
    const struct weft_layout *layout; /* a published layout by tables; or null */
    /** weft_model_info.mixing; null: the model_type. */
    const char *(*mixing)(const void *config);
    /** A layer's norm in the place of mixer_norm, or null for a layer without a mixer; null: all have that. */
    const char *(*mixer_norm_of)(const void *config, uint32_t layer);
    /** What becomes of a layer's result x, `before` being its input; without a scope. Null: it stays as it is. */
    weft_tensor (*behind_layer)(struct weft_builder *builder, weft_tensor x, weft_tensor before,
                                const void *config);
    /** Layers of the decoder of a text_to_text model, and the token that its texts begin with; null: there is none. */
    uint32_t (*decoder_layers)(const void *config);
    int32_t (*start_token)(const void *config);
    /** Rows of the table of positions of that decoder; null: it has none. */
    uint32_t (*decoder_positions)(const void *config);
    /** The mixer: x f32 [B, n, d] → [B, n, d]. The builder's scope is the layer's mixer. */
    weft_tensor (*mix)(struct weft_builder *builder, weft_tensor x, const void *config);
};

/** Names of the parts of a layer with queries, keys and values, in a struct weft_model_family. */
#define WEFT_ATTENTION_PARTS                                                           \
    .mixer = "mixer", .mixer_norm = "mixer_norm", .feed_forward_name = "feed_forward", \
    .feed_forward_norm = "feed_forward_norm"

/** A family of bidirectional softmax attention in a published layout. */
#define WEFT_ENCODER_LAYOUT(tables)                                                          \
    WEFT_ATTENTION_PARTS, .takes_lengths = weft_family_always, .mix = weft_layout_attention, \
                          .layout = (tables)

/** A family of causal softmax attention in a published layout. */
#define WEFT_DECODER_LAYOUT(tables) WEFT_ENCODER_LAYOUT(tables), .recurrent = weft_family_always

/** Queries, keys, values and the result's projection of a mixer that has them, see api/MODELS.md. */
struct weft_qkv {
    weft_tensor query, key, value;
    uint32_t kv_heads; /* heads of key and value; 0: as many as of query */
    weft_tensor bias;  /* on the scores of softmax attention over whole sequences, or none */
    float scale;       /* of the scores; 0: 1/√(channels of a head) */
    weft_tensor gate;  /* what its sigmoid lets through of the result before "output", or none */
    float
        cap; /* softmax attention and bands over whole sequences: a score s is cap·tanh(s/cap); 0: s */
    weft_tensor sinks; /* of causal softmax attention and bands: weft_attention_params; or none */
};

/** query, key and value of x, [B, n, d] each. */
struct weft_qkv weft_build_qkv(struct weft_builder *builder, weft_tensor x);

/*
 * Attention over heads that are channels h·d/heads … . Causal when the network is, and a step with a state of its own when
 * the builder is decoding. Softmax attention and bands scale the products by 1/√(d/heads).
 */
weft_tensor weft_build_softmax_attention(struct weft_builder *builder, const struct weft_qkv *qkv,
                                         uint32_t heads);
/** |i - j| ≤ half_width, causal 0 ≤ i - j ≤ half_width; a half-width above n - 1 is n - 1. */
weft_tensor weft_build_banded_attention(struct weft_builder *builder, const struct weft_qkv *qkv,
                                        uint32_t heads, uint32_t half_width);
/** query and key are features [B, n, heads · m]. */
weft_tensor weft_build_linear_attention(struct weft_builder *builder, const struct weft_qkv *qkv,
                                        uint32_t heads, float epsilon);
weft_tensor weft_build_kernel_attention(struct weft_builder *builder, const struct weft_qkv *qkv,
                                        const weft_kernel_attention_params *params);
weft_tensor weft_build_cosformer(struct weft_builder *builder, const struct weft_qkv *qkv,
                                 const weft_cosformer_params *params);
/**
 * The Performer's positive features of queries and keys, for weft_build_linear_attention; the values stay. w f32 [m,
 * channels of a head], scale on queries and keys, 0: (channels of a head)^(-1/4). Bidirectional: stabilized, queries by
 * their token's largest exponential, keys by their sequence's; causal: not. epsilon is added behind that.
 */
struct weft_qkv weft_build_positive_features(struct weft_builder *builder,
                                             const struct weft_qkv *qkv, weft_tensor w,
                                             uint32_t heads, float scale, float epsilon);
/** Short causal filters. */
weft_tensor weft_build_conv1d(struct weft_builder *builder, weft_tensor x, weft_tensor taps,
                              weft_tensor bias);
/** A causal Toeplitz matrix with coefficients [m, d], m at least weft_build_reach. */
weft_tensor weft_build_toeplitz(struct weft_builder *builder, weft_tensor x,
                                weft_tensor coefficients);
/** Tokens that sequences have, and reach at most when the builder is decoding: lags of a Toeplitz matrix. */
uint32_t weft_build_reach(const struct weft_builder *builder);
/** beta is [B, n, heads], behind its sigmoid. */
weft_tensor weft_build_fast_weight(struct weft_builder *builder, const struct weft_qkv *qkv,
                                   weft_tensor beta, uint32_t heads);

/** Queries, keys and values of the config's heads, which may be grouped. */
struct weft_qkv weft_layout_qkv(struct weft_builder *builder, weft_tensor x);
/** Their attention, with rotary positions and a band where the config has these, and the map "output" behind it. */
weft_tensor weft_layout_mix(struct weft_builder *builder, struct weft_qkv *qkv);
/** ALiBi's bias f32 [heads, n, n]: Press et al., "Train short, test long", 2022, section 3. Once for all layers. */
weft_tensor weft_build_slopes(struct weft_builder *builder, uint32_t heads);
/** T5's bias by distance f32 [heads, n, n]: Raffel et al., 2020, section 2.1. Once for all layers, unless each has its own. */
weft_tensor weft_build_distances(struct weft_builder *builder);
/** Kind of a distance, of so many on one side: Raffel et al., 2020, section 2.1. */
uint32_t weft_distance_kind(uint32_t distance, uint32_t kinds, uint32_t farthest);
/** The one, then the other, for weft_model_family.mix. */
weft_tensor weft_layout_attention(struct weft_builder *builder, weft_tensor x, const void *config);

/** For weft_model_family.recurrent and takes_lengths: yes. */
bool weft_family_always(const void *config);

/** num_attention_heads must divide hidden_size: asked of every family that has WEFT_FIELD_HEADS. */
weft_status weft_family_check_heads(uint32_t heads, uint32_t hidden_size,
                                    const weft_json_fields *json);

/** A row of a field table: num_attention_heads at `member` of struct `type`. */
#define WEFT_FIELD_HEADS(type, member) \
    { WEFT_INTEGER("num_attention_heads", type, member, 1, 65536), .required = true }

#endif
