/* SPDX-License-Identifier: MIT */
/*
 * config.json of an FNet checkpoint, in Hugging Face's layout (transformers: FNetConfig), with the
 * fields that Weft adds for the paper's siblings of FNet: weft_mixing, weft_attention_layers and
 * num_attention_heads.
 */
#ifndef WEFT_MODEL_CONFIG_H
#define WEFT_MODEL_CONFIG_H

#include <weft/graph.h>

#include "core/formats/json.h"
#include "core/host.h"
#include "model/network/network_config.h"
#include "tokenizer/tokenizer.h"

/** Head on top of the encoder: the one entry of "architectures". */
typedef enum weft_fnet_architecture {
    WEFT_FNET_MODEL = 0,               /**< FNetModel: none */
    WEFT_FNET_SEQUENCE_CLASSIFICATION, /**< FNetForSequenceClassification */
    WEFT_FNET_MASKED_LM,               /**< FNetForMaskedLM */
    WEFT_FNET_NEXT_SENTENCE,           /**< FNetForNextSentencePrediction */
    WEFT_FNET_PRE_TRAINING,            /**< FNetForPreTraining: both of the two above */
    WEFT_FNET_TOKEN_CLASSIFICATION,    /**< FNetForTokenClassification */
    WEFT_FNET_QUESTION_ANSWERING,      /**< FNetForQuestionAnswering */
    WEFT_FNET_MULTIPLE_CHOICE          /**< FNetForMultipleChoice: a sequence for each choice */
} weft_fnet_architecture;

/** The name in config.json, such as "FNetForMaskedLM". */
const char *weft_fnet_architecture_name(weft_fnet_architecture architecture);

/** The mixing sublayer: Lee-Thorp et al., "FNet", section 4.1. */
typedef enum weft_fnet_mixing {
    WEFT_FNET_FOURIER = 0,
    WEFT_FNET_LINEAR,
    WEFT_FNET_RANDOM, /**< computed as linear */
    WEFT_FNET_NONE,   /**< FF-only */
    WEFT_FNET_ATTENTION
} weft_fnet_mixing;

/** The value of weft_mixing, such as "fourier". */
const char *weft_fnet_mixing_name(weft_fnet_mixing mixing);

typedef struct weft_fnet_config {
    weft_fnet_architecture architecture;
    weft_fnet_mixing mixing;    /**< of all layers but the last attention_layers; default fourier */
    uint32_t attention_layers;  /**< the last so many layers use softmax attention; default 0 */
    uint32_t attention_heads;   /**< divides hidden_size; 0 when no layer is attention */
    uint32_t vocab_size;        /**< 1 … 2^24; default 32000 */
    uint32_t hidden_size;       /**< 1 … 65536; default 768 */
    uint32_t layers;            /**< num_hidden_layers, 1 … 1024; default 12 */
    uint32_t intermediate_size; /**< 1 … 2^20; default 3072 */
    uint32_t max_positions;     /**< max_position_embeddings, 1 … 2^24; default 512 */
    uint32_t type_vocab_size;   /**< 1 … 65536; default 4 */
    weft_activation activation; /**< hidden_act; default "gelu_new", WEFT_ACTIVATION_GELU_TANH */
    float layer_norm_eps;       /**< smallest normal float … 1; default 1e-12 */
    bool tie_word_embeddings;   /**< default true */
    int32_t pad_token;          /**< pad_token_id and so on: 0 … vocab_size - 1, or -1 for none */
    int32_t bos_token;
    int32_t eos_token;    /**< the first, when the config lists several */
    uint32_t label_count; /**< entries of id2label, else num_labels, else 2; 1 … 65536 */
    weft_problem problem; /**< problem_type of a sequence's classifier */
    char **labels;        /**< label_count texts by id; null when the config has no id2label */
    weft_tokenizer_kind tokenizer;
    char *tokenizer_class; /**< null when the config names none */
} weft_fnet_config;

/**
 * Reads and checks config.json. Fields that do not touch inference (dropout, the version of
 * transformers …) are ignored; a missing field gets its default, with a warning in the log where it
 * is one that shapes the weights. Errors: WEFT_UNSUPPORTED for a model_type other than "fnet", an
 * architecture not listed above or an activation Weft does not have; WEFT_BAD_FILE for bad JSON, a
 * missing model_type or architectures, a field of the wrong type or out of range, fields that
 * contradict each other; all naming file, field, expected and found. WEFT_NOT_FOUND, WEFT_IO_ERROR,
 * WEFT_OUT_OF_HOST_MEMORY. *config is untouched on failure; release it with weft_fnet_config_clear
 * and the same host.
 */
weft_status weft_fnet_config_read(weft_fnet_config *config, const char *path,
                                  const weft_host *host);

/** Parses bytes in memory; `path` only names them in errors. */
weft_status weft_fnet_config_parse(weft_fnet_config *config, const void *data, size_t size,
                                   const char *path, const weft_host *host);

/** Parses an object into a zeroed *config, which the caller clears also on failure. */
weft_status weft_fnet_config_fields(weft_fnet_config *config, const weft_json_fields *fields);

/** Frees what the config holds and zeroes it; a zeroed config is fine. */
void weft_fnet_config_clear(weft_fnet_config *config, const weft_host *host);

/** The mixing of a layer, 0 … layers - 1: attention for the last attention_layers, else mixing. */
weft_fnet_mixing weft_fnet_layer_mixing(const weft_fnet_config *config, uint32_t layer);

#endif
