/* SPDX-License-Identifier: MIT */
#include "model/network/common_fields.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* transformers' names (ACT2FN); those that compute the same function share a value. */
static const struct {
    const char *name;
    weft_activation activation;
} activations[] = {
    {"gelu_new", WEFT_ACTIVATION_GELU_TANH},  {"gelu_pytorch_tanh", WEFT_ACTIVATION_GELU_TANH},
    {"gelu_fast", WEFT_ACTIVATION_GELU_TANH}, {"gelu", WEFT_ACTIVATION_GELU_ERF},
    {"relu", WEFT_ACTIVATION_RELU},           {"tanh", WEFT_ACTIVATION_TANH},
    {"sigmoid", WEFT_ACTIVATION_SIGMOID},     {"silu", WEFT_ACTIVATION_SILU},
    {"swish", WEFT_ACTIVATION_SILU},          {"linear", WEFT_ACTIVATION_NONE},
};

/* ---- labels ---- */

static weft_status copy_label(char **label, const json_t *table, uint32_t id, size_t count,
                              const weft_json_fields *fields) {
    char key[16];
    snprintf(key, sizeof key, "%u", (unsigned)id);
    const json_t *text = json_object_get(table, key);
    if (!json_is_string(text)) {
        char name[32];
        char expected[64];
        snprintf(name, sizeof name, "id2label.%s", key);
        snprintf(expected, sizeof expected, "a string (labels are numbered 0 to %zu)", count - 1);
        return weft_json_fail(fields, WEFT_BAD_FILE, name, expected, text);
    }
    *label = weft_strdup(fields->host, json_string_value(text));
    return *label ? WEFT_OK : weft_fail_memory(fields->host, fields->path);
}

/* id2label has a text for each of "0" … "count - 1", in any order. */
static weft_status read_names(char ***labels, uint32_t *count, const weft_json_fields *fields) {
    const json_t *table = json_object_get(fields->object, "id2label");
    size_t size = json_object_size(table);
    if (!json_is_object(table) || size < 1 || size > WEFT_MAX_LABELS) {
        return weft_json_fail(fields, WEFT_BAD_FILE, "id2label", "an object of 1 to 65536 strings",
                              table);
    }
    *labels = weft_alloc_zero(fields->host, size, sizeof **labels);
    if (!*labels) {
        return weft_fail_memory(fields->host, fields->path);
    }
    *count = (uint32_t)size;
    for (uint32_t id = 0; id < size; id++) {
        WEFT_TRY(copy_label(&(*labels)[id], table, id, size, fields));
    }
    return WEFT_OK;
}

weft_status weft_read_labels(char ***labels, uint32_t *count, uint32_t fallback,
                             const weft_json_fields *fields) {
    int64_t given = fallback;
    WEFT_TRY(weft_json_optional_integer(&given, fields, "num_labels", 1, WEFT_MAX_LABELS));
    if (!weft_json_has(fields, "id2label")) {
        *count = (uint32_t)given;
        return WEFT_OK;
    }
    WEFT_TRY(read_names(labels, count, fields));
    if (weft_json_has(fields, "num_labels") && given != *count) {
        char expected[64];
        snprintf(expected, sizeof expected, "%u, the number of labels in id2label",
                 (unsigned)*count);
        WEFT_TRY(weft_json_fail(fields, WEFT_BAD_FILE, "num_labels", expected,
                                json_object_get(fields->object, "num_labels")));
    }
    return WEFT_OK;
}

void weft_labels_free(char ***labels, uint32_t count, const weft_host *host) {
    for (uint32_t id = 0; *labels && id < count; id++) {
        weft_free(host, (*labels)[id]);
    }
    weft_free(host, *labels);
    *labels = NULL;
}

/* ---- the others ---- */

weft_status weft_read_activation(weft_activation *activation, const weft_json_fields *fields,
                                 const char *name) {
    const char *text = NULL;
    WEFT_TRY(weft_json_optional_string(&text, fields, name));
    if (!text) {
        return WEFT_OK;
    }
    for (size_t i = 0; i < COUNT(activations); i++) {
        if (strcmp(text, activations[i].name) == 0) {
            *activation = activations[i].activation;
            return WEFT_OK;
        }
    }
    return weft_json_fail(fields, WEFT_UNSUPPORTED, name,
                          "gelu_new, gelu_pytorch_tanh, gelu_fast, gelu, relu, tanh, sigmoid, "
                          "silu, swish or linear",
                          json_object_get(fields->object, name));
}

weft_status weft_read_tokenizer_class(weft_tokenizer_kind *kind, char **name,
                                      const weft_json_fields *fields) {
    const char *text = NULL;
    WEFT_TRY(weft_json_optional_string(&text, fields, "tokenizer_class"));
    if (!text) {
        return WEFT_OK;
    }
    if (strcmp(text, "ByteTokenizer") == 0) {
        *kind = WEFT_TOKENIZER_BYTES;
    } else if (strcmp(text, "FNetTokenizer") == 0 || strcmp(text, "FNetTokenizerFast") == 0) {
        *kind = WEFT_TOKENIZER_SENTENCEPIECE;
    } else if (strcmp(text, "SentencePieceTokenizer") == 0) {
        *kind = WEFT_TOKENIZER_PIECES;
    } else {
        *kind = WEFT_TOKENIZER_UNKNOWN;
    }
    *name = weft_strdup(fields->host, text);
    return *name ? WEFT_OK : weft_fail_memory(fields->host, fields->path);
}
