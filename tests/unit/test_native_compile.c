/* SPDX-License-Identifier: MIT */
/* weft-test: long */
/*
 * Kernels compiled for the processor, at every vector width, against the evaluation of the same modules, which begins with the
 * same intermediate form: test_kernels.c compares it with drivers. No device.
 */
#include <stdlib.h>

#include "native/kernel.h"
#include "spirv/check.h"
#include "support.h"
#include "support_glsl.h"
#include "support_kernels.h"
#include "support_native.h"

#define WORDS WEFT_TEST_KERNEL_WORDS
#define BYTES WEFT_TEST_KERNEL_BYTES
#define LINE  WEFT_TEST_KERNEL_LINE

static void expect(const struct weft_test_kernel *kernel,
                   const struct weft_test_kernel_module *program,
                   const struct weft_test_kernel_given *given, uint32_t lanes, bool checked,
                   const uint32_t *expected, uint32_t seed) {
    uint32_t result[WORDS];
    char where[32];
    memset(result, 0xAB, sizeof result);
    struct weft_native_kernel *native =
        weft_test_native_compile(kernel->what, program, given, lanes, checked);
    weft_test_native_run(result, native, given, BYTES);
    weft_native_kernel_unload(&native, NULL);
    (void)snprintf(where, sizeof where, "%u lanes%s", lanes, checked ? ", checked" : "");
    weft_test_kernel_compare(kernel, where, seed, expected, result);
}

/* At all widths, with and without checks where `both`, else by turns; and interpreted. */
static void run_program(const struct weft_test_kernel *kernel,
                        const struct weft_test_kernel_module *program, uint32_t seed, bool both) {
    static const uint32_t widths[] = {4, 8, 16};
    const struct weft_test_kernel_given given = weft_test_kernel_given(seed);
    uint32_t expected[WORDS];
    memset(expected, 0xAB, sizeof expected);
    weft_test_kernel_evaluate(expected, program, &given, WEFT_TEST_NATIVE_GROUPS);
    for (uint32_t k = 0; k < (both ? 6 : 3); k++) {
        const bool checked = both ? k >= 3 : (seed + k) % 2 == 0;
        expect(kernel, program, &given, widths[k % 3], checked, expected, seed);
    }
    expect(kernel, program, &given, WEFT_TEST_INTERPRETED, false, expected, seed);
}

static void run_kernel(const struct weft_test_kernel *kernel) {
    const struct weft_test_kernel_module program = weft_test_kernel_compile(kernel, "");
    for (uint32_t seed = 1; seed <= 3; seed++) {
        run_program(kernel, &program, seed, seed == 1);
    }
    weft_free(NULL, program.words);
}

WEFT_TEST(kernels_give_the_bits_of_their_evaluation) {
    if (!weft_native_can_compile()) {
        skip();
    }
    for (size_t i = 0; i < weft_test_kernel_count; i++) {
        run_kernel(&weft_test_kernels[i]);
    }
}

WEFT_TEST(kernels_by_chance_give_the_bits_of_their_evaluation) {
    enum { KERNELS = 16 };
    static const char *const sizes[] = {LINE, "local_size_x = 20",
                                        "local_size_x = 3, local_size_y = 11"};
    if (!weft_native_can_compile()) {
        skip();
    }
    char body[24576], what[32];
    for (uint32_t seed = 0; seed < KERNELS; seed++) {
        weft_test_random_kernel(body, sizeof body, seed);
        (void)snprintf(what, sizeof what, "by chance %u", seed);
        const struct weft_test_kernel kernel = {what, sizes[seed % 3], body};
        const struct weft_test_kernel_module program = weft_test_kernel_compile(&kernel, "");
        run_program(&kernel, &program, 1 + seed, false);
        weft_free(NULL, program.words);
    }
}

WEFT_TEST(other_kernels_give_the_same_bits_compiled_and_interpreted) {
    enum { LANES = 8 };
    if (!weft_native_can_compile()) {
        skip();
    }
    for (size_t i = 0; i < weft_test_other_kernel_count; i++) {
        const struct weft_test_other_kernel *other = &weft_test_other_kernels[i];
        const struct weft_test_kernel_module program =
            weft_test_kernel_compile(&other->kernel, other->extensions);
        for (uint32_t seed = 1; seed <= 3; seed++) {
            const struct weft_test_kernel_given given = weft_test_kernel_given(seed);
            uint32_t expected[WORDS];
            memset(expected, 0xAB, sizeof expected);
            struct weft_native_kernel *native =
                weft_test_native_compile(other->kernel.what, &program, &given, LANES, false);
            weft_test_native_run(expected, native, &given, BYTES);
            weft_native_kernel_unload(&native, NULL);
            expect(&other->kernel, &program, &given, WEFT_TEST_INTERPRETED, false, expected, seed);
        }
        weft_free(NULL, program.words);
    }
}

/* Reads 0, writes nothing, and nothing else changes. */
WEFT_TEST(accesses_out_of_bounds_are_harmless_where_they_are_checked) {
    if (!weft_native_can_compile()) {
        skip();
    }
    const struct weft_test_kernel *wild = &weft_test_kernel_far;
    const struct weft_test_kernel_module program = weft_test_kernel_compile(wild, "");
    const struct weft_test_kernel_given given = weft_test_kernel_far_given();
    uint32_t result[WORDS];
    memset(result, 0xAB, sizeof result);
    struct weft_native_kernel *native =
        weft_test_native_compile(wild->what, &program, &given, 8, true);
    weft_test_native_run(result, native, &given, (uint64_t)4 * 101);
    weft_native_kernel_unload(&native, NULL);
    for (uint32_t i = 101; i < WORDS; i++) {
        assert_int_equal(result[i], 0xABABABABu);
    }
    weft_free(NULL, program.words);
}

