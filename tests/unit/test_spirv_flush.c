/* SPDX-License-Identifier: MIT */
/*
 * The passes that say what becomes of subnormals and of other special values. That drivers then
 * compute what they should is checked by the probe and by tests/rules.
 */
#include "shader/embedded.h"
#include "shader/spirv_float_modes.h"
#include "shader/spirv_flush.h"
#include "shader/spirv_pass.h"
#include "spirv/module.h"
#include "support.h"
#include "support_spirv.h"

/* 10 loads from outside, 2 reinterpretations and 9 operations, of which 4 are products, make floats;
 * the loads of s and t, which are the shader's own, and the conversion cannot make a subnormal. */
static const char kernel_text[] =
    "#version 450\n"
    "layout(local_size_x = 64) in;\n"
    "layout(set = 0, binding = 0) buffer A { float x[]; };\n"
    "layout(set = 0, binding = 1) buffer B { vec4 v[]; };\n"
    "layout(set = 0, binding = 2) buffer C { vec3 w[]; };\n"
    "layout(push_constant) uniform P { float scale; vec2 pair; uint count; };\n"
    "shared float t[64];\n"
    "void main() {\n"
    "    uint i = gl_GlobalInvocationID.x;\n"
    "    float s = x[i] + x[i + 1];\n"
    "    s = s * scale - float(count);\n"
    "    t[i] = s;\n"
    "    vec2 p = pair * pair;\n"
    "    vec3 c = w[i] * t[i + 1];\n"
    "    vec4 q = (v[i] + v[i + 1]) * v[i + 2];\n"
    "    s = uintBitsToFloat(floatBitsToUint(s) ^ count);\n"
    "    p = uintBitsToFloat(uvec2(count, i)) + p;\n"
    "    x[i] = -s;\n"
    "    v[i] = q;\n"
    "    w[i] = c + vec3(p, x[i + 3]);\n"
    "}\n";
enum { PRODUCTS = 4, SITES = 10 + 2 + 9 };

static struct words flush(struct words source, bool loses_small_products) {
    struct words words = {0};
    assert_ok(weft_spirv_flush_subnormals(&words.data, &words.size, source.data, source.size,
                                          loses_small_products, NULL));
    assert_ok(weft_spirv_check(words.data, words.size, NULL));
    return words;
}

static struct words add_modes(struct words source, uint32_t modes) {
    struct words words = {0};
    assert_ok(weft_spirv_add_float_modes(&words.data, &words.size, source.data, source.size, modes,
                                         NULL));
    assert_ok(weft_spirv_check(words.data, words.size, NULL));
    return words;
}

static bool is_decorated(struct words words, uint32_t id) {
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < words.size / 4;
         at += weft_spirv_length(words.data[at])) {
        const uint32_t *instruction = words.data + at;
        if (weft_spirv_opcode(instruction[0]) == WEFT_OP_DECORATE && instruction[1] == id &&
            instruction[2] == WEFT_DECORATION_NO_CONTRACTION) {
            return true;
        }
    }
    return false;
}

/* How many more of an instruction there are. */
static uint32_t added(struct words now, struct words before, enum weft_spirv_op op) {
    return weft_test_count_ops(now, op) - weft_test_count_ops(before, op);
}

WEFT_TEST(test_every_source_is_flushed) {
    struct words source = weft_test_compile(kernel_text);
    struct words plain = weft_test_make_reproducible(source);
    for (uint32_t loses = 0; loses < 2; loses++) {
        struct words flushed = flush(plain, loses != 0);
        assert_int_equal(added(flushed, plain, WEFT_OP_EXT_INST), SITES);
        assert_int_equal(added(flushed, plain, WEFT_OP_F_ORD_LESS_THAN), SITES);
        assert_int_equal(added(flushed, plain, WEFT_OP_SELECT), SITES + loses * PRODUCTS);
        assert_int_equal(added(flushed, plain, WEFT_OP_F_ORD_EQUAL), loses * PRODUCTS);
        assert_int_equal(added(flushed, plain, WEFT_OP_LOAD), 0);
        assert_int_equal(added(flushed, plain, WEFT_OP_EXT_INST_IMPORT), 0);
        free(flushed.data);
    }
    free(source.data);
    free(plain.data);
}

