/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/*
 * Sums of products of bytes, and numbers of four bits as floats, by each kind of instruction that this processor has for them, at every vector
 * width, against the formula. Each target is a process of its own, as it is chosen once in a process. No device.
 */
#include <stdlib.h>

#include "native/target.h"
#include "support.h"
#include "support_child.h"
#include "support_native.h"

#define WORDS WEFT_TEST_KERNEL_WORDS

static const struct weft_test_kernel sums = {
    "sums of products", WEFT_TEST_KERNEL_LINE,
    "#include \"dot4.glsl\"\n"
    "void main() { uint a = in_(0), b = in_(1), one = given[push.a]; int c = int(in_(2));\n"
    "out_(0, uint(weft_dot4(a, b, c)) + 3u * uint(weft_dot4(one, b, 0)));\n"
    "out_(1, uint(weft_dot4_mixed(a, b, c)) + 3u * uint(weft_dot4_mixed(one, b, c)) +\n"
    "        5u * uint(weft_dot4_mixed(b, one, 0)));\n"
    "out_(2, uint(weft_dot2(a, b, c)) + 3u * uint(weft_dot2(one, b, 0)));\n"
    "out_(3, uint(weft_dot2(weft_even4(a), weft_even4(b), weft_dot2(weft_odd4(a), weft_odd4(b), "
    "c)))); }"};

/* Less nothing, 8, 15, and 16, for which there is no table; the last is no mask of four bits. */
static const struct weft_test_kernel nibbles = {
    "numbers of four bits", WEFT_TEST_KERNEL_LINE,
    "uint bits(int number) { return floatBitsToUint(float(number)); }\n"
    "void main() { uint a = in_(0), b = in_(1);\n"
    "out_(0, bits(int(a & 15u)) ^ bits(int(b >> 28 & 15u) - 15));\n"
    "out_(1, bits(int(a >> (b & 31u) & 15u) - 8));\n"
    "out_(2, bits(int(a >> 4 & 15u) - 16));\n"
    "out_(3, bits(int(a & 31u) - 8)); }"};

/* A part of `bits` bits, modulo 2^32. */
static uint32_t part(uint32_t word, uint32_t at, uint32_t bits, bool is_signed) {
    const uint32_t sign = UINT32_C(1) << (bits - 1);
    const uint32_t found = word >> at & (2 * sign - 1);
    return is_signed ? (found ^ sign) - sign : found;
}

static uint32_t dot(uint32_t a, uint32_t b, uint32_t bits, bool a_signed, bool b_signed) {
    uint32_t sum = 0;
    for (uint32_t at = 0; at < 32; at += bits) {
        sum += part(a, at, bits, a_signed) * part(b, at, bits, b_signed);
    }
    return sum;
}

static void expect_sums(uint32_t expected[4], const uint32_t *x, uint32_t one) {
    expected[0] = dot(x[0], x[1], 8, true, true) + x[2] + 3 * dot(one, x[1], 8, true, true);
    expected[1] = dot(x[0], x[1], 8, true, false) + x[2] +
                  3 * (dot(one, x[1], 8, true, false) + x[2]) + 5 * dot(x[1], one, 8, true, false);
    expected[2] = dot(x[0], x[1], 16, true, true) + x[2] + 3 * dot(one, x[1], 16, true, true);
    expected[3] = dot(x[0], x[1], 8, false, false) + x[2];
}

static uint32_t bits(uint32_t number, int less) {
    const float value = (float)((int)number - less);
    uint32_t word = 0;
    memcpy(&word, &value, sizeof word);
    return word;
}

static void expect_nibbles(uint32_t expected[4], const uint32_t *x, uint32_t one) {
    (void)one;
    expected[0] = bits(x[0] & 15, 0) ^ bits(x[1] >> 28, 15);
    expected[1] = bits(x[0] >> (x[1] & 31) & 15, 8);
    expected[2] = bits(x[0] >> 4 & 15, 16);
    expected[3] = bits(x[0] & 31, 8);
}