/* Shared memory like bindings; of an invocation's own arrays the last element. */
WEFT_TEST(a_kernel_reaches_no_memory_but_its_own_where_it_is_checked) {
    if (!weft_native_can_compile()) {
        skip();
    }
    const struct weft_test_kernel *wild = &weft_test_kernel_lost;
    const struct weft_test_kernel_module program = weft_test_kernel_compile(wild, "");
    const struct weft_test_kernel_given given = weft_test_kernel_lost_given();
    static const uint32_t widths[] = {4, 8, 16};
    for (uint32_t k = 0; k < sizeof widths / sizeof widths[0]; k++) {
        uint32_t result[WORDS];
        struct weft_native_kernel *native =
            weft_test_native_compile(wild->what, &program, &given, widths[k], true);
        weft_test_native_run(result, native, &given, BYTES);
        weft_native_kernel_unload(&native, NULL);
        weft_test_kernel_expect_found(result);
    }
    weft_free(NULL, program.words);
}

/* Wherever memory ends, there is an error, nothing is left behind, and the next attempt works. */
static void fail_each_allocation(struct weft_test_host *host,
                                 const struct weft_test_kernel *kernel) {
    const struct weft_test_kernel_module program = weft_test_kernel_compile(kernel, "");
    const struct weft_ir_source source = {
        .words = program.words, .size = program.size, .entry_point = "main", .lanes = 8};
    for (int rest = 0; rest < 2; rest++) {
        struct weft_native_object object = {0};
        weft_status status = WEFT_OUT_OF_HOST_MEMORY;
        host->fail_rest = rest != 0;
        while (weft_test_next_failure(host, status)) {
            status = weft_native_compile(&object, &source, &host->host);
            assert_int_equal(!object.bytes, status != WEFT_OK);
        }
        assert_in_range(host->failures, 10, 1000);
        weft_free(&host->host, object.bytes);
    }
    weft_free(NULL, program.words);
}

WEFT_TEST_ON_HOST(memory_that_ends_is_an_error, host) {
    static const char *const chosen[] = {"loops in loops", "functions that return early",
                                         "barriers in loops"};
    if (!weft_native_can_compile()) {
        skip();
    }
    uint32_t found = 0;
    for (size_t i = 0; i < weft_test_kernel_count; i++) {
        for (size_t k = 0; k < sizeof chosen / sizeof chosen[0]; k++) {
            if (strcmp(weft_test_kernels[i].what, chosen[k]) == 0) {
                fail_each_allocation(host, &weft_test_kernels[i]);
                found++;
            }
        }
    }
    assert_int_equal(found, sizeof chosen / sizeof chosen[0]);
}

static void expect_refused(const struct weft_test_kernel_module *program, weft_status status,
                           const char *message) {
    const struct weft_ir_source source = {
        .words = program->words, .size = program->size, .entry_point = "main", .lanes = 8};
    struct weft_native_object object = {0};
    struct weft_test_host host;
    weft_test_host_begin(&host);
    assert_int_equal(weft_native_compile(&object, &source, &host.host), status);
    assert_non_null(strstr(weft_test_log(&host), message));
    assert_null(object.bytes);
    weft_test_host_end(&host);
}

WEFT_TEST(what_cannot_be_compiled_is_refused_by_name) {
    static const struct {
        const char *body, *message;
    } refused[] = {
        {"shared uint a[40000]; void main() { a[lane()] = 1; out_(0, a[5]); }", "shared memory"},
        {"void main() { uint a[9000]; a[in_(0) % 9000] = 1; out_(0, a[in_(1) % 9000]); }",
         "bytes of arrays"},
        {"void main() { out_(0, sin(real(0))); }", "GLSL.std.450 13"},
        {"void main() { double x = double(real(0)); out_(0, float(exp2(float(x)) + pow(real(1), "
         "2.0))); }",
         "GLSL.std.450 26"},
    };
    if (!weft_native_can_compile()) {
        skip();
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const struct weft_test_kernel kernel = {"refused", LINE, refused[i].body};
        const struct weft_test_kernel_module program = weft_test_kernel_compile(&kernel, "");
        expect_refused(&program, WEFT_UNSUPPORTED, refused[i].message);
        weft_free(NULL, program.words);
    }
}

/* The n-th multiplication of integers, from 0 on; glslang puts main in front of what it calls. */
static uint32_t *multiplication(const struct weft_test_kernel_module *program, uint32_t n) {
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < program->size / 4;
         at += weft_spirv_length(program->words[at])) {
        if (weft_spirv_opcode(program->words[at]) == SpvOpIMul && n-- == 0) {
            return program->words + at;
        }
    }
    fail_msg("no multiplication");
    return NULL;
}

WEFT_TEST(operands_that_do_not_fit_are_refused) {
    static const struct weft_test_kernel kernel = {
        "refused", LINE,
        "void main() { uvec2 a = uvec2(in_(0), in_(1)) * uvec2(in_(2), in_(3));\n"
        "uvec4 b = uvec4(a, a) * uvec4(lane()); out_(0, b.x + b.w); }"};
    static const struct {
        uint32_t of, word; /* what is taken for the operand: a word of that multiplication */
        const char *message;
    } refused[] = {
        {1, 1, "is not a value"}, /* its type */
        {0, 2, "on 4 and 2 components"},
    };
    if (!weft_native_can_compile()) {
        skip();
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const struct weft_test_kernel_module program = weft_test_kernel_compile(&kernel, "");
        multiplication(&program, 1)[3] = multiplication(&program, refused[i].of)[refused[i].word];
        expect_refused(&program, WEFT_COMPILE_ERROR, refused[i].message);
        weft_free(NULL, program.words);
    }
}
