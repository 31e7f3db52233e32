/* SPDX-License-Identifier: MIT */
/* The plain-C evaluation of shaders: small kernels with known results, and what it must refuse. */
#include "shader/glsl.h"
#include "support.h"
#include "verify/evaluator/evaluator.h"

#define NAN_BITS 0x7FC00000u
#define ONE      0x3F800000u

/* ---- running a kernel ---- */

/* Every kernel writes `result` (binding 0) and reads `given` (binding 1), and may do more. */
#define HEAD                                                          \
    "#version 450\n"                                                  \
    "layout(std430, binding = 0) buffer Result { uint result[]; };\n" \
    "layout(std430, binding = 1) readonly buffer Given { uint given[]; };\n"

#define WORDS 64

struct kernel {
    const char *body; /* behind HEAD */
    uint32_t given[WORDS];
    uint32_t result_words; /* bound; 0: WORDS */
    uint32_t groups[3];    /* 0: 1 */
    uint32_t specialization[4];
    uint32_t specialization_count;
    uint32_t push[4];
    uint32_t push_words;
    uint64_t group_limit;
    bool read_only; /* the result */
};

struct outcome {
    weft_status status;
    char text[WEFT_EVALUATOR_TEXT];
    uint32_t result[WORDS];
};

static uint32_t *compile(size_t *size, const char *body) {
    weft_device device = {.math = WEFT_MATH_REPRODUCIBLE}; /* no driver is involved */
    char text[8192];
    assert_true(strlen(HEAD) + strlen(body) < sizeof text);
    strcpy(text, HEAD);
    strcat(text, body);
    uint32_t *words = NULL;
    assert_ok(weft_glsl_compile(&words, size, &device, "kernel", text));
    return words;
}

static struct outcome run_with(weft_evaluator *evaluator, const struct kernel *kernel) {
    struct outcome outcome = {.text = ""};
    memset(outcome.result, 0xAB, sizeof outcome.result);
    uint32_t given[WORDS];
    memcpy(given, kernel->given, sizeof given);
    struct weft_evaluated_dispatch dispatch = {
        .label = "kernel",
        .specialization = kernel->specialization,
        .specialization_count = kernel->specialization_count,
        .push = (const uint8_t *)kernel->push,
        .push_size = 4 * kernel->push_words,
        .group_limit = kernel->group_limit,
        .range = {{.data = (uint8_t *)outcome.result,
                   .size = 4 * (kernel->result_words != 0 ? kernel->result_words : WORDS),
                   .writable = !kernel->read_only},
                  {.data = (uint8_t *)given, .size = sizeof given}}};
    for (int axis = 0; axis < 3; axis++) {
        dispatch.groups[axis] = kernel->groups[axis] != 0 ? kernel->groups[axis] : 1;
    }
    uint32_t *words = compile(&dispatch.size, kernel->body);
    dispatch.words = words;
    outcome.status = weft_evaluate_dispatch(outcome.text, evaluator, &dispatch);
    weft_free(NULL, words);
    assert_memory_equal(given, kernel->given, sizeof given);
    return outcome;
}

static struct outcome run(const struct kernel *kernel) {
    weft_evaluator *evaluator = weft_evaluator_create(NULL);
    assert_non_null(evaluator);
    struct outcome outcome = run_with(evaluator, kernel);
    weft_evaluator_destroy(&evaluator);
    assert_null(evaluator);
    return outcome;
}

/* The first `count` words must be these, and the next one untouched. */
static void assert_gives(const struct kernel *kernel, const uint32_t *expected, uint32_t count) {
    struct outcome outcome = run(kernel);
    if (outcome.status != WEFT_OK) {
        fail_msg("%s: %s", weft_status_name(outcome.status), outcome.text);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (outcome.result[i] != expected[i]) {
            fail_msg("word %u is 0x%08x, expected 0x%08x", i, outcome.result[i], expected[i]);
        }
    }
    if (count < WORDS) {
        assert_int_equal(outcome.result[count], 0xABABABABu);
    }
}

#define ASSERT_GIVES(kernel, ...)                                                            \
    do {                                                                                     \
        const uint32_t expected_[] = {__VA_ARGS__};                                          \
        assert_gives((kernel), expected_, (uint32_t)(sizeof expected_ / sizeof *expected_)); \
    } while (0)

static void assert_refused(const struct kernel *kernel, weft_status status, const char *expected) {
    struct outcome outcome = run(kernel);
    if (outcome.status != status || !strstr(outcome.text, expected)) {
        fail_msg("%s: %s\nexpected %s with \"%s\"", weft_status_name(outcome.status), outcome.text,
                 weft_status_name(status), expected);
    }
}

/* ---- arithmetic ---- */

/* result[i] = the operation on given[2i] and given[2i + 1]. */
#define FLOAT_KERNEL(count, expression)                  \
    "layout(local_size_x = " #count ") in;\n"            \
    "void main() {\n"                                    \
    "    uint i = gl_LocalInvocationIndex;\n"            \
    "    float a = uintBitsToFloat(given[2 * i]);\n"     \
    "    float b = uintBitsToFloat(given[2 * i + 1]);\n" \
    "    result[i] = " expression ";\n"                  \
    "}\n"

