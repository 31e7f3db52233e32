/* SPDX-License-Identifier: MIT */
/*
 * The pass that hides zeros from compilers. That the results are right on a device that folds zeros
 * is checked by the probe and by the special cases of the conformance tests.
 */
#include "mixers/vkfft/fft_program.h"
#include "shader/embedded.h"
#include "spirv/check.h"
#include "support.h"
#include "support_spirv.h"

/* Zeros of both signs, in vectors, stored, chosen, passed and multiplied. */
#define BODY                                                          \
    "float twice(float a, float b) { return a * 2.0 + b * 0.0; }\n"   \
    "float none(float a) { return a * 2.0; }\n"                       \
    "void main() {\n"                                                 \
    "    float re = 1.0, im = 0.0;\n"                                 \
    "    float s = x[0] * re - x[1] * im;\n"                          \
    "    vec3 p = vec3(0.0, -0.0, 1.0) * s;\n"                        \
    "    vec4 q = v[0] + vec4(0.0);\n"                                \
    "    x[2] = twice(s, 0.0) + none(-0.0);\n"                        \
    "    x[3] = s < 0.0 ? 0.0 : -0.0;\n"                              \
    "    for (int i = 0; i < 3; i++) {\n"                             \
    "        x[4 + i] = p[i] + (s == 0.0 && x[i] > 1.0 ? 0.0 : s);\n" \
    "    }\n"                                                         \
    "    v[0] = q;\n"

#define HEAD(size)                                            \
    "#version 450\n"                                          \
    "layout(local_size_x = " size ") in;\n"                   \
    "layout(set = 0, binding = 0) buffer A { float x[]; };\n" \
    "layout(set = 0, binding = 1) buffer B { vec4 v[]; };\n"

static const char kernel_text[] = HEAD("64") BODY "    x[gl_LocalInvocationIndex] = s;\n}\n";

/* What a built-in variable is read with, in a kernel of its own. */
static const char *const built_ins[] = {
    "gl_LocalInvocationIndex",
    "gl_LocalInvocationID.y",
    "gl_WorkGroupID.x",
    "gl_GlobalInvocationID.x",
};
#define BUILT_INS (sizeof built_ins / sizeof built_ins[0])

static const struct weft_spirv_needs needs = {.hidden_zeros = 1};

static struct words hide(struct words source) {
    return weft_test_rewrite(source, needs);
}

/* Uses of zeros in functions, told by what spirv-val would call them. */
struct uses {
    uint32_t scalars, vectors;
};

static struct uses count_uses(struct words words) {
    struct uses uses = {0};
    bool in_function = false;
    uint32_t float_type = 0;
    uint8_t *zeros = calloc(words.data[WEFT_SPIRV_AT_BOUND], 1); /* 1: scalar, 2: in a vector */
    assert_non_null(zeros);
    WEFT_TEST_EACH(word, words) {
        const uint32_t opcode = weft_spirv_opcode(word[0]);
        const uint32_t length = weft_spirv_length(word[0]);
        in_function |= opcode == SpvOpFunction;
        if (opcode == SpvOpTypeFloat) {
            float_type = word[1];
        } else if (opcode == SpvOpConstant && word[1] == float_type) {
            zeros[word[2]] = (word[3] & 0x7fffffffu) == 0;
        } else if (opcode == SpvOpConstantComposite) {
            for (uint32_t i = 3; i < length; i++) {
                zeros[word[2]] |= zeros[word[i]] == 1 ? 2 : 0;
            }
        } else if (in_function) {
            const struct weft_spirv_layout layout = weft_spirv_layout(opcode);
            for (uint32_t i = layout.first; i < length; i++) {
                uses.scalars += weft_spirv_is_id(&layout, i) && zeros[word[i]] == 1;
                uses.vectors += weft_spirv_is_id(&layout, i) && zeros[word[i]] == 2;
            }
        }
    }
    free(zeros);
    return uses;
}

