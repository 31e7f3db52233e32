/* SPDX-License-Identifier: MIT */
#include "model/network/fields.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"

#define EXPECTED_SIZE 512

static weft_status read_integer(void *value, const weft_field *field,
                                const weft_json_fields *json) {
    uint32_t *result = value;
    int64_t number = *result;
    WEFT_TRY(weft_json_optional_integer(&number, json, field->name, (int64_t)field->minimum,
                                        (int64_t)field->maximum));
    *result = (uint32_t)number;
    return WEFT_OK;
}

static weft_status read_real(void *value, const weft_field *field, const weft_json_fields *json) {
    float *result = value;
    double number = (double)*result;
    WEFT_TRY(weft_json_optional_real(&number, json, field->name, field->minimum, field->maximum));
    *result = (float)number;
    return WEFT_OK;
}

/* "a, b or c" */
static void list_choices(char text[EXPECTED_SIZE], const char *const *choices) {
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; choices[i] && used < EXPECTED_SIZE; i++) {
        const char *between = i == 0 ? "" : choices[i + 1] ? ", " : " or ";
        int written = snprintf(text + used, EXPECTED_SIZE - used, "%s%s", between, choices[i]);
        used += written > 0 ? (size_t)written : 0;
    }
}

static weft_status read_choice(void *value, const weft_field *field, const weft_json_fields *json) {
    const char *text = NULL;
    WEFT_TRY(weft_json_optional_string(&text, json, field->name));
    if (!text) {
        return WEFT_OK;
    }
    for (uint32_t i = 0; field->choices[i]; i++) {
        if (strcmp(text, field->choices[i]) == 0) {
            *(uint32_t *)value = i;
            return WEFT_OK;
        }
    }
    char expected[EXPECTED_SIZE];
    list_choices(expected, field->choices);
    return weft_json_fail(json, WEFT_BAD_FILE, field->name, expected,
                          json_object_get(json->object, field->name));
}

static void expectation(char text[EXPECTED_SIZE], const weft_field *field) {
    switch (field->kind) {
    case WEFT_FIELD_INTEGER:
        snprintf(text, EXPECTED_SIZE, "an integer from %.0f to %.0f", field->minimum,
                 field->maximum);
        return;
    case WEFT_FIELD_REAL:
        snprintf(text, EXPECTED_SIZE, "a number from %g to %g", field->minimum, field->maximum);
        return;
    case WEFT_FIELD_BOOL:
        snprintf(text, EXPECTED_SIZE, "true or false");
        return;
    case WEFT_FIELD_CHOICE:
        list_choices(text, field->choices);
        return;
    case WEFT_FIELD_CUSTOM:
        snprintf(text, EXPECTED_SIZE, "a value");
        return;
    }
}

static weft_status read_field(void *value, const weft_field *field, const weft_json_fields *json) {
    if (field->required && !weft_json_has(json, field->name)) {
        char expected[EXPECTED_SIZE];
        expectation(expected, field);
        return weft_json_fail(json, WEFT_BAD_FILE, field->name, expected,
                              json_object_get(json->object, field->name));
    }
    switch (field->kind) {
    case WEFT_FIELD_INTEGER:
        return read_integer(value, field, json);
    case WEFT_FIELD_REAL:
        return read_real(value, field, json);
    case WEFT_FIELD_BOOL:
        return weft_json_optional_bool(value, json, field->name);
    case WEFT_FIELD_CHOICE:
        return read_choice(value, field, json);
    case WEFT_FIELD_CUSTOM:
        return field->read ? field->read(value, json, field->name) : WEFT_OK;
    }
    return WEFT_OK;
}

weft_status weft_fields_read(void *values, const weft_field_table *table,
                             const weft_json_fields *json) {
    for (uint32_t i = 0; i < table->count; i++) {
        const weft_field *field = &table->fields[i];
        WEFT_TRY(read_field((char *)values + field->offset, field, json));
    }
    return WEFT_OK;
}

weft_status weft_fields_refuse(const weft_json_fields *json, const char *name,
                               const char *expected) {
    return weft_json_fail(json, WEFT_BAD_FILE, name, expected, json_object_get(json->object, name));
}

weft_status weft_fields_refuse_model(const weft_json_fields *json, const char *name,
                                     const char *expected, const json_t *found) {
    const weft_status status = weft_json_fail(json, WEFT_UNSUPPORTED, name, expected, found);
    return weft_fail(
        json->host, status,
        "%s: in Python, weft.from_torch(module, inputs) makes a program of a module of "
        "PyTorch that is none of these",
        json->path);
}

static bool is_known(const weft_field_table *table, const char *name) {
    for (uint32_t i = 0; i < table->count; i++) {
        if (strcmp(table->fields[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

weft_status weft_fields_refuse_others(const weft_field_table *const *tables, uint32_t count,
                                      const weft_json_fields *json) {
    /* jansson's iteration changes nothing, but its signature is not const. */
    json_t *object = json_incref((json_t *)json->object);
    weft_status status = WEFT_OK;
    for (void *i = json_object_iter(object); i && status == WEFT_OK;
         i = json_object_iter_next(object, i)) {
        const char *name = json_object_iter_key(i);
        bool known = false;
        for (uint32_t t = 0; t < count && !known; t++) {
            known = is_known(tables[t], name);
        }
        if (!known) {
            status = weft_json_fail(json, WEFT_BAD_FILE, name, "a field of this family",
                                    json_object_iter_value(i));
        }
    }
    json_decref(object);
    return status;
}
