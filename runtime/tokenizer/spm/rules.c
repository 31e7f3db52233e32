/* SPDX-License-Identifier: MIT */
#include "tokenizer/spm/rules.h"

#include <string.h>

#include "core/bytes.h"
#include "core/try.h"
#include "tokenizer/unicode/text_class.h"

/*
 * A node is a place from which the children lie at `node ^ byte`; the unit there is a child if its label is the byte.
 * Sources of rules have no zero byte: what would be the child by that is the unit of the node's own value.
 * Layout of a unit (Yata, "Darts-clone: a clone of the double-array system"): bits 0-7 and 31 label, 8 has a value,
 * 9 extends the offset, 10-30 offset. The unit of a value has bit 31, and the value in the others.
 */
#define LABEL     0x800000FFu
#define HAS_VALUE (1u << 8)
#define VALUE     0x7FFFFFFFu

static uint32_t unit_at(const struct weft_spm_rules *rules, size_t index) {
    return (uint32_t)weft_load_bytes(rules->units + 4 * index, 4);
}

static size_t offset_of(uint32_t unit) {
    return (size_t)(unit >> 10) << ((unit & 1u << 9) >> 6);
}

/* Goes from *node to its child by that byte; false where there is none, or it would lie outside. */
static bool step(const struct weft_spm_rules *rules, size_t *node, uint8_t byte, bool *has_value) {
    const size_t place = *node ^ byte;
    if (byte == 0 || place >= rules->count) {
        return false;
    }
    const uint32_t unit = unit_at(rules, place);
    *node = place ^ offset_of(unit);
    *has_value = (unit & HAS_VALUE) != 0;
    return (unit & LABEL) == byte && *node < rules->count;
}

static size_t match(const struct weft_spm_rules *rules, const char *text, size_t size, bool first,
                    const char **target, size_t *steps) {
    size_t longest = 0;
    size_t node = rules->count > 0 ? offset_of(unit_at(rules, 0)) : 0;
    bool has_value = false;
    *steps = 0;
    for (size_t i = 0; i < size && step(rules, &node, (uint8_t)text[i], &has_value); i++) {
        *steps = i + 1;
        const size_t value = has_value ? unit_at(rules, node) & VALUE : SIZE_MAX;
        if (value < rules->texts_size) {
            longest = i + 1;
            *target = rules->texts + value;
        }
        if (first && longest > 0) {
            break;
        }
    }
    return longest;
}

size_t weft_spm_rules_match(const struct weft_spm_rules *rules, const char *text, size_t size,
                            const char **target, size_t *steps) {
    return match(rules, text, size, false, target, steps);
}

size_t weft_spm_rules_match_first(const struct weft_spm_rules *rules, const char *text, size_t size,
                                  const char **target) {
    size_t steps = 0;
    return match(rules, text, size, true, target, &steps);
}

/* ---- checking ---- */

/* Nodes may be shared: what was found about those that lie below one is kept. */
struct seen {
    uint8_t state; /* of enum state */
    uint8_t values;
    uint16_t depth;
};

enum state { STATE_NEW, STATE_OPEN, STATE_DONE };

struct frame {
    size_t node;
    uint32_t next; /* byte to look at */
};

struct check {
    const struct weft_spm_rules *rules;
    const char *path;
    const char *spec;
    const weft_host *host;
    struct seen *seen; /* by node */
    struct frame stack[WEFT_MAX_RULE_SOURCE + 1];
    uint32_t depth;
};

static weft_status fail(const struct check *check, const char *expected, const char *found) {
    return weft_fail(check->host, WEFT_BAD_FILE,
                     "%s: %s.precompiled_charsmap: expected %s, found %s", check->path, check->spec,
                     expected, found);
}

static weft_status fail_trie(const struct check *check) {
    return fail(check, "a sound trie", "a damaged one");
}

static weft_status fail_length(const struct check *check) {
    return fail(check, "rules that replace at most 1024 bytes", "a longer one");
}

/* All 256 places of a node are inside, and it is not below itself. */
static weft_status open_node(struct check *check, size_t node) {
    if ((node | 0xFF) >= check->rules->count || check->seen[node].state == STATE_OPEN) {
        return fail_trie(check);
    }
    if (check->depth > WEFT_MAX_RULE_SOURCE) {
        return fail_length(check);
    }
    check->seen[node].state = STATE_OPEN;
    check->stack[check->depth++] = (struct frame){.node = node, .next = 1};
    return WEFT_OK;
}