WEFT_TEST(test_sums) {
    const struct kernel add = {
        .body = FLOAT_KERNEL(8, "floatBitsToUint(a + b)"),
        .given = {ONE, 0x33800000u,           /* 1 + 2^-24: a tie, to even */
                  0x3F800001u, 0x33800000u,   /* 1 + 2^-23 + 2^-24: a tie, up to even */
                  0x00800000u, 0x80000001u,   /* a subnormal operand is a zero */
                  0x00800001u, 0x80800000u,   /* a subnormal difference becomes one */
                  0x80800001u, 0x00800000u,   /* … of its sign */
                  0x80000001u, 0x80000002u,   /* the zeros of the operands' signs */
                  0x7F7FFFFFu, 0x73800000u,   /* half a unit above the largest: infinity */
                  0x80000000u, 0x00000000u}}; /* -0 + 0 */
    ASSERT_GIVES(&add, ONE, 0x3F800002u, 0x00800000u, 0, 0x80000000u, 0x80000000u, 0x7F800000u, 0);
    const struct kernel subtract = {.body = FLOAT_KERNEL(2, "floatBitsToUint(a - b)"),
                                    .given = {ONE, ONE, 0x80000001u, 0x00000001u}};
    ASSERT_GIVES(&subtract, 0, 0x80000000u); /* -0 - (+0) = -0 */
}

WEFT_TEST(test_products) {
    const struct kernel kernel = {
        .body = FLOAT_KERNEL(7, "floatBitsToUint(a * b)"),
        .given = {0x00800000u, 0x3F000000u, /* 2^-127 */
                  0x80800000u, 0x3F000000u, 0x00800000u,
                  0x3F7FFFFFu,                /* 2^-126 (1 - 2^-24): a number of 24 bits */
                  0x20000400u, 0x1FFFF800u,   /* 2^-126 (1 - 2^-26): rounds to 2^-126 */
                  0x007FFFFFu, 0x7F000000u,   /* a subnormal operand */
                  0x80000000u, 0x7F7FFFFFu,   /* -0 */
                  0x3F800001u, 0x3F800001u}}; /* 1 + 2^-22 + 2^-46 */
    ASSERT_GIVES(&kernel, 0, 0x80000000u, 0, 0x00800000u, 0, 0x80000000u, 0x3F800002u);
}

/* A fused multiply-add would give 2^-24. */
WEFT_TEST(test_no_contraction) {
    const struct kernel kernel = {
        .body = FLOAT_KERNEL(1, "floatBitsToUint(a * a - b)"),
        .given = {0x3F800800u, 0x3F801000u}}; /* (1 + 2^-12)^2 - (1 + 2^-11) */
    ASSERT_GIVES(&kernel, 0);
}

WEFT_TEST(test_comparisons) {
    const struct kernel kernel = {
        .body = FLOAT_KERNEL(5, "uint(a < b) | uint(a <= b) << 1 | uint(a == b) << 2 | "
                                "uint(a != b) << 3 | uint(a > b) << 4 | uint(a >= b) << 5"),
        .given = {ONE, 0x40000000u, NAN_BITS, NAN_BITS, 0x00000001u, 0x80000002u, /* both zeros */
                  0x80000000u, 0x00800000u, 0x7F800000u, 0xFF800000u}};
    ASSERT_GIVES(&kernel, 0x0B, 0x08, 0x26, 0x0B, 0x38);
}

WEFT_TEST(test_conversions) {
    const struct kernel to_int = {.body = FLOAT_KERNEL(4, "uint(int(a)) + uint(b)"),
                                  .given = {0xC0200000u, 0x40200000u,   /* -2 + 2 */
                                            0x007FFFFFu, 0x3F7FFFFFu,   /* 0 + 0 */
                                            0x4B7FFFFFu, 0,             /* 2^24 - 1 */
                                            0xBF800000u, 0x4F000000u}}; /* -1 + 2^31 */
    ASSERT_GIVES(&to_int, 0, 0, 0x00FFFFFFu, 0x7FFFFFFFu);
    const struct kernel to_float = {
        .body = "layout(local_size_x = 3) in;\n"
                "void main() {\n"
                "    uint i = gl_LocalInvocationIndex;\n"
                "    result[2 * i] = floatBitsToUint(float(given[i]));\n"
                "    result[2 * i + 1] = floatBitsToUint(float(int(given[i])));\n"
                "}\n",
        .given = {0x01000001u, 0xFFFFFFFFu, 0}}; /* 2^24 + 1: a tie */
    ASSERT_GIVES(&to_float, 0x4B800000u, 0x4B800000u, 0x4F800000u, 0xBF800000u, 0, 0);
}

