/* SPDX-License-Identifier: MIT */
/*
 * The passes that say what becomes of subnormals and of other special values. That drivers then
 * compute what they should is checked by the probe and by tests/rules.
 */
#include "shader/embedded.h"
#include "spirv/check.h"
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

static const struct weft_spirv_needs needs = {.flushes = 1};

static struct words flush(struct words source, bool loses_small_products) {
    return weft_test_rewrite(
        source,
        (struct weft_spirv_needs){.flushes = 1, .loses_small_products = loses_small_products});
}

static struct words add_modes(struct words source, uint32_t modes) {
    return weft_test_rewrite(source, (struct weft_spirv_needs){.float_modes = modes});
}

static bool is_decorated(struct words words, uint32_t id) {
    WEFT_TEST_EACH(instruction, words) {
        if (weft_spirv_opcode(instruction[0]) == SpvOpDecorate && instruction[1] == id &&
            instruction[2] == SpvDecorationNoContraction) {
            return true;
        }
    }
    return false;
}

/* How many more of an instruction there are. */
static uint32_t added(struct words now, struct words before, SpvOp op) {
    return weft_test_count_ops(now, op) - weft_test_count_ops(before, op);
}

WEFT_TEST(test_every_source_is_flushed) {
    struct words source = weft_test_compile(kernel_text);
    struct words plain = weft_test_make_reproducible(source);
    for (uint32_t loses = 0; loses < 2; loses++) {
        struct words flushed = flush(plain, loses != 0);
        assert_int_equal(added(flushed, plain, SpvOpExtInst), SITES);
        assert_int_equal(added(flushed, plain, SpvOpFOrdLessThan), SITES);
        assert_int_equal(added(flushed, plain, SpvOpSelect), SITES + loses * PRODUCTS);
        assert_int_equal(added(flushed, plain, SpvOpFOrdEqual), loses * PRODUCTS);
        assert_int_equal(added(flushed, plain, SpvOpLoad), 0);
        assert_int_equal(added(flushed, plain, SpvOpExtInstImport), 0);
        free(flushed.data);
    }
    free(source.data);
    free(plain.data);
}

/* Products, and nothing else, on a device whose mode flushes the rest. */
WEFT_TEST(test_only_products_are_flushed) {
    struct words source = weft_test_compile(kernel_text);
    struct words plain = weft_test_make_reproducible(source);
    for (uint32_t loses = 0; loses < 2; loses++) {
        struct words flushed = weft_test_rewrite(
            plain, (struct weft_spirv_needs){
                       .flushes = 1, .only_products = 1, .loses_small_products = loses});
        assert_int_equal(added(flushed, plain, SpvOpFOrdLessThan), PRODUCTS);
        assert_int_equal(added(flushed, plain, SpvOpSelect), (1 + loses) * PRODUCTS);
        weft_test_expect_valid(flushed, "the kernel with flushed products");
        free(flushed.data);
    }
    free(source.data);
    free(plain.data);
}

static const char plain_text[] =
    "#version 450\n"
    "layout(local_size_x = 64) in;\n"
    "layout(constant_id = 96) const bool asks = false;\n"
    "layout(constant_id = 97) const bool plain = true;\n"
    "layout(set = 0, binding = 0) buffer A { float x[]; };\n"
    "float product(float a, float b) { return a * b; }\n"
    "float plain_product(float a, float b) { return plain ? a * b : 0.0; }\n"
    "void main() {\n"
    "    uint i = gl_GlobalInvocationID.x;\n"
    "    if (asks && x[i] < 1.0) {\n"
    "        x[i] = product(x[i + 1], x[i + 2]);\n"
    "    } else {\n"
    "        x[i] = plain_product(x[i + 1], x[i + 2]);\n"
    "    }\n"
    "}\n";

/* A shader that makes sure of its products is asked to, and those are left alone. One that cannot be asked is not believed, nor
 * are other people's. */
