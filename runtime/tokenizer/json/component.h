/* SPDX-License-Identifier: MIT */
/* The parts of a tokenizer.json: objects with a type. Fields that Weft does not know are refused, as they would change results. */
#ifndef WEFT_TOKENIZER_COMPONENT_H
#define WEFT_TOKENIZER_COMPONENT_H

#include "core/formats/json.h"
#include "tokenizer/chars.h"
#include "tokenizer/regex/regex.h"

/** Most parts of a part of type Sequence, with those of its own Sequences. */
#define WEFT_MAX_COMPONENTS 256u

/** A part and its type. All pointers are borrowed from the document. */
struct weft_component {
    weft_json_fields fields;
    const char *type;
};

/** WEFT_BAD_FILE unless the value is an object with a type. `path` names the file and the part. */
weft_status weft_component_open(struct weft_component *component, const json_t *value,
                                const char *path, const weft_host *host);

/** WEFT_UNSUPPORTED, naming the field, for one that is neither "type", nor null, nor in the list, which ends with null. */
weft_status weft_component_allow(const struct weft_component *component, const char *const *names);

/** WEFT_UNSUPPORTED, naming the type. */
weft_status weft_component_fail_type(const struct weft_component *component);

/** Calls `read` for each entry of an array of at most WEFT_MAX_COMPONENTS; WEFT_BAD_FILE when it is none. */
weft_status weft_component_each(const struct weft_component *component, const char *name,
                                weft_status (*read)(void *user, const json_t *value), void *user);

/**
 * Calls `read` for a part, or for each part of a Sequence, whose list is the field `list`, and of Sequences in it. A missing
 * or null value has none.
 */
weft_status weft_component_walk(
    const json_t *value, const char *list, const char *path, const weft_host *host,
    weft_status (*read)(void *user, const struct weft_component *component), void *user);

/** The field "pattern": {"String": …} or {"Regex": …}. */
weft_status weft_component_pattern(struct weft_regex **regex,
                                   const struct weft_component *component);

/** The characters of a string; required. */
weft_status weft_component_chars(struct weft_chars *chars, const struct weft_component *component,
                                 const char *name);

/** A string of one character; missing: *code stays. */
weft_status weft_component_char(uint32_t *code, const struct weft_component *component,
                                const char *name);

/** One of the words, which end with null; its index. Missing: *index stays. */
weft_status weft_component_word(unsigned *index, const struct weft_component *component,
                                const char *name, const char *const *words);

#endif