/* Whatever only moves bits leaves subnormals and NaN payloads as they are. */
WEFT_TEST(test_moves) {
    const struct kernel kernel = {
        .body = "layout(local_size_x = 1) in;\n"
                "float pick(bool first, float a, float b) { return first ? a : b; }\n"
                "void main() {\n"
                "    float a = uintBitsToFloat(given[0]);\n"
                "    vec3 v = vec3(uintBitsToFloat(given[1]), a, a).zxy;\n"
                "    result[0] = floatBitsToUint(pick(given[2] == 0, a, v.x));\n"
                "    result[1] = floatBitsToUint(v.y);\n"
                "    result[2] = floatBitsToUint(abs(a));\n"
                "    result[3] = floatBitsToUint(-a);\n"
                "}\n",
        .given = {0x80000001u, 0x7F812345u, 0}};
    ASSERT_GIVES(&kernel, 0x80000001u, 0x7F812345u, 0, 0);
}

WEFT_TEST(test_integers) {
    const struct kernel kernel = {
        .body =
            "layout(local_size_x = 1) in;\n"
            "void main() {\n"
            "    uint a = given[0], b = given[1], high, low, carry;\n"
            "    int s = int(given[2]);\n"
            "    umulExtended(a, b, high, low);\n"
            "    result[0] = high;\n"
            "    result[1] = low;\n"
            "    result[2] = uaddCarry(a, b, carry) ^ carry << 31;\n"
            "    result[3] = usubBorrow(b, a, carry) ^ carry << 31;\n"
            "    result[4] = a / 7 * 100 + b % 7;\n"
            "    result[5] = uint(s / 3) * 1000 + uint(s >> 1) + (given[2] >> 28);\n"
            "    result[6] = bitfieldExtract(a, 28, 4) | uint(bitfieldExtract(s, 0, 3)) << 8;\n"
            "    result[7] = bitfieldInsert(a, b, 4, 8);\n"
            "    result[8] = uint(findMSB(b)) | uint(findLSB(b)) << 8 | uint(findMSB(s)) << 16;\n"
            "    result[9] = bitfieldReverse(b) + uint(bitCount(a));\n"
            "    result[10] = clamp(b, 3u, 9u) * 100 + min(a, b) + max(uint(abs(s)), 1u);\n"
            "    result[11] = ~a ^ (a & b | 3u) << 2;\n"
            "    int signed_high, signed_low;\n"
            "    imulExtended(s, int(a), signed_high, signed_low);\n"
            "    result[12] = uint(signed_high);\n"
            "    result[13] = uint(signed_low);\n"
            "}\n",
        .given = {0xF2345678u, 0x00000100u, (uint32_t)-10}};
    const uint32_t a = 0xF2345678u, b = 0x100u;
    ASSERT_GIVES(&kernel, 0xF2u, 0x34567800u, a + b, (b - a) ^ 0x80000000u, a / 7 * 100 + 4,
                 (uint32_t)-3000 + (uint32_t)-5 + 15, 0xFu | 0xFFFFFE00u, (a & ~0xFF0u) | 0u,
                 8u | 8u << 8 | 3u << 16, 0x00800000u + 16, 900 + 256 + 10,
                 ~a ^ ((a & b) | 3u) << 2, 0, (uint32_t)-10 * a);
}

/* ---- control flow ---- */

static uint32_t collatz_steps(uint32_t n) {
    uint32_t steps = 0;
    for (; n != 1; steps++) {
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    }
    return steps;
}

/* Loops of different lengths side by side, with break and continue. */
WEFT_TEST(test_loops) {
    const struct kernel kernel = {.body = "layout(local_size_x = 40) in;\n"
                                          "void main() {\n"
                                          "    uint n = gl_LocalInvocationID.x + 1;\n"
                                          "    uint steps = 0;\n"
                                          "    while (true) {\n"
                                          "        if (n == 1) break;\n"
                                          "        steps++;\n"
                                          "        if (n % 2 == 0) { n /= 2; continue; }\n"
                                          "        n = 3 * n + 1;\n"
                                          "    }\n"
                                          "    result[gl_LocalInvocationID.x] = steps;\n"
                                          "}\n"};
    uint32_t expected[40];
    for (uint32_t i = 0; i < 40; i++) {
        expected[i] = collatz_steps(i + 1);
    }
    assert_gives(&kernel, expected, 40);
}

/* OpSwitch with cases that fall through, and OpPhi from && and ||. */
WEFT_TEST(test_switch_and_phi) {
    const struct kernel kernel = {
        .body = "layout(local_size_x = 6) in;\n"
                "uint calls;\n"
                "bool counted(bool value) { calls++; return value; }\n"
                "void main() {\n"
                "    uint i = gl_LocalInvocationIndex;\n"
                "    uint x = 0;\n"
                "    calls = 0;\n"
                "    switch (int(i) - 1) {\n"
                "    case -1: x += 1;\n"
                "    case 0: x += 10; break;\n"
                "    case 1: return;\n"
                "    case 2:\n"
                "    case 3: x += 100;\n"
                "    default: x += 1000;\n"
                "    }\n"
                "    bool either = counted(i > 3) || counted(i == 0);\n"
                "    bool both = either && counted(i == 5);\n"
                "    result[i] = x + (either ? 10000 : 0) + (both ? 20000 : 0) + calls * 100000;\n"
                "}\n"};
    ASSERT_GIVES(&kernel, 310011, 200010, 0xABABABABu, 201100, 211100, 231000);
}

