/* SPDX-License-Identifier: MIT */
#include "model/network/network_config.h"

#include <stdio.h>

#include "core/try.h"
#include "model/network/common_fields.h"

#define MAX_POSITIONS 16777216.0 /* 2^24 */

static const char *const task_names[] = {"hidden",  "classify", "causal_lm", "masked_lm",
                                         "regress", "retrieve", NULL};
/* Tasks of those names, in their order. */
static const weft_task tasks[] = {WEFT_TASK_HIDDEN, WEFT_TASK_CLASSIFY, WEFT_TASK_CAUSAL_LM,
                                  WEFT_TASK_MASKED_LM, WEFT_TASK_REGRESS, WEFT_TASK_RETRIEVE,
                                  /* which no field can name: */
                                  WEFT_TASK_NEXT_SENTENCE, WEFT_TASK_CLASSIFY_TOKENS,
                                  WEFT_TASK_TEXT_TO_TEXT, WEFT_TASK_EMBED};
static const char *const input_names[] = {"tokens", "features", NULL};
static const char *const position_names[] = {"none", "learned", "sinusoidal", NULL};
static const char *const norm_names[] = {"layer_norm", "rms_norm", "simple_rms_norm", "scale_norm",
                                         NULL};
static const char *const norm_positions[] = {"pre", "post", NULL};
static const char *const feed_forward_names[] = {"mlp", "glu", NULL};
static const char *const pooling_names[] = {"mean", "first", "last", NULL};

weft_status weft_field_activation(void *value, const weft_json_fields *json, const char *name) {
    return weft_read_activation(value, json, name);
}

#define ELSEWHERE(text) .name = (text), .kind = WEFT_FIELD_CUSTOM

static const weft_field fields[] = {
    {ELSEWHERE("model_type")},
    {WEFT_CHOICE("task", weft_network_config, task, task_names), .required = true},
    {WEFT_CHOICE("input", weft_network_config, input, input_names)},
    {WEFT_INTEGER("input_size", weft_network_config, input_size, 1, 65536)},
    {WEFT_INTEGER("vocab_size", weft_network_config, vocab_size, 1, MAX_POSITIONS)},
    {WEFT_INTEGER("hidden_size", weft_network_config, hidden_size, 1, 65536), .required = true},
    {WEFT_INTEGER("num_hidden_layers", weft_network_config, layers, 1, WEFT_MAX_LAYERS),
     .required = true},
    {WEFT_INTEGER("max_position_embeddings", weft_network_config, max_positions, 1, MAX_POSITIONS),
     .required = true},
    {WEFT_CHOICE("position_embedding", weft_network_config, position_embedding, position_names)},
    {WEFT_BOOL("embedding_norm", weft_network_config, embedding_norm)},
    {WEFT_CHOICE("norm", weft_network_config, norm, norm_names)},
    {WEFT_REAL("norm_eps", weft_network_config, norm_eps, 0, 1)},
    {WEFT_CHOICE("norm_position", weft_network_config, norm_position, norm_positions)},
    {WEFT_CHOICE("feed_forward", weft_network_config, feed_forward, feed_forward_names)},
    {WEFT_INTEGER("intermediate_size", weft_network_config, intermediate_size, 1, 1048576),
     .required = true},
    {WEFT_CUSTOM("hidden_act", weft_network_config, activation, weft_field_activation)},
    {WEFT_BOOL("causal", weft_network_config, causal)},
    {WEFT_CHOICE("pooling", weft_network_config, pooling, pooling_names)},
    {ELSEWHERE("num_labels")},
    {ELSEWHERE("id2label")},
    {WEFT_BOOL("tie_word_embeddings", weft_network_config, tie_word_embeddings)},
    {ELSEWHERE("tokenizer_class")},
    {ELSEWHERE("pad_token_id")},
    {ELSEWHERE("bos_token_id")},
    {ELSEWHERE("eos_token_id")},
};

const weft_field_table weft_network_fields = {fields, sizeof fields / sizeof fields[0]};

weft_task weft_network_task(const weft_network_config *config) {
    return tasks[config->task];
}

void weft_network_set_task(weft_network_config *config, weft_task task) {
    while (weft_network_task(config) != task) {
        config->task++;
    }
}

uint32_t weft_network_head_size(const weft_network_config *config) {
    return config->attention.head_size != 0 ? config->attention.head_size
                                            : config->hidden_size / config->attention.heads;
}

uint32_t weft_network_kv_heads(const weft_network_config *config) {
    return config->attention.kv_heads != 0 ? config->attention.kv_heads : config->attention.heads;
}

uint32_t weft_network_stored_layer(const weft_network_config *config, uint32_t layer) {
    const uint64_t stored = config->layer.stored;
    return stored != 0 ? (uint32_t)(layer * stored / config->layers) : layer;
}

