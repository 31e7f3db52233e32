/* SPDX-License-Identifier: MIT */
#include "core/math/philox.h"

/* The multipliers and Weyl increments of Salmon et al., section 3.3 and table 2. */
#define MULTIPLIER_0 UINT64_C(0xD2511F53)
#define MULTIPLIER_1 UINT64_C(0xCD9E8D57)
#define WEYL_0       UINT32_C(0x9E3779B9)
#define WEYL_1       UINT32_C(0xBB67AE85)

void weft_philox(uint32_t counter[4], uint64_t key) {
    uint32_t key0 = (uint32_t)key;
    uint32_t key1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t product0 = MULTIPLIER_0 * counter[0];
        uint64_t product1 = MULTIPLIER_1 * counter[2];
        counter[0] = (uint32_t)(product1 >> 32) ^ counter[1] ^ key0;
        counter[1] = (uint32_t)product1;
        counter[2] = (uint32_t)(product0 >> 32) ^ counter[3] ^ key1;
        counter[3] = (uint32_t)product0;
        key0 += WEYL_0;
        key1 += WEYL_1;
    }
}

/* Words 4 * block to 4 * block + 3 of a stream: the counter is the block, then the stream. */
static void stream_block(uint32_t words[4], uint64_t seed, uint64_t stream, uint64_t block) {
    words[0] = (uint32_t)block;
    words[1] = (uint32_t)(block >> 32);
    words[2] = (uint32_t)stream;
    words[3] = (uint32_t)(stream >> 32);
    weft_philox(words, seed);
}

uint32_t weft_philox_u32(uint64_t seed, uint64_t stream, uint64_t index) {
    uint32_t words[4];
    stream_block(words, seed, stream, index / 4);
    return words[index % 4];
}

void weft_philox_uniform(float *out, size_t count, uint64_t seed, uint64_t stream) {
    uint32_t words[4];
    for (size_t i = 0; i < count; i++) {
        if (i % 4 == 0) {
            stream_block(words, seed, stream, i / 4);
        }
        /* 24 bits, shifted to be signed: both the integer and its product by 2^-23 are exact. */
        int32_t integer = (int32_t)(words[i % 4] >> 8) - (1 << 23);
        out[i] = (float)integer * 0x1p-23f;
    }
}