/*
 * Two values that change places in each iteration, whose phis must not overwrite each other; and one
 * from outside of the loop, whose slots another must not take in it.
 *
 *     v = a + b; s = 0;
 *     for (i = 0, x = a, y = b; i < 3; i++, (x, y) = (y, x)) { s += v; t = s * s; }
 */
static const uint32_t loop_module[] = {
    /* clang-format off */
    0x07230203, 0x00010500, 0, 40, 0,
    2 << 16 | 17, 1, /* OpCapability Shader */
    3 << 16 | 14, 0, 1, /* OpMemoryModel Logical GLSL450 */
    6 << 16 | 15, 5, 1, 0x6E69616D, 0, 2, /* OpEntryPoint GLCompute "main" and the buffer */
    6 << 16 | 16, 1, 17, 1, 1, 1, /* OpExecutionMode LocalSize 1 1 1 */
    4 << 16 | 71, 3, 6, 4, /* ArrayStride 4 */
    3 << 16 | 71, 4, 2, /* Block */
    5 << 16 | 72, 4, 0, 35, 0, /* Offset 0 */
    4 << 16 | 71, 2, 34, 0, 4 << 16 | 71, 2, 33, 0, /* DescriptorSet 0, Binding 0 */
    2 << 16 | 19, 5, 3 << 16 | 33, 6, 5, /* void, void() */
    4 << 16 | 21, 7, 32, 0, 2 << 16 | 20, 8, /* uint, bool */
    3 << 16 | 29, 3, 7, 3 << 16 | 30, 4, 3, /* uint[], a structure of it */
    4 << 16 | 32, 9, 12, 4, 4 << 16 | 32, 10, 12, 7, /* pointers */
    4 << 16 | 59, 9, 2, 12, /* the buffer */
    4 << 16 | 43, 7, 11, 0, 4 << 16 | 43, 7, 12, 1, 4 << 16 | 43, 7, 13, 3,
    4 << 16 | 43, 7, 14, 70, 4 << 16 | 43, 7, 15, 80, 4 << 16 | 43, 7, 33, 2,
    5 << 16 | 54, 5, 1, 0, 6, /* main */
    2 << 16 | 248, 16, 5 << 16 | 128, 7, 28, 14, 15, 2 << 16 | 249, 17, /* v */
    2 << 16 | 248, 17, /* the loop */
    7 << 16 | 245, 7, 18, 14, 16, 19, 22, /* x = phi(a, y) */
    7 << 16 | 245, 7, 19, 15, 16, 18, 22, /* y = phi(b, x) */
    7 << 16 | 245, 7, 20, 11, 16, 21, 22, /* i = phi(0, i + 1) */
    7 << 16 | 245, 7, 29, 11, 16, 30, 22, /* s = phi(0, s + v) */
    5 << 16 | 176, 8, 23, 20, 13, /* i < 3 */
    4 << 16 | 246, 24, 22, 0, 4 << 16 | 250, 23, 22, 24,
    2 << 16 | 248, 22,
    5 << 16 | 128, 7, 30, 29, 28, /* s + v */
    5 << 16 | 132, 7, 31, 30, 30, /* t */
    5 << 16 | 128, 7, 21, 20, 12, /* i + 1 */
    2 << 16 | 249, 17,
    2 << 16 | 248, 24,
    6 << 16 | 65, 10, 25, 2, 11, 11, 3 << 16 | 62, 25, 18,
    6 << 16 | 65, 10, 26, 2, 11, 12, 3 << 16 | 62, 26, 19,
    6 << 16 | 65, 10, 34, 2, 11, 33, 3 << 16 | 62, 34, 29,
    1 << 16 | 253, 1 << 16 | 56,
    /* clang-format on */
};

WEFT_TEST(test_values_around_a_loop) {
    uint32_t result[3] = {0, 0, 0};
    const struct weft_evaluated_dispatch dispatch = {
        .words = loop_module,
        .size = sizeof loop_module,
        .groups = {1, 1, 1},
        .range = {{.data = (uint8_t *)result, .size = sizeof result, .writable = true}}};
    weft_evaluator *evaluator = weft_evaluator_create(NULL);
    char text[WEFT_EVALUATOR_TEXT] = "";
    weft_status status = weft_evaluate_dispatch(text, evaluator, &dispatch);
    weft_evaluator_destroy(&evaluator);
    assert_string_equal(text, "");
    assert_ok(status);
    assert_int_equal(result[0], 80);
    assert_int_equal(result[1], 70);
    assert_int_equal(result[2], 450);
}