static const struct {
    const struct weft_test_kernel *kernel;
    void (*expect)(uint32_t expected[4], const uint32_t *x, uint32_t one);
} cases[] = {{&sums, expect_sums}, {&nibbles, expect_nibbles}};
enum { CASES = sizeof cases / sizeof cases[0] };

/* By chance, or of the bytes that are nearest to where an instruction might saturate. */
static struct weft_test_kernel_given given_of(uint32_t seed) {
    static const uint8_t edges[] = {0x80, 0x7F, 0xFF, 0x81, 0x00, 0x01};
    struct weft_test_kernel_given given = weft_test_kernel_given(seed);
    for (uint32_t i = 0; seed % 2 == 0 && i < WORDS; i++) {
        uint32_t word = 0;
        for (uint32_t k = 0; k < 4; k++) {
            word |= (uint32_t)edges[(given.words[i] >> 8 * k & 0xFFu) % sizeof edges] << 8 * k;
        }
        given.words[i] = word;
    }
    return given;
}

static bool check_lanes(const struct weft_test_kernel_module *module, uint32_t index,
                        uint32_t lanes) {
    enum { SEEDS = 8 };
    struct weft_test_kernel_given given = given_of(1);
    struct weft_native_kernel *native =
        weft_test_native_compile(cases[index].kernel->what, module, &given, lanes, false);
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        uint32_t result[WORDS];
        given = given_of(seed);
        weft_test_native_run(result, native, &given, sizeof result);
        for (uint32_t i = 0; i < 4 * 64 * WEFT_TEST_NATIVE_GROUPS; i += 4) {
            uint32_t expected[4];
            cases[index].expect(expected, given.words + i, given.words[given.push[0]]);
            WEFT_CHILD_EXPECT(memcmp(result + i, expected, sizeof expected) == 0);
        }
    }
    weft_native_kernel_unload(&native, NULL);
    return true;
}

/* The target is a string, or null for the processor's own. */
static bool check_target(void *target) {
    static const uint32_t widths[] = {WEFT_TEST_INTERPRETED, 4, 8, 16};
    WEFT_CHILD_EXPECT(setenv("WEFT_PROCESSOR_TARGET", target ? target : "", 1) == 0);
    if (weft_native_machine_is_wrong()) {
        (void)fprintf(stderr, "this processor does not run %s\n", (const char *)target);
        _exit(WEFT_CHILD_SKIPS);
    }
    WEFT_CHILD_EXPECT(!target || strstr(weft_native_target(), target));
    for (uint32_t k = 0; k < CASES; k++) {
        const struct weft_test_kernel_module module = weft_test_kernel_compile(cases[k].kernel, "");
        for (uint32_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
            WEFT_CHILD_EXPECT(check_lanes(&module, k, widths[i]));
        }
        weft_free(NULL, module.words);
    }
    return true;
}

#define TARGET(name, text)                                \
    WEFT_TEST(name) {                                     \
        if (!weft_native_can_compile()) {                 \
            skip();                                       \
        }                                                 \
        weft_test_in_child(check_target, (void *)(text)); \
    }

TARGET(the_processors_own_target, NULL)
#ifdef __x86_64__
TARGET(pairs_by_sse2, "x86-64")
TARGET(pairs_by_sse4, "x86-64-v2")
TARGET(pairs_by_avx2, "x86-64-v3")
TARGET(avx_vnni, "x86-64-v3+avxvnni")
TARGET(pairs_by_avx512, "x86-64-v4")
TARGET(avx512_vnni, "x86-64-v4+avx512vnni")
#elif defined(__aarch64__)
TARGET(neon_without_dot_products, "generic+neon")
TARGET(neon_dot_products, "generic+neon,+dotprod")
#endif

static bool check_unknown(void *user) {
    (void)user;
    WEFT_CHILD_EXPECT(setenv("WEFT_PROCESSOR_TARGET", "x86-64-v9", 1) == 0);
    WEFT_CHILD_EXPECT(weft_native_machine_is_wrong());
    return true;
}

WEFT_TEST(an_unknown_target_is_a_mistake) {
    weft_test_in_child(check_unknown, NULL);
}
