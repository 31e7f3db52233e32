/* SPDX-License-Identifier: MIT */
#include "shader/probe_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "shader/probe_random.h"

#define NEGATION      8  /* in the table below */
#define LITERAL_ZEROS 18 /* from here on, operations have a zero that is written in the shader */

#define FIRST_SUBNORMAL (WEFT_PROBE_PLAIN + WEFT_PROBE_SPECIAL)

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
    {"2 * a - b", "ab", true},
    {"4 * a + c", "ac", true},
    {"b * c + a", "abc", true},
    {"b - c * a", "abc", true},
    {"a * 0", "a", true},
    {"a * -0", "a", true},
    {"a + 0", "a", true},
    {"a + -0", "a", true},
    {"0 - a", "a", true},
    {"a - 0", "a", true},
    {"a * 1 - b * 0", "ab", true},
    {"a * 0 + b * 1", "ab", true},
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

static bool is_nan(uint32_t word) {
    return (word & UINT32_C(0x7fffffff)) > UINT32_C(0x7f800000);
}

/* A subnormal counts as the zero of its sign. */
static float flush(float value) {
    const uint32_t word = word_of(value);
    return (word & UINT32_C(0x7f800000)) == 0 ? float_of(word & UINT32_C(0x80000000)) : value;
}

/*
 * One correctly rounded operation each. Through volatile, so that no compiler flag can fuse them or
 * keep more bits than a float has (wider registers then round twice, which for these operations is
 * known to be harmless).
 */
static float add(float a, float b) {
    volatile float sum = flush(a) + flush(b);
    return flush(sum);
}

static float subtract(float a, float b) {
    volatile float difference = flush(a) - flush(b);
    return flush(difference);
}

/*
 * The product is exact in double. It is a zero where, rounded to 24 bits with an exponent of any
 * size, it would be less than 2^-126: below the middle between that and the number before it. The
 * middle itself goes to the even neighbour, which is 2^-126.
 */
static float multiply(float a, float b) {
    static const double least = 0x1.ffffffp-127; /* (1 - 2^-25) 2^-126 */
    volatile double exact = (double)flush(a) * (double)flush(b);
    if (fabs(exact) < least) {
        return signbit(exact) ? -0.0f : 0.0f;
    }
    volatile float product = (float)exact;
    return product;
}

static uint32_t compare(float first, float second) {
    const float a = flush(first);
    const float b = flush(second);
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
        word_of(-flush(a)),
        compare(a, b),
        float_word_of_int(d),
        float_word_of_integer(d < 0x1000000 ? d : d & 0xffffff00, false),
        (uint32_t)(int32_t)e,
        (uint32_t)fabsf(e),
        word_of(subtract(multiply(a, 2.0f), b)),
        word_of(add(multiply(a, 4.0f), c)),
        word_of(add(multiply(b, c), a)),
        word_of(subtract(b, multiply(c, a))),
        word_of(multiply(a, 0.0f)),
        word_of(multiply(a, -0.0f)),
        word_of(add(a, 0.0f)),
        word_of(add(a, -0.0f)),
        word_of(subtract(0.0f, a)),
        word_of(subtract(a, 0.0f)),
        word_of(subtract(multiply(a, 1.0f), multiply(b, 0.0f))),
        word_of(add(multiply(a, 0.0f), multiply(b, 1.0f))),
    }};
}

/* ---- making inputs ---- */

