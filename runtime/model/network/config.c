/* SPDX-License-Identifier: MIT */
#include "model/network/config.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "model/network/common_fields.h"
#include "model/network/family.h"
#include "model/network/layout.h"

static const char *const architecture_names[] = {
    [WEFT_FNET_MODEL] = "FNetModel",
    [WEFT_FNET_SEQUENCE_CLASSIFICATION] = "FNetForSequenceClassification",
    [WEFT_FNET_MASKED_LM] = "FNetForMaskedLM",
    [WEFT_FNET_NEXT_SENTENCE] = "FNetForNextSentencePrediction",
    [WEFT_FNET_PRE_TRAINING] = "FNetForPreTraining",
    [WEFT_FNET_TOKEN_CLASSIFICATION] = "FNetForTokenClassification",
    [WEFT_FNET_QUESTION_ANSWERING] = "FNetForQuestionAnswering",
    [WEFT_FNET_MULTIPLE_CHOICE] = "FNetForMultipleChoice",
};

static const char *const mixing_names[] = {
    [WEFT_FNET_FOURIER] = "fourier",     [WEFT_FNET_LINEAR] = "linear",
    [WEFT_FNET_RANDOM] = "random",       [WEFT_FNET_NONE] = "none",
    [WEFT_FNET_ATTENTION] = "attention",
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

const char *weft_fnet_architecture_name(weft_fnet_architecture architecture) {
    size_t index = (size_t)architecture;
    return index < COUNT(architecture_names) ? architecture_names[index] : "unknown architecture";
}

const char *weft_fnet_mixing_name(weft_fnet_mixing mixing) {
    size_t index = (size_t)mixing;
    return index < COUNT(mixing_names) ? mixing_names[index] : "unknown mixing";
}

weft_fnet_mixing weft_fnet_layer_mixing(const weft_fnet_config *config, uint32_t layer) {
    bool last = layer >= config->layers - config->attention_layers;
    return last ? WEFT_FNET_ATTENTION : config->mixing;
}

static weft_status read_model_type(const weft_json_fields *fields) {
    const char *model_type = NULL;
    WEFT_TRY(weft_json_string(&model_type, fields, "model_type"));
    if (strcmp(model_type, "fnet") != 0) {
        WEFT_TRY(weft_json_fail(fields, WEFT_UNSUPPORTED, "model_type", "\"fnet\"",
                                json_object_get(fields->object, "model_type")));
    }
    return WEFT_OK;
}

static weft_status read_architecture(weft_fnet_config *config, const weft_json_fields *fields) {
    const json_t *list = json_object_get(fields->object, "architectures");
    if (!json_is_array(list) || json_array_size(list) != 1 ||
        !json_is_string(json_array_get(list, 0))) {
        return weft_json_fail(fields, WEFT_BAD_FILE, "architectures", "an array of one string",
                              list);
    }
    const json_t *entry = json_array_get(list, 0);
    for (size_t i = 0; i < COUNT(architecture_names); i++) {
        if (strcmp(json_string_value(entry), architecture_names[i]) == 0) {
            config->architecture = (weft_fnet_architecture)i;
            return WEFT_OK;
        }
    }
    return weft_fields_refuse_model(fields, "architectures",
                                    "FNetModel, FNetForSequenceClassification, FNetForMaskedLM, "
                                    "FNetForNextSentencePrediction, FNetForPreTraining, "
                                    "FNetForTokenClassification, FNetForQuestionAnswering or "
                                    "FNetForMultipleChoice",
                                    entry);
}

/* The sizes that determine the shapes of the weights. */
static weft_status read_sizes(weft_fnet_config *config, const weft_json_fields *fields) {
    const struct {
        const char *name;
        uint32_t *value;
        uint32_t fallback;
        uint32_t maximum;
    } sizes[] = {
        {"vocab_size", &config->vocab_size, 32000, 1u << 24},
        {"hidden_size", &config->hidden_size, 768, 1u << 16},
        {"num_hidden_layers", &config->layers, 12, 1u << 10},
        {"intermediate_size", &config->intermediate_size, 3072, 1u << 20},
        {"max_position_embeddings", &config->max_positions, 512, 1u << 24},
        {"type_vocab_size", &config->type_vocab_size, 4, 1u << 16},
    };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        if (!weft_json_has(fields, sizes[i].name)) {
            weft_log(fields->host, WEFT_LOG_WARNING,
                     "%s: field \"%s\" is missing; Weft uses FNet's default %u", fields->path,
                     sizes[i].name, (unsigned)sizes[i].fallback);
        }
        int64_t value = sizes[i].fallback;
        WEFT_TRY(weft_json_optional_integer(&value, fields, sizes[i].name, 1, sizes[i].maximum));
        *sizes[i].value = (uint32_t)value;
    }
    return WEFT_OK;
}

