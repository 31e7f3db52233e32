/* SPDX-License-Identifier: MIT */
#include "tokenizer/json/component.h"

#include <string.h>

#include "core/text.h"
#include "core/try.h"
#include "tokenizer/unicode/text_class.h"

weft_status weft_component_open(struct weft_component *component, const json_t *value,
                                const char *path, const weft_host *host) {
    *component = (struct weft_component){.fields = {value, path, host}};
    if (!json_is_object(value)) {
        char found[WEFT_JSON_TEXT_SIZE];
        return weft_fail(host, WEFT_BAD_FILE, "%s: expected an object, found %s", path,
                         weft_json_describe(value, found));
    }
    return weft_json_string(&component->type, &component->fields, "type");
}

static bool is_among(const char *name, const char *const *names) {
    for (; *names; names++) {
        if (strcmp(name, *names) == 0) {
            return true;
        }
    }
    return false;
}

weft_status weft_component_allow(const struct weft_component *component, const char *const *names) {
    const weft_json_fields *fields = &component->fields;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)fields->object, name, value) {
        if (!json_is_null(value) && strcmp(name, "type") != 0 && !is_among(name, names)) {
            return weft_json_fail(fields, WEFT_UNSUPPORTED, name, "no such field", value);
        }
    }
    return WEFT_OK;
}

weft_status weft_component_fail_type(const struct weft_component *component) {
    return weft_json_fail(&component->fields, WEFT_UNSUPPORTED, "type", "one that Weft has",
                          json_object_get(component->fields.object, "type"));
}

weft_status weft_component_each(const struct weft_component *component, const char *name,
                                weft_status (*read)(void *user, const json_t *value), void *user) {
    const json_t *list = json_object_get(component->fields.object, name);
    if (!json_is_array(list) || json_array_size(list) > WEFT_MAX_COMPONENTS) {
        return weft_json_fail(&component->fields, WEFT_BAD_FILE, name, "an array of at most 256",
                              list);
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        WEFT_TRY(read(user, json_array_get(list, i)));
    }
    return WEFT_OK;
}

struct walk {
    const char *list, *path;
    const weft_host *host;
    weft_status (*read)(void *user, const struct weft_component *component);
    void *user;
};

static weft_status walk_on(void *user, const json_t *value) {
    const struct walk *walk = user;
    const char *const names[] = {walk->list, NULL};
    struct weft_component component;
    WEFT_TRY(weft_component_open(&component, value, walk->path, walk->host));
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): what has been opened has a type */
    if (strcmp(component.type, "Sequence") != 0) {
        return walk->read(walk->user, &component);
    }
    WEFT_TRY(weft_component_allow(&component, names));
    return weft_component_each(&component, walk->list, walk_on, user);
}

weft_status weft_component_walk(
    const json_t *value, const char *list, const char *path, const weft_host *host,
    weft_status (*read)(void *user, const struct weft_component *component), void *user) {
    struct walk walk = {list, path, host, read, user};
    return !value || json_is_null(value) ? WEFT_OK : walk_on(&walk, value);
}

weft_status weft_component_pattern(struct weft_regex **regex,
                                   const struct weft_component *component) {
    const weft_json_fields *fields = &component->fields;
    const json_t *pattern = json_object_get(fields->object, "pattern");
    const json_t *literal = json_object_get(pattern, "String");
    const json_t *expression = json_object_get(pattern, "Regex");
    const json_t *text = literal ? literal : expression;
    if (!json_is_string(text) || json_object_size(pattern) != 1) {
        return weft_json_fail(fields, WEFT_BAD_FILE, "pattern", "a String or a Regex", pattern);
    }
    return weft_regex_create(regex, json_string_value(text), json_string_length(text),
                             literal != NULL, fields->path, fields->host);
}

weft_status weft_component_chars(struct weft_chars *chars, const struct weft_component *component,
                                 const char *name) {
    const char *text = NULL;
    WEFT_TRY(weft_json_string(&text, &component->fields, name));
    weft_chars_decode(chars, text, strlen(text));
    return chars->failed ? weft_fail_memory(component->fields.host, component->fields.path)
                         : WEFT_OK;
}

weft_status weft_component_char(uint32_t *code, const struct weft_component *component,
                                const char *name) {
    const char *text = NULL;
    WEFT_TRY(weft_json_optional_string(&text, &component->fields, name));
    if (!text) {
        return WEFT_OK;
    }
    const size_t size = strlen(text);
    if (size == 0 || weft_utf8_decode(text, size, code) != size) {
        return weft_json_fail(&component->fields, WEFT_BAD_FILE, name, "one character",
                              json_object_get(component->fields.object, name));
    }
    return WEFT_OK;
}

weft_status weft_component_word(unsigned *index, const struct weft_component *component,
                                const char *name, const char *const *words) {
    const char *text = NULL;
    WEFT_TRY(weft_json_optional_string(&text, &component->fields, name));
    if (!text) {
        return WEFT_OK;
    }
    struct weft_text expected = {.host = component->fields.host ? *component->fields.host
                                                                : (weft_host){0}};
    for (unsigned i = 0; words[i]; i++) {
        if (strcmp(text, words[i]) == 0) {
            weft_free(&expected.host, expected.data);
            *index = i;
            return WEFT_OK;
        }
        weft_text_add(&expected, "%s%s", i > 0 ? ", " : "", words[i]);
    }
    const weft_status status = weft_json_fail(&component->fields, WEFT_UNSUPPORTED, name,
                                              expected.data ? expected.data : "another word",
                                              json_object_get(component->fields.object, name));
    weft_free(&expected.host, expected.data);
    return status;
}
