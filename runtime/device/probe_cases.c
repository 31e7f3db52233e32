/* SPDX-License-Identifier: MIT */
#include "device/probe_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/philox.h"

#define SEED UINT64_C(0x70726f6265) /* "probe" */

/* In the order of the shader's results. The operands are letters of "abcde", as many as the
 * operation has. */
static const struct {
    const char *text;
    const char *operands;
    bool is_float;
} operations[WEFT_PROBE_RESULTS] = {
    {"a + b", "ab", true},
    {"a - b", "ab", true},
    {"a * b", "ab", true},
    {"a * b + c", "abc", true},
    {"a * b - c", "abc", true},
    {"c - a * b", "abc", true},
    {"(a + b) + c", "abc", true},
    {"(a + b) - a", "ab", true},
    {"-a", "a", true},
    {"a compared with b", "ab", false},
    {"float(int d)", "d", true},
    {"float(exact uint d)", "d", true},
    {"int(float e)", "e", false},
    {"uint(abs e)", "e", false},
};

static float float_of(uint32_t word) {
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static uint32_t word_of(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/*
 * One correctly rounded operation each. Through volatile, so that no compiler flag can fuse them or
 * keep more bits than a float has (wider registers then round twice, which for these operations is
 * known to be harmless).
 */
static float add(float a, float b) {
    volatile float sum = a + b;
    return sum;
}

static float subtract(float a, float b) {
    volatile float difference = a - b;
    return difference;
}

static float multiply(float a, float b) {
    volatile float product = a * b;
    return product;
}

static uint32_t compare(float a, float b) {
    return (a < b ? 1u : 0u) | (a <= b ? 2u : 0u) | (a == b ? 4u : 0u) | (a != b ? 8u : 0u) |
           (a > b ? 16u : 0u) | (a >= b ? 32u : 0u);
}

/* An integer rounded to the nearest float, ties to even, in integer arithmetic: no host rounding
 * mode matters. */
static uint32_t float_word_of_integer(uint32_t magnitude, bool negative) {
    if (magnitude == 0) {
        return 0;
    }
    uint32_t exponent = 31;
    while ((magnitude >> exponent) == 0) {
        exponent--;
    }
    uint64_t significand = (uint64_t)magnitude << 32 >> exponent; /* 1.32 fixed point */
    uint64_t kept = significand >> 9;
    const uint64_t rest = significand & 0x1ff;
    if (rest > 0x100 || (rest == 0x100 && (kept & 1) != 0)) {
        kept++;
    }
    /* A carry out of the significand adds one to the exponent, which is what the format wants. */
    const uint64_t word = ((uint64_t)(exponent + 126) << 23) + kept;
    return (uint32_t)word | (negative ? UINT32_C(0x80000000) : 0);
}

static uint32_t float_word_of_int(uint32_t d) {
    const bool negative = (d >> 31) != 0;
    return float_word_of_integer(negative ? ~d + 1u : d, negative);
}

void weft_probe_expect(struct weft_probe_result *expected, const struct weft_probe_input *input) {
    const float a = float_of(input->word[0]);
    const float b = float_of(input->word[1]);
    const float c = float_of(input->word[2]);
    const uint32_t d = input->word[3];
    const float e = float_of(input->word[4]);
    const float sum = add(a, b);
    const float product = multiply(a, b);
    *expected = (struct weft_probe_result){{
        word_of(sum),
        word_of(subtract(a, b)),
        word_of(product),
        word_of(add(product, c)),
        word_of(subtract(product, c)),
        word_of(subtract(c, product)),
        word_of(add(sum, c)),
        word_of(subtract(sum, a)),
        input->word[0] ^ UINT32_C(0x80000000),
        compare(a, b),
        float_word_of_int(d),
        float_word_of_integer(d < 0x1000000 ? d : d & 0xffffff00, false),
        (uint32_t)(int32_t)e,
        (uint32_t)fabsf(e),
    }};
}

/* ---- making inputs ---- */

struct generator {
    uint64_t next;
};

static uint32_t random_word(struct generator *generator) {
    return weft_philox_u32(SEED, 0, generator->next++);
}

/* A whole number in [low, high]. */
static int random_between(struct generator *generator, int low, int high) {
    return low + (int)(random_word(generator) % (uint32_t)(high - low + 1));
}

/* Any significand and sign, with an exponent in [low, high]. */
static float random_float(struct generator *generator, int low, int high) {
    const uint32_t exponent = (uint32_t)(random_between(generator, low, high) + 127);
    return float_of((random_word(generator) & UINT32_C(0x807fffff)) | exponent << 23);
}

static int exponent_of(float value) {
    return (int)(word_of(value) >> 23 & 0xff) - 127;
}

/* A float whose last place is `steps` away. */
static float beside(float value, int steps) {
    return float_of(word_of(value) + (uint32_t)steps);
}

static void set(struct weft_probe_input *input, float a, float b, float c) {
    input->word[0] = word_of(a);
    input->word[1] = word_of(b);
    input->word[2] = word_of(c);
}

static void make_sum(struct weft_probe_input *input, struct generator *generator) {
    const float a = random_float(generator, -20, 20);
    const int exponent = exponent_of(a);
    const float b = random_float(generator, exponent - 26, exponent);
    set(input, a, b, random_float(generator, exponent - 26, exponent));
}

/* b is an odd number of halves of a's last place, so a + b lies midway between two floats unless it
 * changes binade. */
static void make_tied_sum(struct weft_probe_input *input, struct generator *generator) {
    const float a = random_float(generator, -20, 20);
    const float half = ldexpf(1.0f, exponent_of(a) - 24);
    const float b = half * (float)(2 * random_between(generator, -8, 7) + 1);
    set(input, a, b, b);
}

static void make_cancellation(struct weft_probe_input *input, struct generator *generator) {
    const float a = random_float(generator, -20, 20);
    const float b = -beside(a, random_between(generator, -3, 3));
    set(input, a, b, random_float(generator, -20, 20));
}

/* Odd factors of 13 bits: a product of 25 bits lies midway between two floats. */
static void make_tied_product(struct weft_probe_input *input, struct generator *generator) {
    /* One call a statement: compilers differ in the order in which they evaluate arguments. */
    const float factor = (float)(2 * random_between(generator, 2048, 4095) + 1);
    const float b = (float)(2 * random_between(generator, -4096, 4095) + 1);
    const float a = ldexpf(factor, random_between(generator, -30, 10));
    set(input, a, b, random_float(generator, 0, 10));
}

/* c takes away what the rounded product is, or nearly: what remains is the rounding error, if the
 * rounding was left out. */
static void make_contraction(struct weft_probe_input *input, struct generator *generator) {
    const float a = random_float(generator, -10, 10);
    const float b = random_float(generator, -10, 10);
    const float c = beside(multiply(a, b), random_between(generator, -2, 2));
    set(input, a, b, random_word(generator) % 2 == 0 ? c : -c);
}

static void make_wide(struct weft_probe_input *input, struct generator *generator) {
    const float a = random_float(generator, -60, 60);
    const float b = random_float(generator, -60, 60);
    set(input, a, b, random_float(generator, -120, 120));
}

static void make_neighbours(struct weft_probe_input *input, struct generator *generator) {
    const float a = random_float(generator, -40, 40);
    set(input, a, beside(a, random_between(generator, -1, 1)), 0.0f);
}

/* Zeros of both signs, carries, the ends of the range, and the first integers that floats cannot
 * hold. */
static const float special[][3] = {
    {0.0f, 0.0f, 0.0f},
    {0.0f, -0.0f, -0.0f},
    {-0.0f, 0.0f, -0.0f},
    {-0.0f, -0.0f, -0.0f},
    {1.0f, -1.0f, 1.0f},
    {-1.0f, 0.0f, 0.0f},
    {-1.0f, 0.0f, -0.0f},
    {1.0f, -0.0f, 0.0f},
    {0x1p24f, 1.0f, 1.0f},
    {0x1.000002p24f, 1.0f, -1.0f},
    {0x1.fffffep0f, 0x1p-24f, 0x1p-24f},
    {0x1.fffffep0f, -0x1p-24f, 0x1p-25f},
    {0x1p0f, -0x1p-25f, 0x1p-24f},
    {0x1p0f, -0x1.000002p-25f, 0x1p-26f},
    {0x1.fffffep127f, 0x1p0f, -0x1p100f},
    {0x1.fffffep127f, -0x1.fffffep0f * 0.5f, 0x1p102f},
    {0x1p-126f, 0x1p0f, 0x1p-126f},
    {0x1.8p-125f, -0x1p-126f, 0x1p-100f},
    {0x1.001p0f, 0x1.001p0f, -0x1.002p0f},
    {0x1.fffffep0f, 0x1.fffffep0f, -0x1.fffffcp1f},
};

#define SPECIAL_COUNT (sizeof special / sizeof special[0])

static bool is_plain(uint32_t word) {
    const uint32_t magnitude = word & UINT32_C(0x7fffffff);
    return magnitude == 0 ||
           (magnitude >= UINT32_C(0x00800000) && magnitude < UINT32_C(0x7f800000));
}

/* Whether drivers have no choice about a case. */
static bool is_decided(const struct weft_probe_input *input) {
    struct weft_probe_result expected;
    weft_probe_expect(&expected, input);
    bool plain = is_plain(input->word[0]) && is_plain(input->word[1]) && is_plain(input->word[2]);
    for (size_t i = 0; i < WEFT_PROBE_RESULTS; i++) {
        plain = plain && (!operations[i].is_float || is_plain(expected.word[i]));
    }
    return plain;
}

static void make_floats(struct weft_probe_input *input, size_t index, struct generator *generator) {
    static void (*const makers[])(struct weft_probe_input *, struct generator *) = {
        make_sum,         make_tied_sum, make_cancellation, make_tied_product,
        make_contraction, make_wide,     make_neighbours,
    };
    if (index < SPECIAL_COUNT) {
        set(input, special[index][0], special[index][1], special[index][2]);
        return;
    }
    do {
        makers[index % (sizeof makers / sizeof makers[0])](input, generator);
    } while (!is_decided(input));
}

/* Integers of every width; every other one midway between two floats, which takes more than 24
 * bits. */
static uint32_t make_integer(size_t index, struct generator *generator) {
    static const uint32_t ends[] = {0,          1,          0x7fffffff, 0x80000000, 0xffffffff,
                                    0x01000001, 0x01000003, 0x7fffffc0, 0xffffff80, 0xffffff7f};
    const uint32_t word = random_word(generator);
    if (index < sizeof ends / sizeof ends[0]) {
        return ends[index];
    }
    if (index % 2 == 0) {
        return word >> (index / 2 % 32);
    }
    const uint32_t shift = 1 + (uint32_t)(index / 2 % 8);
    const uint32_t significand = (word & 0xffffff) | 0x800000;
    return (significand << shift) | (UINT32_C(1) << (shift - 1));
}

void weft_probe_make_inputs(struct weft_probe_input *inputs) {
    struct generator generator = {0};
    for (size_t i = 0; i < WEFT_PROBE_CASES; i++) {
        inputs[i].word[3] = make_integer(i, &generator);
        inputs[i].word[4] = word_of(random_float(&generator, -3, 30));
        make_floats(&inputs[i], i, &generator);
    }
}

/* ---- comparing ---- */

/* What snprintf really put into `size` bytes. */
static size_t printed(int written, size_t size) {
    return written < 0 ? 0 : (size_t)written < size ? (size_t)written : size - 1;
}

static size_t print_value(char *text, size_t size, const char *name, uint32_t word, bool is_float) {
    int written = is_float
                      ? snprintf(text, size, "%s0x%08x (%.9g)", name, word, (double)float_of(word))
                      : snprintf(text, size, "%s0x%08x", name, word);
    return printed(written, size);
}

static void describe(char *text, size_t size, size_t operation,
                     const struct weft_probe_input *input, uint32_t expected, uint32_t found) {
    static const char letters[] = "abcde";
    size_t used = printed(snprintf(text, size, "%s with ", operations[operation].text), size);
    const char *separator = "";
    for (const char *operand = operations[operation].operands; *operand != '\0'; operand++) {
        const size_t index = (size_t)(strchr(letters, *operand) - letters);
        char name[8];
        (void)snprintf(name, sizeof name, "%s%c=", separator, *operand);
        used += print_value(text + used, size - used, name, input->word[index], *operand != 'd');
        separator = ", ";
    }
    const bool is_float = operations[operation].is_float;
    used += print_value(text + used, size - used, " gives ", found, is_float);
    (void)print_value(text + used, size - used, ", IEEE 754 gives ", expected, is_float);
}

bool weft_probe_compare(char *text, size_t size, const struct weft_probe_input *inputs,
                        const struct weft_probe_result *results) {
    for (size_t i = 0; i < WEFT_PROBE_CASES; i++) {
        struct weft_probe_result expected;
        weft_probe_expect(&expected, &inputs[i]);
        for (size_t k = 0; k < WEFT_PROBE_RESULTS; k++) {
            if (results[i].word[k] != expected.word[k]) {
                describe(text, size, k, &inputs[i], expected.word[k], results[i].word[k]);
                return false;
            }
        }
    }
    return true;
}
