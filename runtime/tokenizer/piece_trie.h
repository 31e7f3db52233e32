/* SPDX-License-Identifier: MIT */
/* A prefix tree over pieces of text: which of them a text begins with. */
#ifndef WEFT_TOKENIZER_PIECE_TRIE_H
#define WEFT_TOKENIZER_PIECE_TRIE_H

#include "core/host.h"

/** A piece on its way into a tree; the text is borrowed until the tree is made. */
struct weft_piece_entry {
    const char *text;
    uint32_t size;
    int32_t id;
};

/** For qsort: by their bytes, and of equal ones by id. */
int weft_piece_entry_compare(const void *left, const void *right);

/**
 * The children of a node are numbered one after the other, by label. `slots` say which child a byte leads to: where the
 * labels lie close together one slot for each byte from `low` on, with the number of the child from 1 on, or 0; else one
 * for each child, with its label.
 */
struct weft_piece_node {
    uint32_t first; /* child */
    uint32_t slot;
    int32_t id; /* of the piece that ends here, or -1 */
    uint8_t low;
    uint8_t slots;
    bool labels;
};

/** Node 0 is the root. Without nodes: no pieces. */
struct weft_piece_trie {
    struct weft_piece_node *nodes;
    uint8_t *slots;
};

/**
 * Makes the tree of `count` entries, which are sorted by their bytes, not empty, UTF-8, and differ from each other; takes time
 * in proportion to their bytes. WEFT_OUT_OF_HOST_MEMORY, logged with `what`.
 */
weft_status weft_piece_trie_create(struct weft_piece_trie *trie,
                                   const struct weft_piece_entry *entries, uint32_t count,
                                   const char *what, const weft_host *host);
void weft_piece_trie_clear(struct weft_piece_trie *trie, const weft_host *host);

/** Goes from *node to its child by that byte; false when there is none. */
static inline bool weft_piece_trie_step(const struct weft_piece_trie *trie, uint32_t *node,
                                        uint8_t byte) {
    const struct weft_piece_node *from = &trie->nodes[*node];
    const uint8_t *slots = trie->slots + from->slot;
    if (!from->labels) {
        const unsigned at = (unsigned)byte - from->low;
        if (at >= from->slots || slots[at] == 0) {
            return false;
        }
        *node = from->first + slots[at] - 1;
        return true;
    }
    for (uint32_t i = 0; i < from->slots; i++) {
        if (slots[i] == byte) {
            *node = from->first + i;
            return true;
        }
    }
    return false;
}

/** The id of the piece that is exactly these bytes, or -1. */
int32_t weft_piece_trie_find(const struct weft_piece_trie *trie, const char *text, size_t size);

/** The length of the longest piece that the text begins with, or 0. Adds the bytes that it looks at to *steps. */
size_t weft_piece_trie_longest(const struct weft_piece_trie *trie, const char *text, size_t size,
                               uint64_t *steps);

#endif
