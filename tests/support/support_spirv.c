/* SPDX-License-Identifier: MIT */
#include "support_spirv.h"

#include "device/device.h"
#include "mixers/vkfft/fft_program.h"
#include "shader/glsl.h"
#include "spirv/check.h"

struct words weft_test_compile(const char *text) {
    weft_device device = {.math = WEFT_MATH_REPRODUCIBLE};
    struct words words = {0};
    assert_ok(weft_glsl_compile(&words.data, &words.size, &device, "kernel", text));
    assert_int_equal(device.stats.shaders_compiled, 1);
    return words;
}

weft_status weft_test_try_rewrite(struct words *result, struct words source,
                                  const struct weft_spirv_needs *needs, const weft_host *host) {
    struct weft_spirv_edit edit;
    const weft_status status = weft_spirv_rewrite(&edit, source.data, source.size, needs, host);
    *result = (struct words){0};
    if (status == WEFT_OK) {
        *result = (struct words){edit.words, edit.module.count * sizeof *edit.words};
        edit.words = NULL;
        weft_spirv_edit_free(&edit);
    }
    return status;
}

struct words weft_test_rewrite(struct words source, struct weft_spirv_needs needs) {
    struct words words;
    assert_ok(weft_test_try_rewrite(&words, source, &needs, NULL));
    assert_ok(weft_spirv_check(words.data, words.size, NULL));
    return words;
}

struct words weft_test_make_reproducible(struct words source) {
    return weft_test_rewrite(source, (struct weft_spirv_needs){.no_contraction = 1});
}

void weft_test_expect_same(struct words result, struct words source) {
    assert_int_equal(result.size, source.size);
    assert_memory_equal(result.data, source.data, source.size);
}

void weft_test_take_interfaces(struct words words) {
    WEFT_TEST_EACH(word, words) {
        for (uint32_t i = 5;
             weft_spirv_opcode(word[0]) == SpvOpEntryPoint && i < weft_spirv_length(word[0]); i++) {
            word[i] = word[2];
        }
    }
}

uint32_t weft_test_count_ops(struct words words, uint32_t opcode) {
    uint32_t found = 0;
    WEFT_TEST_EACH(word, words) {
        found += weft_spirv_opcode(word[0]) == opcode;
    }
    return found;
}

bool weft_test_has_spirv_val(void) {
    static enum { UNKNOWN, MISSING, FOUND } answer; /* tests have one thread */
    if (answer == UNKNOWN) {
        answer = system("spirv-val --version > /dev/null 2>&1") == 0 ? FOUND : MISSING;
        if (answer == MISSING) {
            print_message("spirv-val is not installed; its verdict on the result is not checked\n");
        }
    }
    return answer == FOUND;
}

/*
 * True for modules of SPV_KHR_cooperative_matrix, which validators before 2023.3 do not know; the build's tests have
 * such modules before their translation.
 */
static bool is_beyond_spirv_val(struct words words) {
    size_t at = WEFT_SPIRV_HEADER_WORDS;
    while (weft_spirv_opcode(words.data[at]) == SpvOpCapability &&
           words.data[at + 1] != WEFT_SPIRV_COOPERATIVE_CAPABILITY) {
        at += weft_spirv_length(words.data[at]);
    }
    return weft_spirv_opcode(words.data[at]) == SpvOpCapability;
}

void weft_test_expect_valid(struct words words, const char *name) {
    if (is_beyond_spirv_val(words) || !weft_test_has_spirv_val()) {
        return;
    }
    const char *path = weft_test_write(weft_test_folder(), "module.spv", words.data, words.size);
    if (system(weft_test_text("spirv-val --target-env vulkan1.1 '%s'", path)) != 0) {
        fail_msg("%s is no longer valid", name);
    }
}