/* The module without the import of GLSL.std.450, which its code does not use. */
static struct words without_import(struct words source) {
    struct words words = {calloc(source.size, 1), 0};
    assert_non_null(words.data);
    size_t count = WEFT_SPIRV_HEADER_WORDS;
    memcpy(words.data, source.data, count * 4);
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < source.size / 4;
         at += weft_spirv_length(source.data[at])) {
        assert_int_not_equal(weft_spirv_opcode(source.data[at]), WEFT_OP_EXT_INST);
        if (weft_spirv_opcode(source.data[at]) != WEFT_OP_EXT_INST_IMPORT) {
            const size_t length = weft_spirv_length(source.data[at]);
            memcpy(words.data + count, source.data + at, length * 4);
            count += length;
        }
    }
    words.size = count * 4;
    return words;
}

WEFT_TEST(test_what_it_calls_is_imported) {
    struct words source = weft_test_compile(kernel_text);
    struct words plain = weft_test_make_reproducible(source);
    struct words bare = without_import(plain);
    assert_int_equal(weft_test_count_ops(bare, WEFT_OP_EXT_INST_IMPORT), 0);
    struct words flushed = flush(bare, false);
    assert_int_equal(weft_test_count_ops(flushed, WEFT_OP_EXT_INST_IMPORT), 1);
    if (weft_test_has_spirv_val()) {
        weft_test_expect_valid(flushed, "the kernel without an import");
    }
    free(source.data);
    free(plain.data);
    free(bare.data);
    free(flushed.data);
}

static bool is_arithmetic(uint32_t opcode) {
    return opcode == WEFT_OP_F_ADD || opcode == WEFT_OP_F_SUB || opcode == WEFT_OP_F_MUL ||
           opcode == WEFT_OP_F_NEGATE || opcode == WEFT_OP_VECTOR_TIMES_SCALAR;
}

WEFT_TEST(test_decorations_stay_with_the_arithmetic) {
    struct words source = weft_test_compile(kernel_text);
    struct words plain = weft_test_make_reproducible(source);
    struct words flushed = flush(plain, true);
    uint32_t seen = 0;
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < flushed.size / 4;
         at += weft_spirv_length(flushed.data[at])) {
        if (is_arithmetic(weft_spirv_opcode(flushed.data[at]))) {
            assert_true(is_decorated(flushed, flushed.data[at + 2]));
            seen++;
        }
    }
    assert_int_equal(seen, 10 + 2 * PRODUCTS); /* with the negation */
    free(source.data);
    free(plain.data);
    free(flushed.data);
}

#define ALL_MODES (WEFT_FLOAT_FLUSH | WEFT_FLOAT_SPECIAL | WEFT_FLOAT_NEAREST)

WEFT_TEST(test_spirv_val) {
    if (!weft_test_has_spirv_val()) {
        skip();
    }
    for (size_t i = 0; i <= weft_shader_count; i++) {
        const bool own = i == weft_shader_count;
        struct words compiled = own ? weft_test_compile(kernel_text) : (struct words){0};
        struct words source = compiled;
        if (!own) {
            source = (struct words){(uint32_t *)(uintptr_t)weft_shaders[i]->reproducible.words,
                                    weft_shaders[i]->reproducible.size};
        }
        struct words plain = weft_test_make_reproducible(source);
        struct words flushed = flush(plain, true);
        struct words result = add_modes(flushed, ALL_MODES);
        weft_test_expect_valid(result, own ? "the kernel" : weft_shaders[i]->name);
        free(compiled.data);
        free(plain.data);
        free(flushed.data);
        free(result.data);
    }
}

WEFT_TEST(test_modes) {
    struct words source = weft_test_compile(kernel_text);
    struct words none = add_modes(source, 0);
    weft_test_expect_same(none, source);
    struct words two = add_modes(source, WEFT_FLOAT_FLUSH | WEFT_FLOAT_NEAREST);
    assert_int_equal(weft_test_count_ops(two, WEFT_OP_CAPABILITY),
                     weft_test_count_ops(source, WEFT_OP_CAPABILITY) + 2);
    assert_int_equal(weft_test_count_ops(two, WEFT_OP_EXECUTION_MODE),
                     weft_test_count_ops(source, WEFT_OP_EXECUTION_MODE) + 2);
    struct words three = add_modes(two, ALL_MODES);
    assert_int_equal(weft_test_count_ops(three, WEFT_OP_EXECUTION_MODE),
                     weft_test_count_ops(source, WEFT_OP_EXECUTION_MODE) + 3);
    struct words again = add_modes(three, ALL_MODES);
    weft_test_expect_same(again, three);
    free(none.data);
    free(two.data);
    free(three.data);
    free(again.data);
    free(source.data);
}

