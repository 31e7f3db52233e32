/* SPDX-License-Identifier: MIT */
/* The pass that writes sums of products of bytes out, where a device has no instruction for them. No device. */
#include "spirv/check.h"
#include "support.h"
#include "support_kernels.h"
#include "support_spirv.h"

#define HEAD                                                 \
    "#version 450\n"                                         \
    "#extension GL_GOOGLE_include_directive : require\n"     \
    "#include \"dot4.glsl\"\n"                               \
    "layout(local_size_x = 64) in;\n"                        \
    "layout(set = 0, binding = 0) buffer A { uint x[]; };\n" \
    "layout(set = 0, binding = 1) buffer B { ivec2 v[]; };\n"

static const char kernel_text[] =
    HEAD "void main() {\n"
         "    int sum = weft_dot4(x[0], x[1], int(x[2]));\n"
         "    for (uint i = 0; i < x[3]; i++) { sum = weft_dot4_mixed(x[i], x[i + 1], sum); }\n"
         "    v[gl_LocalInvocationIndex] = ivec2(sum, weft_dot4(x[4], x[4], 0));\n"
         "}\n";

static const struct weft_spirv_needs needs = {.plain_dots = 1};

static uint32_t count_dots(struct words words) {
    return weft_test_count_ops(words, SpvOpSDot) + weft_test_count_ops(words, SpvOpSUDot);
}

WEFT_TEST(nothing_of_the_extension_is_left) {
    struct words source = weft_test_compile(kernel_text);
    struct words plain = weft_test_rewrite(source, needs);
    assert_int_equal(count_dots(source), 2); /* in functions that are called three times */
    assert_int_equal(count_dots(plain), 0);
    assert_int_equal(weft_test_count_ops(source, SpvOpExtension), 1);
    assert_int_equal(weft_test_count_ops(plain, SpvOpExtension), 0);
    assert_int_equal(weft_test_count_ops(source, SpvOpCapability), 3);
    assert_int_equal(weft_test_count_ops(plain, SpvOpCapability), 1);
    assert_int_equal(weft_test_count_ops(plain, SpvOpIMul),
                     weft_test_count_ops(source, SpvOpIMul) + 8);
    if (weft_test_has_spirv_val()) {
        weft_test_expect_valid(source, "with the extension");
        weft_test_expect_valid(plain, "without");
    }
    struct words again = weft_test_rewrite(plain, needs);
    weft_test_expect_same(again, plain);
    free(source.data);
    free(plain.data);
    free(again.data);
}

/* ---- what they give ---- */

static int32_t byte_of(uint32_t word, uint32_t index, bool is_signed) {
    const int32_t byte = (int32_t)(word >> 8 * index & 0xFFu);
    return is_signed && byte >= 128 ? byte - 256 : byte;
}

static uint32_t dot(uint32_t a, uint32_t b, bool mixed) {
    int32_t sum = 0;
    for (uint32_t i = 0; i < 4; i++) {
        sum += byte_of(a, i, true) * byte_of(b, i, !mixed);
    }
    return (uint32_t)sum;
}

/* Every pair of bytes, and what wraps around. */
WEFT_TEST(written_out_they_give_what_they_say) {
    static const struct weft_test_kernel kernel = {
        "bytes", WEFT_TEST_KERNEL_LINE,
        "#include \"dot4.glsl\"\n"
        "void main() { out_(0, uint(weft_dot4(in_(0), in_(1), int(in_(2)))));\n"
        "out_(1, uint(weft_dot4_mixed(in_(0), in_(1), int(in_(2)))));\n"
        "out_(2, uint(weft_dot4_mixed(in_(0), weft_bias4(in_(1)), 0)) -\n"
        "        uint(weft_dot4(in_(0), in_(1), weft_dot4(in_(0), 0x80808080u, 0) * -1)));\n"
        "out_(3, 0u); }"};
    enum { INVOCATIONS = 256, SEEDS = 256 };
    struct weft_test_kernel_module module = weft_test_kernel_compile(&kernel, "");
    const struct words source = {module.words, module.size};
    struct words plain = weft_test_rewrite(source, needs);
    const struct weft_test_kernel_module modules[] = {module, {plain.data, plain.size}};
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        struct weft_test_kernel_given given = weft_test_kernel_given(seed);
        for (uint32_t i = 0; i < INVOCATIONS; i++) { /* the top bytes are all pairs */
            given.words[4 * i] = (given.words[4 * i] & 0xFFFFFFu) | i << 24;
            given.words[4 * i + 1] = (given.words[4 * i + 1] & 0xFFFFFFu) | seed << 24;
        }
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t result[WEFT_TEST_KERNEL_WORDS];
            weft_test_kernel_evaluate(result, &modules[k], &given, INVOCATIONS / 64);
            for (uint32_t i = 0; i < WEFT_TEST_KERNEL_WORDS; i += 4) {
                const uint32_t *x = given.words + i;
                assert_int_equal(result[i], dot(x[0], x[1], false) + x[2]);
                assert_int_equal(result[i + 1], dot(x[0], x[1], true) + x[2]);
                assert_int_equal(result[i + 2], 0);
            }
        }
    }
    weft_free(NULL, module.words);
    free(plain.data);
}

/* ---- what is refused ---- */

WEFT_TEST_ON_HOST(other_dot_products_are_refused, test) {
    struct words source = weft_test_compile(
        "#version 450\n"
        "#extension GL_EXT_spirv_intrinsics : require\n"
        "layout(local_size_x = 1) in;\n"
        "layout(set = 0, binding = 0) buffer A { ivec4 x[]; };\n"
        "spirv_instruction(extensions = [\"SPV_KHR_integer_dot_product\"], capabilities = [6016, "
        "6019], id = 4450)\n"
        "int dot_of(ivec4 a, ivec4 b);\n"
        "void main() { x[0].x = dot_of(x[1], x[2]); }\n");
    const struct weft_spirv_needs lint = {.lint = 1};
    struct words result;
    assert_int_equal(weft_test_try_rewrite(&result, source, &needs, &test->host), WEFT_UNSUPPORTED);
    weft_test_expect_log(test, "two words of four bytes", "SPIR-V module, word ", "");
    weft_test_host_reset(test);
    assert_int_equal(weft_test_try_rewrite(&result, source, &lint, &test->host), WEFT_UNSUPPORTED);
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
