/* SPDX-License-Identifier: MIT */
#include "core/hash.h"

#include <string.h>

/* FIPS 180-4, 4.2.2: the fractional bits of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t word, unsigned bits) {
    return word >> bits | word << (32 - bits);
}

static void expand_message(uint32_t schedule[64], const uint8_t block[64]) {
    for (size_t t = 0; t < 16; t++) {
        schedule[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
                      (uint32_t)block[4 * t + 2] << 8 | (uint32_t)block[4 * t + 3];
    }
    for (size_t t = 16; t < 64; t++) {
        uint32_t w15 = schedule[t - 15];
        uint32_t w2 = schedule[t - 2];
        uint32_t sigma0 = rotate_right(w15, 7) ^ rotate_right(w15, 18) ^ w15 >> 3;
        uint32_t sigma1 = rotate_right(w2, 17) ^ rotate_right(w2, 19) ^ w2 >> 10;
        schedule[t] = sigma1 + schedule[t - 7] + sigma0 + schedule[t - 16];
    }
}

/* A turn of FIPS 180-4, 6.2.2, of the standard's a to h: the names move on, and not the words. */
static inline void turn(uint32_t v[8], uint32_t first, uint32_t word) {
    uint32_t *at[8];
    for (uint32_t i = 0; i < 8; i++) {
        at[i] = &v[(first + i) % 8];
    }
    const uint32_t a = *at[0], e = *at[4];
    const uint32_t sum1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
    const uint32_t choose = (e & *at[5]) ^ (~e & *at[6]);
    const uint32_t added = *at[7] + sum1 + choose + word;
    const uint32_t sum0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
    const uint32_t majority = (a & *at[1]) ^ (a & *at[2]) ^ (*at[1] & *at[2]);
    *at[3] += added;
    *at[7] = added + sum0 + majority;
}

/* FIPS 180-4, 6.2.2. */
static void compress(uint32_t state[8], const uint8_t block[64]) {
    uint32_t schedule[64];
    expand_message(schedule, block);
    uint32_t v[8]; /* the standard's a to h */
    memcpy(v, state, sizeof v);
    for (size_t t = 0; t < 64; t += 8) {
        turn(v, 0, round_constants[t] + schedule[t]);
        turn(v, 7, round_constants[t + 1] + schedule[t + 1]);
        turn(v, 6, round_constants[t + 2] + schedule[t + 2]);
        turn(v, 5, round_constants[t + 3] + schedule[t + 3]);
        turn(v, 4, round_constants[t + 4] + schedule[t + 4]);
        turn(v, 3, round_constants[t + 5] + schedule[t + 5]);
        turn(v, 2, round_constants[t + 6] + schedule[t + 6]);
        turn(v, 1, round_constants[t + 7] + schedule[t + 7]);
    }
    for (size_t i = 0; i < 8; i++) {
        state[i] += v[i];
    }
}

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
        compress(hash->state, hash->block);
    }
    for (; size >= 64; bytes += 64, size -= 64) {
        compress(hash->state, bytes);
    }
    if (size > 0) {
        memcpy(hash->block, bytes, size);
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
