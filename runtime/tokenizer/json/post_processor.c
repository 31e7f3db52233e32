/* SPDX-License-Identifier: MIT */
#include "tokenizer/json/post_processor.h"

#include <string.h>

#include "core/try.h"
#include "tokenizer/json/component.h"

struct reader {
    struct weft_post_processor *processor;
    const char *path;
    const weft_host *host;
    bool has_template;
    uint32_t count;        /* of items */
    uint32_t single_count; /* of those for one text, which come first */
};

static weft_status add(struct reader *reader, struct weft_template_item item) {
    if (reader->count == WEFT_MAX_TEMPLATE) {
        return weft_fail(reader->host, WEFT_BAD_FILE,
                         "%s: expected at most 256 items in templates, found more", reader->path);
    }
    reader->processor->items[reader->count++] = item;
    return WEFT_OK;
}

static struct weft_template_item text(uint8_t sequence, int32_t type) {
    return (struct weft_template_item){.is_text = true, .sequence = sequence, .type = type};
}

static struct weft_template_item special(int32_t token, int32_t type) {
    return (struct weft_template_item){.token = token, .type = type};
}

/* ---- templates ---- */

/* The ids of a special token, by its name in special_tokens. */
static weft_status add_special(struct reader *reader, const struct weft_component *component,
                               const char *name, int32_t type) {
    const json_t *all = json_object_get(component->fields.object, "special_tokens");
    const json_t *ids = json_object_get(json_object_get(all, name ? name : ""), "ids");
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const json_t *id = json_array_get(ids, i);
        if (!json_is_integer(id) || json_integer_value(id) < 0 ||
            json_integer_value(id) > INT32_MAX) {
            return weft_json_fail(&component->fields, WEFT_BAD_FILE, "special_tokens",
                                  "ids of tokens", id);
        }
        WEFT_TRY(add(reader, special((int32_t)json_integer_value(id), type)));
    }
    return json_is_array(ids) ? WEFT_OK
                              : weft_json_fail(&component->fields, WEFT_BAD_FILE, "special_tokens",
                                               "ids for each token of the templates", all);
}

static weft_status read_item(struct reader *reader, const struct weft_component *component,
                             const char *field, const json_t *item, bool is_pair) {
    const json_t *sequence = json_object_get(item, "Sequence");
    const json_t *token = json_object_get(item, "SpecialToken");
    const json_t *found = sequence ? sequence : token;
    const char *id = json_string_value(json_object_get(found, "id"));
    const json_t *type = json_object_get(found, "type_id");
    const int64_t number = json_integer_value(type);
    if (!id || !json_is_integer(type) || number < 0 || number > INT32_MAX) {
        return weft_json_fail(&component->fields, WEFT_BAD_FILE, field,
                              "a Sequence or SpecialToken with id and type_id", item);
    }
    if (!sequence) {
        return add_special(reader, component, id, (int32_t)number);
    }
    const bool second = strcmp(id, "B") == 0;
    if ((!second && strcmp(id, "A") != 0) || (second && !is_pair)) {
        return weft_json_fail(&component->fields, WEFT_BAD_FILE, field,
                              is_pair ? "the Sequence A or B" : "the Sequence A", item);
    }
    return add(reader, text(second ? 1 : 0, (int32_t)number));
}

static weft_status read_items(struct reader *reader, const struct weft_component *component,
                              const char *field, bool is_pair) {
    const json_t *items = json_object_get(component->fields.object, field);
    if (!json_is_array(items)) {
        return weft_json_fail(&component->fields, WEFT_BAD_FILE, field, "an array", items);
    }
    for (size_t i = 0; i < json_array_size(items); i++) {
        WEFT_TRY(read_item(reader, component, field, json_array_get(items, i), is_pair));
    }
    return WEFT_OK;
}

static weft_status read_template(struct reader *reader, const struct weft_component *component) {
    static const char *const names[] = {"single", "pair", "special_tokens", NULL};
    WEFT_TRY(weft_component_allow(component, names));
    reader->has_template = true;
    WEFT_TRY(read_items(reader, component, "single", false));
    reader->single_count = reader->count;
    return read_items(reader, component, "pair", true);
}

/* ["[SEP]", 102] */
static weft_status read_pair(int32_t *token, const struct weft_component *component,
                             const char *name) {
    const json_t *value = json_object_get(component->fields.object, name);
    const json_t *id = json_array_get(value, 1);
    if (!json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) > INT32_MAX) {
        return weft_json_fail(&component->fields, WEFT_BAD_FILE, name, "a text and an id", value);
    }
    *token = (int32_t)json_integer_value(id);
    return WEFT_OK;
}

/* [CLS] A [SEP] and [CLS] A [SEP] B [SEP]; RoBERTa has two [SEP] between, and one type. */
static weft_status read_pairs(struct reader *reader, const struct weft_component *component,
                              bool roberta) {
    int32_t cls = 0;
    int32_t sep = 0;
    WEFT_TRY(read_pair(&cls, component, "cls"));
    WEFT_TRY(read_pair(&sep, component, "sep"));
    reader->has_template = true;
    for (unsigned pair = 0; pair < 2; pair++) {
        const int32_t second = roberta ? 0 : 1;
        WEFT_TRY(add(reader, special(cls, 0)));
        WEFT_TRY(add(reader, text(0, 0)));
        WEFT_TRY(add(reader, special(sep, 0)));
        reader->single_count = pair == 0 ? reader->count : reader->single_count;
        if (pair == 1) {
            WEFT_TRY(roberta ? add(reader, special(sep, 0)) : WEFT_OK);
            WEFT_TRY(add(reader, text(1, second)));
            WEFT_TRY(add(reader, special(sep, second)));
        }
    }
    return WEFT_OK;
}

