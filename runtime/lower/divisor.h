/* SPDX-License-Identifier: MIT */
/* Division by a number that is known when a node is lowered, for shaders/include/divide.glsl. */
#ifndef WEFT_LOWER_DIVISOR_H
#define WEFT_LOWER_DIVISOR_H

#include <stdint.h>

struct weft_divisor {
    uint32_t magic, shift;
};

/**
 * ⌊n / divisor⌋ is (2n · magic / 2^32) >> shift, rounded down, for n < 2^31 and divisors 1 … 2^31: Granlund and Montgomery,
 * "Division by invariant integers using multiplication", 1994, theorem 4.2 with N = 31. For 0, by which nothing is divided, 1's.
 */
static inline struct weft_divisor weft_divisor_of(uint32_t divisor) {
    uint32_t shift = 0;
    divisor += divisor == 0;
    while (UINT64_C(1) << shift < divisor) {
        shift++;
    }
    const uint64_t power = UINT64_C(1) << (31 + shift);
    return (struct weft_divisor){.magic = (uint32_t)((power + divisor - 1) / divisor),
                                 .shift = shift};
}

/** The fields of push constants that WEFT_INVERSE(field) of shaders/include/divide.glsl declares. */
#define WEFT_INVERSE(field, divisor) \
    .field##_magic = weft_divisor_of(divisor).magic, .field##_shift = weft_divisor_of(divisor).shift

/** The shifts of several, five bits each, the first in the lowest: at most six. */
static inline uint32_t weft_divisor_shifts(const struct weft_divisor *divisors, uint32_t count) {
    uint32_t shifts = 0;
    for (uint32_t i = 0; i < count; i++) {
        shifts |= divisors[i].shift << (5 * i);
    }
    return shifts;
}

#endif