static weft_status read_details(weft_fnet_config *config, const weft_json_fields *fields) {
    double epsilon = 1e-12;
    WEFT_TRY(weft_json_optional_real(&epsilon, fields, "layer_norm_eps", (double)FLT_MIN, 1.0));
    config->layer_norm_eps = (float)epsilon;
    config->tie_word_embeddings = true;
    WEFT_TRY(weft_json_optional_bool(&config->tie_word_embeddings, fields, "tie_word_embeddings"));
    config->activation = WEFT_ACTIVATION_GELU_TANH;
    return weft_read_activation(&config->activation, fields, "hidden_act");
}

/* Absent: the default, if the vocabulary has it; null: none; a list: its first entry. */
static weft_status read_special_token(int32_t *token, const weft_fnet_config *config,
                                      const weft_json_fields *fields, const char *name,
                                      int32_t fallback) {
    const json_t *found = json_object_get(fields->object, name);
    if (!found) {
        *token = (uint32_t)fallback < config->vocab_size ? fallback : -1;
        return WEFT_OK;
    }
    if (json_is_null(found)) {
        *token = -1;
        return WEFT_OK;
    }
    const json_t *first = json_is_array(found) ? json_array_get(found, 0) : found;
    if (!json_is_integer(first) || json_integer_value(first) < 0 ||
        json_integer_value(first) >= (json_int_t)config->vocab_size) {
        char expected[80];
        snprintf(expected, sizeof expected, "null or an id from 0 to %u (vocab_size - 1)",
                 (unsigned)(config->vocab_size - 1));
        return weft_json_fail(fields, WEFT_BAD_FILE, name, expected, first ? first : found);
    }
    *token = (int32_t)json_integer_value(first);
    return WEFT_OK;
}

static weft_status read_special_tokens(weft_fnet_config *config, const weft_json_fields *fields) {
    WEFT_TRY(read_special_token(&config->pad_token, config, fields, "pad_token_id", 3));
    WEFT_TRY(read_special_token(&config->bos_token, config, fields, "bos_token_id", 1));
    return read_special_token(&config->eos_token, config, fields, "eos_token_id", 2);
}

static weft_status read_mixing(weft_fnet_config *config, const weft_json_fields *fields) {
    const char *name = mixing_names[WEFT_FNET_FOURIER];
    WEFT_TRY(weft_json_optional_string(&name, fields, "weft_mixing"));
    for (size_t i = 0; i < COUNT(mixing_names); i++) {
        if (strcmp(name, mixing_names[i]) == 0) {
            config->mixing = (weft_fnet_mixing)i;
            return WEFT_OK;
        }
    }
    return weft_json_fail(fields, WEFT_BAD_FILE, "weft_mixing",
                          "fourier, linear, random, none or attention",
                          json_object_get(fields->object, "weft_mixing"));
}

