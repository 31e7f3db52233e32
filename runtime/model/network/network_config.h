/* SPDX-License-Identifier: MIT */
/* config.json of the families in Weft's own layout: what stands around the mixers. The tables are in api/MODELS.md. */
#ifndef WEFT_MODEL_NETWORK_CONFIG_H
#define WEFT_MODEL_NETWORK_CONFIG_H

#include <weft/mixers.h>
#include <weft/model.h>

#include "model/network/fields.h"
#include "model/network/form.h"
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
    uint32_t norm_position;      /**< weft_norm_position */
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
    /* Of published layouts alone: otherwise zeros. */
    weft_embedding_form embedding;
    weft_attention_form attention;
    weft_layer_form layer;
    weft_head_form head;
    weft_image_form image;
    weft_speech_form speech;
} weft_network_config;

uint32_t weft_network_head_size(const weft_network_config *config);
uint32_t weft_network_kv_heads(const weft_network_config *config);
/** The layer of the file whose weights a layer has. */
uint32_t weft_network_stored_layer(const weft_network_config *config, uint32_t layer);
/** True if attention needs its scores as a whole, which no step has: tokens cannot be taken one by one. */
bool weft_network_needs_scores(const weft_network_config *config);
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

/** What a graph ends with. */
enum weft_network_end {
    WEFT_END_HEAD,     /* the task's output */
    WEFT_END_HEADLESS, /* the last hidden state, whatever the task */
    WEFT_END_LAST /* of a language model: the task's output for each sequence's last token, [B, 1, outputs] */
};

/** How a network is built into a graph. Zeros: with its head, and keys and values as they are. */
struct weft_network_way {
    enum weft_network_end end;
    weft_dtype
        state; /* WEFT_F16: keys and values of causal attention are rounded to it, and states have them so */
};

#endif