WEFT_TEST(test_functions) {
    const struct kernel kernel = {
        .body = "layout(local_size_x = 4) in;\n"
                "struct Pair { uint low; uvec2 high; };\n"
                "uint split(uint x, out uint high, inout uint sum) {\n"
                "    high = x / 16;\n"
                "    sum += x;\n"
                "    if (x == 35) return 999;\n"
                "    return x % 16;\n"
                "}\n"
                "Pair make(uint x) {\n"
                "    Pair p;\n"
                "    uint sum = 1;\n"
                "    p.low = split(x, p.high.y, sum);\n"
                "    p.high.x = split(x + 1, sum, sum) + sum;\n"
                "    return p;\n"
                "}\n"
                "void main() {\n"
                "    uint i = gl_LocalInvocationIndex;\n"
                "    Pair p = make(i + 33);\n"
                "    result[i] = p.low + 1000 * p.high.x + 1000000 * p.high.y;\n"
                "}\n"};
    /* (sum, sum) is copied out in order: sum is x / 16, then what came in plus x. */
    const struct outcome outcome = run(&kernel);
    assert_ok(outcome.status);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t x = i + 33;
        uint32_t low = x == 35 ? 999 : x % 16;
        uint32_t next = x + 1 == 35 ? 999 : (x + 1) % 16;
        uint32_t sum = 1 + x + x + 1;
        assert_int_equal(outcome.result[i], low + 1000 * (next + sum) + 1000000 * (x / 16));
    }
}

/* ---- memory ---- */

WEFT_TEST(test_arrays) {
    const struct kernel kernel = {
        .body =
            "layout(local_size_x = 8) in;\n"
            "shared uvec2 grid[2][4];\n"
            "void main() {\n"
            "    uint i = gl_LocalInvocationIndex;\n"
            "    uint table[3][2];\n"
            "    for (uint k = 0; k < 6; k++) table[k / 2][k % 2] = 10 * k + i;\n"
            "    uvec4 v = uvec4(1, 2, 3, 4);\n"
            "    v[i % 4] = 100;\n"
            "    grid[i / 4][i % 4] = uvec2(i, i * i);\n"
            "    barrier();\n"
            "    uint j = 7 - i;\n"
            "    result[i] = table[i % 3][i / 4] + 100 * grid[j / 4][j % 4].y + 10000 * v[i / 2];\n"
            "}\n"};
    uint32_t expected[8];
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t v = i / 2 == i % 4 ? 100 : i / 2 + 1;
        expected[i] = 10 * (i % 3 * 2 + i / 4) + i + 100 * (7 - i) * (7 - i) + 10000 * v;
    }
    assert_gives(&kernel, expected, 8);
}

/* Structures with gaps in a buffer, loaded and stored whole and in parts. */
WEFT_TEST(test_layout) {
    const struct kernel kernel = {
        .body = "struct Row { uvec3 a; uint b[2]; uvec2 c; };\n" /* 0, 12, 24; 32 bytes */
                "layout(std430, binding = 1) readonly buffer Rows { uint first; Row rows[]; };\n"
                "layout(std430, binding = 0) writeonly buffer Copies { Row copies[]; };\n"
                "layout(local_size_x = 1) in;\n"
                "void main() {\n"
                "    Row row = rows[1];\n"
                "    row.a.z += first;\n"
                "    copies[0] = row;\n"
                "    copies[1].c = rows[0].a.xy;\n"
                "    copies[1].b[1] = rows.length();\n"
                "}\n",
        .given = {7, 0, 0, 0, 10, 11, 12, 13, 14, 0, 15, 16, 20, 21, 22, 23, 24, 0, 25, 26}};
    const struct outcome outcome = run(&kernel);
    const uint32_t none = 0xABABABABu;
    const uint32_t expected[] = {
        20, 21, 29, 23, 24, none, 25, 26, none, none, none, none, (WORDS - 4) / 8, none, 10, 11};
    assert_ok(outcome.status);
    assert_memory_equal(outcome.result, expected, sizeof expected);
}

WEFT_TEST(test_matrices) {
    const struct kernel kernel = {
        .body = "layout(std430, binding = 1) readonly buffer M { mat3x2 m[]; };\n"
                "layout(local_size_x = 3) in;\n"
                "void main() {\n"
                "    uint i = gl_LocalInvocationIndex;\n"
                "    mat3x2 whole = m[1];\n"
                "    result[i] = floatBitsToUint(whole[i].y);\n"
                "    result[i + 3] = floatBitsToUint(m[0][i][i % 2]);\n"
                "}\n",
        .given = {10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25}};
    ASSERT_GIVES(&kernel, 21, 23, 25, 10, 13, 14);
}

WEFT_TEST(test_parameters) {
    struct kernel kernel = {
        .body = "layout(local_size_x_id = 0, local_size_y = 2) in;\n"
                "layout(constant_id = 1) const uint COUNT = 3;\n"
                "layout(constant_id = 2) const bool TWICE = false;\n"
                "layout(constant_id = 3) const int BIAS = -1;\n"
                "const uint SIZE = 2 * COUNT + 1;\n"
                "layout(push_constant) uniform Push { uint scale; uint extra[3]; } push;\n"
                "uint table[SIZE];\n"
                "void main() {\n"
                "    uint i = gl_LocalInvocationIndex;\n"
                "    for (uint k = 0; k < SIZE; k++) table[k] = k * push.scale;\n"
                "    uint x = table[SIZE - 1] + push.extra[i % 3] + uint(BIAS);\n"
                "    result[i] = (TWICE ? 2 : 1) * x + 1000 * gl_WorkGroupSize.x;\n"
                "}\n",
        .specialization = {1},
        .specialization_count = 1,
        .push = {10, 1, 2, 3},
        .push_words = 4};
    ASSERT_GIVES(&kernel, 1060, 1061);
    const uint32_t values[4] = {2, 5, 1, 4};
    memcpy(kernel.specialization, values, sizeof values);
    kernel.specialization_count = 4;
    ASSERT_GIVES(&kernel, 2210, 2212, 2214, 2210);
    kernel.push_words = 3; /* extra[2] is not there */
    assert_refused(&kernel, WEFT_INVALID_ARGUMENT,
                   "4 bytes at offset 12 are outside of the push constants, of 12 bytes");
}