bool weft_network_needs_scores(const weft_network_config *config) {
    return config->attention.cap != 0 || config->attention.slopes;
}

uint32_t weft_network_embedding_size(const weft_network_config *config) {
    return config->embedding.size != 0 ? config->embedding.size : config->hidden_size;
}

static weft_status check_input(const weft_network_config *config, const weft_json_fields *json) {
    bool features = config->input == 1;
    if (features && config->input_size == 0) {
        return weft_fields_refuse(json, "input_size", "an integer, as input is features");
    }
    if (features && config->vocab_size != 0) {
        return weft_fields_refuse(json, "vocab_size", "nothing, as input is features");
    }
    if (!features && config->input_size != 0) {
        return weft_fields_refuse(json, "input_size", "nothing, as input is tokens");
    }
    if (!features && config->vocab_size == 0) {
        return weft_fields_refuse(json, "vocab_size", "an integer, as input is tokens");
    }
    return WEFT_OK;
}

static weft_status check_task(const weft_network_config *config, const weft_json_fields *json) {
    weft_task task = weft_network_task(config);
    bool model = task == WEFT_TASK_CAUSAL_LM || task == WEFT_TASK_MASKED_LM;
    if (task == WEFT_TASK_CAUSAL_LM && !config->causal) {
        return weft_fields_refuse(json, "causal", "true, as task is causal_lm");
    }
    if (model && config->input != 0) {
        return weft_fields_refuse(json, "input", "tokens, as task is a language model");
    }
    if (!model && config->tie_word_embeddings) {
        return weft_fields_refuse(json, "tie_word_embeddings",
                                  "false, as task is no language model");
    }
    if (config->position_embedding == WEFT_POSITION_SINUSOIDAL && config->hidden_size % 2 != 0) {
        return weft_fields_refuse(json, "hidden_size",
                                  "an even number, as position_embedding is sinusoidal");
    }
    return WEFT_OK;
}

/* pad and bos are not used by any family here, but a wrong one shows a wrong file. */
static weft_status read_special_tokens(weft_network_config *config, const weft_json_fields *json) {
    static const char *const names[] = {"pad_token_id", "bos_token_id", "eos_token_id"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (config->vocab_size == 0 && weft_json_has(json, names[i])) {
            return weft_fields_refuse(json, names[i], "nothing, as input is features");
        }
        int64_t token = -1;
        WEFT_TRY(
            weft_json_optional_integer(&token, json, names[i], 0, (int64_t)config->vocab_size - 1));
        config->eos_token = (int32_t)token; /* the last of them */
    }
    return WEFT_OK;
}

static weft_status read_labels(weft_network_config *config, const weft_json_fields *json) {
    weft_task task = weft_network_task(config);
    bool labelled =
        task == WEFT_TASK_CLASSIFY || task == WEFT_TASK_REGRESS || task == WEFT_TASK_RETRIEVE;
    bool given = weft_json_has(json, "num_labels") || weft_json_has(json, "id2label");
    if (!labelled) {
        return given ? weft_fields_refuse(
                           json, weft_json_has(json, "num_labels") ? "num_labels" : "id2label",
                           "nothing, as task has no labels")
                     : WEFT_OK;
    }
    if (!given) {
        return weft_fields_refuse(json, "num_labels", "an integer from 1 to 65536, or id2label");
    }
    return weft_read_labels(&config->labels, &config->label_count, 1, json);
}

weft_status weft_network_config_read(weft_network_config *config, weft_feed_forward feed_forward,
                                     const weft_json_fields *json) {
    *config = (weft_network_config){.feed_forward = feed_forward,
                                    .norm_eps = 1e-5F,
                                    .eos_token = -1,
                                    .activation = WEFT_ACTIVATION_GELU_ERF,
                                    .biases = WEFT_ALL_BIASES};
    WEFT_TRY(weft_fields_read(config, &weft_network_fields, json));
    if (weft_network_task(config) == WEFT_TASK_CAUSAL_LM && !weft_json_has(json, "causal")) {
        config->causal = true;
    }
    WEFT_TRY(check_input(config, json));
    WEFT_TRY(check_task(config, json));
    WEFT_TRY(read_special_tokens(config, json));
    WEFT_TRY(read_labels(config, json));
    return weft_read_tokenizer_class(&config->tokenizer, &config->tokenizer_class, json);
}

void weft_network_config_clear(weft_network_config *config, const weft_host *host) {
    weft_labels_free(&config->labels, config->label_count, host);
    weft_free(host, config->tokenizer_class);
    weft_free(host, config->attention.rotary.factors);
    weft_free(host, config->attention.local_rotary.factors);
    *config = (weft_network_config){.task = 0};
}