WEFT_TEST(test_plain_products_are_left_alone) {
    enum { NO_NUMBER, OTHERS, ASKED };
    for (uint32_t i = NO_NUMBER; i <= ASKED; i++) {
        const bool asked = i == ASKED;
        char *text = strdup(plain_text);
        assert_non_null(text);
        memcpy(strstr(text, "= 96"), i == NO_NUMBER ? "= 95" : "= 96", 4);
        struct words source = weft_test_compile(text);
        struct words plain = weft_test_make_reproducible(source);
        const struct weft_spirv_needs wanted = {
            .one_nan = i == OTHERS, .flushes = 1, .only_products = 1};
        struct words flushed = weft_test_rewrite(plain, wanted);
        assert_int_equal(weft_test_count_ops(plain, SpvOpSpecConstantFalse), 1);
        assert_int_equal(added(flushed, plain, SpvOpFOrdLessThan), asked ? 1 : 2);
        assert_int_equal(weft_test_count_ops(flushed, SpvOpSpecConstantFalse), asked ? 0 : 1);
        weft_test_expect_valid(flushed, "the kernel with plain products");
        free(text);
        free(source.data);
        free(plain.data);
        free(flushed.data);
    }
}

/* The module without the import of GLSL.std.450, which its code does not use. */
static struct words without_import(struct words source) {
    struct words words = {calloc(source.size, 1), 0};
    assert_non_null(words.data);
    size_t count = WEFT_SPIRV_HEADER_WORDS;
    memcpy(words.data, source.data, count * 4);
    WEFT_TEST_EACH(word, source) {
        assert_int_not_equal(weft_spirv_opcode(word[0]), SpvOpExtInst);
        if (weft_spirv_opcode(word[0]) != SpvOpExtInstImport) {
            const size_t length = weft_spirv_length(word[0]);
            memcpy(words.data + count, word, length * 4);
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
    assert_int_equal(weft_test_count_ops(bare, SpvOpExtInstImport), 0);
    struct words flushed = flush(bare, false);
    assert_int_equal(weft_test_count_ops(flushed, SpvOpExtInstImport), 1);
    weft_test_expect_valid(flushed, "the kernel without an import");
    free(source.data);
    free(plain.data);
    free(bare.data);
    free(flushed.data);
}

static bool is_arithmetic(uint32_t opcode) {
    return opcode == SpvOpFAdd || opcode == SpvOpFSub || opcode == SpvOpFMul ||
           opcode == SpvOpFNegate || opcode == SpvOpVectorTimesScalar;
}

WEFT_TEST(test_decorations_stay_with_the_arithmetic) {
    struct words source = weft_test_compile(kernel_text);
    struct words plain = weft_test_make_reproducible(source);
    struct words flushed = flush(plain, true);
    uint32_t seen = 0;
    WEFT_TEST_EACH(word, flushed) {
        if (is_arithmetic(weft_spirv_opcode(word[0]))) {
            assert_true(is_decorated(flushed, word[2]));
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
    assert_int_equal(weft_test_count_ops(two, SpvOpCapability),
                     weft_test_count_ops(source, SpvOpCapability) + 2);
    assert_int_equal(weft_test_count_ops(two, SpvOpExecutionMode),
                     weft_test_count_ops(source, SpvOpExecutionMode) + 2);
    struct words three = add_modes(two, ALL_MODES);
    assert_int_equal(weft_test_count_ops(three, SpvOpExecutionMode),
                     weft_test_count_ops(source, SpvOpExecutionMode) + 3);
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
    assert_int_equal(weft_test_count_ops(result, SpvOpExtension),
                     weft_test_count_ops(source, SpvOpExtension) + 1);
    assert_int_equal(weft_test_count_ops(again, SpvOpExtension),
                     weft_test_count_ops(result, SpvOpExtension));
    bool named = false;
    WEFT_TEST_EACH(word, result) {
        named |= weft_spirv_opcode(word[0]) == SpvOpExtension &&
                 weft_spirv_string_is(word + 1, weft_spirv_length(word[0]) - 1,
                                      "SPV_KHR_float_controls");
    }
    assert_true(named);
    source.data[WEFT_SPIRV_AT_VERSION] = 0x10500;
    struct words newer = add_modes(source, ALL_MODES);
    assert_int_equal(weft_test_count_ops(newer, SpvOpExtension),
                     weft_test_count_ops(source, SpvOpExtension));
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
                        weft_test_try_rewrite(&result, source, &needs, &test->host),
                        "a whole structure, array or matrix of floats is loaded");
    free(source.data);
}

WEFT_TEST_ON_HOST(test_no_ids_left, test) {
    weft_test_pass_without_ids(test, needs, kernel_text);
}

WEFT_TEST_ON_HOST(test_out_of_memory, test) {
    const struct weft_spirv_needs modes = {.float_modes = ALL_MODES};
    weft_test_pass_without_memory(test, needs, kernel_text, 10);
    weft_test_pass_without_memory(test, modes, kernel_text, 8);
}