WEFT_TEST(test_built_ins) {
    const struct kernel kernel = {
        .body =
            "layout(local_size_x = 2, local_size_y = 1, local_size_z = 2) in;\n"
            "void main() {\n"
            "    uint group = gl_WorkGroupID.x + 2 * (gl_WorkGroupID.y + 3 * gl_WorkGroupID.z);\n"
            "    uint at = 4 * group + gl_LocalInvocationIndex;\n"
            "    uvec3 id = gl_GlobalInvocationID;\n"
            "    result[at] = id.x + 10 * id.y + 100 * id.z + 1000 * gl_LocalInvocationID.z +\n"
            "                 10000 * (gl_NumWorkGroups.x + gl_NumWorkGroups.y);\n"
            "}\n",
        .groups = {2, 3, 2}};
    const struct outcome outcome = run(&kernel);
    assert_ok(outcome.status);
    for (uint32_t i = 0; i < 48; i++) {
        uint32_t group = i / 4;
        uint32_t x = 2 * (group % 2) + i % 2, y = group / 2 % 3, z = 2 * (group / 6) + i / 2 % 2;
        assert_int_equal(outcome.result[i], x + 10 * y + 100 * z + 1000 * (i / 2 % 2) + 50000);
    }
}

/* ---- workgroups ---- */

/* A tree over shared memory, as in reduce.glsl, in two workgroups. */
WEFT_TEST(test_barriers) {
    const struct kernel kernel = {
        .body = "layout(local_size_x = 32) in;\n"
                "shared uint tree[32];\n"
                "uint sum(uint x) {\n"
                "    uint lane = gl_LocalInvocationID.x;\n"
                "    tree[lane] = x;\n"
                "    barrier();\n"
                "    for (uint width = 16; width > 0; width /= 2) {\n"
                "        if (lane < width) tree[lane] += 3 * tree[lane + width];\n"
                "        barrier();\n"
                "    }\n"
                "    uint total = tree[0];\n"
                "    barrier();\n"
                "    return total;\n"
                "}\n"
                "void main() {\n"
                "    uint first = sum(given[gl_GlobalInvocationID.x]);\n"
                "    uint second = sum(first + gl_LocalInvocationID.x);\n"
                "    if (gl_LocalInvocationID.x == 31) {\n"
                "        result[2 * gl_WorkGroupID.x] = first;\n"
                "        result[2 * gl_WorkGroupID.x + 1] = second;\n"
                "    }\n"
                "}\n",
        .groups = {2}};
    struct kernel filled = kernel;
    uint32_t expected[4];
    for (uint32_t group = 0; group < 2; group++) {
        uint32_t first = 0, second = 0;
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t factor = 1; /* 3 for each bit of the lane */
            for (uint32_t bits = lane; bits != 0; bits &= bits - 1) {
                factor *= 3;
            }
            filled.given[32 * group + lane] = lane * lane + 7 * group;
            first += factor * filled.given[32 * group + lane];
            second += factor * lane;
        }
        expected[2 * group] = first;
        expected[2 * group + 1] = second + 1024 * first; /* (1 + 3)^5 */
    }
    assert_gives(&filled, expected, 4);
}

WEFT_TEST(test_atomics) {
    const struct kernel kernel = {
        .body = "layout(local_size_x = 16) in;\n"
                "shared uint total;\n"
                "shared int least;\n"
                "void main() {\n"
                "    uint i = gl_LocalInvocationIndex;\n"
                "    if (i == 0) { total = 0; least = 100; }\n"
                "    if (i < 4) result[i] = 0;\n"
                "    barrier();\n"
                "    atomicAdd(total, i);\n"
                "    atomicMin(least, int(i) - 20);\n"
                "    atomicOr(result[0], 1u << i);\n"
                "    atomicMax(result[1], i * 3);\n"
                "    if (atomicCompSwap(result[2], i, i + 1) == i) atomicAdd(result[3], 1);\n"
                "    barrier();\n"
                "    if (i == 5) { result[4] = total; result[5] = uint(least); }\n"
                "    if (i == 6) result[6] = atomicExchange(result[7], 9) & 1;\n"
                "}\n"};
    ASSERT_GIVES(&kernel, 0xFFFFu, 45, 16, 16, 120, (uint32_t)-20, 1, 9);
}

