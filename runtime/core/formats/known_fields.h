/* SPDX-License-Identifier: MIT */
/*
 * Files of other programs whose fields are known by tables: no field that changes a result is passed over. Each is read,
 * says nothing about results, or is held to the values that mean what Weft does; whatever is in no table is named in a warning.
 */
#ifndef WEFT_CORE_KNOWN_FIELDS_H
#define WEFT_CORE_KNOWN_FIELDS_H

#include "core/formats/json.h"

typedef enum weft_known_kind {
    WEFT_KNOWN_READ = 0, /**< Weft reads it, or no result depends on it */
    WEFT_KNOWN_REFUSED,  /**< another value than `values` is WEFT_UNSUPPORTED */
    WEFT_KNOWN_WARNED    /**< another value is passed over, with a warning that says so */
} weft_known_kind;

typedef struct weft_known_field {
    const char *name; /**< one that ends in "*" stands for all that begin so */
    weft_known_kind kind;
    const char
        *values; /**< a JSON array of the values that are fine, besides null; null: none is */
    const char *instead; /**< what Weft does, for the warning; or null */
} weft_known_field;

typedef struct weft_known_table {
    const weft_known_field *fields;
    uint32_t count;
} weft_known_table;

#define WEFT_KNOWN_TABLE(fields) \
    { (fields), (uint32_t)(sizeof(fields) / sizeof(fields)[0]) }

/**
 * Holds each field of an object to the table: errors and warnings name file, field, expected and found.
 * Errors: WEFT_UNSUPPORTED for a refused value; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_known_check(const weft_known_table *table, const weft_json_fields *json);

#endif