WEFT_TEST(test_every_use) {
    struct words source = weft_test_compile(kernel_text);
    struct words hidden = hide(source);
    const struct uses before = count_uses(source);
    const struct uses after = count_uses(hidden);
    assert_true(before.scalars >= 8 && before.vectors >= 2);
    /* A composite that is made of hidden zeros may have other constants, but none of these. */
    assert_int_equal(after.scalars, 0);
    assert_int_equal(after.vectors, 0);
    /* Two functions of three have zeros; the new loads are of the built-in variable. */
    assert_int_equal(weft_test_count_ops(hidden, SpvOpFunction), 3);
    assert_int_equal(weft_test_count_ops(hidden, SpvOpLoad),
                     weft_test_count_ops(source, SpvOpLoad) + 2);
    assert_int_equal(weft_test_count_ops(hidden, SpvOpShiftRightLogical),
                     weft_test_count_ops(source, SpvOpShiftRightLogical) + 2);
    assert_int_equal(weft_test_count_ops(hidden, SpvOpCompositeConstruct),
                     weft_test_count_ops(source, SpvOpCompositeConstruct) + before.vectors);
    /* Nothing is left to do, and nothing else is done. */
    struct words again = hide(hidden);
    assert_int_equal(count_uses(again).scalars, 0);
    assert_int_equal(weft_test_count_ops(again, SpvOpLoad), weft_test_count_ops(hidden, SpvOpLoad));
    free(source.data);
    free(hidden.data);
    free(again.data);
}

/* Everything but the operands that were zeros is as it was, in the same order. */
WEFT_TEST(test_all_else_stays) {
    struct words compiled = weft_test_compile(kernel_text);
    struct words source = weft_test_make_reproducible(compiled);
    struct words hidden = hide(source);
    const uint32_t bound = source.data[WEFT_SPIRV_AT_BOUND];
    size_t at = WEFT_SPIRV_HEADER_WORDS;
    WEFT_TEST_EACH(found, hidden) {
        const uint32_t *expected = source.data + at;
        const uint32_t opcode = weft_spirv_opcode(found[0]);
        if (weft_spirv_layout(opcode).type != 0 && found[2] >= bound) {
            continue; /* new */
        }
        assert_true(at < source.size / 4);
        assert_int_equal(found[0], expected[0]);
        for (uint32_t k = 1; k < weft_spirv_length(found[0]); k++) {
            assert_true(found[k] == expected[k] || found[k] >= bound);
        }
        at += weft_spirv_length(expected[0]);
    }
    assert_int_equal(at, source.size / 4);
    assert_int_equal(weft_test_count_ops(hidden, SpvOpDecorate),
                     weft_test_count_ops(source, SpvOpDecorate));
    free(compiled.data);
    free(source.data);
    free(hidden.data);
}

WEFT_TEST(test_each_built_in) {
    const bool validates = weft_test_has_spirv_val();
    for (size_t i = 0; i < BUILT_INS; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s    x[%s] = s;\n}\n", HEAD("8") BODY, built_ins[i]);
        struct words source = weft_test_compile(text);
        struct words hidden = hide(source);
        assert_int_equal(count_uses(hidden).scalars, 0);
        if (validates) {
            weft_test_expect_valid(hidden, built_ins[i]);
        }
        free(source.data);
        free(hidden.data);
    }
}

WEFT_TEST(test_nothing_to_make_zeros_of) {
    struct words source = weft_test_compile(HEAD("1") BODY "}\n");
    struct words hidden = hide(source);
    assert_true(count_uses(source).scalars > 0);
    weft_test_expect_same(hidden, source);
    free(source.data);
    free(hidden.data);
}

/* A variable that is not in an entry point's interface must not be read there. */
WEFT_TEST(test_foreign_variable) {
    struct words source = weft_test_compile(kernel_text);
    weft_test_take_interfaces(source);
    struct words hidden = hide(source);
    weft_test_expect_same(hidden, source);
    free(source.data);
    free(hidden.data);
}

