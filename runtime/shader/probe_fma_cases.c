/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "core/math/fused.h"
#include "shader/probe_cases.h"
#include "shader/probe_fma.h"
#include "shader/probe_random.h"

#define SEED     UINT64_C(0x667573656466) /* "fusedf" */
#define SIGN     UINT32_C(0x80000000)
#define INFINITE UINT32_C(0x7f800000)
#define FRACTION UINT32_C(0x007fffff)
#define LEAST    (-126)
#define ROOM     30 /* exponents below it leave no result subnormal */

/* ---- making inputs: words of floats a, b, c ---- */

static uint32_t float_of(uint32_t sign_and_fraction, int exponent) {
    return (sign_and_fraction & (SIGN | FRACTION)) | (uint32_t)(exponent + 127) << 23;
}

static int exponent_of(uint32_t word) {
    return (int)(word >> 23 & 255) - 127;
}

/* The product, rounded, or a number a few last places away, negated. */
static uint32_t minus_product(uint32_t a, uint32_t b, int steps) {
    const uint32_t product = weft_fused_multiply_add(a, b, (a ^ b) & SIGN);
    return (product ^ SIGN) + (uint32_t)steps;
}

static void make_cancellation(uint32_t x[3], struct weft_probe_random *generator) {
    x[0] = weft_probe_random_float(generator, -ROOM, ROOM);
    x[1] = weft_probe_random_float(generator, -ROOM, ROOM);
    x[2] = minus_product(x[0], x[1], weft_probe_random_between(generator, -2, 2));
}

/* A product that is half of c's last place, or a quarter, but for its own last bits. */
static void make_tie(uint32_t x[3], struct weft_probe_random *generator) {
    const int exponent = weft_probe_random_between(generator, -20, 20);
    const uint32_t tail = UINT32_C(1) << weft_probe_random_between(generator, 0, 22);
    const uint32_t other = weft_probe_random_word(generator) % 2 == 0 ? 0 : FRACTION & ~(tail - 1);
    const uint32_t signs = weft_probe_random_word(generator);
    x[0] = float_of(tail | (signs & SIGN), exponent);
    x[1] = float_of(other | (signs << 1 & SIGN), weft_probe_random_between(generator, -20, 20));
    const int product = exponent + exponent_of(x[1]);
    x[2] = weft_probe_random_float(generator, product + 22, product + 26);
}

static void make_far(uint32_t x[3], struct weft_probe_random *generator) {
    x[0] = weft_probe_random_float(generator, -ROOM, ROOM);
    x[1] = weft_probe_random_float(generator, -ROOM, ROOM);
    x[2] = weft_probe_random_float(generator, -ROOM, ROOM);
}

/* A product of 2^126 to 2^129, and an addend of the other sign, mostly. */
static void make_overflow(uint32_t x[3], struct weft_probe_random *generator) {
    x[0] = weft_probe_random_float(generator, 20, 100);
    x[1] = weft_probe_random_float(generator, 126 - exponent_of(x[0]), 128 - exponent_of(x[0]));
    x[2] = weft_probe_random_float(generator, 124, 127) & ~SIGN;
    const uint32_t same = weft_probe_random_word(generator) % 4 == 0 ? SIGN : 0;
    x[2] |= ~(x[0] ^ x[1] ^ same) & SIGN;
}

static void make_special(uint32_t x[3], struct weft_probe_random *generator) {
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t word = weft_probe_random_word(generator);
        switch (weft_probe_random_word(generator) % 5) {
        case 0:
            x[i] = (word & SIGN) | INFINITE;
            break;
        case 1: /* quiet */
            x[i] = word | UINT32_C(0x7fc00000);
            break;
        case 2:
            x[i] = word & SIGN;
            break;
        case 3:
            x[i] = weft_probe_random_float(generator, 120, 127);
            break;
        default:
            x[i] = weft_probe_random_float(generator, -20, 20);
        }
    }
}

/* Results of 2^-126 and less: what a product and an addend that nearly cancel leave. */
static void make_small(uint32_t x[3], struct weft_probe_random *generator) {
    x[0] = weft_probe_random_float(generator, -80, -40);
    x[1] = weft_probe_random_float(generator, LEAST - exponent_of(x[0]),
                                   LEAST + 20 - exponent_of(x[0]));
    x[2] = minus_product(x[0], x[1], weft_probe_random_between(generator, -9, 9));
}

