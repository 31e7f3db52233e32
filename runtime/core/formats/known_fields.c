/* SPDX-License-Identifier: MIT */
#include "core/formats/known_fields.h"

#include <string.h>

#include "core/try.h"

static const weft_known_field *find(const weft_known_table *table, const char *name) {
    for (uint32_t i = 0; i < table->count; i++) {
        const char *known = table->fields[i].name;
        const size_t length = strlen(known);
        const bool begins = length > 0 && known[length - 1] == '*';
        if (begins ? strncmp(name, known, length - 1) == 0 : strcmp(name, known) == 0) {
            return &table->fields[i];
        }
    }
    return NULL;
}

/* Numbers are equal by their values: 1.0 is 1. */
static bool is_same(const json_t *a, const json_t *b) {
    return json_is_number(a) && json_is_number(b) ? json_number_value(a) >= json_number_value(b) &&
                                                        json_number_value(a) <= json_number_value(b)
                                                  : json_equal(a, b) != 0;
}

static weft_status is_fine(bool *fine, const weft_known_field *field, const json_t *value,
                           const weft_json_fields *json) {
    json_t *values = NULL;
    *fine = json_is_null(value);
    if (*fine || !field->values) {
        return WEFT_OK;
    }
    values = json_loads(field->values, JSON_DECODE_ANY, NULL);
    if (!values) {
        return weft_fail_memory(json->host, "the known values of a field");
    }
    for (size_t i = 0; i < json_array_size(values) && !*fine; i++) {
        *fine = is_same(json_array_get(values, i), value);
    }
    json_decref(values);
    return WEFT_OK;
}

/* "null", or "null or one of [false, 0]". */
static weft_status refuse(const weft_known_field *field, const char *name, const json_t *value,
                          const weft_json_fields *json) {
    char *expected = field->values ? weft_format(json->host, "null or one of %s", field->values)
                                   : weft_format(json->host, "null");
    if (!expected) {
        return weft_fail_memory(json->host, "a message");
    }
    const weft_status status = weft_json_fail(json, WEFT_UNSUPPORTED, name, expected, value);
    weft_free(json->host, expected);
    return status;
}

static void warn(const weft_known_field *field, const char *name, const json_t *value,
                 const weft_json_fields *json) {
    char found[WEFT_JSON_TEXT_SIZE];
    weft_json_describe(value, found);
    if (field) {
        weft_log(json->host, WEFT_LOG_WARNING, "%s: field \"%s\": %s is passed over: %s",
                 json->path, name, found,
                 field->instead ? field->instead : "Weft does not have it");
    } else {
        weft_log(json->host, WEFT_LOG_WARNING,
                 "%s: field \"%s\": %s is passed over: Weft does not know this field", json->path,
                 name, found);
    }
}

static weft_status check(const weft_known_table *table, const char *name, const json_t *value,
                         const weft_json_fields *json) {
    const weft_known_field *field = find(table, name);
    bool fine = false;
    if (!field) {
        if (!json_is_null(value)) {
            warn(NULL, name, value, json);
        }
        return WEFT_OK;
    }
    if (field->kind == WEFT_KNOWN_READ) {
        return WEFT_OK;
    }
    WEFT_TRY(is_fine(&fine, field, value, json));
    if (!fine && field->kind == WEFT_KNOWN_REFUSED) {
        return refuse(field, name, value, json);
    }
    if (!fine) {
        warn(field, name, value, json);
    }
    return WEFT_OK;
}

weft_status weft_known_check(const weft_known_table *table, const weft_json_fields *json) {
    const char *name = NULL;
    json_t *value = NULL;
    /* jansson's iteration changes nothing, but its signature is not const. */
    json_object_foreach((json_t *)(uintptr_t)json->object, name, value) {
        WEFT_TRY(check(table, name, value, json));
    }
    return WEFT_OK;
}
