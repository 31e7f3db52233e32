/* SPDX-License-Identifier: MIT */
/* The pass that leaves one NaN in what a module stores. What processors and drivers make of it is in test_one_nan.c. No device. */
#include "spirv/check.h"
#include "support.h"
#include "support_kernels.h"
#include "support_spirv.h"

#define HEAD                                                  \
    "#version 450\n"                                          \
    "layout(local_size_x = 64) in;\n"                         \
    "struct pair { float a; uint n; vec2 b; };\n"             \
    "layout(set = 0, binding = 0) buffer A { float x[]; };\n" \
    "layout(set = 0, binding = 1) buffer B { vec4 v[]; };\n"  \
    "layout(set = 0, binding = 2) buffer C { uint n[]; };\n"  \
    "layout(set = 0, binding = 3) buffer D { pair s[]; };\n"  \
    "layout(set = 0, binding = 4) buffer E { mat3 m[]; };\n"  \
    "shared float t[64];\n"

/* Floats in stores: 1, 4, 3 of a structure, 9 of a matrix; in reinterpretations 1 and 2. Shared memory, whole numbers, and what
 * becomes a float do not count. */
static const char kernel_text[] = HEAD "void main() {\n"
                                       "    uint i = gl_GlobalInvocationID.x;\n"
                                       "    t[i] = x[i] * x[i];\n"
                                       "    float local = t[i + 1] * x[i];\n"
                                       "    x[i] = local * x[0];\n"
                                       "    v[i] = v[i + 1] * local;\n"
                                       "    n[i] = floatBitsToUint(local);\n"
                                       "    ivec2 bits = floatBitsToInt(v[i].xy);\n"
                                       "    s[i] = pair(local, n[i + 1], v[i].xy);\n"
                                       "    m[i] = mat3(local);\n"
                                       "    n[i + 1] = uint(bits.x ^ bits.y);\n"
                                       "    t[i] = uintBitsToFloat(n[i + 2]);\n"
                                       "}\n";
enum { NUMBERS = 1 + 4 + 3 + 9 + 1 + 2 };

static const struct weft_spirv_needs needs = {.one_nan = 1};

WEFT_TEST(every_float_that_shows_is_looked_at) {
    struct words source = weft_test_compile(kernel_text);
    struct words made = weft_test_rewrite(source, needs);
    assert_int_equal(weft_test_count_ops(made, SpvOpUGreaterThan),
                     weft_test_count_ops(source, SpvOpUGreaterThan) + NUMBERS);
    assert_int_equal(weft_test_count_ops(made, SpvOpStore),
                     weft_test_count_ops(source, SpvOpStore));
    weft_test_expect_valid(made, "with one NaN");
    free(source.data);
    free(made.data);
}

WEFT_TEST(a_module_without_floats_stays) {
    struct words source = weft_test_compile(
        HEAD "void main() { n[0] = n[1] + 1; t[0] = float(n[2]); s[0].n = n[3]; }\n");
    struct words made = weft_test_rewrite(source, needs);
    weft_test_expect_same(made, source);
    free(source.data);
    free(made.data);
}

/* What stores are of comes from what follows it: a copy of memory is a load and a store. */
WEFT_TEST(copies_of_memory_are_looked_at) {
    struct words source =
        weft_test_compile(HEAD "void main() { float y = x[1] * x[2]; y += 1.0; x[0] = y; }\n");
    /* OpLoad and OpStore are the two of `x[0] = y`: made one OpCopyMemory and an OpNop's worth of words. */
    uint32_t *load = NULL;
    uint32_t *store = NULL;
    WEFT_TEST_EACH(word, source) {
        load = weft_spirv_opcode(word[0]) == SpvOpLoad ? word : load;
        store = weft_spirv_opcode(word[0]) == SpvOpStore ? word : store;
    }
    assert_non_null(load);
    assert_non_null(store);
    const uint32_t from = load[3];
    load[0] = load[1] = load[2] = load[3] = 1u << 16 | SpvOpNop;
    store[0] = 3u << 16 | SpvOpCopyMemory;
    store[2] = from;
    struct words made = weft_test_rewrite(source, needs);
    assert_int_equal(weft_test_count_ops(made, SpvOpCopyMemory), 0);
    assert_int_equal(weft_test_count_ops(made, SpvOpUGreaterThan), 1);
    weft_test_expect_valid(made, "a copy");
    free(source.data);
    free(made.data);
}

