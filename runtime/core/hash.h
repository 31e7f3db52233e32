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
/** Lower-case hexadecimal; text holds WEFT_DIGEST_TEXT_SIZE bytes. Returns text. */
const char *weft_digest_text(const weft_digest *digest, char *text);
/** Whether `length` characters are 64 lower-case hexadecimal digits, as weft_digest_text writes. */
bool weft_is_digest_text(const char *text, size_t length);

#endif