/* Before SPIR-V 1.4, as ours are, the modes come from an extension, which is named once. */
WEFT_TEST(test_old_modules_name_the_extension) {
    struct words source = weft_test_compile(kernel_text);
    assert_int_equal(source.data[WEFT_SPIRV_AT_VERSION], 0x10300);
    struct words result = add_modes(source, WEFT_FLOAT_SPECIAL);
    struct words again = add_modes(result, ALL_MODES);
    assert_int_equal(weft_test_count_ops(result, WEFT_OP_EXTENSION),
                     weft_test_count_ops(source, WEFT_OP_EXTENSION) + 1);
    assert_int_equal(weft_test_count_ops(again, WEFT_OP_EXTENSION),
                     weft_test_count_ops(result, WEFT_OP_EXTENSION));
    bool named = false;
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < result.size / 4;
         at += weft_spirv_length(result.data[at])) {
        named |= weft_spirv_opcode(result.data[at]) == WEFT_OP_EXTENSION &&
                 weft_spirv_string_is(result.data + at + 1, weft_spirv_length(result.data[at]) - 1,
                                      "SPV_KHR_float_controls");
    }
    assert_true(named);
    source.data[WEFT_SPIRV_AT_VERSION] = 0x10500;
    struct words newer = add_modes(source, ALL_MODES);
    assert_int_equal(weft_test_count_ops(newer, WEFT_OP_EXTENSION),
                     weft_test_count_ops(source, WEFT_OP_EXTENSION));
    free(source.data);
    free(result.data);
    free(again.data);
    free(newer.data);
}

WEFT_TEST_ON_HOST(test_whole_structures_are_refused, test) {
    struct words source = weft_test_compile("#version 450\n"
                                            "layout(local_size_x = 1) in;\n"
                                            "struct S { uint i; float f[2]; };\n"
                                            "layout(set = 0, binding = 0) buffer A { S s[]; };\n"
                                            "void main() { s[0] = s[1]; }\n");
    struct words result = {0};
    WEFT_EXPECT_REFUSED(test, WEFT_UNSUPPORTED,
                        weft_spirv_flush_subnormals(&result.data, &result.size, source.data,
                                                    source.size, false, &test->host),
                        "a whole structure, array or matrix of floats is loaded");
    free(source.data);
}

WEFT_TEST_ON_HOST(test_no_ids_left, test) {
    struct words small = weft_test_compile(kernel_text);
    struct words source = weft_test_with_bound(small, WEFT_SPIRV_MAX_BOUND - 100);
    struct words result = {0};
    free(small.data);
    WEFT_EXPECT_REFUSED(test, WEFT_COMPILE_ERROR,
                        weft_spirv_flush_subnormals(&result.data, &result.size, source.data,
                                                    source.size, false, &test->host),
                        "no ids are left");
    free(source.data);
}

WEFT_TEST_ON_HOST(test_out_of_memory, test) {
    struct words source = weft_test_compile(kernel_text);
    for (long fail_at = 1; fail_at <= 4; fail_at++) {
        struct words result = {0};
        weft_test_host_reset(test);
        test->fail_at = fail_at;
        assert_int_equal(weft_spirv_flush_subnormals(&result.data, &result.size, source.data,
                                                     source.size, true, &test->host),
                         WEFT_OUT_OF_HOST_MEMORY);
        assert_null(result.data);
        weft_test_host_reset(test);
        test->fail_at = fail_at;
        weft_status status = weft_spirv_add_float_modes(&result.data, &result.size, source.data,
                                                        source.size, ALL_MODES, &test->host);
        assert_int_equal(status == WEFT_OK, fail_at > 1);
        weft_free(&test->host, result.data);
    }
    free(source.data);
}
