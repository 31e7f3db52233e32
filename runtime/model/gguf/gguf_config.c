/* SPDX-License-Identifier: MIT */
#include "model/gguf/gguf_config.h"

#include <weft/model.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/formats/json.h"
#include "core/try.h"

/* ---- keys ---- */

static const struct weft_gguf_key *find_key(const struct weft_gguf_family *family,
                                            const char *name) {
    for (const struct weft_gguf_key *key = family->keys; key->name; key++) {
        if (strcmp(key->name, name) == 0) {
            return key;
        }
    }
    return NULL;
}

/* Keys of the architecture say what is computed: one that nobody reads here would be passed over. */
static weft_status refuse_others(const struct weft_gguf_reading *reading) {
    const size_t length = strlen(reading->family->architecture);
    for (uint32_t i = 0; i < weft_gguf_value_count(reading->file); i++) {
        const char *key = weft_gguf_value_at(reading->file, i)->key;
        const bool own =
            strncmp(key, reading->family->architecture, length) == 0 && key[length] == '.';
        if (own && !find_key(reading->family, key + length + 1)) {
            return weft_gguf_fail(reading->file, WEFT_UNSUPPORTED, key,
                                  "keys that Weft knows for this architecture", "another");
        }
    }
    return WEFT_OK;
}

static weft_status read_integer(const struct weft_gguf_reading *reading, const char *key,
                                const struct weft_gguf_key *row) {
    int64_t value = 0;
    WEFT_TRY(weft_gguf_integer(&value, reading->file, key, 0, INT32_MAX));
    if (row->use == WEFT_GGUF_INTEGER) {
        return weft_gguf_set(reading, row->field, json_integer(value));
    }
    char found[32];
    snprintf(found, sizeof found, "%" PRId64, value);
    return value == 0 ? WEFT_OK
                      : weft_gguf_fail(reading->file, WEFT_UNSUPPORTED, key, "0: none", found);
}

static weft_status read_key(const struct weft_gguf_reading *reading,
                            const struct weft_gguf_key *row) {
    const struct weft_gguf_own_key key = weft_gguf_own_key(reading, row->name);
    if (!weft_gguf_find(reading->file, key.text)) {
        return row->required ? weft_gguf_fail(reading->file, WEFT_BAD_FILE, key.text, "a number",
                                              "no such key")
                             : WEFT_OK;
    }
    if (row->use == WEFT_GGUF_REAL) {
        double value = 0;
        WEFT_TRY(weft_gguf_real(&value, reading->file, key.text));
        return weft_gguf_set(reading, row->field, json_real(value));
    }
    return row->use == WEFT_GGUF_READ ? WEFT_OK : read_integer(reading, key.text, row);
}

static weft_status read_keys(const struct weft_gguf_reading *reading) {
    for (const struct weft_gguf_key *row = reading->family->keys; row->name; row++) {
        WEFT_TRY(read_key(reading, row));
    }
    return WEFT_OK;
}

/* ---- what the file is ---- */

/* Files of adapters and projectors have the same form. */
static weft_status check_type(const weft_gguf *file) {
    char *type = NULL;
    weft_status status = WEFT_OK;
    if (!weft_gguf_find(file, "general.type")) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_gguf_name(&type, file, "general.type"));
    if (strcmp(type, "model") != 0) {
        status = weft_gguf_fail(file, WEFT_UNSUPPORTED, "general.type", "model",
                                type[0] != '\0' ? type : "no text");
    }
    weft_free(weft_gguf_host(file), type);
    return status;
}

/* Formats of other versions have the same numbers, and other blocks. */
static weft_status check_version(const weft_gguf *file) {
    int64_t version = 2;
    char found[32];
    WEFT_TRY(weft_gguf_integer(&version, file, "general.quantization_version", 0, UINT32_MAX));
    snprintf(found, sizeof found, "%" PRId64, version);
    return version == 2
               ? WEFT_OK
               : weft_gguf_fail(file, WEFT_UNSUPPORTED, "general.quantization_version", "2", found);
}

/* As files number them. */
static weft_status read_pooling(uint32_t *pooling, const struct weft_gguf_reading *reading) {
    static const uint32_t bits[] = {0, WEFT_EMBED_MEAN, WEFT_EMBED_CLS, WEFT_EMBED_LAST};
    const struct weft_gguf_own_key key = weft_gguf_own_key(reading, "pooling_type");
    int64_t type = 0;
    WEFT_TRY(weft_gguf_integer(&type, reading->file, key.text, 0, UINT32_MAX));
    if (type > 3) {
        return weft_gguf_fail(reading->file, WEFT_UNSUPPORTED, key.text,
                              "0 (none), 1 (mean), 2 (the first token's) or 3 (the last's)",
                              type == 4 ? "4 (a score)" : "another number");
    }
    *pooling = bits[type];
    return WEFT_OK;
}

/* A text ends with each of these. */
static weft_status add_end_tokens(const struct weft_gguf_reading *reading) {
    static const char *const keys[] = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                                       "tokenizer.ggml.eom_token_id"};
    json_t *tokens = json_array();
    weft_status status = WEFT_OK;
    for (size_t i = 0; tokens && status == WEFT_OK && i < sizeof keys / sizeof keys[0]; i++) {
        int64_t token = -1;
        status = weft_gguf_integer(&token, reading->file, keys[i], 0, INT32_MAX);
        if (status == WEFT_OK && token >= 0 &&
            json_array_append_new(tokens, json_integer(token)) != 0) {
            status = weft_fail_memory(weft_gguf_host(reading->file), "a model's config");
        }
    }
    if (status != WEFT_OK) {
        json_decref(tokens);
        return status;
    }
    return weft_gguf_set(reading, "eos_token_id", tokens);
}

static weft_status add_class(const struct weft_gguf_reading *reading, bool encoder) {
    const struct weft_gguf_family *family = reading->family;
    const char *name = encoder || !family->language ? family->encoder : family->language;
    WEFT_TRY(weft_gguf_set(reading, "model_type", json_string(family->model_type)));
    WEFT_TRY(weft_gguf_set(reading, "architectures", json_pack("[s]", name)));
    return encoder || !family->language ? WEFT_OK : add_end_tokens(reading);
}

static weft_status fill(uint32_t *pooling, const struct weft_gguf_reading *reading) {
    WEFT_TRY(check_type(reading->file));
    WEFT_TRY(check_version(reading->file));
    WEFT_TRY(refuse_others(reading));
    WEFT_TRY(read_pooling(pooling, reading));
    WEFT_TRY(add_class(reading, *pooling != 0));
    WEFT_TRY(read_keys(reading));
    return reading->family->add(reading);
}

weft_status weft_gguf_config(char **text, uint32_t *pooling, const weft_gguf *file,
                             const struct weft_gguf_family *family) {
    const struct weft_gguf_reading reading = {file, family, json_object()};
    const weft_host *host = weft_gguf_host(file);
    weft_status status =
        reading.config ? fill(pooling, &reading) : weft_fail_memory(host, "a model's config");
    if (status == WEFT_OK) {
        *text = weft_json_text(reading.config, JSON_INDENT(2), host);
        status = *text ? WEFT_OK : weft_fail_memory(host, "a model's config");
    }
    json_decref(reading.config);
    return status;
}
