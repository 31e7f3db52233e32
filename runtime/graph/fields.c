/* SPDX-License-Identifier: MIT */
/* The parameters of ops by fields. */
#include <string.h>

#include "graph/op.h"

bool weft_op_is_for_programs(const struct weft_op *op) {
    return op->uid == 0 && op->state_input == 0 && (op->params_size == 0 || op->fields);
}

static const uint8_t *element(const struct weft_member *field, const void *params, uint32_t index) {
    return (const uint8_t *)params + field->offset +
           (size_t)index * (field->capacity ? field->size / field->capacity : 0);
}

static uint32_t word_at(const struct weft_member *field, const void *params, uint32_t index) {
    uint32_t word;
    memcpy(&word, element(field, params, index), sizeof word);
    return word;
}

uint32_t weft_field_count(const struct weft_member *field, const void *params) {
    if (field->capacity == 0) {
        return 1;
    }
    uint32_t count = field->capacity;
    if (field->counted_at != WEFT_FIELD_FULL) {
        memcpy(&count, (const uint8_t *)params + field->counted_at, sizeof count);
    }
    return count < field->capacity ? count : field->capacity;
}

const char *weft_field_word(const struct weft_member *field, const void *params, uint32_t index) {
    const uint32_t word = word_at(field, params, index);
    return word < field->word_count ? field->words[word] : NULL;
}

bool weft_field_is_set(const struct weft_member *field, const void *params) {
    for (uint32_t i = 0; i < field->size; i++) {
        if (((const uint8_t *)params)[field->offset + i]) {
            return true;
        }
    }
    return false;
}

static void describe_element(struct weft_text *text, const struct weft_member *field,
                             const void *params, uint32_t index) {
    const uint32_t word = word_at(field, params, index);
    float number;
    memcpy(&number, &word, sizeof number);
    const char *name = NULL;
    switch (field->kind) {
    case WEFT_MEMBER_F32:
        weft_text_add(text, "%g", (double)number);
        break;
    case WEFT_MEMBER_I32:
        weft_text_add(text, "%d", (int32_t)word);
        break;
    case WEFT_MEMBER_WORD:
        name = weft_field_word(field, params, index);
        weft_text_add(text, "%s", name ? name : "unknown");
        break;
    default:
        weft_text_add(text, "%u", word);
    }
}

static void describe_array(struct weft_text *text, const struct weft_member *field,
                           const void *params) {
    weft_text_add(text, "%s (", field->name);
    const uint32_t count = weft_field_count(field, params);
    for (uint32_t i = 0; i < count; i++) {
        weft_text_add(text, i ? ", " : "");
        describe_element(text, field, params, i);
    }
    weft_text_add(text, ")");
}

/** Words say themselves what they are; a bool is its name, or nothing. */
static void describe(struct weft_text *text, const struct weft_member *field, const void *params) {
    if (field->capacity) {
        describe_array(text, field, params);
    } else if (field->kind == WEFT_MEMBER_BOOL) {
        weft_text_add(text, "%s", field->name);
    } else {
        weft_text_add(text, "%s%s", field->kind == WEFT_MEMBER_WORD ? "" : field->name,
                      field->kind == WEFT_MEMBER_WORD ? "" : " ");
        describe_element(text, field, params, 0);
    }
}

void weft_fields_describe(struct weft_text *text, const struct weft_node *node) {
    const void *params = node->params.bytes;
    bool any = false;
    for (const struct weft_member *field = node->op->fields; field && field->name; field++) {
        const bool silent = strcmp(field->name, "shape") == 0 ||
                            (field->kind == WEFT_MEMBER_BOOL && !weft_field_is_set(field, params));
        if (!silent) {
            weft_text_add(text, any ? ", " : "[");
            describe(text, field, params);
            any = true;
        }
    }
    weft_text_add(text, any ? "]" : "");
}
