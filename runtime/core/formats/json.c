/* SPDX-License-Identifier: MIT */
#include "core/formats/json.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/system/file.h"
#include "core/text.h"
#include "core/try.h"

/* ---- text ---- */

static bool is_space(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

/* Behind the string that begins at `at`, or at the end where it has none. */
static const char *string_end(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++) {
        at += *at == '\\' && at + 1 < end ? 1 : 0;
    }
    return at < end ? at + 1 : end;
}

static bool opens(char letter) {
    return letter == '{' || letter == '[';
}

static bool closes(char letter) {
    return letter == '}' || letter == ']';
}

/* Behind the value that begins at `at`; whether it is one is found when it is parsed. */
static const char *value_end(const char *at, const char *end) {
    size_t depth = 0;
    for (; at < end; at++) {
        if (*at == '"') {
            at = string_end(at, end);
            if (depth == 0) {
                return at;
            }
            at--;
        } else if (depth == 0 && (*at == ',' || closes(*at) || is_space(*at))) {
            return at;
        } else if (opens(*at)) {
            depth++;
        } else if (closes(*at) && --depth == 0) {
            return at + 1;
        }
    }
    return end;
}

static weft_status fail_at(const weft_json_part *text, const char *at, const char *message) {
    unsigned line = 1;
    const char *begin = text->document;
    for (const char *letter = begin; letter < at; letter++) {
        if (*letter == '\n') {
            line++;
            begin = letter + 1;
        }
    }
    return weft_fail(text->host, WEFT_BAD_FILE, "%s:%u:%zu: %s", text->path, line,
                     (size_t)(at - begin) + 1, message);
}

/* Before there is a tree: what its memory depends on. */
static weft_status check_size(const weft_json_part *text) {
    const char *end = text->text ? text->text + text->size : NULL;
    size_t values = 0;
    size_t depth = 0;
    for (const char *at = text->text; at < end; at++) {
        values += *at == '{' ? 4 : *at == ',' || *at == ':' || *at == '[';
        depth += opens(*at) ? 1 : 0;
        depth -= closes(*at) && depth > 0 ? 1 : 0;
        at = *at == '"' ? string_end(at, end) - 1 : at;
        if (values > WEFT_JSON_MAX_VALUES || depth > WEFT_JSON_MAX_DEPTH) {
            char message[96];
            const bool deep = depth > WEFT_JSON_MAX_DEPTH;
            snprintf(message, sizeof message, "expected at most %zu %s",
                     deep ? (size_t)WEFT_JSON_MAX_DEPTH : WEFT_JSON_MAX_VALUES,
                     deep ? "levels of depth in objects and arrays" : "values");
            return fail_at(text, at, message);
        }
    }
    return WEFT_OK;
}

#define MOST_DIGITS 18 /* that every 64-bit integer has room for */

/* The end of a number, or the next byte where there is none. */
static const char *number_end(const char *at, const char *end, bool *is_long) {
    const char *from = at;
    bool integer = true;
    while (at < end && strchr("+-.eE0123456789", *at) && *at != '\0') {
        integer = integer && (*at == '-' || (*at >= '0' && *at <= '9'));
        at++;
    }
    *is_long = integer && at - from > MOST_DIGITS;
    return at > from ? at : at + 1;
}

/* Python's word for a number without bound, and the number of as many letters that takes its place. */
#define WITHOUT_BOUND "Infinity"
#define LARGEST       "1.79e308"
static_assert(sizeof WITHOUT_BOUND == sizeof LARGEST, "positions in messages stay");

static bool is_without_bound(const char *at, const char *end) {
    const size_t size = sizeof WITHOUT_BOUND - 1;
    return (size_t)(end - at) >= size && memcmp(at, WITHOUT_BOUND, size) == 0;
}

/*
 * Copies a document with its largest integers as reals, such as transformers' "no limit" of 10^30, and with infinities as the
 * largest of these; null when memory is out.
 */
static char *with_reals(size_t *size, const weft_json_part *text) {
    char *copy = weft_alloc(text->host, text->size + text->size / MOST_DIGITS * 2 + 2);
    const char *end = text->text + text->size;
    size_t used = 0;
    for (const char *at = text->text; copy && at < end;) {
        bool is_long = false;
        const bool unbound = is_without_bound(at, end);
        const char *next = *at == '"' ? string_end(at, end)
                           : unbound  ? at + sizeof LARGEST - 1
                                      : number_end(at, end, &is_long);
        memcpy(copy + used, unbound ? LARGEST : at, (size_t)(next - at));
        used += (size_t)(next - at);
        if (is_long) {
            copy[used++] = 'e';
            copy[used++] = '0';
        }
        at = next;
    }
    *size = used;
    return copy;
}

static weft_status parse(json_t **value, const weft_json_part *text, size_t flags) {
    WEFT_TRY(check_size(text));
    json_error_t error;
    *value = json_loadb(text->text, text->size, JSON_REJECT_DUPLICATES | flags, &error);
    if (*value) {
        return WEFT_OK;
    }
    if (json_error_code(&error) == json_error_out_of_memory) {
        return weft_fail_memory(text->host, text->path);
    }
    return text->text == text->document
               ? weft_fail(text->host, WEFT_BAD_FILE, "%s:%d:%d: %s", text->path, error.line,
                           error.column, error.text)
               : fail_at(text, text->text, error.text);
}