/* What was never written is a NaN. */
WEFT_TEST(test_poison) {
    const struct kernel kernel = {.body = "layout(local_size_x = 1) in;\n"
                                          "shared uint lost[4];\n"
                                          "uint unset;\n"
                                          "void main() {\n"
                                          "    uint local;\n"
                                          "    result[0] = lost[given[0]];\n"
                                          "    result[1] = local;\n"
                                          "    result[2] = unset;\n"
                                          "}\n"};
    ASSERT_GIVES(&kernel, WEFT_EVALUATOR_POISON, WEFT_EVALUATOR_POISON, WEFT_EVALUATOR_POISON);
}

/* ---- what must be refused ---- */

WEFT_TEST(test_buffer_bounds) {
    struct kernel kernel = {.body = "layout(local_size_x = 4, local_size_y = 2) in;\n"
                                    "void main() {\n"
                                    "    uint i = gl_LocalInvocationIndex + 8 * gl_WorkGroupID.x;\n"
                                    "    result[i] = given[given[0] + i];\n"
                                    "}\n",
                            .groups = {2},
                            .result_words = 16};
    assert_ok(run(&kernel).status);
    kernel.result_words = 14;
    assert_refused(&kernel, WEFT_INVALID_ARGUMENT,
                   "kernel, workgroup (1, 0, 0), invocation (2, 1, 0): "
                   "4 bytes at offset 56 are outside of binding 0, of 56 bytes");
    kernel.result_words = 16;
    kernel.given[0] = WORDS - 15;
    assert_refused(&kernel, WEFT_INVALID_ARGUMENT,
                   "4 bytes at offset 256 are outside of binding 1, of 256 bytes");
    kernel.given[0] = (uint32_t)-1; /* before the start, for the first invocation */
    assert_refused(&kernel, WEFT_INVALID_ARGUMENT,
                   "workgroup (0, 0, 0), invocation (0, 0, 0): "
                   "an index outside of its array in binding 1, of 256 bytes");
}

WEFT_TEST(test_read_only) {
    const struct kernel kernel = {.body = "layout(local_size_x = 1) in;\n"
                                          "void main() { result[3] = 1; }\n",
                                  .read_only = true};
    assert_refused(&kernel, WEFT_INVALID_ARGUMENT, "a store to binding 0, offset 12");
}

/* Indices outside of a fixed length, also where the memory behind it is the next array's. */
WEFT_TEST(test_array_bounds) {
    struct kernel local = {.body = "layout(local_size_x = 1) in;\n"
                                   "void main() {\n"
                                   "    uint table[2][3];\n"
                                   "    table[0][given[0]] = 5;\n"
                                   "    result[0] = table[0][given[0]];\n"
                                   "}\n",
                           .given = {2}};
    ASSERT_GIVES(&local, 5);
    local.given[0] = 3;
    assert_refused(&local, WEFT_INVALID_ARGUMENT, "outside of its array in a local variable");
    struct kernel rows = {.body = "layout(local_size_x = 1) in;\n"
                                  "layout(constant_id = 0) const uint COLUMN = 0;\n"
                                  "void main() {\n"
                                  "    uint table[2][3];\n"
                                  "    table[given[0]][given[1]] = 5;\n"
                                  "    result[0] = table[0][COLUMN];\n"
                                  "}\n",
                          .specialization_count = 1};
    ASSERT_GIVES(&rows, 5);
    rows.given[0] = 2; /* too far, whatever comes behind it */
    rows.given[1] = 1;
    assert_refused(&rows, WEFT_INVALID_ARGUMENT, "outside of its array in a local variable");
    rows.given[0] = 1;
    rows.specialization[0] = 3;
    assert_refused(&rows, WEFT_INVALID_ARGUMENT, "outside of its array in a local variable");
    struct kernel group = {.body = "layout(local_size_x = 1) in;\n"
                                   "shared uint first[4];\n"
                                   "shared uint second[4];\n"
                                   "void main() {\n"
                                   "    second[0] = 8;\n"
                                   "    first[given[0]] = 6;\n"
                                   "    result[0] = first[given[0]] + second[0];\n"
                                   "}\n",
                           .given = {3}};
    ASSERT_GIVES(&group, 14);
    group.given[0] = 4;
    assert_refused(&group, WEFT_INVALID_ARGUMENT, "outside of its array in a shared variable");
    struct kernel vector = {.body = "layout(local_size_x = 1) in;\n"
                                    "void main() {\n"
                                    "    uvec3 v = uvec3(7, 8, 9);\n"
                                    "    result[0] = v[given[0]];\n"
                                    "}\n",
                            .given = {2}};
    ASSERT_GIVES(&vector, 9);
    vector.given[0] = 3;
    assert_refused(&vector, WEFT_INVALID_ARGUMENT, "outside of its array");
}