static weft_status read_attention(weft_fnet_config *config, const weft_json_fields *fields) {
    int64_t layers = 0;
    WEFT_TRY(weft_json_optional_integer(&layers, fields, "weft_attention_layers", 0,
                                        (int64_t)config->layers));
    config->attention_layers = (uint32_t)layers;
    if (layers == 0 && config->mixing != WEFT_FNET_ATTENTION) {
        return WEFT_OK;
    }
    int64_t heads = 0;
    WEFT_TRY(weft_json_integer(&heads, fields, "num_attention_heads", 1, config->hidden_size));
    config->attention_heads = (uint32_t)heads;
    return weft_family_check_heads(config->attention_heads, config->hidden_size, fields);
}

static weft_status read_labels(weft_fnet_config *config, const weft_json_fields *fields) {
    WEFT_TRY(weft_read_labels(&config->labels, &config->label_count, 2, fields));
    if (config->architecture == WEFT_FNET_QUESTION_ANSWERING && config->label_count != 2) {
        const char *name = config->labels ? "id2label" : "num_labels";
        return weft_json_fail(fields, WEFT_BAD_FILE, name,
                              "two labels: where an answer begins, and where it ends",
                              json_object_get(fields->object, name));
    }
    return WEFT_OK;
}

static weft_status read_problem(weft_fnet_config *config, const weft_json_fields *fields) {
    return weft_layout_read_problem(&config->problem, fields);
}

static weft_status read_tokenizer(weft_fnet_config *config, const weft_json_fields *fields) {
    return weft_read_tokenizer_class(&config->tokenizer, &config->tokenizer_class, fields);
}

weft_status weft_fnet_config_fields(weft_fnet_config *config, const weft_json_fields *fields) {
    /* The order matters: what a model is before what is wrong with it, sizes before ranges. */
    weft_status (*const readers[])(weft_fnet_config *, const weft_json_fields *) = {
        read_architecture, read_sizes,  read_details, read_special_tokens, read_mixing,
        read_attention,    read_labels, read_problem, read_tokenizer,
    };
    WEFT_TRY(read_model_type(fields));
    for (size_t i = 0; i < COUNT(readers); i++) {
        WEFT_TRY(readers[i](config, fields));
    }
    return WEFT_OK;
}

/* Takes the reference to `object`. */
static weft_status config_from_json(weft_fnet_config *config, json_t *object, const char *path,
                                    const weft_host *host) {
    weft_json_fields fields = {.object = object, .path = path, .host = host};
    weft_fnet_config result = {.architecture = WEFT_FNET_MODEL};
    weft_status status = weft_fnet_config_fields(&result, &fields);
    json_decref(object);
    if (status == WEFT_OK) {
        *config = result;
    } else {
        weft_fnet_config_clear(&result, host);
    }
    return status;
}

weft_status weft_fnet_config_read(weft_fnet_config *config, const char *path,
                                  const weft_host *host) {
    json_t *object = NULL;
    WEFT_TRY(weft_json_read(&object, path, host));
    return config_from_json(config, object, path, host);
}

weft_status weft_fnet_config_parse(weft_fnet_config *config, const void *data, size_t size,
                                   const char *path, const weft_host *host) {
    json_t *object = NULL;
    WEFT_TRY(weft_json_parse(&object, data, size, path, host));
    return config_from_json(config, object, path, host);
}

void weft_fnet_config_clear(weft_fnet_config *config, const weft_host *host) {
    weft_labels_free(&config->labels, config->label_count, host);
    weft_free(host, config->tokenizer_class);
    *config = (weft_fnet_config){.architecture = WEFT_FNET_MODEL};
}

const char *weft_task_name(weft_task task) {
    static const char *const names[] = {"hidden",    "classify", "masked_lm",   "next_sentence",
                                        "causal_lm", "regress",  "retrieve",    "classify_tokens",
                                        "program",   "embed",    "text_to_text"};
    return (unsigned)task < sizeof names / sizeof names[0] ? names[task] : "unknown";
}