weft_status weft_json_part_parse(json_t **value, const weft_json_part *text) {
    return parse(value, text, JSON_DECODE_ANY);
}

weft_status weft_json_parse(json_t **object, const void *data, size_t size, const char *path,
                            const weft_host *host) {
    json_t *root = NULL;
    const weft_json_part text = {
        .document = data, .text = data, .size = size, .path = path, .host = host};
    WEFT_TRY(parse(&root, &text, 0));
    if (!json_is_object(root)) {
        char found[WEFT_JSON_TEXT_SIZE];
        weft_json_describe(root, found);
        json_decref(root);
        return weft_fail(host, WEFT_BAD_FILE, "%s: expected a JSON object, found %s", path, found);
    }
    *object = root;
    return WEFT_OK;
}

/* ---- entry by entry ---- */

struct walk {
    const weft_json_part *object;
    const char *at, *end;
};

static weft_status fail_walk(const struct walk *walk, const char *expected) {
    char message[80];
    snprintf(message, sizeof message, "expected %s%s", expected,
             walk->at == walk->end ? ", found the end of file" : "");
    return fail_at(walk->object, walk->at, message);
}

/* Takes a letter and the space around it, if it is next. */
static bool accept(struct walk *walk, char letter) {
    while (walk->at < walk->end && is_space(*walk->at)) {
        walk->at++;
    }
    const bool found = walk->at < walk->end && *walk->at == letter;
    walk->at += found ? 1 : 0;
    while (found && walk->at < walk->end && is_space(*walk->at)) {
        walk->at++;
    }
    return found;
}

static weft_json_part next_value(struct walk *walk) {
    weft_json_part value = *walk->object;
    value.text = walk->at;
    walk->at = value_end(walk->at, walk->end);
    value.size = (size_t)(walk->at - value.text);
    return value;
}

static weft_status walk_entry(struct walk *walk,
                              weft_status (*visit)(void *user, const char *key,
                                                   const weft_json_part *value),
                              void *user) {
    if (walk->at == walk->end || *walk->at != '"') {
        return fail_walk(walk, "a string");
    }
    const weft_json_part name = next_value(walk);
    json_t *key = NULL;
    WEFT_TRY(weft_json_part_parse(&key, &name));
    weft_status status = accept(walk, ':') ? WEFT_OK : fail_walk(walk, "':'");
    if (status == WEFT_OK) {
        const weft_json_part value = next_value(walk);
        status = visit(user, json_string_value(key), &value);
    }
    json_decref(key);
    return status;
}

weft_status weft_json_walk(const weft_json_part *object,
                           weft_status (*visit)(void *user, const char *key,
                                                const weft_json_part *value),
                           void *user) {
    struct walk walk = {object, object->text, object->text + object->size};
    if (!accept(&walk, '{')) {
        return fail_walk(&walk, "a JSON object");
    }
    bool more = !accept(&walk, '}');
    while (more) {
        WEFT_TRY(walk_entry(&walk, visit, user));
        more = accept(&walk, ',');
        if (!more && !accept(&walk, '}')) {
            return fail_walk(&walk, "',' or '}'");
        }
    }
    return walk.at == walk.end ? WEFT_OK : fail_walk(&walk, "the end of the object");
}

weft_status weft_json_walk_array(const weft_json_part *array,
                                 weft_status (*visit)(void *user, const weft_json_part *value),
                                 void *user) {
    struct walk walk = {array, array->text, array->text + array->size};
    if (!accept(&walk, '[')) {
        return fail_walk(&walk, "a JSON array");
    }
    bool more = !accept(&walk, ']');
    while (more) {
        const weft_json_part value = next_value(&walk);
        WEFT_TRY(visit(user, &value));
        more = accept(&walk, ',');
        if (!more && !accept(&walk, ']')) {
            return fail_walk(&walk, "',' or ']'");
        }
    }
    return walk.at == walk.end ? WEFT_OK : fail_walk(&walk, "the end of the array");
}

/* ---- values ---- */

weft_status weft_json_parse_with_reals(json_t **object, const void *data, size_t size,
                                       const char *path, const weft_host *host) {
    const weft_json_part text = {.text = data, .size = size, .path = path, .host = host};
    char *copy = with_reals(&size, &text);
    if (!copy) {
        return weft_fail_memory(host, path);
    }
    const weft_status status = weft_json_parse(object, copy, size, path, host);
    weft_free(host, copy);
    return status;
}

weft_status weft_json_read_with_reals(json_t **object, const char *path, const weft_host *host) {
    uint8_t *data = NULL;
    size_t size = 0;
    WEFT_TRY(weft_file_read_regular(&data, &size, WEFT_JSON_MAX_BYTES, path, host));
    const weft_status status = weft_json_parse_with_reals(object, data, size, path, host);
    weft_free(host, data);
    return status;
}

weft_status weft_json_read(json_t **object, const char *path, const weft_host *host) {
    uint8_t *data = NULL;
    size_t size = 0;
    weft_status status = weft_file_read_regular(&data, &size, WEFT_JSON_MAX_BYTES, path, host);
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
