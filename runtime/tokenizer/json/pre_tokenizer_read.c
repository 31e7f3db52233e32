/* SPDX-License-Identifier: MIT */
/* The pre-tokenizer of a tokenizer.json. */
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "tokenizer/json/component.h"
#include "tokenizer/json/pre_tokenizer.h"
#include "tokenizer/unicode/unicode.h"

/* State for reading one step. */
struct reader {
    struct weft_pre_tokenizer *tokenizer;
    const char *path;
    const weft_host *host;
};

static const char *const split_names[] = {"Removed",        "Isolated",   "MergedWithPrevious",
                                          "MergedWithNext", "Contiguous", NULL};
static const char *const no_names[] = {NULL};

/* GPT-2's: contractions, words with the space before them, numbers, signs, and white space without the last before a word. */
static const char byte_level_pattern[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

static weft_status add_step(struct reader *reader, struct weft_pre_step **step) {
    struct weft_pre_tokenizer *tokenizer = reader->tokenizer;
    if (tokenizer->count == WEFT_MAX_COMPONENTS ||
        !weft_grow(reader->host, &tokenizer->steps, tokenizer->count, &tokenizer->capacity,
                   sizeof **step)) {
        return weft_fail_memory(reader->host, reader->path);
    }
    *step = &tokenizer->steps[tokenizer->count++];
    **step = (struct weft_pre_step){.kind = WEFT_PRE_CHARACTERS};
    return WEFT_OK;
}

static weft_status set_pattern(struct reader *reader, struct weft_pre_step *step,
                               const char *pattern) {
    return weft_regex_create(&step->pattern, pattern, strlen(pattern), false, reader->path,
                             reader->host);
}

static weft_status read_split_word(struct weft_pre_step *step,
                                   const struct weft_component *component) {
    unsigned split = (unsigned)step->split;
    WEFT_TRY(weft_component_word(&split, component, "behavior", split_names));
    step->split = (enum weft_split)split;
    return WEFT_OK;
}

/* ---- the types ---- */

static bool is_number(uint32_t code) {
    return (weft_category_of(code) & weft_category_number) != 0;
}

static weft_status read_bert(struct reader *reader, const struct weft_component *component) {
    struct weft_pre_step *step = NULL;
    WEFT_TRY(weft_component_allow(component, no_names));
    WEFT_TRY(add_step(reader, &step));
    step->is_in = weft_is_space;
    step->split = WEFT_SPLIT_REMOVED;
    WEFT_TRY(add_step(reader, &step));
    step->is_in = weft_is_punctuation;
    step->split = WEFT_SPLIT_ISOLATED;
    return WEFT_OK;
}

static weft_status read_byte_level(struct reader *reader, const struct weft_component *component) {
    /* trim_offsets belongs to the post-processor of the same name. */
    static const char *const names[] = {"add_prefix_space", "trim_offsets", "use_regex", NULL};
    struct weft_pre_step *step = NULL;
    bool use_regex = true;
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(add_step(reader, &step));
    step->kind = WEFT_PRE_BYTE_LEVEL;
    step->split = WEFT_SPLIT_ISOLATED;
    step->prefix_space = true;
    WEFT_TRY(weft_json_optional_bool(&step->prefix_space, &component->fields, "add_prefix_space"));
    WEFT_TRY(weft_json_optional_bool(&use_regex, &component->fields, "use_regex"));
    step->whole = !use_regex;
    return use_regex ? set_pattern(reader, step, byte_level_pattern) : WEFT_OK;
}

/* The package's own pattern is not Oniguruma's: in it joiners are parts of words. */
static weft_status read_whitespace(struct reader *reader, const struct weft_component *component) {
    struct weft_pre_step *step = NULL;
    WEFT_TRY(weft_component_allow(component, no_names));
    WEFT_TRY(add_step(reader, &step));
    step->kind = WEFT_PRE_PATTERN;
    step->split = WEFT_SPLIT_REMOVED;
    step->invert = true;
    return set_pattern(reader, step, "[\\p{Word}\\u200C\\u200D]+|[^\\p{Word}\\s\\u200C\\u200D]+");
}

static weft_status read_whitespace_split(struct reader *reader,
                                         const struct weft_component *component) {
    struct weft_pre_step *step = NULL;
    WEFT_TRY(weft_component_allow(component, no_names));
    WEFT_TRY(add_step(reader, &step));
    step->is_in = weft_is_space;
    step->split = WEFT_SPLIT_REMOVED;
    return WEFT_OK;
}

static weft_status read_punctuation(struct reader *reader, const struct weft_component *component) {
    static const char *const names[] = {"behavior", NULL};
    struct weft_pre_step *step = NULL;
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(add_step(reader, &step));
    step->is_in = weft_is_punctuation;
    step->split = WEFT_SPLIT_ISOLATED;
    return read_split_word(step, component);
}

static weft_status read_digits(struct reader *reader, const struct weft_component *component) {
    static const char *const names[] = {"individual_digits", NULL};
    struct weft_pre_step *step = NULL;
    bool individual = false;
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(add_step(reader, &step));
    WEFT_TRY(weft_json_optional_bool(&individual, &component->fields, names[0]));
    step->is_in = is_number;
    step->split = individual ? WEFT_SPLIT_ISOLATED : WEFT_SPLIT_CONTIGUOUS;
    return WEFT_OK;
}

static weft_status read_delimiter(struct reader *reader, const struct weft_component *component) {
    static const char *const names[] = {"delimiter", NULL};
    struct weft_pre_step *step = NULL;
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(add_step(reader, &step));
    step->split = WEFT_SPLIT_REMOVED;
    return weft_component_char(&step->code, component, names[0]);
}

/* Of so many characters each, but for the last. */
static weft_status read_fixed_length(struct reader *reader,
                                     const struct weft_component *component) {
    static const char *const names[] = {"length", NULL};
    struct weft_pre_step *step = NULL;
    char pattern[48];
    int64_t length = 5;
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(add_step(reader, &step));
    WEFT_TRY(weft_json_optional_integer(&length, &component->fields, names[0], 1,
                                        WEFT_REGEX_MAX_REPEAT));
    step->kind = WEFT_PRE_PATTERN;
    step->split = WEFT_SPLIT_ISOLATED;
    snprintf(pattern, sizeof pattern, "[\\s\\S]{1,%d}", (int)length);
    return set_pattern(reader, step, pattern);
}

static weft_status read_metaspace(struct reader *reader, const struct weft_component *component) {
    static const char *const names[] = {"replacement",      "prepend_scheme", "split",
                                        "add_prefix_space", "str_rep",        NULL};
    static const char *const schemes[] = {"always", "first", "never", NULL};
    struct weft_pre_step *step = NULL;
    unsigned prepend = WEFT_PREPEND_ALWAYS;
    bool prefix = true;
    bool parts = true;
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(add_step(reader, &step));
    step->kind = WEFT_PRE_METASPACE;
    step->code = 0x2581;
    WEFT_TRY(weft_component_char(&step->code, component, names[0]));
    WEFT_TRY(weft_component_word(&prepend, component, names[1], schemes));
    WEFT_TRY(weft_json_optional_bool(&parts, &component->fields, names[2]));
    WEFT_TRY(weft_json_optional_bool(&prefix, &component->fields, names[3]));
    step->prepend = prefix ? (enum weft_prepend)prepend : WEFT_PREPEND_NEVER;
    step->split = WEFT_SPLIT_WITH_NEXT;
    step->whole = !parts;
    return WEFT_OK;
}

static weft_status read_split(struct reader *reader, const struct weft_component *component) {
    static const char *const names[] = {"pattern", "behavior", "invert", NULL};
    struct weft_pre_step *step = NULL;
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(add_step(reader, &step));
    step->kind = WEFT_PRE_PATTERN;
    WEFT_TRY(weft_component_pattern(&step->pattern, component));
    WEFT_TRY(weft_json_optional_bool(&step->invert, &component->fields, names[2]));
    return read_split_word(step, component);
}

/* ---- the whole ---- */

static const struct {
    const char *type;
    weft_status (*read)(struct reader *reader, const struct weft_component *component);
} rows[] = {
    {"BertPreTokenizer", read_bert},        {"ByteLevel", read_byte_level},
    {"Whitespace", read_whitespace},        {"WhitespaceSplit", read_whitespace_split},
    {"Punctuation", read_punctuation},      {"Digits", read_digits},
    {"CharDelimiterSplit", read_delimiter}, {"FixedLength", read_fixed_length},
    {"Metaspace", read_metaspace},          {"Split", read_split},
};

static weft_status read_step(void *user, const struct weft_component *component) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(component->type, rows[i].type) == 0) {
            return rows[i].read(user, component);
        }
    }
    return weft_component_fail_type(component);
}

weft_status weft_pre_tokenizer_read(struct weft_pre_tokenizer *tokenizer, const json_t *value,
                                    const char *path, const weft_host *host) {
    struct reader reader = {tokenizer, path, host};
    return weft_component_walk(value, "pretokenizers", path, host, read_step, &reader);
}

void weft_pre_tokenizer_clear(struct weft_pre_tokenizer *tokenizer, const weft_host *host) {
    for (uint32_t i = 0; i < tokenizer->count; i++) {
        weft_regex_destroy(tokenizer->steps[i].pattern, host);
    }
    weft_free(host, tokenizer->steps);
    *tokenizer = (struct weft_pre_tokenizer){0};
}