void weft_test_pass_on_transform(struct weft_test_host *test, struct weft_spirv_needs needs,
                                 const uint32_t size[2]) {
    const struct weft_fft_desc desc = {.kind = WEFT_FFT_R2C,
                                       .rank = size[1] > 0 ? 2 : 1,
                                       .size = {size[0], size[1]},
                                       .batch = 2,
                                       .transform_axis = {true, size[1] > 0}};
    const bool validates = weft_test_has_spirv_val();
    struct weft_fft_program *program = NULL;
    uint32_t compiled = 0, changed = 0;
    assert_ok(weft_fft_program_create(&program, &desc, NULL, &compiled, &test->host));
    for (uint32_t i = 0; i < program->module_count; i++) {
        struct words source = weft_test_make_reproducible(
            (struct words){program->modules[i].words, program->modules[i].size});
        struct words result = weft_test_rewrite(source, needs);
        if (validates) {
            weft_test_expect_valid(result, "a Fourier transform");
        }
        struct words linted =
            weft_test_rewrite(result, (struct weft_spirv_needs){.lint = needs.lint});
        weft_test_expect_same(linted, result);
        free(linted.data);
        changed += result.size != source.size;
        free(source.data);
        free(result.data);
    }
    assert_true(changed > 0);
    weft_fft_program_destroy(&program, &test->host);
}

struct words weft_test_with_bound(struct words source, uint32_t bound) {
    enum { OP_NOP = 1 << 16 };
    size_t words = source.size / 4;
    while (weft_spirv_most_ids(words) < bound) {
        words++;
    }
    struct words made = {malloc(words * 4), words * 4};
    assert_non_null(made.data);
    memcpy(made.data, source.data, source.size);
    for (size_t i = source.size / 4; i < words; i++) {
        made.data[i] = OP_NOP;
    }
    made.data[WEFT_SPIRV_AT_BOUND] = bound;
    return made;
}

void weft_test_pass_without_ids(struct weft_test_host *test, struct weft_spirv_needs needs,
                                const char *text) {
    struct words small = weft_test_compile(text);
    struct words source = weft_test_with_bound(small, WEFT_SPIRV_MAX_BOUND - 2);
    struct words result = {0};
    free(small.data);
    WEFT_EXPECT_REFUSED(test, WEFT_COMPILE_ERROR,
                        weft_test_try_rewrite(&result, source, &needs, &test->host),
                        "no ids are left");
    free(source.data);
}

void weft_test_pass_without_memory(struct weft_test_host *test, struct weft_spirv_needs needs,
                                   const char *text, long least) {
    struct words source = weft_test_compile(text);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(test, status)) {
        struct words result;
        status = weft_test_try_rewrite(&result, source, &needs, &test->host);
        assert_int_equal(result.data != NULL, status == WEFT_OK);
        weft_free(&test->host, result.data);
    }
    assert_in_range(test->failures, least, 100);
    free(source.data);
}

void weft_test_pass_on_damage(struct weft_test_host *test, struct weft_spirv_needs needs,
                              const char *text) {
    struct words source = weft_test_compile(text);
    uint32_t tried = 0;
    for (uint64_t round = 0; round < 20000; round++) {
        size_t size = 0;
        uint8_t *bytes =
            weft_test_mutate((const uint8_t *)source.data, source.size, 6, round, &size);
        const uint32_t *mutated = (const uint32_t *)(void *)bytes;
        if (size % 4 == 0 && weft_spirv_check(mutated, size, NULL) == WEFT_OK) {
            const struct words damaged = {(uint32_t *)(void *)bytes, size};
            struct words result;
            weft_test_host_reset(test);
            const weft_status status = weft_test_try_rewrite(&result, damaged, &needs, &test->host);
            assert_true(status == WEFT_OK || status == WEFT_COMPILE_ERROR ||
                        status == WEFT_UNSUPPORTED);
            weft_free(&test->host, result.data);
            tried++;
        }
        free(bytes);
    }
    assert_true(tried > 100);
    free(source.data);
}
