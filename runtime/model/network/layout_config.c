/* SPDX-License-Identifier: MIT */
/* config.json as transformers writes it. */
#include <stdio.h>
#include <string.h>

#include "core/host.h"
#include "core/try.h"
#include "model/network/common_fields.h"
#include "model/network/family.h"
#include "model/network/layout.h"

#define COUNT(array)  (sizeof(array) / sizeof(array)[0])
#define MAX_POSITIONS 16777216.0 /* 2^24 */

/* ---- fields ---- */

/* Refuses the opposite of what the result has. */
static weft_status expect_bool(bool expected, const weft_json_fields *json, const char *name) {
    bool given = expected;
    WEFT_TRY(weft_json_optional_bool(&given, json, name));
    return given == expected
               ? WEFT_OK
               : weft_json_fail(json, WEFT_UNSUPPORTED, name, expected ? "true" : "false",
                                json_object_get(json->object, name));
}

weft_status weft_field_false(void *value, const weft_json_fields *json, const char *name) {
    (void)value;
    return expect_bool(false, json, name);
}

weft_status weft_field_true(void *value, const weft_json_fields *json, const char *name) {
    (void)value;
    return expect_bool(true, json, name);
}

weft_status weft_field_null(void *value, const weft_json_fields *json, const char *name) {
    (void)value;
    return weft_json_has(json, name) ? weft_json_fail(json, WEFT_UNSUPPORTED, name, "null",
                                                      json_object_get(json->object, name))
                                     : WEFT_OK;
}

weft_status weft_field_absolute(void *value, const weft_json_fields *json, const char *name) {
    (void)value;
    const char *text = "absolute";
    WEFT_TRY(weft_json_optional_string(&text, json, name));
    return strcmp(text, "absolute") == 0
               ? WEFT_OK
               : weft_json_fail(json, WEFT_UNSUPPORTED, name, "\"absolute\"",
                                json_object_get(json->object, name));
}

static const weft_field size_fields[] = {
    {WEFT_INTEGER("vocab_size", weft_network_config, vocab_size, 1, MAX_POSITIONS),
     .required = true},
    {WEFT_INTEGER("hidden_size", weft_network_config, hidden_size, 1, 65536), .required = true},
    {WEFT_INTEGER("num_hidden_layers", weft_network_config, layers, 1, WEFT_MAX_LAYERS),
     .required = true},
    WEFT_FIELD_HEADS(weft_network_config, attention.heads),
    {WEFT_INTEGER("intermediate_size", weft_network_config, intermediate_size, 1, 1048576),
     .required = true},
    {WEFT_INTEGER("max_position_embeddings", weft_network_config, max_positions, 1, MAX_POSITIONS),
     .required = true},
    {WEFT_BOOL("tie_word_embeddings", weft_network_config, tie_word_embeddings)},
    WEFT_REFUSED("is_decoder", weft_field_false),
    WEFT_REFUSED("add_cross_attention", weft_field_false),
    WEFT_REFUSED("is_encoder_decoder", weft_field_false),
};
const weft_field_table weft_size_fields = {size_fields, COUNT(size_fields)};

static const weft_field bert_fields[] = {
    {WEFT_CUSTOM("hidden_act", weft_network_config, activation, weft_field_activation)},
    {WEFT_REAL("layer_norm_eps", weft_network_config, norm_eps, 0, 1)},
    WEFT_REFUSED("position_embedding_type", weft_field_absolute),
};
const weft_field_table weft_bert_fields = {bert_fields, COUNT(bert_fields)};

static const weft_field type_fields[] = {
    {WEFT_INTEGER("type_vocab_size", weft_network_config, embedding.types, 1, 65536)},
};
const weft_field_table weft_type_fields = {type_fields, COUNT(type_fields)};

weft_status weft_layout_offset_positions(weft_network_config *config, uint32_t offset,
                                         const weft_json_fields *json) {
    config->embedding.position_offset = offset;
    if (config->max_positions <= offset) {
        char expected[80];
        snprintf(expected, sizeof expected, "more than %u: positions begin behind the padding's",
                 offset);
        return weft_fields_refuse(json, "max_position_embeddings", expected);
    }
    config->max_positions -= offset;
    return WEFT_OK;
}

