/* SPDX-License-Identifier: MIT */
#include "core/sha256_blocks.h"

#include <stdatomic.h>
#include <string.h>

const uint32_t weft_sha256_constants[64] = {
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
        turn(v, 0, weft_sha256_constants[t] + schedule[t]);
        turn(v, 7, weft_sha256_constants[t + 1] + schedule[t + 1]);
        turn(v, 6, weft_sha256_constants[t + 2] + schedule[t + 2]);
        turn(v, 5, weft_sha256_constants[t + 3] + schedule[t + 3]);
        turn(v, 4, weft_sha256_constants[t + 4] + schedule[t + 4]);
        turn(v, 3, weft_sha256_constants[t + 5] + schedule[t + 5]);
        turn(v, 2, weft_sha256_constants[t + 6] + schedule[t + 6]);
        turn(v, 1, weft_sha256_constants[t + 7] + schedule[t + 7]);
    }
    for (size_t i = 0; i < 8; i++) {
        state[i] += v[i];
    }
}

void weft_sha256_blocks_in_c(uint32_t state[8], const uint8_t *data, size_t count) {
    for (size_t i = 0; i < count; i++) {
        compress(state, data + 64 * i);
    }
}

static bool by_instructions(void) {
    static atomic_int found; /* 0: nobody has asked yet; else 1 and whether it has them */
    int has = atomic_load_explicit(&found, memory_order_relaxed);
    if (has == 0) {
        has = weft_sha256_has_instructions() ? 2 : 1;
        atomic_store_explicit(&found, has, memory_order_relaxed);
    }
    return has == 2;
}

void weft_sha256_blocks(uint32_t state[8], const uint8_t *data, size_t count) {
    if (by_instructions()) {
        weft_sha256_blocks_by_instructions(state, data, count);
        return;
    }
    weft_sha256_blocks_in_c(state, data, count);
}

void weft_sha256_blocks_of_two(uint32_t states[2][8], const uint8_t *const data[2], size_t count) {
    if (by_instructions()) {
        weft_sha256_blocks_of_two_by_instructions(states, data, count);
        return;
    }
    weft_sha256_blocks(states[0], data[0], count);
    weft_sha256_blocks(states[1], data[1], count);
}