/* ±2^-126, or a number beside it, and a product of 2^-153 to 2^-149 times 1, or nearly, which decides to which side it is rounded. */
static void make_border(uint32_t x[3], struct weft_probe_random *generator) {
    const uint32_t signs = weft_probe_random_word(generator);
    const uint32_t tail = weft_probe_random_word(generator) % 3 == 0
                              ? 0
                              : UINT32_C(1) << weft_probe_random_between(generator, 0, 22);
    const uint32_t other = weft_probe_random_word(generator) % 2 == 0 ? 0 : FRACTION & ~(tail - 1);
    const int exponent = weft_probe_random_between(generator, -100, -60);
    x[0] = float_of(tail | (signs & SIGN), exponent);
    x[1] = float_of(other | (signs << 1 & SIGN),
                    weft_probe_random_between(generator, -153, -149) - exponent);
    x[2] = float_of((signs << 2 & SIGN) | signs % 3, LEAST);
}

/* A product about 2^-126 with nothing or next to nothing to add. */
static void make_least_product(uint32_t x[3], struct weft_probe_random *generator) {
    const int exponent = weft_probe_random_between(generator, -80, -40);
    const uint32_t near = weft_probe_random_word(generator) % 4;
    x[0] = float_of((weft_probe_random_word(generator) & SIGN) | (FRACTION - near), exponent);
    x[1] = float_of(weft_probe_random_word(generator) & (SIGN | 3), LEAST - 1 - exponent);
    x[2] = weft_probe_random_word(generator) & SIGN;
}

static void make_subnormal(uint32_t x[3], struct weft_probe_random *generator) {
    const uint32_t which = weft_probe_random_word(generator) % 7 + 1;
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t word = weft_probe_random_word(generator);
        x[i] = (which >> i & 1) != 0 ? word & (SIGN | FRACTION)
                                     : weft_probe_random_float(generator, i == 2 ? LEAST : -20, 60);
    }
}

typedef void maker(uint32_t x[3], struct weft_probe_random *generator);

void weft_probe_fma_make(uint32_t *inputs) {
    static maker *const plain[] = {make_cancellation, make_tie,      make_far,
                                   make_tie,          make_overflow, make_special};
    static maker *const small[] = {make_small, make_border, make_least_product, make_subnormal};
    struct weft_probe_random generator = {.seed = SEED};
    for (uint32_t i = 0; i < WEFT_PROBE_FMA_CASES; i++) {
        maker *const make = i < WEFT_PROBE_FMA_PLAIN ? plain[i % (sizeof plain / sizeof plain[0])]
                                                     : small[i % (sizeof small / sizeof small[0])];
        make(&inputs[(size_t)i * WEFT_PROBE_FMA_INPUTS], &generator);
    }
}

/* ---- judging ---- */

static const char *const operations[WEFT_PROBE_FMA_RESULTS] = {
    "fma(a, b, c)", "fma(-a, b, c)", "fma(a, b, -c)", "fma(fma(a, b, c), b, a)"};

static void expect(uint32_t expected[WEFT_PROBE_FMA_RESULTS], const uint32_t x[3]) {
    expected[0] = weft_fused_multiply_add(x[0], x[1], x[2]);
    expected[1] = weft_fused_multiply_add(x[0] ^ SIGN, x[1], x[2]);
    expected[2] = weft_fused_multiply_add(x[0], x[1], x[2] ^ SIGN);
    expected[3] = weft_fused_multiply_add(expected[0], x[1], x[0]);
}

static bool is_nan(uint32_t word) {
    return (word & ~SIGN) > INFINITE;
}

uint32_t weft_probe_fma_judge(char *text, size_t size, const uint32_t *inputs,
                              const uint32_t *results) {
    uint32_t verdict = WEFT_PROBE_RIGHT;
    for (uint32_t i = 0; i < WEFT_PROBE_FMA_CASES && verdict == WEFT_PROBE_RIGHT; i++) {
        const uint32_t *x = &inputs[(size_t)i * WEFT_PROBE_FMA_INPUTS];
        uint32_t expected[WEFT_PROBE_FMA_RESULTS];
        expect(expected, x);
        for (uint32_t k = 0; k < WEFT_PROBE_FMA_RESULTS && verdict == WEFT_PROBE_RIGHT; k++) {
            const uint32_t found = results[i * WEFT_PROBE_FMA_RESULTS + k];
            if (found == expected[k] || (is_nan(found) && is_nan(expected[k]))) {
                continue;
            }
            verdict = i < WEFT_PROBE_FMA_PLAIN ? WEFT_PROBE_WRONG : WEFT_PROBE_KEEPS_SUBNORMALS;
            (void)snprintf(text, size,
                           "%s with a=0x%08x, b=0x%08x, c=0x%08x gives 0x%08x, rounded once it is "
                           "0x%08x",
                           operations[k], x[0], x[1], x[2], found, expected[k]);
        }
    }
    return verdict;
}
