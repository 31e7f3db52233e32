/* SPDX-License-Identifier: MIT */
/* The values of a program's entries: sizes, numbers, words, and the parameters of nodes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "core/try.h"
#include "model/program/program.h"

#define WHOLE     UINT32_MAX
#define NAME_SIZE 160

static weft_json_fields fields_of(const struct weft_program_place *place) {
    return (weft_json_fields){
        .object = place->object, .path = place->program->path, .host = &place->program->host};
}

weft_status weft_program_fail(const struct weft_program_place *place, const char *field,
                              uint32_t element, const char *expected, const json_t *found) {
    const weft_json_fields fields = fields_of(place);
    char name[NAME_SIZE];
    const char *dot = field[0] ? "." : "";
    if (element == WHOLE) {
        snprintf(name, sizeof name, "%s[%u]%s%s", place->list, place->index, dot, field);
    } else {
        snprintf(name, sizeof name, "%s[%u]%s%s[%u]", place->list, place->index, dot, field,
                 element);
    }
    return weft_json_fail(&fields, WEFT_BAD_FILE, name, expected, found);
}

weft_status weft_program_string(const char **text, const struct weft_program_place *place,
                                const char *field) {
    const json_t *found = json_object_get(place->object, field);
    const char *value = json_string_value(found);
    if (!value || !value[0] || strlen(value) != json_string_length(found)) {
        return weft_program_fail(place, field, WHOLE, "a name", found);
    }
    *text = value;
    return WEFT_OK;
}

static bool is_known(const char *key, const char *const *known, const struct weft_op *op) {
    for (; *known; known++) {
        if (strcmp(*known, key) == 0) {
            return true;
        }
    }
    for (const struct weft_member *field = op ? op->fields : NULL; field && field->name; field++) {
        if (strcmp(field->name, key) == 0) {
            return true;
        }
    }
    return false;
}

weft_status weft_program_check_keys(const struct weft_program_place *place,
                                    const char *const *known, const struct weft_op *op) {
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(place->object)) {
        return weft_program_fail(place, "", WHOLE, "an object", place->object);
    }
    json_object_foreach((json_t *)(uintptr_t)place->object, key, value) {
        if (!is_known(key, known, op)) {
            return weft_program_fail(place, key, WHOLE, "no such field", value);
        }
    }
    return WEFT_OK;
}

/* ---- numbers ---- */

weft_status weft_program_integer(int64_t *value, const struct weft_program_place *place,
                                 const char *field, uint32_t element, const json_t *json,
                                 int64_t minimum, int64_t maximum) {
    char expected[256];
    char why[WEFT_EXPRESSION_MESSAGE_SIZE] = "";
    int64_t found = 0;
    bool fine = json_is_integer(json);
    if (fine) {
        found = json_integer_value(json);
    } else if (json_is_string(json)) {
        fine = weft_expression_evaluate(&found, json_string_value(json), &place->program->symbols,
                                        place->values, why);
    }
    if (fine && found >= minimum && found <= maximum) {
        *value = found;
        return WEFT_OK;
    }
    const char *kind = "an integer, or an expression of integers and symbols,";
    if (why[0]) {
        snprintf(expected, sizeof expected, "%s (here is %s)", kind, why);
    } else if (fine && json_is_string(json)) {
        snprintf(expected, sizeof expected, "%s of %lld to %lld (here it is %lld)", kind,
                 (long long)minimum, (long long)maximum, (long long)found);
    } else {
        snprintf(expected, sizeof expected, "%s of %lld to %lld", kind, (long long)minimum,
                 (long long)maximum);
    }
    return weft_program_fail(place, field, element, expected, json);
}

weft_status weft_program_real(float *value, const struct weft_program_place *place,
                              const char *field, uint32_t element, const json_t *json) {
    static const struct {
        const char *name;
        float value;
    } words[] = {{"inf", INFINITY}, {"-inf", -INFINITY}, {"nan", NAN}};
    for (size_t i = 0; json_is_string(json) && i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].name, json_string_value(json)) == 0) {
            *value = words[i].value;
            return WEFT_OK;
        }
    }
    if (json_is_string(json)) {
        int64_t whole = 0;
        WEFT_TRY(weft_program_integer(&whole, place, field, element, json, INT64_MIN, INT64_MAX));
        *value = (float)whole;
        return WEFT_OK;
    }
    const double number = json_number_value(json);
    if (!json_is_number(json) || !isfinite((float)number)) {
        return weft_program_fail(place, field, element,
                                 "a number that float32 can hold, or \"inf\", \"-inf\", \"nan\" "
                                 "or an expression",
                                 json);
    }
    *value = (float)number;
    return WEFT_OK;
}

