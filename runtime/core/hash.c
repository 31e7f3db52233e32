/* SPDX-License-Identifier: MIT */
#include "core/hash.h"

#include <string.h>

#include "core/sha256_blocks.h"

void weft_sha256_begin(weft_sha256 *hash) {
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, initial, sizeof initial);
    hash->length = 0;
}

void weft_sha256_add(weft_sha256 *hash, const void *data, size_t size) {
    const uint8_t *bytes = data;
    size_t held = (size_t)(hash->length % 64);
    hash->length += size;
    if (held > 0 && size > 0) {
        size_t taken = size < 64 - held ? size : 64 - held;
        memcpy(hash->block + held, bytes, taken);
        bytes += taken;
        size -= taken;
        if (held + taken < 64) {
            return;
        }
        weft_sha256_blocks(hash->state, hash->block, 1);
    }
    weft_sha256_blocks(hash->state, bytes, size / 64);
    if (size % 64 > 0) {
        memcpy(hash->block, bytes + size / 64 * 64, size % 64);
    }
}

weft_digest weft_sha256_end(weft_sha256 *hash) {
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = hash->length * 8;
    size_t held = (size_t)(hash->length % 64);
    weft_sha256_add(hash, padding, held < 56 ? 56 - held : 120 - held);
    uint8_t length[8];
    for (size_t i = 0; i < 8; i++) {
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    weft_sha256_add(hash, length, sizeof length);
    weft_digest digest;
    for (size_t i = 0; i < 32; i++) {
        digest.bytes[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
    }
    return digest;
}

weft_digest weft_digest_of(const void *data, size_t size) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, data, size);
    return weft_sha256_end(&hash);
}

void weft_tree_hash_begin(weft_tree_hash *hash) {
    weft_sha256_begin(&hash->root);
    weft_sha256_begin(&hash->leaf);
}

static void end_leaf(weft_tree_hash *hash, weft_sha256 *leaf) {
    const weft_digest digest = weft_sha256_end(leaf);
    weft_sha256_add(&hash->root, digest.bytes, sizeof digest.bytes);
    weft_sha256_begin(leaf);
}

/* Two whole leaves. */
static void add_two(weft_tree_hash *hash, const uint8_t *bytes) {
    uint32_t states[2][8];
    memcpy(states[0], hash->leaf.state, sizeof states[0]);
    memcpy(states[1], hash->leaf.state, sizeof states[1]);
    const uint8_t *const data[2] = {bytes, bytes + WEFT_TREE_LEAF};
    weft_sha256_blocks_of_two(states, data, WEFT_TREE_LEAF / 64);
    for (size_t i = 0; i < 2; i++) {
        weft_sha256 leaf = {.length = WEFT_TREE_LEAF};
        memcpy(leaf.state, states[i], sizeof leaf.state);
        end_leaf(hash, &leaf);
    }
}

void weft_tree_hash_add(weft_tree_hash *hash, const void *data, size_t size) {
    const uint8_t *bytes = data;
    while (size > 0) {
        const size_t held = (size_t)hash->leaf.length;
        if (held == 0 && size >= 2 * WEFT_TREE_LEAF) {
            add_two(hash, bytes);
            bytes += 2 * WEFT_TREE_LEAF;
            size -= 2 * WEFT_TREE_LEAF;
            continue;
        }
        const size_t room = WEFT_TREE_LEAF - held;
        const size_t taken = size < room ? size : room;
        weft_sha256_add(&hash->leaf, bytes, taken);
        if (taken == room) {
            end_leaf(hash, &hash->leaf);
        }
        bytes += taken;
        size -= taken;
    }
}

weft_digest weft_tree_hash_end(weft_tree_hash *hash) {
    if (hash->leaf.length > 0) {
        end_leaf(hash, &hash->leaf);
    }
    return weft_sha256_end(&hash->root);
}

const char *weft_digest_text(const weft_digest *digest, char *text) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < 32; i++) {
        text[2 * i] = digits[digest->bytes[i] >> 4];
        text[2 * i + 1] = digits[digest->bytes[i] & 15];
    }
    text[64] = '\0';
    return text;
}

bool weft_is_digest_text(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f'))) {
            return false;
        }
    }
    return length == WEFT_DIGEST_TEXT_SIZE - 1;
}
