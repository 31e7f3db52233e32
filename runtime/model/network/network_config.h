/* SPDX-License-Identifier: MIT */
/* config.json of the families in Weft's own layout: what stands around the mixers. The tables are in api/MODELS.md. */
#ifndef WEFT_MODEL_NETWORK_CONFIG_H
#define WEFT_MODEL_NETWORK_CONFIG_H

#include <weft/mixers.h>
#include <weft/model.h>

#include "model/network/fields.h"
#include "tokenizer/tokenizer.h"

typedef enum weft_position_embedding {
    WEFT_POSITION_NONE = 0,
    WEFT_POSITION_LEARNED,
    WEFT_POSITION_SINUSOIDAL
} weft_position_embedding;

typedef enum weft_feed_forward {
    WEFT_FEED_FORWARD_MLP = 0,
    WEFT_FEED_FORWARD_GLU
} weft_feed_forward;

typedef enum weft_pooling {
    WEFT_POOLING_MEAN = 0,
    WEFT_POOLING_FIRST,
    WEFT_POOLING_LAST
} weft_pooling;

#define WEFT_MAX_LAYERS 1024

/** Which linear maps and norms have a bias. */
typedef struct weft_biases {
    bool attention; /**< of queries, keys and values */
    bool output;    /**< of what follows the mixer */
    bool feed_forward;
    bool norm;
    bool head_dense; /**< of a head's map before its last */
    bool head;
} weft_biases;

#define WEFT_ALL_BIASES \
    { true, true, true, true, true, true }

/** As weft_rope_params has them. */
typedef struct weft_rotary {
    float base; /**< 0: no rotary positions */
    uint32_t width;
    bool interleaved;
    float scale_factor; /**< 0: positions are not scaled */
    uint32_t scale_length;
    float scale_low, scale_high;
} weft_rotary;

/** Meaning of a classifier's outputs: problem_type of transformers. */
typedef enum weft_problem {
    WEFT_PROBLEM_ANY =
        0, /**< not said: one label of several, or a label that applies or does not */
    WEFT_PROBLEM_SINGLE_LABEL,
    WEFT_PROBLEM_MULTI_LABEL,
    WEFT_PROBLEM_REGRESSION
} weft_problem;

/** Choices are uint32_t, as weft_field has them; each says what it counts. */
typedef struct weft_network_config {
    uint32_t task;  /**< use weft_network_task */
    uint32_t input; /**< 0 tokens, 1 features */
    uint32_t input_size;
    uint32_t vocab_size;
    uint32_t hidden_size;
    uint32_t layers;
    uint32_t max_positions;
    uint32_t position_embedding; /**< weft_position_embedding */
    uint32_t norm;               /**< weft_norm: LAYER to SCALE */
    uint32_t norm_position;      /**< 0 pre, 1 post */
    uint32_t feed_forward;       /**< weft_feed_forward */
    uint32_t intermediate_size;
    uint32_t pooling; /**< weft_pooling */
    float norm_eps;
    weft_activation activation;
    bool embedding_norm;
    bool causal;
    bool tie_word_embeddings;
    int32_t eos_token;    /**< or -1 */
    uint32_t label_count; /**< 0 where the task has none */
    char **labels;        /**< or null */
    weft_tokenizer_kind tokenizer;
    char *tokenizer_class;
    weft_biases biases;
    /* Fields of published layouts (layout.h) alone; otherwise zeros. */
    uint32_t type_vocab_size;  /**< rows of a table of token types, or 0 */
    uint32_t position_offset;  /**< rows of the table of positions before that of the first token */
    uint32_t embedding_size;   /**< channels of the tables; 0: hidden_size */
    bool embedding_projection; /**< a map to hidden_size behind the embedding */
    bool first_norm_absent;    /**< the first layer's mixer reads the embedding itself */
    uint32_t heads;
    uint32_t kv_heads;   /**< 0: heads */
    uint32_t head_size;  /**< channels; 0: hidden_size / heads */
    bool query_key_norm; /**< on each head of queries and keys, before their positions */
    weft_rotary rotary;
    uint32_t distance_kinds;                     /**< rows of a table of biases by distance */
    uint32_t half_width;                         /**< of the band of local layers */
    float local_base;                            /**< rotary.base of local layers */
    uint32_t local_layers[WEFT_MAX_LAYERS / 32]; /**< a bit for each */
    weft_problem problem;
    weft_activation head_activation; /**< of a head that has no activation of its own */
} weft_network_config;

/** True if the layer's attention is that of a band. */
bool weft_network_layer_is_local(const weft_network_config *config, uint32_t layer);
uint32_t weft_network_head_size(const weft_network_config *config);
/** Channels of the tables of words, types and positions. */
uint32_t weft_network_embedding_size(const weft_network_config *config);

extern const weft_field_table weft_network_fields;

/** A field as `hidden_act`, for weft_field.read; the value is a weft_activation. */
weft_status weft_field_activation(void *value, const weft_json_fields *json, const char *name);

/**
 * Reads and checks the fields of weft_network_fields; feed_forward is the family's default. *config is to be cleared also
 * on failure.
 */
weft_status weft_network_config_read(weft_network_config *config, weft_feed_forward feed_forward,
                                     const weft_json_fields *json);
void weft_network_config_clear(weft_network_config *config, const weft_host *host);

weft_task weft_network_task(const weft_network_config *config);
void weft_network_set_task(weft_network_config *config, weft_task task);

#endif