static float random_float(struct weft_probe_random *generator, int low, int high) {
    return float_of(weft_probe_random_float(generator, low, high));
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

static void make_sum(struct weft_probe_input *input, struct weft_probe_random *generator) {
    const float a = random_float(generator, -20, 20);
    const int exponent = exponent_of(a);
    const float b = random_float(generator, exponent - 26, exponent);
    set(input, a, b, random_float(generator, exponent - 26, exponent));
}

/* b is an odd number of halves of a's last place, so a + b lies midway between two floats unless it
 * changes binade. */
static void make_tied_sum(struct weft_probe_input *input, struct weft_probe_random *generator) {
    const float a = random_float(generator, -20, 20);
    const float half = ldexpf(1.0f, exponent_of(a) - 24);
    const float b = half * (float)(2 * weft_probe_random_between(generator, -8, 7) + 1);
    set(input, a, b, b);
}

static void make_cancellation(struct weft_probe_input *input, struct weft_probe_random *generator) {
    const float a = random_float(generator, -20, 20);
    const float b = -beside(a, weft_probe_random_between(generator, -3, 3));
    set(input, a, b, random_float(generator, -20, 20));
}

/* Odd factors of 13 bits: a product of 25 bits lies midway between two floats. */
static void make_tied_product(struct weft_probe_input *input, struct weft_probe_random *generator) {
    /* One call a statement: compilers differ in the order in which they evaluate arguments. */
    const float factor = (float)(2 * weft_probe_random_between(generator, 2048, 4095) + 1);
    const float b = (float)(2 * weft_probe_random_between(generator, -4096, 4095) + 1);
    const float a = ldexpf(factor, weft_probe_random_between(generator, -30, 10));
    set(input, a, b, random_float(generator, 0, 10));
}

/* c takes away what the rounded product is, or nearly: what remains is the rounding error, if the
 * rounding was left out. */
static void make_contraction(struct weft_probe_input *input, struct weft_probe_random *generator) {
    const float a = random_float(generator, -10, 10);
    const float b = random_float(generator, -10, 10);
    const float c = beside(multiply(a, b), weft_probe_random_between(generator, -2, 2));
    set(input, a, b, weft_probe_random_word(generator) % 2 == 0 ? c : -c);
}

static void make_wide(struct weft_probe_input *input, struct weft_probe_random *generator) {
    const float a = random_float(generator, -60, 60);
    const float b = random_float(generator, -60, 60);
    set(input, a, b, random_float(generator, -120, 120));
}

static void make_neighbours(struct weft_probe_input *input, struct weft_probe_random *generator) {
    const float a = random_float(generator, -40, 40);
    set(input, a, beside(a, weft_probe_random_between(generator, -1, 1)), 0.0f);
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

/* True if drivers have no choice about a case. */
static bool is_decided(const struct weft_probe_input *input) {
    struct weft_probe_result expected;
    weft_probe_expect(&expected, input);
    bool plain = is_plain(input->word[0]) && is_plain(input->word[1]) && is_plain(input->word[2]);
    for (size_t i = 0; i < WEFT_PROBE_RESULTS; i++) {
        plain = plain && (!operations[i].is_float || is_plain(expected.word[i]));
    }
    return plain;
}

static void make_floats(struct weft_probe_input *input, size_t index,
                        struct weft_probe_random *generator) {
    static void (*const makers[])(struct weft_probe_input *, struct weft_probe_random *) = {
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
static uint32_t make_integer(size_t index, struct weft_probe_random *generator) {
    static const uint32_t ends[] = {0,          1,          0x7fffffff, 0x80000000, 0xffffffff,
                                    0x01000001, 0x01000003, 0x7fffffc0, 0xffffff80, 0xffffff7f};
    const uint32_t word = weft_probe_random_word(generator);
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

/* An infinity, a NaN of any payload, a zero, a large or an ordinary number. */
static uint32_t make_special_word(struct weft_probe_random *generator) {
    const uint32_t sign = weft_probe_random_word(generator) & UINT32_C(0x80000000);
    switch (weft_probe_random_word(generator) % 5) {
    case 0:
        return sign | UINT32_C(0x7f800000);
    case 1: /* quiet: what a signalling NaN does is nobody's concern */
        return sign | UINT32_C(0x7fc00000) |
               (weft_probe_random_word(generator) & UINT32_C(0x3fffff));
    case 2:
        return sign;
    case 3:
        return word_of(random_float(generator, 120, 127));
    default:
        return word_of(random_float(generator, -20, 20));
    }
}

static void make_infinities(struct weft_probe_input *input, struct weft_probe_random *generator) {
    for (size_t i = 0; i < 3; i++) {
        input->word[i] = make_special_word(generator);
    }
}

/* By turns: a * b, and a + b, 2 a and 4 a, of 2^127 to 2^129, and what may bring them back into the range. */
static void make_overflow(struct weft_probe_input *input, size_t index,
                          struct weft_probe_random *generator) {
    const bool is_product = index % 4 == 0;
    const float a = random_float(generator, is_product ? 20 : 126, is_product ? 100 : 127);
    const int exponent =
        is_product ? 127 - exponent_of(a) : weft_probe_random_between(generator, 126, 127);
    const float b = random_float(generator, exponent, exponent);
    const float c = random_float(generator, 126, 127);
    set(input, a, is_product ? b : copysignf(b, a), copysignf(c, is_product ? -(a * b) : -a));
}

/*
 * A product whose magnitude p 2^-173, p = significand * cosignificand, is in one of the three
 * places around (1 - 2^-25) 2^-126 = (2^47 - 2^22) 2^-173 where a float32 makes 2^-126 of it:
 * below, where it counts as subnormal, above, where it does not, or there, which rounds up too.
 */
static void make_least_product(struct weft_probe_input *input, size_t place,
                               struct weft_probe_random *generator) {
    static const uint64_t end = UINT64_C(1) << 47;
    static const uint64_t middle = end - (UINT64_C(1) << 22);
    static const uint64_t start = end - (UINT64_C(1) << 23);
    uint64_t significand = UINT64_C(31) << 19; /* (2^47 - 2^22) is 2^22 * 31 * 1082401 */
    uint64_t cosignificand = UINT64_C(1082401) << 3;
    const uint64_t low = place == 0 ? start : middle;
    const uint64_t high = place == 0 ? middle : end;
    while (place != 2 &&
           (significand * cosignificand < low || significand * cosignificand >= high ||
            significand * cosignificand == middle)) {
        significand = (weft_probe_random_word(generator) & 0x7fffff) | 0x800000;
        cosignificand = (high - 1) / significand;
    }
    const uint32_t signs = weft_probe_random_word(generator);
    const int exponent = weft_probe_random_between(generator, -100, -73);
    const float a = ldexpf((float)significand, exponent);
    const float b = ldexpf((float)cosignificand, -173 - exponent);
    set(input, (signs & 1) != 0 ? -a : a, (signs & 2) != 0 ? -b : b,
        random_float(generator, -126, -120));
}

/* Of every five cases with subnormals, by their place: */
enum { TINY_FIRST, TINY_OTHERS, SMALL_SUM, SMALL_PRODUCT, LEAST_PRODUCT, SUBNORMAL_KINDS };

/* Drivers flush or they do not; how they round a product before that is another question. */
static bool is_least_product(size_t index) {
    return index >= FIRST_SUBNORMAL && index % SUBNORMAL_KINDS == LEAST_PRODUCT;
}

/* By turns: subnormal operands beside ordinary ones; sums and differences that are subnormal;
 * products that are; products that nearly are. */
static void make_subnormals(struct weft_probe_input *input, size_t index,
                            struct weft_probe_random *generator) {
    const float tiny = float_of(weft_probe_random_word(generator) & UINT32_C(0x807fffff));
    const float small = random_float(generator, -126, -124);
    const int exponent = weft_probe_random_between(generator, -80, -46);
    const float factor = random_float(generator, exponent, exponent);
    const float cofactor = random_float(generator, -130 - exponent, -127 - exponent);
    switch (index % SUBNORMAL_KINDS) {
    case TINY_FIRST: { /* one call a statement, as above: gcc's order */
        const float third = random_float(generator, -20, 20);
        set(input, tiny, random_float(generator, -2, 120), third);
        break;
    }
    case TINY_OTHERS:
        set(input, random_float(generator, -126, -100), tiny, tiny);
        break;
    case SMALL_SUM:
        set(input, small, -beside(small, weft_probe_random_between(generator, 1, 0x3fffff)), small);
        break;
    case SMALL_PRODUCT:
        set(input, factor, cofactor, random_float(generator, -126, -120));
        break;
    default:
        make_least_product(input, index / SUBNORMAL_KINDS % 3, generator);
        break;
    }
    input->word[4] = weft_probe_random_word(generator) & UINT32_C(0x807fffff);
}

static void make_specials(struct weft_probe_input *input, size_t index,
                          struct weft_probe_random *generator) {
    if (index % 2 == 0) {
        make_overflow(input, index, generator);
    } else {
        make_infinities(input, generator);
    }
}

void weft_probe_make_inputs(struct weft_probe_input *inputs) {
    struct weft_probe_random generator = {.seed = SEED};
    for (size_t i = 0; i < WEFT_PROBE_CASES; i++) {
        inputs[i].word[3] = make_integer(i, &generator);
        inputs[i].word[4] = word_of(random_float(&generator, -3, 30));
        if (i < WEFT_PROBE_PLAIN) {
            make_floats(&inputs[i], i, &generator);
        } else if (i < FIRST_SUBNORMAL) {
            make_specials(&inputs[i], i, &generator);
        } else {
            make_subnormals(&inputs[i], i, &generator);
        }
    }
}

/* ---- comparing ---- */

/* Number of characters that snprintf really put into `size` bytes. */
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

static bool is_right(size_t operation, uint32_t expected, uint32_t found) {
    return found == expected ||
           (operations[operation].is_float && is_nan(expected) && is_nan(found));
}

/* Drivers turn the sign of a subnormal by its bits, flushing or not; nobody can tell before it is
 * used. */
static bool is_open(size_t operation, const struct weft_probe_input *input) {
    return operation == NEGATION && !is_plain(input->word[0]) &&
           (input->word[0] & UINT32_C(0x7f800000)) == 0;
}

#define UNDECIDED (2u * WEFT_PROBE_WRONG) /* beside the verdicts: a subnormal and a zero */

static uint32_t meaning_of_wrong(size_t index, size_t operation) {
    if (index < FIRST_SUBNORMAL) {
        return operation < LITERAL_ZEROS ? WEFT_PROBE_WRONG : WEFT_PROBE_FOLDS_ZEROS;
    }
    return operation >= LITERAL_ZEROS ? UNDECIDED
           : is_least_product(index)  ? WEFT_PROBE_KEEPS_SMALL_PRODUCTS
                                      : WEFT_PROBE_KEEPS_SUBNORMALS;
}

/* Verdict bits that one case adds; describes the first fault, or the worst. */
static uint32_t judge_case(char *text, size_t size, size_t index, uint32_t found,
                           const struct weft_probe_input *input,
                           const struct weft_probe_result *result) {
    struct weft_probe_result expected;
    weft_probe_expect(&expected, input);
    for (size_t k = 0; k < WEFT_PROBE_RESULTS; k++) {
        if (is_right(k, expected.word[k], result->word[k]) || is_open(k, input)) {
            continue;
        }
        const uint32_t meaning = meaning_of_wrong(index, k);
        if (found == 0 || meaning == WEFT_PROBE_WRONG) {
            describe(text, size, k, input, expected.word[k], result->word[k]);
        }
        if (meaning == WEFT_PROBE_WRONG) {
            return WEFT_PROBE_WRONG;
        }
        found |= meaning;
    }
    return found;
}

uint32_t weft_probe_judge(char *text, size_t size, const struct weft_probe_input *inputs,
                          const struct weft_probe_result *results) {
    uint32_t found = WEFT_PROBE_RIGHT;
    for (size_t i = 0; i < WEFT_PROBE_CASES && found != WEFT_PROBE_WRONG; i++) {
        found = judge_case(text, size, i, found, &inputs[i], &results[i]);
    }
    if ((found & WEFT_PROBE_KEEPS_SUBNORMALS) != 0) { /* small products among them */
        found &= ~(uint32_t)WEFT_PROBE_KEEPS_SMALL_PRODUCTS;
    }
    return found == UNDECIDED ? WEFT_PROBE_FOLDS_ZEROS : found & ~UNDECIDED;
}

uint32_t weft_probe_needs(uint32_t needs, uint32_t verdict) {
    const bool all = (needs & WEFT_PROBE_KEEPS_SUBNORMALS) != 0;
    const bool products = all || (needs & WEFT_PROBE_KEEPS_SMALL_PRODUCTS) != 0;
    const bool still = ((verdict & WEFT_PROBE_KEEPS_SUBNORMALS) != 0 && all) ||
                       ((verdict & WEFT_PROBE_KEEPS_SMALL_PRODUCTS) != 0 && products);
    return needs | verdict | (still ? WEFT_PROBE_LOSES_SMALL_PRODUCTS : 0u);
}