static bool is_either(const char *text, const char *one, const char *other) {
    return strcmp(text, one) == 0 || (other && strcmp(text, other) == 0);
}

weft_status weft_layout_read_layer_kinds(weft_layer_set *set, uint32_t layers,
                                         const struct weft_layer_kinds *kinds,
                                         const weft_json_fields *json) {
    const json_t *list = json_object_get(json->object, "layer_types");
    if (!json_is_array(list) || json_array_size(list) != layers) {
        return weft_fields_refuse(json, "layer_types", "a text for each layer");
    }
    for (uint32_t i = 0; i < layers; i++) {
        const json_t *entry = json_array_get(list, i);
        const char *text = json_is_string(entry) ? json_string_value(entry) : "";
        const bool is_in = is_either(text, kinds->in, kinds->older_in);
        if (!is_in && !is_either(text, kinds->out, kinds->older_out)) {
            char expected[128];
            snprintf(expected, sizeof expected, "%s or %s", kinds->out, kinds->in);
            return weft_json_fail(json, WEFT_UNSUPPORTED, "layer_types", expected, entry);
        }
        weft_layer_set_put(set, i, is_in);
    }
    return WEFT_OK;
}

weft_status weft_layout_read_layer_numbers(weft_layer_set *set, uint32_t layers,
                                           const weft_json_fields *json, const char *name) {
    const json_t *list = json_object_get(json->object, name);
    if (weft_json_has(json, name) && !json_is_array(list)) {
        return weft_fields_refuse(json, name, "numbers of layers");
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const json_int_t layer = json_is_integer(entry) ? json_integer_value(entry) : -1;
        if (layer < 0 || layer >= (json_int_t)layers) {
            return weft_json_fail(json, WEFT_BAD_FILE, name, "numbers of layers", entry);
        }
        weft_layer_set_put(set, (uint32_t)layer, true);
    }
    return WEFT_OK;
}

weft_status weft_layout_read_layer_types(weft_network_config *config,
                                         const weft_json_fields *json) {
    static const struct weft_layer_kinds kinds = {.out = "full_attention",
                                                  .in = "sliding_attention"};
    return weft_layout_read_layer_kinds(&config->attention.local, config->layers, &kinds, json);
}

/* ---- classes ---- */

static bool is_class(const struct weft_layout *layout, const struct weft_head *head,
                     const char *name, const weft_json_fields *json) {
    const size_t stem = strlen(layout->stem);
    return strncmp(name, layout->stem, stem) == 0 && strcmp(name + stem, head->name) == 0 &&
           (!head->unless || json_is_false(json_object_get(json->object, head->unless)));
}

static weft_status refuse_class(const struct weft_layout *layout, const weft_json_fields *json,
                                const json_t *found) {
    char expected[512];
    size_t used = 0;
    for (const struct weft_head *head = layout->heads; head->name && used < 512; head++) {
        const char *between = head == layout->heads ? "" : head[1].name ? ", " : " or ";
        if (head->unless) {
            continue; /* a later one has the name */
        }
        const int written = snprintf(expected + used, sizeof expected - used, "%s%s%s", between,
                                     layout->stem, head->name);
        used += written > 0 ? (size_t)written : 0;
    }
    return weft_fields_refuse_model(json, "architectures", expected, found);
}

static weft_status read_class(const struct weft_head **head, const struct weft_layout *layout,
                              const weft_json_fields *json) {
    const json_t *list = json_object_get(json->object, "architectures");
    const json_t *entry = json_array_get(list, 0);
    if (!json_is_string(entry) || json_array_size(list) != 1) {
        return weft_json_fail(json, WEFT_BAD_FILE, "architectures", "an array of one string", list);
    }
    for (*head = layout->heads; (*head)->name; ++*head) {
        if (is_class(layout, *head, json_string_value(entry), json)) {
            return WEFT_OK;
        }
    }
    return refuse_class(layout, json, entry);
}

char *weft_layout_class(const struct weft_layout *layout, const struct weft_head *head,
                        const weft_host *host) {
    return weft_format(host, "%s%s", layout->stem, head->name);
}

/* ---- the whole ---- */