/* ---- what it gives ---- */

static bool is_nan(uint32_t bits) {
    return (bits & 0x7FFFFFFFu) > 0x7F800000u;
}

/* The interpreter moves the bits of NaNs as they are, and so shows what the pass does to them. */
WEFT_TEST(other_bits_of_a_nan_are_replaced) {
    static const struct weft_test_kernel kernel = {
        "nan", WEFT_TEST_KERNEL_LINE,
        "void main() { for (uint i = 0; i < 4; i++) {\n"
        "    out_(i, floatBitsToUint(uintBitsToFloat(in_(i)))); } }"};
    static const uint32_t cases[] = {0xFFC00000u, 0x7FC00000u, 0x7F800001u, 0x7FC12345u,
                                     0xFFFFFFFFu, 0x7F800000u, 0xFF800000u, 0,
                                     0x80000000u, 0x3F800000u, 0x00800000u, 0xFF7FFFFFu};
    enum { CASES = sizeof cases / sizeof cases[0] };
    struct weft_test_kernel_module module = weft_test_kernel_compile(&kernel, "");
    struct words made = weft_test_rewrite((struct words){module.words, module.size}, needs);
    const struct weft_test_kernel_module with = {made.data, made.size};
    struct weft_test_kernel_given given = weft_test_kernel_given(1);
    uint32_t result[WEFT_TEST_KERNEL_WORDS];
    for (uint32_t i = 0; i < WEFT_TEST_KERNEL_WORDS; i++) {
        given.words[i] = cases[i % CASES];
    }
    weft_test_kernel_evaluate(result, &with, &given, WEFT_TEST_KERNEL_WORDS / 4 / 64);
    for (uint32_t i = 0; i < WEFT_TEST_KERNEL_WORDS; i++) {
        assert_int_equal(result[i], is_nan(given.words[i]) ? 0x7FC00000u : given.words[i]);
    }
    weft_free(NULL, module.words);
    free(made.data);
}

/* ---- what is refused ---- */

WEFT_TEST_ON_HOST(a_value_of_too_many_floats_is_refused, test) {
    struct words source = weft_test_compile("#version 450\n"
                                            "#pragma use_storage_buffer\n"
                                            "#pragma use_vulkan_memory_model\n"
                                            "layout(local_size_x = 1) in;\n"
                                            "struct many { mat4 m[17]; };\n"
                                            "layout(set = 0, binding = 0) buffer A { many s[]; };\n"
                                            "void main() { s[0] = s[1]; }\n");
    struct words result;
    assert_int_equal(weft_test_try_rewrite(&result, source, &needs, &test->host), WEFT_UNSUPPORTED);
    weft_test_expect_log(test, "SPIR-V module, word ", "more than 256 floats", "store its members");
    free(source.data);
}

WEFT_TEST_ON_HOST(no_ids_left, test) {
    weft_test_pass_without_ids(test, needs, kernel_text);
}

WEFT_TEST_ON_HOST(out_of_memory, test) {
    weft_test_pass_without_memory(test, needs, kernel_text, 5);
}

WEFT_TEST_ON_HOST(damage, test) {
    weft_test_pass_on_damage(test, needs, kernel_text);
}

WEFT_TEST_ON_HOST(kernels_of_vkfft, test) {
    weft_test_pass_on_transform(
        test, (struct weft_spirv_needs){.one_nan = 1, .no_contraction = 1, .lint = 1},
        (const uint32_t[]){64, 0});
}
