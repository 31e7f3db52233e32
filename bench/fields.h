/* SPDX-License-Identifier: MIT */
/* Reading the fields of a report or a comparison, which may be null or missing. */
#ifndef WEFT_BENCH_FIELDS_H
#define WEFT_BENCH_FIELDS_H

#include <jansson.h>

/** A text, which lives as long as the object; "" where there is none. */
static inline const char *weft_bench_text(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/** A number; 0 where there is none. */
static inline double weft_bench_number(const json_t *object, const char *name) {
    return json_number_value(json_object_get(object, name));
}

/** Of a list of `object` the item whose place `owner` has as `name`; null where there is none. */
static inline const json_t *weft_bench_item(const json_t *object, const char *list,
                                            const json_t *owner, const char *name) {
    return json_array_get(json_object_get(object, list), (size_t)weft_bench_number(owner, name));
}

#endif
