/* SPDX-License-Identifier: MIT */
/*
 * Reading JSON that somebody else wrote: parsing with positions in errors, and typed fields with
 * ranges. Every failure is logged with the file, the field, what was expected and what was found.
 * Duplicate keys are refused.
 *
 * jansson allocates with the C library, not with the host's allocator: its allocator is one for the
 * whole process and not ours to change. Thread safety: as jansson; different documents may be used
 * from different threads.
 */
#ifndef WEFT_CORE_JSON_H
#define WEFT_CORE_JSON_H

#include <jansson.h>

#include "core/host.h"

/** Largest JSON file that weft_json_read takes. */
#define WEFT_JSON_MAX_BYTES ((size_t)16 << 20)
/** Most values and keys of a document, where an object counts as four: jansson's tree takes about 64 bytes for each. 65,536 labels are 260,000. */
#define WEFT_JSON_MAX_VALUES ((size_t)1 << 19)
/** Most objects and arrays in one another. */
#define WEFT_JSON_MAX_DEPTH 64

/**
 * Parses `size` bytes as one JSON object. `path` names the source in errors. The caller calls
 * json_decref. Errors: WEFT_BAD_FILE with path:line:column for a syntax error, a duplicate key or a
 * document that is no object or has more than WEFT_JSON_MAX_VALUES or WEFT_JSON_MAX_DEPTH; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_json_parse(json_t **object, const void *data, size_t size, const char *path,
                            const weft_host *host);

/** weft_json_parse on a regular file of at most WEFT_JSON_MAX_BYTES. Also WEFT_NOT_FOUND, WEFT_IO_ERROR. */
weft_status weft_json_read(json_t **object, const char *path, const weft_host *host);

/**
 * Parses like weft_json_parse, but integers of more than 18 digits become reals, such as the 10^30 that transformers
 * writes for "no limit", and Python's Infinity, which is not JSON, becomes 1.79e308.
 */
weft_status weft_json_parse_with_reals(json_t **object, const void *data, size_t size,
                                       const char *path, const weft_host *host);
/** The same on a regular file, as weft_json_read. */
weft_status weft_json_read_with_reals(json_t **object, const char *path, const weft_host *host);

/** A part of a document that is read one entry after the other, without a tree of the whole. All pointers are borrowed. */
typedef struct weft_json_part {
    const char *document; /* that it is a part of: positions in messages count from there */
    const char *text;
    size_t size;
    const char *path;
    const weft_host *host;
} weft_json_part;

/**
 * Calls `visit` for each entry of an object in its order, until one gives an error, which is then the result. Keys may be there
 * twice; `value` is not parsed yet. Errors: WEFT_BAD_FILE with path:line:column.
 */
weft_status weft_json_walk(const weft_json_part *object,
                           weft_status (*visit)(void *user, const char *key,
                                                const weft_json_part *value),
                           void *user);
/** Walks an array likewise. */
weft_status weft_json_walk_array(const weft_json_part *array,
                                 weft_status (*visit)(void *user, const weft_json_part *value),
                                 void *user);
/** The tree of any value. Errors as weft_json_parse. */
weft_status weft_json_part_parse(json_t **value, const weft_json_part *text);

/**
 * A value as text in host memory, to be freed; null when memory is out or the value is null. Lossless, and harmless where
 * it is shown: what core/harmless.h names is escaped by \uXXXX. `flags`: jansson's, for json_dumps.
 */
char *weft_json_text(const json_t *value, size_t flags, const weft_host *host);

/** A string of bytes that may hold anything; those that are no UTF-8 become `\xff` and the like. Null when memory is out. */
json_t *weft_json_string_of(const char *bytes, size_t size, const weft_host *host);

/** An object and where errors about it go. All pointers are borrowed. */
typedef struct weft_json_fields {
    const json_t *object;
    const char *path; /* file name for messages */
    const weft_host *host;
} weft_json_fields;

/** True if a field is there and not null. Hugging Face writes null for "not set". */
bool weft_json_has(const weft_json_fields *fields, const char *name);

/**
 * The getters. `value` is untouched on failure: WEFT_BAD_FILE when a required field is missing or
 * null, or any field has another type or lies outside minimum … maximum (both included).
 * weft_json_optional_*: a missing or null field is WEFT_OK and leaves `value`, which so holds the
 * default.
 */
weft_status weft_json_integer(int64_t *value, const weft_json_fields *fields, const char *name,
                              int64_t minimum, int64_t maximum);
weft_status weft_json_optional_integer(int64_t *value, const weft_json_fields *fields,
                                       const char *name, int64_t minimum, int64_t maximum);
/** An integer or a real number. */
weft_status weft_json_optional_real(double *value, const weft_json_fields *fields, const char *name,
                                    double minimum, double maximum);
weft_status weft_json_optional_bool(bool *value, const weft_json_fields *fields, const char *name);
/** *value is borrowed from the document. Never holds a zero byte. */
weft_status weft_json_string(const char **value, const weft_json_fields *fields, const char *name);
weft_status weft_json_optional_string(const char **value, const weft_json_fields *fields,
                                      const char *name);

/** Room for the text of any value. */
#define WEFT_JSON_TEXT_SIZE 96

/** Describes a value for "found …": `-3`, `"text"`, `an array of 2`, `null`, `nothing`. Returns text. */
const char *weft_json_describe(const json_t *value, char text[WEFT_JSON_TEXT_SIZE]);

/**
 * Logs `path: field "name": expected …, found …` and returns `status`. `value` may be null: nothing
 * was found.
 */
weft_status weft_json_fail(const weft_json_fields *fields, weft_status status, const char *name,
                           const char *expected, const json_t *value);

#endif