WEFT_TEST(test_divergent_barriers) {
    const struct kernel returned = {.body = "layout(local_size_x = 8) in;\n"
                                            "void main() {\n"
                                            "    if (gl_LocalInvocationID.x == 5) return;\n"
                                            "    barrier();\n"
                                            "}\n"};
    assert_refused(&returned, WEFT_INVALID_ARGUMENT, "invocation (5, 0, 0): part of the workgroup");
    const struct kernel left = {.body =
                                    "layout(local_size_x = 8) in;\n"
                                    "void main() {\n"
                                    "    for (uint i = 0; i < 3; i++) {\n"
                                    "        if (i == 2 && gl_LocalInvocationID.x == 6) return;\n"
                                    "        barrier();\n"
                                    "    }\n"
                                    "}\n"};
    assert_refused(&left, WEFT_INVALID_ARGUMENT, "invocation (6, 0, 0): part of the workgroup");
    const struct kernel apart = {.body = "layout(local_size_x = 8) in;\n"
                                         "void main() {\n"
                                         "    if (gl_LocalInvocationID.x < 3) { barrier(); }\n"
                                         "    else { barrier(); }\n"
                                         "}\n"};
    assert_refused(&apart, WEFT_INVALID_ARGUMENT, "invocation (3, 0, 0): part of the workgroup");
}

WEFT_TEST(test_endless_loop) {
    struct kernel kernel = {.body = "layout(local_size_x = 2) in;\n"
                                    "void main() {\n"
                                    "    uint n = 0;\n"
                                    "    while (n < given[0]) n += gl_LocalInvocationID.x;\n"
                                    "    result[gl_LocalInvocationID.x] = n;\n"
                                    "}\n",
                            .group_limit = 100000};
    ASSERT_GIVES(&kernel, 0, 0);
    kernel.given[0] = 1;
    assert_refused(&kernel, WEFT_INVALID_ARGUMENT,
                   "invocation (0, 0, 0): the workgroup takes more than 100000 steps");
}

WEFT_TEST(test_unsupported) {
    const struct kernel divide = {.body = FLOAT_KERNEL(1, "floatBitsToUint(a / b)")};
    assert_refused(&divide, WEFT_UNSUPPORTED, "OpFDiv (opcode 136) is not evaluated");
    const struct kernel root = {.body = FLOAT_KERNEL(1, "floatBitsToUint(sqrt(a))")};
    assert_refused(&root, WEFT_UNSUPPORTED, "instruction 31 of GLSL.std.450");
    const struct kernel wide = {.body = FLOAT_KERNEL(1, "uint(double(a))")};
    assert_refused(&wide, WEFT_UNSUPPORTED, "floats of 64 bits");
}

WEFT_TEST(test_bad_input) {
    const uint32_t garbage[6] = {0x07230203, 0x00010500, 0, 10, 0, 7};
    struct weft_evaluated_dispatch dispatch = {
        .words = garbage, .size = sizeof garbage, .groups = {1, 1, 1}};
    char text[WEFT_EVALUATOR_TEXT] = "";
    weft_evaluator *evaluator = weft_evaluator_create(NULL);
    assert_int_equal(weft_evaluate_dispatch(text, evaluator, &dispatch), WEFT_COMPILE_ERROR);
    assert_non_null(strstr(text, "not well formed"));
    dispatch.push_size = 4; /* and no bytes */
    assert_int_equal(weft_evaluate_dispatch(text, evaluator, &dispatch), WEFT_INVALID_ARGUMENT);
    weft_evaluator_destroy(&evaluator);
    weft_evaluator_destroy(&evaluator);
}

/* ---- the evaluator ---- */

/* Stops behind the workgroup that reaches the limit, and goes on when it is lifted. */
WEFT_TEST(test_limit) {
    const struct kernel kernel = {.body = "layout(local_size_x = 1) in;\n"
                                          "void main() { result[gl_WorkGroupID.x] = 1; }\n",
                                  .groups = {WORDS}};
    weft_evaluator *evaluator = weft_evaluator_create(NULL);
    assert_int_equal(run_with(evaluator, &kernel).result[WORDS - 1], 1);
    uint64_t steps = weft_evaluator_steps(evaluator);
    assert_true(steps >= WORDS && steps % WORDS == 0);
    weft_evaluator_set_limit(evaluator, steps / 2);
    struct outcome outcome = run_with(evaluator, &kernel);
    assert_ok(outcome.status);
    assert_true(weft_evaluator_was_stopped(evaluator));
    assert_int_equal(outcome.result[WORDS / 2 - 1], 1);
    assert_int_equal(outcome.result[WORDS / 2], 0xABABABABu);
    weft_evaluator_set_limit(evaluator, 0);
    outcome = run_with(evaluator, &kernel);
    assert_false(weft_evaluator_was_stopped(evaluator));
    assert_int_equal(outcome.result[WORDS - 1], 1);
    weft_evaluator_destroy(&evaluator);
}

/* One evaluator, more modules than it keeps, twice. */
WEFT_TEST(test_many_modules) {
    weft_evaluator *evaluator = weft_evaluator_create(NULL);
    for (uint32_t i = 0; i < 50; i++) {
        const struct kernel kernel = {.body = "layout(local_size_x = 1) in;\n"
                                              "layout(constant_id = 0) const uint N = 7;\n"
                                              "void main() { result[0] = N; }\n",
                                      .specialization = {i % 25},
                                      .specialization_count = i == 13 ? 0 : 1};
        assert_int_equal(run_with(evaluator, &kernel).result[0], i == 13 ? 7 : i % 25);
    }
    weft_evaluator_destroy(&evaluator);
}
