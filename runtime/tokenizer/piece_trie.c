/* SPDX-License-Identifier: MIT */
#include "tokenizer/piece_trie.h"

#include <string.h>

int weft_piece_entry_compare(const void *left, const void *right) {
    const struct weft_piece_entry *a = left;
    const struct weft_piece_entry *b = right;
    const int order = memcmp(a->text, b->text, a->size < b->size ? a->size : b->size);
    if (order != 0 || a->size != b->size) {
        return order != 0 ? order : a->size < b->size ? -1 : 1;
    }
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Slots that a child may cost: this many times all nodes' children are the memory for bytes that lead nowhere. */
#define MOST_SLOTS 16u

/* Entries [low, high) begin with what leads to a node. */
struct range {
    uint32_t low;
    uint32_t high;
};

static size_t count_nodes(const struct weft_piece_entry *entries, uint32_t count) {
    size_t nodes = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t common = 0;
        while (i > 0 && common < entries[i - 1].size && common < entries[i].size &&
               entries[i - 1].text[common] == entries[i].text[common]) {
            common++;
        }
        nodes += entries[i].size - common;
    }
    return nodes;
}

/* State of a tree under construction. */
struct making {
    const struct weft_piece_entry *entries;
    struct weft_piece_node *nodes;
    struct range *ranges; /* by node */
    uint8_t *labels;      /* by node: the byte that leads to it */
};

/* Numbers the nodes level by level, so that those of one parent come one after the other; how many slots they take. */
static size_t number_nodes(struct making *making) {
    uint32_t made = 1;
    uint32_t level_end = 1;
    uint32_t depth = 0;
    size_t slots = 0;
    for (uint32_t i = 0; i < made; i++) {
        if (i == level_end) {
            depth++;
            level_end = made;
        }
        struct weft_piece_node *node = &making->nodes[i];
        struct range range = making->ranges[i];
        *node = (struct weft_piece_node){.first = made, .id = -1};
        if (range.low < range.high && making->entries[range.low].size == depth) {
            node->id = making->entries[range.low++].id;
        }
        while (range.low < range.high) {
            const char label = making->entries[range.low].text[depth];
            making->ranges[made].low = range.low;
            while (range.low < range.high && making->entries[range.low].text[depth] == label) {
                range.low++;
            }
            making->ranges[made].high = range.low;
            making->labels[made++] = (uint8_t)label;
        }
        const uint32_t count = made - node->first;
        if (count > 0) { /* fewer than 256: not every byte occurs in UTF-8 */
            node->low = making->labels[node->first];
            const uint32_t span = making->labels[made - 1] - node->low + 1u;
            node->labels = span > MOST_SLOTS * count;
            node->slots = (uint8_t)(node->labels ? count : span);
        }
        node->slot = (uint32_t)slots;
        slots += node->slots;
    }
    return slots;
}

static void fill_slots(uint8_t *slots, const struct making *making, size_t count) {
    for (size_t i = 0; i + 1 < count; i++) {
        const struct weft_piece_node *node = &making->nodes[i];
        const uint32_t children = making->nodes[i + 1].first - node->first;
        for (uint32_t child = 0; child < children; child++) {
            const uint8_t label = making->labels[node->first + child];
            if (node->labels) {
                slots[node->slot + child] = label;
            } else {
                slots[node->slot + label - node->low] = (uint8_t)(child + 1);
            }
        }
    }
}

static bool make(struct weft_piece_trie *trie, struct making *making, size_t nodes, uint32_t count,
                 const weft_host *host) {
    if (!making->nodes || !making->ranges || !making->labels || nodes > UINT32_MAX / MOST_SLOTS) {
        return false;
    }
    making->ranges[0].high = count;
    const size_t slots = number_nodes(making);
    trie->slots = weft_alloc_zero(host, slots + 1, 1);
    if (!trie->slots) {
        return false;
    }
    fill_slots(trie->slots, making, nodes);
    return true;
}

weft_status weft_piece_trie_create(struct weft_piece_trie *trie,
                                   const struct weft_piece_entry *entries, uint32_t count,
                                   const char *what, const weft_host *host) {
    const size_t nodes = count_nodes(entries, count);
    struct making making = {.entries = entries};
    making.nodes = weft_alloc_zero(host, nodes, sizeof *making.nodes);
    making.ranges = weft_alloc_zero(host, nodes, sizeof *making.ranges);
    making.labels = weft_alloc_zero(host, nodes, 1);
    const bool made = make(trie, &making, nodes, count, host);
    weft_free(host, making.ranges);
    weft_free(host, making.labels);
    trie->nodes = making.nodes;
    if (!made) {
        weft_piece_trie_clear(trie, host);
        return weft_fail_memory(host, what);
    }
    return WEFT_OK;
}

void weft_piece_trie_clear(struct weft_piece_trie *trie, const weft_host *host) {
    weft_free(host, trie->nodes);
    weft_free(host, trie->slots);
    *trie = (struct weft_piece_trie){0};
}

int32_t weft_piece_trie_find(const struct weft_piece_trie *trie, const char *text, size_t size) {
    uint32_t node = 0;
    for (size_t i = 0; i < size; i++) {
        if (!trie->nodes || !weft_piece_trie_step(trie, &node, (uint8_t)text[i])) {
            return -1;
        }
    }
    return trie->nodes ? trie->nodes[node].id : -1;
}

size_t weft_piece_trie_longest(const struct weft_piece_trie *trie, const char *text, size_t size,
                               uint64_t *steps) {
    size_t longest = 0;
    uint32_t node = 0;
    for (size_t i = 0; trie->nodes && i < size; i++) {
        ++*steps;
        if (!weft_piece_trie_step(trie, &node, (uint8_t)text[i])) {
            break;
        }
        if (trie->nodes[node].id >= 0) {
            longest = i + 1;
        }
    }
    return longest;
}
