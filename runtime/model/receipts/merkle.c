/* SPDX-License-Identifier: MIT */
#include "model/receipts/merkle.h"

enum { LEAF = 0, NODE = 1, ROOT = 2, NOTHING = 3 };

static weft_digest hash_of(uint8_t what, const void *first, size_t size,
                           const weft_digest *second) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, &what, 1);
    if (size > 0) {
        weft_sha256_add(&hash, first, size);
    }
    if (second) {
        weft_sha256_add(&hash, second->bytes, sizeof second->bytes);
    }
    return weft_sha256_end(&hash);
}

weft_digest weft_merkle_leaf(const weft_digest *chain) {
    return hash_of(LEAF, chain->bytes, sizeof chain->bytes, NULL);
}

static weft_digest node_of(const weft_digest *left, const weft_digest *right) {
    return hash_of(NODE, left->bytes, sizeof left->bytes, right);
}

static weft_digest root_of(uint32_t count, const weft_digest *top) {
    uint8_t bytes[8] = {0};
    for (size_t i = 0; i < sizeof count; i++) {
        bytes[i] = (uint8_t)(count >> (8 * i));
    }
    return hash_of(ROOT, bytes, sizeof bytes, top);
}

/* Whether the other of a pair, `level` levels above the leaves, has a record below it. */
static bool has_sibling(uint32_t index, uint32_t level, uint32_t count) {
    return (uint64_t)((index >> level) ^ 1U) << level < count;
}

uint32_t weft_merkle_depth(uint32_t count) {
    uint32_t depth = 0;
    while ((uint64_t)1 << depth < count) {
        depth++;
    }
    return depth;
}

uint32_t weft_merkle_path_length(uint32_t index, uint32_t count) {
    uint32_t length = 0;
    for (uint32_t level = 0; level < weft_merkle_depth(count); level++) {
        length += has_sibling(index, level, count);
    }
    return length;
}

/* Row by row, each in the place of the row below. */
static weft_digest reduce(weft_digest *row, uint32_t count, struct weft_merkle_path *path,
                          uint32_t index) {
    weft_digest nothing = hash_of(NOTHING, NULL, 0, NULL);
    uint32_t left = count; /* nodes of the row with a record below them */
    for (uint32_t level = 0; level < weft_merkle_depth(count); level++) {
        if (path && has_sibling(index, level, count)) {
            path->at[path->count++] = row[(index >> level) ^ 1U];
        }
        for (uint32_t i = 0; i < left; i += 2) {
            row[i / 2] = node_of(&row[i], i + 1 < left ? &row[i + 1] : &nothing);
        }
        left = (left + 1) / 2;
        nothing = node_of(&nothing, &nothing);
    }
    return row[0];
}

weft_status weft_merkle_root(weft_digest *root, struct weft_merkle_path *path,
                             const weft_receipt *receipt, uint32_t index) {
    weft_digest top = hash_of(NOTHING, NULL, 0, NULL);
    if (path) {
        path->count = 0;
    }
    if (receipt->count > 0) {
        weft_digest *row = weft_alloc_zero(&receipt->host, receipt->count, sizeof *row);
        if (!row) {
            return weft_fail_memory(&receipt->host, "a receipt's root");
        }
        for (uint32_t i = 0; i < receipt->count; i++) {
            row[i] = weft_merkle_leaf(&receipt->records[i].chain);
        }
        top = reduce(row, receipt->count, path, index);
        weft_free(&receipt->host, row);
    }
    *root = root_of(receipt->count, &top);
    return WEFT_OK;
}

void weft_merkle_climb(struct weft_merkle_climb *climb, const weft_digest *chain, uint32_t index,
                       uint32_t count, const struct weft_merkle_path *path, uint32_t depth) {
    weft_digest nothing = hash_of(NOTHING, NULL, 0, NULL);
    uint32_t used = 0;
    climb->nodes[0] = weft_merkle_leaf(chain);
    for (uint32_t level = 0; level < depth; level++) {
        const bool given = has_sibling(index, level, count);
        const weft_digest *here = &climb->nodes[level];
        const weft_digest *other = &climb->siblings[level];
        climb->siblings[level] = given ? path->at[used++] : nothing;
        climb->nodes[level + 1] =
            (index >> level) % 2 == 1 ? node_of(other, here) : node_of(here, other);
        nothing = node_of(&nothing, &nothing);
    }
}

weft_digest weft_merkle_root_of(const weft_digest *chain, uint32_t index, uint32_t count,
                                const struct weft_merkle_path *path) {
    struct weft_merkle_climb climb;
    const uint32_t depth = weft_merkle_depth(count);
    weft_merkle_climb(&climb, chain, index, count, path, depth);
    return root_of(count, &climb.nodes[depth]);
}
