/* SPDX-License-Identifier: MIT */
/* The normalizer of a tokenizer.json. */
#include <string.h>

#include "core/try.h"
#include "tokenizer/json/component.h"
#include "tokenizer/json/normalizer.h"

/* Reads one step. */
static weft_status read_bert(struct weft_normal_step *step,
                             const struct weft_component *component) {
    static const char *const names[] = {"clean_text", "handle_chinese_chars", "strip_accents",
                                        "lowercase", NULL};
    const weft_json_fields *fields = &component->fields;
    WEFT_TRY(weft_component_allow(component, names));
    step->clean_text = step->chinese = step->lowercase = true;
    WEFT_TRY(weft_json_optional_bool(&step->clean_text, fields, "clean_text"));
    WEFT_TRY(weft_json_optional_bool(&step->chinese, fields, "handle_chinese_chars"));
    WEFT_TRY(weft_json_optional_bool(&step->lowercase, fields, "lowercase"));
    step->strip_accents = step->lowercase;
    return weft_json_optional_bool(&step->strip_accents, fields, "strip_accents");
}

static weft_status read_strip(struct weft_normal_step *step,
                              const struct weft_component *component) {
    static const char *const names[] = {"strip_left", "strip_right", NULL};
    WEFT_TRY(weft_component_allow(component, names));
    step->left = step->right = true;
    WEFT_TRY(weft_json_optional_bool(&step->left, &component->fields, "strip_left"));
    return weft_json_optional_bool(&step->right, &component->fields, "strip_right");
}

static weft_status read_replace(struct weft_normal_step *step,
                                const struct weft_component *component) {
    static const char *const names[] = {"pattern", "content", NULL};
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(weft_component_pattern(&step->pattern, component));
    return weft_component_chars(&step->content, component, "content");
}

static weft_status read_prepend(struct weft_normal_step *step,
                                const struct weft_component *component) {
    static const char *const names[] = {"prepend", NULL};
    WEFT_TRY(weft_component_allow(component, names));
    return weft_component_chars(&step->content, component, "prepend");
}

/* ---- rules ---- */

static int value_of(char letter) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = memchr(letters, letter, sizeof letters - 1);
    return found ? (int)(found - letters) : -1;
}

/* Base64 into `bytes`, which has room for all of it; false when it is none. */
static bool decode_base64(uint8_t *bytes, size_t *size, const char *text) {
    const size_t length = strlen(text);
    uint32_t bits = 0;
    *size = 0;
    for (size_t i = 0; i < length; i++) {
        const bool padding = text[i] == '=' && i + 2 >= length;
        const int value = padding ? 0 : value_of(text[i]);
        if (value < 0) {
            return false;
        }
        bits = bits << 6 | (uint32_t)value;
        for (unsigned j = 0; i % 4 == 3 && j < 3; j++) {
            bytes[(*size)++] = (uint8_t)(bits >> (16 - 8 * j));
        }
    }
    for (size_t i = length; i > 0 && text[i - 1] == '=' && *size > 0; i--) {
        --*size;
    }
    return length % 4 == 0;
}

static weft_status read_rules(struct weft_normal_step *step,
                              const struct weft_component *component) {
    static const char *const names[] = {"precompiled_charsmap", NULL};
    const weft_json_fields *fields = &component->fields;
    const char *text = NULL;
    size_t size = 0;
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(weft_json_optional_string(&text, fields, names[0]));
    if (!text) {
        return WEFT_OK;
    }
    step->bytes = weft_alloc(fields->host, strlen(text) + 4);
    if (!step->bytes) {
        return weft_fail_memory(fields->host, fields->path);
    }
    if (!decode_base64(step->bytes, &size, text)) {
        return weft_fail(fields->host, WEFT_BAD_FILE,
                         "%s: field \"precompiled_charsmap\": expected base64, found another text",
                         fields->path);
    }
    return weft_spm_rules_open(&step->rules, step->bytes, size, fields->path, "Precompiled",
                               fields->host);
}

/* ---- steps ---- */

static weft_status read_plain(struct weft_normal_step *step,
                              const struct weft_component *component) {
    static const char *const names[] = {NULL};
    (void)step;
    return weft_component_allow(component, names);
}

static const struct {
    const char *type;
    enum weft_normal_kind kind;
    weft_status (*read)(struct weft_normal_step *step, const struct weft_component *component);
} rows[] = {
    {"BertNormalizer", WEFT_NORMAL_BERT, read_bert},
    {"NFC", WEFT_NORMAL_NFC, read_plain},
    {"NFD", WEFT_NORMAL_NFD, read_plain},
    {"NFKC", WEFT_NORMAL_NFKC, read_plain},
    {"NFKD", WEFT_NORMAL_NFKD, read_plain},
    {"Lowercase", WEFT_NORMAL_LOWERCASE, read_plain},
    {"Strip", WEFT_NORMAL_STRIP, read_strip},
    {"StripAccents", WEFT_NORMAL_STRIP_ACCENTS, read_plain},
    {"Replace", WEFT_NORMAL_REPLACE, read_replace},
    {"Prepend", WEFT_NORMAL_PREPEND, read_prepend},
    {"Precompiled", WEFT_NORMAL_PRECOMPILED, read_rules},
    {"ByteLevel", WEFT_NORMAL_BYTE_LEVEL, read_plain},
    {"Nmt", WEFT_NORMAL_NMT, read_plain},
};

static weft_status read_step(void *user, const struct weft_component *component) {
    struct weft_normalizer *normalizer = user;
    const weft_host *host = component->fields.host;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(component->type, rows[i].type) != 0) {
            continue;
        }
        if (normalizer->count == WEFT_MAX_COMPONENTS) {
            return weft_component_fail_type(component);
        }
        if (!weft_grow(host, &normalizer->steps, normalizer->count, &normalizer->capacity,
                       sizeof *normalizer->steps)) {
            return weft_fail_memory(host, component->fields.path);
        }
        struct weft_normal_step *step = &normalizer->steps[normalizer->count++];
        *step = (struct weft_normal_step){.kind = rows[i].kind, .content = {.host = *host}};
        return rows[i].read(step, component);
    }
    return weft_component_fail_type(component);
}

weft_status weft_normalizer_read(struct weft_normalizer *normalizer, const json_t *value,
                                 const char *path, const weft_host *host) {
    return weft_component_walk(value, "normalizers", path, host, read_step, normalizer);
}

void weft_normalizer_clear(struct weft_normalizer *normalizer, const weft_host *host) {
    for (uint32_t i = 0; i < normalizer->count; i++) {
        struct weft_normal_step *step = &normalizer->steps[i];
        weft_regex_destroy(step->pattern, host);
        weft_free(host, step->content.at);
        weft_free(host, step->bytes);
    }
    weft_free(host, normalizer->steps);
    *normalizer = (struct weft_normalizer){0};
}