static weft_status check_value(const struct check *check, size_t node) {
    const size_t value = unit_at(check->rules, node) & VALUE;
    if (value >= check->rules->texts_size) {
        return fail_trie(check);
    }
    return ((uint8_t)check->rules->texts[value] & 0xC0) == 0x80
               ? fail(check, "targets that are UTF-8", "one that begins within a character")
               : WEFT_OK;
}

/* Counts a child's depth and values for its parent: one byte and perhaps one value deeper. */
static weft_status join(const struct check *check, size_t parent, size_t child, bool has_value) {
    struct seen *above = &check->seen[parent];
    const struct seen *below = &check->seen[child];
    const uint32_t values = below->values + (has_value ? 1u : 0u);
    const uint32_t depth = below->depth + 1u;
    if (values > WEFT_MAX_RULES_OF_ONE_TEXT) {
        return fail(check, "at most 32 values on one path", "more");
    }
    if (depth > WEFT_MAX_RULE_SOURCE) {
        return fail_length(check);
    }
    above->values = values > above->values ? (uint8_t)values : above->values;
    above->depth = depth > above->depth ? (uint16_t)depth : above->depth;
    return WEFT_OK;
}

/* Goes on at the node on top of the stack: down into a child that is new, or up when there is none. */
static weft_status visit(struct check *check) {
    struct frame *frame = &check->stack[check->depth - 1];
    for (; frame->next < 256; frame->next++) {
        size_t child = frame->node;
        bool has_value = false;
        const size_t place = frame->node ^ frame->next;
        if ((unit_at(check->rules, place) & LABEL) != frame->next) {
            continue;
        }
        if (!step(check->rules, &child, (uint8_t)frame->next, &has_value)) {
            return fail_trie(check);
        }
        if (check->seen[child].state != STATE_DONE) {
            return open_node(check, child); /* and comes back to this byte when that is done */
        }
        if (has_value) {
            WEFT_TRY(check_value(check, child));
        }
        WEFT_TRY(join(check, frame->node, child, has_value));
    }
    check->seen[frame->node].state = STATE_DONE;
    check->depth--;
    return WEFT_OK;
}

static weft_status check_trie(struct check *check) {
    if (check->rules->count == 0) {
        return fail_trie(check);
    }
    WEFT_TRY(open_node(check, offset_of(unit_at(check->rules, 0))));
    while (check->depth > 0) {
        WEFT_TRY(visit(check));
    }
    return WEFT_OK;
}

static weft_status check_texts(const struct check *check) {
    const char *texts = check->rules->texts;
    for (size_t i = 0; i < check->rules->texts_size; i++) {
        const size_t size = strlen(texts + i); /* the last byte is zero */
        if (size > WEFT_MAX_RULE_TARGET) {
            return fail(check, "targets of at most 4096 bytes", "a longer one");
        }
        if (!weft_utf8_is_text(texts + i, size)) {
            return fail(check, "targets that are UTF-8", "other bytes");
        }
        i += size;
    }
    return WEFT_OK;
}

static weft_status run_check(struct check *check) {
    WEFT_TRY(check_texts(check));
    check->seen = weft_alloc_zero(check->host, check->rules->count + 1, sizeof *check->seen);
    weft_status status =
        check->seen ? check_trie(check) : weft_fail_memory(check->host, check->path);
    weft_free(check->host, check->seen);
    return status;
}

weft_status weft_spm_rules_open(struct weft_spm_rules *rules, const uint8_t *bytes, size_t size,
                                const char *path, const char *spec, const weft_host *host) {
    *rules = (struct weft_spm_rules){0};
    if (size == 0) {
        return WEFT_OK;
    }
    struct check check = {.rules = rules, .path = path, .spec = spec, .host = host};
    if (size > WEFT_MAX_RULES) {
        return fail(&check, "at most 4 MiB", "more");
    }
    const uint64_t trie_size = weft_load_bytes(bytes, size < 4 ? size : 4);
    if (size <= 4 || trie_size >= size - 4 || bytes[size - 1] != 0) {
        return fail_trie(&check);
    }
    rules->units = bytes + 4;
    rules->count = (size_t)trie_size / 4;
    rules->texts = (const char *)rules->units + trie_size;
    rules->texts_size = size - 4 - (size_t)trie_size;
    return run_check(&check);
}