/* Zeros in arrays stay; so do those of other kinds than float. */
WEFT_TEST(test_other_zeros) {
    struct words source =
        weft_test_compile(HEAD("8") "void main() {\n"
                                    "    const float table[2] = float[2](0.0, 1.0);\n"
                                    "    uint i = gl_LocalInvocationIndex & 0u;\n"
                                    "    x[i] = table[i];\n"
                                    "}\n");
    struct words hidden = hide(source);
    assert_int_equal(weft_test_count_ops(hidden, SpvOpLoad),
                     weft_test_count_ops(source, SpvOpLoad));
    assert_int_equal(weft_test_count_ops(hidden, SpvOpConstantComposite),
                     weft_test_count_ops(source, SpvOpConstantComposite));
    free(source.data);
    free(hidden.data);
}

/* A module that drivers may get: valid, and fine with the lint, also when it is flushed. */
static void expect_good(struct words source, const char *name, bool validates,
                        struct weft_test_host *test) {
    struct words plain = weft_test_make_reproducible(source);
    struct words hidden = hide(plain);
    struct words flushed = weft_test_rewrite(hidden, (struct weft_spirv_needs){.flushes = 1});
    const struct words both[] = {hidden, flushed};
    weft_test_host_reset(test);
    for (size_t i = 0; i < 2; i++) {
        const struct weft_spirv_needs lint = {.lint = 1};
        struct words linted;
        if (weft_test_try_rewrite(&linted, both[i], &lint, &test->host) != WEFT_OK) {
            fail_msg("%s: %s", name, weft_test_log(test));
        }
        weft_free(&test->host, linted.data);
    }
    if (validates) {
        weft_test_expect_valid(hidden, name);
        weft_test_expect_valid(flushed, name);
    }
    free(plain.data);
    free(hidden.data);
    free(flushed.data);
}

WEFT_TEST_ON_HOST(test_embedded, test) {
    const bool validates = weft_test_has_spirv_val();
    struct words own = weft_test_compile(kernel_text);
    expect_good(own, "the kernel", validates, test);
    free(own.data);
    uint32_t changed = 0;
    for (size_t i = 0; i < weft_shader_count; i++) {
        const struct weft_shader *shader = weft_shaders[i];
        struct words source = {(uint32_t *)(uintptr_t)shader->reproducible.words,
                               shader->reproducible.size};
        expect_good(source, shader->name, validates, test);
        struct words hidden = hide(source);
        assert_int_equal(count_uses(hidden).scalars, 0);
        changed += hidden.size != source.size;
        free(hidden.data);
    }
    assert_true(changed > 0);
}

WEFT_TEST_ON_HOST(test_transforms, test) {
    const bool validates = weft_test_has_spirv_val();
    static const uint32_t sizes[][2] = {{7, 5}, {768, 512}, {67, 3}, {4096, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const struct weft_fft_desc desc = {.kind = sizes[i][1] > 0 ? WEFT_FFT_R2C
                                                                   : WEFT_FFT_C2C_FORWARD,
                                           .rank = sizes[i][1] > 0 ? 2 : 1,
                                           .size = {sizes[i][0], sizes[i][1]},
                                           .batch = 2,
                                           .transform_axis = {true, sizes[i][1] > 0}};
        struct weft_fft_program *program = NULL;
        uint32_t compiled = 0;
        assert_ok(weft_fft_program_create(&program, &desc, NULL, &compiled, &test->host));
        for (uint32_t k = 0; k < program->module_count; k++) {
            struct words words = {program->modules[k].words, program->modules[k].size};
            expect_good(words, "a Fourier transform", validates, test);
            struct words hidden = hide(words);
            assert_int_equal(count_uses(hidden).scalars, 0);
            free(hidden.data);
        }
        weft_fft_program_destroy(&program, &test->host);
    }
}

WEFT_TEST_ON_HOST(test_no_ids_left, test) {
    weft_test_pass_without_ids(test, needs, kernel_text);
}

WEFT_TEST_ON_HOST(test_out_of_memory, test) {
    weft_test_pass_without_memory(test, needs, kernel_text, 8);
}

WEFT_TEST_ON_HOST(test_damage, test) {
    weft_test_pass_on_damage(test, needs, kernel_text);
}