weft_status weft_layout_read_problem(weft_problem *problem, const weft_json_fields *json) {
    static const char *const names[] = {[WEFT_PROBLEM_SINGLE_LABEL] = "single_label_classification",
                                        [WEFT_PROBLEM_MULTI_LABEL] = "multi_label_classification",
                                        [WEFT_PROBLEM_REGRESSION] = "regression"};
    const char *name = NULL;
    WEFT_TRY(weft_json_optional_string(&name, json, "problem_type"));
    for (size_t i = 1; name && i < COUNT(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            *problem = (weft_problem)i;
            return WEFT_OK;
        }
    }
    return name ? weft_json_fail(json, WEFT_UNSUPPORTED, "problem_type",
                                 "single_label_classification, multi_label_classification, "
                                 "regression or null",
                                 json_object_get(json->object, "problem_type"))
                : WEFT_OK;
}

/* The first of a list; none where it is null or missing. */
static weft_status read_end(int32_t *token, uint32_t vocabulary, const weft_json_fields *json) {
    const json_t *found = json_object_get(json->object, "eos_token_id");
    const json_t *first = json_is_array(found) ? json_array_get(found, 0) : found;
    *token = -1;
    if (!first || json_is_null(first)) {
        return WEFT_OK;
    }
    if (!json_is_integer(first) || json_integer_value(first) < 0 ||
        json_integer_value(first) >= (json_int_t)vocabulary) {
        return weft_json_fail(json, WEFT_BAD_FILE, "eos_token_id", "null or a token's number",
                              first);
    }
    *token = (int32_t)json_integer_value(first);
    return WEFT_OK;
}

/* Reads labels. If the last map gives labels, a config without any has two, unless the checkpoint says otherwise. */
static weft_status read_labels(weft_network_config *config, const struct weft_head *head,
                               const weft_json_fields *json) {
    const bool labelled =
        head->task == WEFT_TASK_CLASSIFY || head->task == WEFT_TASK_CLASSIFY_TOKENS;
    config->label_count = head->outputs;
    return labelled && head->outputs == 0
               ? weft_read_labels(&config->labels, &config->label_count, 2, json)
               : WEFT_OK;
}

static weft_status read_task(weft_network_config *config, const struct weft_head *head,
                             const weft_json_fields *json) {
    weft_network_set_task(config, head->task);
    WEFT_TRY(read_labels(config, head, json));
    if (head->task != WEFT_TASK_CLASSIFY || head->outputs != 0) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_layout_read_problem(&config->head.problem, json));
    if (config->head.problem == WEFT_PROBLEM_REGRESSION) {
        config->task = 0;
        weft_network_set_task(config, WEFT_TASK_REGRESS);
    }
    return WEFT_OK;
}

static weft_status check_heads(const weft_network_config *config, const weft_json_fields *json) {
    return config->attention.heads > 0 && config->attention.head_size == 0
               ? weft_family_check_heads(config->attention.heads, config->hidden_size, json)
               : WEFT_OK;
}

static weft_status read_fields(weft_network_config *config, void *state,
                               const struct weft_layout *layout, const weft_json_fields *json) {
    if (layout->defaults) {
        *config = *layout->defaults;
        for (size_t i = 0; layout->fields[i]; i++) {
            WEFT_TRY(weft_fields_read(config, layout->fields[i], json));
        }
        WEFT_TRY(check_heads(config, json));
        if (!layout->ignores_end) {
            WEFT_TRY(read_end(&config->eos_token, config->vocab_size, json));
        }
    }
    return layout->read ? layout->read(state, config, json) : WEFT_OK;
}

weft_status weft_layout_read(weft_network_config *config, const struct weft_head **head,
                             void *state, const struct weft_layout *layout,
                             const weft_json_fields *json) {
    WEFT_TRY(read_class(head, layout, json));
    WEFT_TRY(read_fields(config, state, layout, json));
    config->head.activation = config->activation;
    WEFT_TRY(read_task(config, *head, json));
    if (layout->check) {
        WEFT_TRY(layout->check(config, *head, json));
    }
    if ((*head)->task == WEFT_TASK_MASKED_LM && strcmp((*head)->name, "ForPreTraining") == 0) {
        weft_log(json->host, WEFT_LOG_INFO,
                 "%s: %sForPreTraining has two heads; Weft runs the masked language model",
                 json->path, layout->stem);
    }
    return weft_read_tokenizer_class(&config->tokenizer, &config->tokenizer_class, json);
}
