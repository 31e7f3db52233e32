/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4): identifies shaders, caches and result bits. */
#ifndef WEFT_CORE_HASH_H
#define WEFT_CORE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct weft_sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes taken so far */
    uint8_t block[64];
} weft_sha256;

typedef struct weft_digest {
    uint8_t bytes[32];
} weft_digest;

#define WEFT_DIGEST_TEXT_SIZE 65

void weft_sha256_begin(weft_sha256 *hash);
void weft_sha256_add(weft_sha256 *hash, const void *data, size_t size);
weft_digest weft_sha256_end(weft_sha256 *hash);

weft_digest weft_digest_of(const void *data, size_t size);

/**
 * For much data: the SHA-256 of the SHA-256s of each 64 KiB, of which the last may be shorter. Two of these are computed at once.
 */
#define WEFT_TREE_LEAF ((size_t)64 << 10)
typedef struct weft_tree_hash {
    weft_sha256 root, leaf;
} weft_tree_hash;

void weft_tree_hash_begin(weft_tree_hash *hash);
void weft_tree_hash_add(weft_tree_hash *hash, const void *data, size_t size);
weft_digest weft_tree_hash_end(weft_tree_hash *hash);

/** Lower-case hexadecimal; text holds WEFT_DIGEST_TEXT_SIZE bytes. Returns text. */
const char *weft_digest_text(const weft_digest *digest, char *text);
/** True if `length` characters are 64 lower-case hexadecimal digits, as weft_digest_text writes. */
bool weft_is_digest_text(const char *text, size_t length);

#endif
