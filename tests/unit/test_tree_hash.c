/* SPDX-License-Identifier: MIT */
/* SHA-256 by instructions and in C, and the hash of hashes, by their definitions. */
#include <string.h>

#include "core/hash.h"
#include "core/math/philox.h"
#include "core/sha256_blocks.h"
#include "support.h"

enum { MOST = 5 * 65536 + 77 };

static uint8_t *make_bytes(size_t size) {
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)weft_philox_u32(5, 0, i);
    }
    return bytes;
}

WEFT_TEST(instructions_give_what_c_gives) {
    if (!weft_sha256_has_instructions()) {
        skip();
    }
    uint8_t *bytes = make_bytes(64 * 130);
    for (size_t count = 0; count <= 65; count++) {
        uint32_t alone[2][8], instructed[8], together[2][8];
        for (uint32_t i = 0; i < 8; i++) {
            alone[0][i] = instructed[i] = together[0][i] = weft_philox_u32(6, 0, i);
            alone[1][i] = together[1][i] = weft_philox_u32(6, 1, i);
        }
        const uint8_t *const data[2] = {bytes + 64, bytes + 1};
        weft_sha256_blocks_in_c(alone[0], data[0], count);
        weft_sha256_blocks_in_c(alone[1], data[1], count);
        weft_sha256_blocks_by_instructions(instructed, data[0], count);
        weft_sha256_blocks_of_two_by_instructions(together, data, count);
        assert_memory_equal(instructed, alone[0], sizeof instructed);
        assert_memory_equal(together, alone, sizeof together);
    }
    free(bytes);
}

static weft_digest tree_as_defined(const uint8_t *bytes, size_t size) {
    weft_sha256 root;
    weft_sha256_begin(&root);
    for (size_t at = 0; at < size; at += 65536) {
        const weft_digest leaf = weft_digest_of(bytes + at, size - at < 65536 ? size - at : 65536);
        weft_sha256_add(&root, leaf.bytes, sizeof leaf.bytes);
    }
    return weft_sha256_end(&root);
}

WEFT_TEST(trees_are_as_defined_however_they_are_cut) {
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 131072, 200000, MOST};
    uint8_t *bytes = make_bytes(MOST);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const weft_digest expected = tree_as_defined(bytes, sizes[i]);
        for (uint32_t way = 0; way < 8; way++) {
            weft_tree_hash hash;
            weft_tree_hash_begin(&hash);
            for (size_t at = 0, piece; at < sizes[i]; at += piece) {
                piece = way == 0 ? sizes[i] : 1 + weft_philox_u32(way, 1, at) % 150000;
                piece = piece < sizes[i] - at ? piece : sizes[i] - at;
                weft_tree_hash_add(&hash, bytes + at, piece);
                weft_tree_hash_add(&hash, bytes, 0);
            }
            const weft_digest found = weft_tree_hash_end(&hash);
            assert_memory_equal(&found, &expected, sizeof found);
        }
    }
    free(bytes);
}
