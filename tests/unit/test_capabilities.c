/* SPDX-License-Identifier: MIT */
/* What modules ask of a device, and which of the embedded ones run on which. */
#include "shader/capabilities.h"
#include "shader/embedded.h"
#include "spirv/grammar.h"
#include "support.h"

static const weft_device_info plain = {.subgroup_size = 32};
static const weft_device_info adding = {.subgroup_size = 32, .has_subgroup_arithmetic = true};

/* … that multiplies matrices. */
static const weft_device_info multiplying = {
    .has_f16_arithmetic = true, .most_subgroup = 32, .matrix_shapes = {{16, 16, 16}}};
static const weft_device_info multiplying_bytes = {.most_subgroup = 32,
                                                   .integer_matrix_shapes = {{16, 16, 16}}};
static const weft_device_info halves = {.subgroup_size = 32, .has_f16_arithmetic = true};

enum { FLOAT16 = 9, SHADER = 1, FLOAT64 = 10, STORAGE_16 = 4433, ARITHMETIC = 63, BASIC = 61 };

/* Asks about a module that declares these capabilities and then a memory model. */
static bool runs_on(const weft_device_info *info, const uint32_t *capabilities, size_t count) {
    uint32_t words[32] = {SpvMagicNumber, 0x00010300, 0, 1, 0};
    size_t at = WEFT_SPIRV_HEADER_WORDS;
    for (size_t i = 0; i < count; i++) {
        words[at++] = weft_spirv_first_word(SpvOpCapability, 2);
        words[at++] = capabilities[i];
    }
    words[at++] = weft_spirv_first_word(SpvOpMemoryModel, 3);
    words[at++] = 0;
    words[at++] = 1;
    const bool runs = weft_spirv_runs_on(words, 4 * at, info, false);
    /* Whoever takes other capabilities takes all that is taken else. */
    assert_true(!runs || weft_spirv_runs_on(words, 4 * at, info, true));
    return runs;
}

WEFT_TEST(test_made_up_modules) {
    const uint32_t sums[] = {SHADER, BASIC, ARITHMETIC};
    assert_true(runs_on(&plain, sums, 1));
    assert_true(runs_on(&plain, sums, 2));
    assert_false(runs_on(&plain, sums, 3));
    assert_true(runs_on(&adding, sums, 3));
    const uint32_t others[] = {SHADER, STORAGE_16, ARITHMETIC};
    assert_false(runs_on(&adding, others, 3));
    const uint32_t half[] = {SHADER, FLOAT16};
    assert_true(runs_on(&halves, half, 2));
    assert_false(runs_on(&adding, half, 2));
    const uint32_t doubles[] = {FLOAT64};
    assert_false(runs_on(&adding, doubles, 1));
}

WEFT_TEST(test_embedded_modules) {
    size_t replaced = 0;
    for (size_t i = 0; i < weft_shader_count; i++) {
        const struct weft_shader *shader = weft_shaders[i];
        /* What a device falls back to must run on every device. */
        const bool has_bytes = strcmp(shader->name, "matmul/int8_cooperative") == 0;
        assert_true(weft_spirv_runs_on(shader->reproducible.words, shader->reproducible.size,
                                       has_bytes ? &multiplying_bytes : &plain, false));
        if (has_bytes) { /* in both modes by its rows alone */
            assert_false(
                weft_spirv_runs_on(shader->fast.words, shader->fast.size, &multiplying, false));
            continue;
        }
        const bool has_matrices = strcmp(shader->name, "matmul/cooperative") == 0;
        assert_true(weft_spirv_runs_on(shader->fast.words, shader->fast.size,
                                       has_matrices ? &multiplying : &adding, false));
        bool everywhere = weft_spirv_runs_on(shader->fast.words, shader->fast.size, &plain, false);
        replaced += !everywhere;
        /* Only the fast products read weights of 16 bits, so that these must not be replaced. */
        if (strncmp(shader->name, "matmul/", 7) == 0 && !has_matrices) {
            assert_true(everywhere);
        }
        if (strcmp(shader->name, "softmax/softmax") == 0) {
            assert_false(everywhere);
        }
    }
    assert_true(replaced >= 3); /* softmax, and the rows with and without an embedding */
}