static weft_status read_bert(struct reader *reader, const struct weft_component *component) {
    static const char *const names[] = {"sep", "cls", NULL};
    WEFT_TRY(weft_component_allow(component, names));
    return read_pairs(reader, component, false);
}

/* ---- offsets ---- */

static weft_status read_trimming(struct reader *reader, const struct weft_component *component) {
    bool trims = true;
    bool prefix_space = true;
    WEFT_TRY(weft_json_optional_bool(&trims, &component->fields, "trim_offsets"));
    WEFT_TRY(weft_json_optional_bool(&prefix_space, &component->fields, "add_prefix_space"));
    if (trims) {
        reader->processor->trims = true;
        reader->processor->prefix_space = prefix_space;
    }
    return WEFT_OK;
}

static weft_status read_roberta(struct reader *reader, const struct weft_component *component) {
    static const char *const names[] = {"sep", "cls", "trim_offsets", "add_prefix_space", NULL};
    WEFT_TRY(weft_component_allow(component, names));
    WEFT_TRY(read_trimming(reader, component));
    return read_pairs(reader, component, true);
}

static weft_status read_byte_level(struct reader *reader, const struct weft_component *component) {
    static const char *const names[] = {"add_prefix_space", "trim_offsets", "use_regex", NULL};
    WEFT_TRY(weft_component_allow(component, names));
    return read_trimming(reader, component);
}

/* ---- the whole ---- */

static const struct {
    const char *type;
    bool is_template;
    weft_status (*read)(struct reader *reader, const struct weft_component *component);
} rows[] = {
    {"TemplateProcessing", true, read_template},
    {"BertProcessing", true, read_bert},
    {"RobertaProcessing", true, read_roberta},
    {"ByteLevel", false, read_byte_level},
};

static weft_status read_processor(void *user, const json_t *value) {
    static const char *const names[] = {"processors", NULL};
    struct reader *reader = user;
    struct weft_component component;
    WEFT_TRY(weft_component_open(&component, value, reader->path, reader->host));
    if (strcmp(component.type, "Sequence") == 0) {
        WEFT_TRY(weft_component_allow(&component, names));
        return weft_component_each(&component, names[0], read_processor, reader);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(component.type, rows[i].type) == 0) {
            return rows[i].is_template && reader->has_template
                       ? weft_json_fail(&component.fields, WEFT_UNSUPPORTED, "type",
                                        "one template in all", json_object_get(value, "type"))
                       : rows[i].read(reader, &component);
        }
    }
    return weft_component_fail_type(&component);
}

weft_status weft_post_processor_read(struct weft_post_processor *processor, const json_t *value,
                                     const char *path, const weft_host *host) {
    struct reader reader = {.processor = processor, .path = path, .host = host};
    processor->items = weft_alloc_zero(host, WEFT_MAX_TEMPLATE, sizeof *processor->items);
    if (!processor->items) {
        return weft_fail_memory(host, path);
    }
    if (value && !json_is_null(value)) {
        WEFT_TRY(read_processor(&reader, value));
    }
    if (!reader.has_template) {
        reader.count = 0;
        WEFT_TRY(add(&reader, text(0, 0)));
        reader.single_count = reader.count;
        WEFT_TRY(add(&reader, text(0, 0)));
        WEFT_TRY(add(&reader, text(1, 1)));
    }
    processor->templates.single = (struct weft_template){processor->items, reader.single_count};
    processor->templates.pair = (struct weft_template){processor->items + reader.single_count,
                                                       reader.count - reader.single_count};
    return WEFT_OK;
}

void weft_post_processor_clear(struct weft_post_processor *processor, const weft_host *host) {
    weft_free(host, processor->items);
    *processor = (struct weft_post_processor){0};
}

weft_status weft_truncation_read(struct weft_truncation *truncation, const json_t *value,
                                 const char *path, const weft_host *host) {
    static const char *const names[] = {"direction", "max_length", "strategy", "stride", NULL};
    static const char *const strategies[] = {"LongestFirst", "OnlyFirst", "OnlySecond", NULL};
    static const char *const directions[] = {"Right", "Left", NULL};
    const struct weft_component component = {.fields = {value, path, host}};
    unsigned strategy = WEFT_TRUNCATE_LONGEST;
    unsigned direction = 0;
    int64_t most = 0;
    if (!value || json_is_null(value)) {
        return WEFT_OK;
    }
    if (!json_is_object(value)) {
        return weft_fail(host, WEFT_BAD_FILE, "%s: expected an object", path);
    }
    WEFT_TRY(weft_component_allow(&component, names));
    WEFT_TRY(weft_component_word(&strategy, &component, "strategy", strategies));
    WEFT_TRY(weft_component_word(&direction, &component, "direction", directions));
    WEFT_TRY(weft_json_optional_integer(&most, &component.fields, "max_length", 0, INT64_MAX));
    truncation->strategy = (enum weft_truncation_strategy)strategy;
    truncation->left = direction == 1;
    truncation->most = most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
    return WEFT_OK;
}
