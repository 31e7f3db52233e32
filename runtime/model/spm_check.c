/* SPDX-License-Identifier: MIT */
#include "model/spm_check.h"

#include <string.h>

#include "core/bytes.h"

/* Rule sets of the library itself have a quarter of a MiB; the check takes time in proportion. */
#define MAX_RULES ((size_t)4 << 20)

#define FIELD_NORMALIZER 3u /* of ModelProto */
#define FIELD_RULES      2u /* of NormalizerSpec */

/* ---- protocol buffers: just enough to find two nested fields ---- */

struct bytes {
    const uint8_t *data;
    size_t size;
};

static bool take_varint(struct bytes *rest, uint64_t *value) {
    *value = 0;
    for (unsigned shift = 0; shift < 64 && rest->size > 0; shift += 7) {
        uint8_t byte = *rest->data++;
        rest->size--;
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            return true;
        }
    }
    return false;
}

static bool take_bytes(struct bytes *rest, uint64_t size, struct bytes *taken) {
    if (size > rest->size) {
        return false;
    }
    *taken = (struct bytes){rest->data, (size_t)size};
    rest->data += size;
    rest->size -= (size_t)size;
    return true;
}

/* One field; its contents when it has a length. Groups, which no model has, are not understood. */
static bool take_field(struct bytes *rest, uint32_t *number, bool *has_length,
                       struct bytes *contents) {
    uint64_t tag;
    uint64_t value;
    if (!take_varint(rest, &tag) || tag > UINT32_MAX) {
        return false;
    }
    *number = (uint32_t)tag >> 3;
    *has_length = (tag & 7) == 2;
    switch (tag & 7) {
    case 0:
        return take_varint(rest, &value);
    case 1:
        return take_bytes(rest, 8, contents);
    case 2:
        return take_varint(rest, &value) && take_bytes(rest, value, contents);
    case 5:
        return take_bytes(rest, 4, contents);
    default:
        return false;
    }
}

/* ---- the trie ---- */

/*
 * A node is a place from which the children lie at `node ^ character`; the unit there is a child if
 * its label is the character. Layout of a unit (Yata, "Darts-clone: a clone of the double-array
 * system"): bits 0-7 and 31 label, 8 has a value, 9 extends the offset, 10-30 offset.
 */
struct trie {
    const uint8_t *units;
    size_t count;
    size_t text_size; /* values are places in a text of this size */
    uint32_t *stack;  /* nodes to visit */
    size_t depth;
    uint8_t *seen; /* by node */
};

static uint32_t unit_at(const struct trie *trie, size_t index) {
    const uint8_t *bytes = trie->units + 4 * index;
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static uint32_t offset_of(uint32_t unit) {
    return (unit >> 10) << ((unit & 1u << 9) >> 6);
}

/* Whether the node's 256 places are inside; then it will be visited. */
static bool push_node(struct trie *trie, size_t node) {
    if ((node | 0xFF) >= trie->count) {
        return false;
    }
    if (!trie->seen[node]) {
        trie->seen[node] = 1;
        trie->stack[trie->depth++] = (uint32_t)node;
    }
    return true;
}

static bool visit_node(struct trie *trie, size_t node) {
    for (uint32_t character = 0; character < 256; character++) {
        size_t place = node ^ character;
        uint32_t unit = unit_at(trie, place);
        if ((unit & 0x800000FFu) != character) {
            continue;
        }
        size_t child = place ^ offset_of(unit);
        if (!push_node(trie, child)) {
            return false;
        }
        bool has_value = (unit >> 8 & 1) != 0;
        if (has_value && (unit_at(trie, child) & 0x7FFFFFFFu) >= trie->text_size) {
            return false;
        }
    }
    return true;
}

static bool walk(struct trie *trie) {
    bool inside = trie->count > 0 && push_node(trie, offset_of(unit_at(trie, 0)));
    while (inside && trie->depth > 0) {
        inside = visit_node(trie, trie->stack[--trie->depth]);
    }
    return inside;
}

/* ---- rule sets ---- */

static weft_status fail_rules(const char *path, const weft_host *host) {
    return weft_fail(host, WEFT_BAD_FILE,
                     "%s: normalizer_spec.precompiled_charsmap: expected a sound trie, found a "
                     "damaged one",
                     path);
}

static weft_status check_rules(struct bytes rules, const char *path, const weft_host *host) {
    if (rules.size == 0) {
        return WEFT_OK;
    }
    if (rules.size > MAX_RULES) {
        return weft_fail(host, WEFT_BAD_FILE,
                         "%s: normalizer_spec.precompiled_charsmap: expected at most %zu bytes, "
                         "found %zu",
                         path, MAX_RULES, rules.size);
    }
    const uint64_t trie_size = weft_load_bytes(rules.data, rules.size < 4 ? rules.size : 4);
    if (rules.size <= 4 || trie_size >= rules.size - 4 || rules.data[rules.size - 1] != 0) {
        return fail_rules(path, host);
    }
    struct trie trie = {.units = rules.data + 4, .count = (size_t)trie_size / 4};
    trie.text_size = rules.size - 4 - (size_t)trie_size;
    trie.stack = weft_alloc_zero(host, trie.count + 1, sizeof *trie.stack);
    trie.seen = weft_alloc_zero(host, trie.count + 1, sizeof *trie.seen);
    weft_status status = !trie.stack || !trie.seen ? weft_fail_memory(host, path)
                         : walk(&trie)             ? WEFT_OK
                                                   : fail_rules(path, host);
    weft_free(host, trie.stack);
    weft_free(host, trie.seen);
    return status;
}

weft_status weft_spm_check(const uint8_t *model, size_t size, const char *path,
                           const weft_host *host) {
    struct bytes rest = {model, size};
    weft_status status = WEFT_OK;
    while (status == WEFT_OK && rest.size > 0) {
        uint32_t number = 0;
        bool has_length = false;
        struct bytes field = {0};
        bool sound = take_field(&rest, &number, &has_length, &field);
        bool is_spec = sound && has_length && number == FIELD_NORMALIZER;
        while (sound && is_spec && status == WEFT_OK && field.size > 0) {
            struct bytes rules = {0};
            sound = take_field(&field, &number, &has_length, &rules);
            if (sound && has_length && number == FIELD_RULES) {
                status = check_rules(rules, path, host);
            }
        }
        if (!sound) {
            status = weft_fail(host, WEFT_BAD_FILE,
                               "%s: expected a SentencePiece model, found other contents", path);
        }
    }
    return status;
}