weft_status weft_program_word(uint32_t *value, const struct weft_program_place *place,
                              const char *field, const json_t *json, const char *const *words,
                              uint32_t count) {
    const char *found = json_string_value(json);
    struct weft_text expected = {.host = place->program->host};
    weft_text_add(&expected, "one of");
    for (uint32_t i = 0; i < count; i++) {
        if (words[i] && found && strcmp(words[i], found) == 0) {
            weft_free(&expected.host, expected.data);
            *value = i;
            return WEFT_OK;
        }
        if (words[i]) {
            weft_text_add(&expected, " %s", words[i]);
        }
    }
    char *text = weft_text_take(&expected);
    const weft_status status =
        weft_program_fail(place, field, WHOLE, text ? text : "another word", json);
    weft_free(&place->program->host, text);
    return status;
}

weft_status weft_program_shape(weft_shape *shape, const struct weft_program_place *place) {
    const json_t *axes = json_object_get(place->object, "shape");
    if (!json_is_array(axes) || json_array_size(axes) > WEFT_MAX_RANK) {
        return weft_program_fail(place, "shape", WHOLE, "an array of at most 8 sizes", axes);
    }
    shape->rank = (uint32_t)json_array_size(axes);
    for (uint32_t i = 0; i < shape->rank; i++) {
        int64_t size = 0;
        WEFT_TRY(
            weft_program_integer(&size, place, "shape", i, json_array_get(axes, i), 1, UINT32_MAX));
        shape->dim[i] = (uint32_t)size;
    }
    return WEFT_OK;
}

/* ---- parameters ---- */

static weft_status read_word(uint32_t *word, const struct weft_program_place *place,
                             const struct weft_member *field, uint32_t element,
                             const json_t *json) {
    int64_t number = 0;
    float real = 0.0F;
    switch (field->kind) {
    case WEFT_MEMBER_F32:
        WEFT_TRY(weft_program_real(&real, place, field->name, element, json));
        memcpy(word, &real, sizeof real);
        return WEFT_OK;
    case WEFT_MEMBER_WORD:
        return weft_program_word(word, place, field->name, json, field->words, field->word_count);
    case WEFT_MEMBER_I32:
        WEFT_TRY(
            weft_program_integer(&number, place, field->name, element, json, INT32_MIN, INT32_MAX));
        break;
    default:
        WEFT_TRY(weft_program_integer(&number, place, field->name, element, json,
                                      field->kind == WEFT_MEMBER_COUNT, UINT32_MAX));
    }
    *word = (uint32_t)number;
    return WEFT_OK;
}

static weft_status read_bool(uint8_t *at, const struct weft_program_place *place,
                             const struct weft_member *field, const json_t *json) {
    if (!json_is_boolean(json)) {
        return weft_program_fail(place, field->name, WHOLE, "true or false", json);
    }
    const uint32_t word = json_is_true(json);
    const bool flag = word != 0;
    memcpy(at, field->size == sizeof word ? (const void *)&word : &flag, field->size);
    return WEFT_OK;
}

/** How many elements an array must have: as one before it that is counted by the same number, or all; else its capacity at most. */
static bool count_fits(const struct weft_op *op, const struct weft_member *field,
                       const void *params, size_t count) {
    if (field->counted_at == WEFT_FIELD_FULL) {
        return count == field->capacity;
    }
    for (const struct weft_member *before = op->fields; before != field; before++) {
        if (before->capacity && before->counted_at == field->counted_at) {
            return count == weft_field_count(before, params);
        }
    }
    return count <= field->capacity;
}

static weft_status read_array(uint8_t *params, const struct weft_program_place *place,
                              const struct weft_op *op, const struct weft_member *field,
                              const json_t *json) {
    const size_t count = json_array_size(json);
    if (!json_is_array(json) || !count_fits(op, field, params, count)) {
        char expected[96];
        snprintf(expected, sizeof expected, "an array of %s%u elements, as many as others with it",
                 field->counted_at == WEFT_FIELD_FULL ? "" : "at most ", field->capacity);
        return weft_program_fail(place, field->name, WHOLE, expected, json);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t word = 0;
        WEFT_TRY(read_word(&word, place, field, i, json_array_get(json, i)));
        memcpy(params + field->offset + (size_t)i * sizeof word, &word, sizeof word);
    }
    if (field->counted_at != WEFT_FIELD_FULL) {
        const uint32_t counted = (uint32_t)count;
        memcpy(params + field->counted_at, &counted, sizeof counted);
    }
    return WEFT_OK;
}

weft_status weft_program_params(void *params, const struct weft_program_place *place,
                                const struct weft_op *op) {
    for (const struct weft_member *field = op->fields; field && field->name; field++) {
        uint8_t *at = (uint8_t *)params + field->offset;
        const json_t *json = json_object_get(place->object, field->name);
        uint32_t word = 0;
        if (!json && (field->optional || field->kind == WEFT_MEMBER_BOOL)) {
            continue;
        }
        if (field->capacity) {
            WEFT_TRY(read_array(params, place, op, field, json));
        } else if (field->kind == WEFT_MEMBER_BOOL) {
            WEFT_TRY(read_bool(at, place, field, json));
        } else {
            WEFT_TRY(read_word(&word, place, field, WHOLE, json));
            memcpy(at, &word, sizeof word);
        }
    }
    return WEFT_OK;
}
