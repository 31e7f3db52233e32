/* SPDX-License-Identifier: MIT */
/*
 * config.json by tables: what fields a model family has, of what type, in what range. One table is the documentation,
 * the reader and the list of what is known; any other field is refused.
 */
#ifndef WEFT_MODEL_FIELDS_H
#define WEFT_MODEL_FIELDS_H

#include <stddef.h>

#include "core/formats/json.h"

typedef enum weft_field_kind {
    WEFT_FIELD_INTEGER, /**< uint32_t; a null in the file leaves the default */
    WEFT_FIELD_REAL,    /**< float */
    WEFT_FIELD_BOOL,    /**< bool */
    WEFT_FIELD_CHOICE,  /**< uint32_t: the index of the text in `choices` */
    WEFT_FIELD_CUSTOM   /**< what `read` makes of it */
} weft_field_kind;

typedef struct weft_field {
    const char *name;
    weft_field_kind kind;
    bool required;
    size_t offset;              /**< of the value in the family's struct, which holds the default */
    double minimum, maximum;    /**< INTEGER, REAL; both included */
    const char *const *choices; /**< CHOICE: ends in null */
    /** CUSTOM: called whether the field is there or not. Null: the field is known, and read elsewhere. */
    weft_status (*read)(void *value, const weft_json_fields *json, const char *name);
} weft_field;

/* Rows of a table: a field's name, and where the family's struct has it; `.required = true` may follow. */
#define WEFT_FIELD_AT(text, field_kind, type, member) \
    .name = (text), .kind = (field_kind), .offset = offsetof(type, member)
#define WEFT_INTEGER(text, type, member, low, high) \
    WEFT_FIELD_AT(text, WEFT_FIELD_INTEGER, type, member), .minimum = (low), .maximum = (high)
#define WEFT_REAL(text, type, member, low, high) \
    WEFT_FIELD_AT(text, WEFT_FIELD_REAL, type, member), .minimum = (low), .maximum = (double)(high)
#define WEFT_BOOL(text, type, member) WEFT_FIELD_AT(text, WEFT_FIELD_BOOL, type, member)
#define WEFT_CHOICE(text, type, member, names) \
    WEFT_FIELD_AT(text, WEFT_FIELD_CHOICE, type, member), .choices = (names)
#define WEFT_CUSTOM(text, type, member, function) \
    WEFT_FIELD_AT(text, WEFT_FIELD_CUSTOM, type, member), .read = (function)

typedef struct weft_field_table {
    const weft_field *fields;
    uint32_t count;
} weft_field_table;

/** Reads the fields of a table into *values. Errors name file, field, expected and found: WEFT_BAD_FILE. */
weft_status weft_fields_read(void *values, const weft_field_table *table,
                             const weft_json_fields *json);

/** WEFT_BAD_FILE for a field that contradicts others: "expected …, found …" with its value. */
weft_status weft_fields_refuse(const weft_json_fields *json, const char *name,
                               const char *expected);

/** Refuses a kind of model, which a field names, and says what takes any. */
weft_status weft_fields_refuse_model(const weft_json_fields *json, const char *name,
                                     const char *expected, const json_t *found);

/** WEFT_BAD_FILE for a field that is in none of the tables, naming it. */
weft_status weft_fields_refuse_others(const weft_field_table *const *tables, uint32_t count,
                                      const weft_json_fields *json);

#endif
