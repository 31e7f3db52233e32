/* SPDX-License-Identifier: MIT */
#include "core/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/text.h"

weft_status weft_json_parse(json_t **object, const void *data, size_t size, const char *path,
                            const weft_host *host) {
    json_error_t error;
    json_t *root = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);
    if (!root && json_error_code(&error) == json_error_out_of_memory) {
        return weft_fail_memory(host, path);
    }
    if (!root) {
        return weft_fail(host, WEFT_BAD_FILE, "%s:%d:%d: %s", path, error.line, error.column,
                         error.text);
    }
    if (!json_is_object(root)) {
        char found[WEFT_JSON_TEXT_SIZE];
        weft_json_describe(root, found);
        json_decref(root);
        return weft_fail(host, WEFT_BAD_FILE, "%s: expected a JSON object, found %s", path, found);
    }
    *object = root;
    return WEFT_OK;
}

weft_status weft_json_read(json_t **object, const char *path, const weft_host *host) {
    uint8_t *data = NULL;
    size_t size = 0;
    weft_status status = weft_file_read(&data, &size, WEFT_JSON_MAX_BYTES, path, host);
    if (status == WEFT_OK) {
        status = weft_json_parse(object, data, size, path, host);
        weft_free(host, data);
    }
    return status;
}

char *weft_json_text(const json_t *value, size_t flags, const weft_host *host) {
    char *json = value ? json_dumps(value, flags) : NULL;
    if (!json) {
        return NULL;
    }
    struct weft_text text = {.host = *host};
    weft_text_add_harmless(&text, json, strlen(json), WEFT_HARMLESS_JSON, "\n");
    free(json); /* as jansson's are */
    return weft_text_take(&text);
}

json_t *weft_json_string_of(const char *bytes, size_t size, const weft_host *host) {
    json_t *string = json_stringn(bytes, size);
    if (string) {
        return string;
    }
    struct weft_text text = {.host = *host};
    weft_text_add_harmless(&text, bytes, size, WEFT_HARMLESS_UTF8, "");
    const size_t length = text.length;
    char *valid = weft_text_take(&text);
    string = valid ? json_stringn(valid, length) : NULL;
    weft_free(host, valid);
    return string;
}

const char *weft_json_describe(const json_t *value, char text[WEFT_JSON_TEXT_SIZE]) {
    size_t size = WEFT_JSON_TEXT_SIZE;
    char string[WEFT_JSON_TEXT_SIZE - 2]; /* in quotes */
    if (!value) {
        snprintf(text, size, "nothing");
        return text;
    }
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        snprintf(text, size, "an object of %zu", json_object_size(value));
        break;
    case JSON_ARRAY:
        snprintf(text, size, "an array of %zu", json_array_size(value));
        break;
    case JSON_STRING:
        weft_harmless(string, sizeof string, json_string_value(value), json_string_length(value),
                      false);
        snprintf(text, size, "\"%s\"", string);
        break;
    case JSON_INTEGER:
        snprintf(text, size, "%lld", (long long)json_integer_value(value));
        break;
    case JSON_REAL:
        snprintf(text, size, "%.9g", json_real_value(value));
        break;
    case JSON_TRUE:
        snprintf(text, size, "true");
        break;
    case JSON_FALSE:
        snprintf(text, size, "false");
        break;
    case JSON_NULL:
        snprintf(text, size, "null");
        break;
    }
    return text;
}

weft_status weft_json_fail(const weft_json_fields *fields, weft_status status, const char *name,
                           const char *expected, const json_t *value) {
    char found[WEFT_JSON_TEXT_SIZE];
    return weft_fail(fields->host, status, "%s: field \"%s\": expected %s, found %s", fields->path,
                     name, expected, weft_json_describe(value, found));
}

bool weft_json_has(const weft_json_fields *fields, const char *name) {
    const json_t *value = json_object_get(fields->object, name);
    return value && !json_is_null(value);
}

weft_status weft_json_integer(int64_t *value, const weft_json_fields *fields, const char *name,
                              int64_t minimum, int64_t maximum) {
    const json_t *found = json_object_get(fields->object, name);
    int64_t integer = json_integer_value(found); /* 0 when it is none */
    if (!json_is_integer(found) || integer < minimum || integer > maximum) {
        char expected[80];
        snprintf(expected, sizeof expected, "an integer from %lld to %lld", (long long)minimum,
                 (long long)maximum);
        return weft_json_fail(fields, WEFT_BAD_FILE, name, expected, found);
    }
    *value = integer;
    return WEFT_OK;
}

weft_status weft_json_optional_integer(int64_t *value, const weft_json_fields *fields,
                                       const char *name, int64_t minimum, int64_t maximum) {
    return weft_json_has(fields, name) ? weft_json_integer(value, fields, name, minimum, maximum)
                                       : WEFT_OK;
}

weft_status weft_json_optional_real(double *value, const weft_json_fields *fields, const char *name,
                                    double minimum, double maximum) {
    if (!weft_json_has(fields, name)) {
        return WEFT_OK;
    }
    const json_t *found = json_object_get(fields->object, name);
    double number = json_number_value(found); /* 0 when it is none */
    if (!json_is_number(found) || !(number >= minimum && number <= maximum)) {
        char expected[80];
        snprintf(expected, sizeof expected, "a number from %g to %g", minimum, maximum);
        return weft_json_fail(fields, WEFT_BAD_FILE, name, expected, found);
    }
    *value = number;
    return WEFT_OK;
}

weft_status weft_json_optional_bool(bool *value, const weft_json_fields *fields, const char *name) {
    if (!weft_json_has(fields, name)) {
        return WEFT_OK;
    }
    const json_t *found = json_object_get(fields->object, name);
    if (!json_is_boolean(found)) {
        return weft_json_fail(fields, WEFT_BAD_FILE, name, "true or false", found);
    }
    *value = json_is_true(found);
    return WEFT_OK;
}

weft_status weft_json_string(const char **value, const weft_json_fields *fields, const char *name) {
    const json_t *found = json_object_get(fields->object, name);
    if (!json_is_string(found)) {
        return weft_json_fail(fields, WEFT_BAD_FILE, name, "a string", found);
    }
    *value = json_string_value(found);
    return WEFT_OK;
}

weft_status weft_json_optional_string(const char **value, const weft_json_fields *fields,
                                      const char *name) {
    return weft_json_has(fields, name) ? weft_json_string(value, fields, name) : WEFT_OK;
}
