/* SPDX-License-Identifier: MIT */
/* SHA-256 by the instructions of x86 processors (Intel, "SHA Extensions"): four words of the schedule in a register. */
#include "core/sha256_blocks.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>
#include <immintrin.h>

#define WITH_SHA __attribute__((target("sha,sse4.1,ssse3")))

bool weft_sha256_has_instructions(void) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1U << 9) || !(c & 1U << 19)) {
        return false; /* SSSE3, SSE4.1 */
    }
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1U << 29);
}

/* The instructions have the standard's a, b, e, f in one register, and c, d, g, h in the other. */
struct halves {
    __m128i abef, cdgh;
};

WITH_SHA static inline struct halves load_state(const uint32_t state[8]) {
    const __m128i first = _mm_loadu_si128((const __m128i *)(const void *)state);
    const __m128i second = _mm_loadu_si128((const __m128i *)(const void *)(state + 4));
    const __m128i cdab = _mm_shuffle_epi32(first, 0xB1);
    const __m128i efgh = _mm_shuffle_epi32(second, 0x1B);
    return (struct halves){_mm_alignr_epi8(cdab, efgh, 8), _mm_blend_epi16(efgh, cdab, 0xF0)};
}

WITH_SHA static inline void store_state(uint32_t state[8], struct halves halves) {
    const __m128i feba = _mm_shuffle_epi32(halves.abef, 0x1B);
    const __m128i dchg = _mm_shuffle_epi32(halves.cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

/* Four turns; `words`: the last 16 of the schedule, of which quarter `at` % 4 is the oldest and becomes the next. */
WITH_SHA static inline void four_turns(struct halves *halves, __m128i words[4], unsigned at) {
    __m128i *own = &words[at % 4];
    if (at >= 4) {
        const __m128i last = words[(at + 3) % 4];
        const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(*own, words[(at + 1) % 4]),
                                          _mm_alignr_epi8(last, words[(at + 2) % 4], 4));
        *own = _mm_sha256msg2_epu32(sum, last);
    }
    const __m128i constants =
        _mm_loadu_si128((const __m128i *)(const void *)&weft_sha256_constants[(size_t)4 * at]);
    const __m128i added = _mm_add_epi32(*own, constants);
    halves->cdgh = _mm_sha256rnds2_epu32(halves->cdgh, halves->abef, added);
    halves->abef =
        _mm_sha256rnds2_epu32(halves->abef, halves->cdgh, _mm_shuffle_epi32(added, 0x0E));
}

WITH_SHA static inline void load_block(__m128i words[4], const uint8_t *block) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    for (size_t i = 0; i < 4; i++) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(block + 16 * i));
        words[i] = _mm_shuffle_epi8(bytes, swap);
    }
}

WITH_SHA static inline struct halves add_halves(struct halves a, struct halves b) {
    return (struct halves){_mm_add_epi32(a.abef, b.abef), _mm_add_epi32(a.cdgh, b.cdgh)};
}

WITH_SHA void weft_sha256_blocks_by_instructions(uint32_t state[8], const uint8_t *data,
                                                 size_t count) {
    struct halves now = load_state(state);
    for (size_t i = 0; i < count; i++) {
        __m128i words[4];
        const struct halves before = now;
        load_block(words, data + 64 * i);
#pragma GCC unroll 16
        for (unsigned at = 0; at < 16; at++) {
            four_turns(&now, words, at);
        }
        now = add_halves(now, before);
    }
    store_state(state, now);
}

WITH_SHA void weft_sha256_blocks_of_two_by_instructions(uint32_t states[2][8],
                                                        const uint8_t *const data[2],
                                                        size_t count) {
    struct halves a = load_state(states[0]);
    struct halves b = load_state(states[1]);
    for (size_t i = 0; i < count; i++) {
        __m128i words_a[4], words_b[4];
        const struct halves before_a = a, before_b = b;
        load_block(words_a, data[0] + 64 * i);
        load_block(words_b, data[1] + 64 * i);
#pragma GCC unroll 16
        for (unsigned at = 0; at < 16; at++) {
            four_turns(&a, words_a, at);
            four_turns(&b, words_b, at);
        }
        a = add_halves(a, before_a);
        b = add_halves(b, before_b);
    }
    store_state(states[0], a);
    store_state(states[1], b);
}

#else

bool weft_sha256_has_instructions(void) {
    return false;
}

void weft_sha256_blocks_by_instructions(uint32_t state[8], const uint8_t *data, size_t count) {
    (void)state, (void)data, (void)count;
}

void weft_sha256_blocks_of_two_by_instructions(uint32_t states[2][8], const uint8_t *const data[2],
                                               size_t count) {
    (void)states, (void)data, (void)count;
}

#endif
