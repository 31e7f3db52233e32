/* SPDX-License-Identifier: MIT */
/* weft-test: slow */
/* weft-test: own program */
/*
 * Kernels as OpenCL C: what their text must not have, what a compiler says about it, and what the OpenCL devices at hand
 * compute with it, against the evaluator and, for what that refuses, the interpreter with subgroups of one invocation.
 */
#include <stdlib.h>

#include "core/text.h"
#include "interpret/interpret.h"
#include "shader/embedded.h"
#include "support.h"
#include "support_glsl.h"
#include "support_kernels.h"
#include "support_opencl.h"
#include "support_spirv.h"

#define WORDS  WEFT_TEST_KERNEL_WORDS
#define BYTES  WEFT_TEST_KERNEL_BYTES
#define GROUPS 3u

/* ---- embedded modules ---- */

static weft_status emit(struct weft_cl_text *made, const struct words words,
                        char error[WEFT_IR_TEXT]) {
    const struct weft_ir_source source = {
        .words = words.data, .size = words.size, .entry_point = "main", .lanes = 8};
    return weft_cl_emit(made, &source, error, NULL);
}

static void expect_without(const char *name, const struct weft_cl_text *made, const char *text) {
    if (strstr(made->text, text)) {
        fail_msg("%s: the text has \"%s\"", name, text);
    }
}

static void expect_reproducible(const char *name, const struct weft_cl_text *made) {
    static const char *const refused[] = {"fma(", "mad(",    "half",      "double",
                                          "goto", "native_", "EXTENSION", "FP_CONTRACT ON"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        expect_without(name, made, refused[i]);
    }
    assert_non_null(strstr(made->text, "#pragma OPENCL FP_CONTRACT OFF\n"));
}

/* Adds a text whose names nobody else has. */
static void gather(struct weft_text *all, const struct weft_cl_text *made, uint32_t number) {
    static const char prefix[] = "weft_";
    const char *from = made->text;
    for (const char *at = strstr(from, prefix); at; at = strstr(from, prefix)) {
        weft_text_put(all, from, (size_t)(at - from));
        weft_text_add(all, "%s%u_", prefix, number);
        from = at + sizeof prefix - 1;
    }
    weft_text_add(all, "%s", from);
}

static void expect_compiles(const struct weft_text *all) {
    static const char *const standards[] = {"CL1.0", "CL1.2"};
    if (system("clang --version > /dev/null 2>&1") != 0) {
        print_message("clang is not installed; what it says about the texts is not checked\n");
        return;
    }
    const char *path = weft_test_write(weft_test_folder(), "all.cl", all->data, all->length);
    for (size_t i = 0; i < sizeof standards / sizeof standards[0]; i++) {
        const char *command = weft_test_text(
            "clang -x cl -cl-std=%s -Xclang -finclude-default-header -Werror -fsyntax-only '%s'",
            standards[i], path);
        assert_int_equal(system(command), 0);
    }
}

WEFT_TEST(embedded_modules_are_plain_opencl_c) {
    struct weft_text all = {0};
    char error[WEFT_IR_TEXT];
    uint32_t refused = 0, number = 0;
    for (size_t i = 0; i < weft_shader_count; i++) {
        const struct weft_shader *shader = weft_shaders[i];
        const struct words fast = {(uint32_t *)(uintptr_t)shader->fast.words, shader->fast.size};
        const struct words given = {(uint32_t *)(uintptr_t)shader->reproducible.words,
                                    shader->reproducible.size};
        const struct words reproducible = weft_test_make_reproducible(given);
        struct weft_cl_text made;
        if (strcmp(shader->name, "matmul/int8_cooperative") == 0) {
            assert_int_equal(emit(&made, reproducible, error), WEFT_COMPILE_ERROR);
            assert_non_null(strstr(error, " is not a type"));
            free(reproducible.data);
            continue;
        }
        assert_ok(emit(&made, reproducible, error));
        assert_int_equal(made.size, strlen(made.text));
        assert_int_equal(made.binding_count, shader->interface.binding_count);
        assert_in_range(made.push_size, 0, shader->interface.push_size);
        expect_reproducible(shader->name, &made);
        gather(&all, &made, number++);
        weft_free(NULL, made.text);
        free(reproducible.data);
        if (emit(&made, fast, error) == WEFT_OK) {
            expect_without(shader->name, &made, "goto");
            expect_without(shader->name, &made, "EXTENSION");
            gather(&all, &made, number++);
        } else {
            assert_non_null(strstr(error, "floats of 16 bits")); /* cooperative matrices */
            refused++;
        }
        weft_free(NULL, made.text);
    }
    assert_in_range(refused, 0, 1);
    assert_non_null(all.data);
    expect_compiles(&all);
    weft_free(NULL, all.data);
}

/* ---- on devices ---- */

static struct weft_ir_source source_of(const struct weft_test_kernel_module *module,
                                       const struct weft_ir_specialization constants[2],
                                       bool checked) {
    return (struct weft_ir_source){.words = module->words,
                                   .size = module->size,
                                   .entry_point = "main",
                                   .constants = constants,
                                   .constant_count = 2,
                                   .lanes = 1,
                                   .checked = checked};
}

/* size: of the binding of results. */
static void run_on(uint32_t device, uint32_t *result, const struct weft_test_kernel *kernel,
                   const struct weft_test_kernel_module *module,
                   const struct weft_test_kernel_given *given, bool checked, uint32_t size) {
    const struct weft_ir_specialization constants[] = {
        {.id = 0, .size = 4, .value = &given->specialization[0]},
        {.id = 1, .size = 4, .value = &given->specialization[1]}};
    const struct weft_ir_source source = source_of(module, constants, checked);
    struct weft_test_kernel_given copy = *given;
    struct weft_cl_text text;
    char error[WEFT_IR_TEXT] = "";
    if (weft_cl_emit(&text, &source, error, NULL) != WEFT_OK) {
        fail_msg("%s: %s", kernel->what, error);
    }
    struct weft_test_opencl_run run = {.text = &text, .push = given->push, .groups = GROUPS};
    for (uint32_t i = 0; i < text.binding_count; i++) {
        const bool reads = text.bindings[i].binding == 0;
        run.ranges[i].data = reads ? copy.words : result;
        run.ranges[i].size = reads ? BYTES : size;
    }
    weft_test_opencl_run(device, kernel->what, &run);
    weft_free(NULL, text.text);
}

/* llvmpipe of Mesa 22 goes on with a variable of a do loop in lanes that have left it: through Vulkan, too (test_kernels.c). */
static bool is_left_out(uint32_t device, const struct weft_test_kernel *kernel) {
    return strcmp(kernel->what, "loops that lanes leave one by one") == 0 &&
           strstr(weft_test_opencl_name(device), "llvmpipe") &&
           strstr(weft_test_opencl_name(device), ", 22.");
}

static void expect_on_devices(const struct weft_test_kernel *kernel,
                              const struct weft_test_kernel_module *module,
                              const struct weft_test_kernel_given *given, bool checked,
                              const uint32_t *expected, uint32_t seed) {
    for (uint32_t device = 0; device < weft_test_opencl_count(); device++) {
        uint32_t result[WORDS];
        if (is_left_out(device, kernel)) {
            continue;
        }
        memset(result, 0xAB, sizeof result);
        run_on(device, result, kernel, module, given, checked, BYTES);
        weft_test_kernel_compare(kernel, checked ? "checked" : "as OpenCL C", seed, expected,
                                 result);
    }
}

static void run_kernel(const struct weft_test_kernel *kernel, uint32_t seeds) {
    const struct weft_test_kernel_module module = weft_test_kernel_compile(kernel, "");
    for (uint32_t seed = 1; seed <= seeds; seed++) {
        const struct weft_test_kernel_given given = weft_test_kernel_given(seed);
        uint32_t expected[WORDS];
        memset(expected, 0xAB, sizeof expected);
        weft_test_kernel_evaluate(expected, &module, &given, GROUPS);
        expect_on_devices(kernel, &module, &given, seed % 2 == 0, expected, seed);
    }
    free(module.words);
}

WEFT_TEST(kernels_give_the_bits_of_their_evaluation) {
    if (weft_test_opencl_count() == 0) {
        skip();
    }
    for (size_t i = 0; i < weft_test_kernel_count; i++) {
        run_kernel(&weft_test_kernels[i], 3);
    }
}

WEFT_TEST(kernels_by_chance_give_the_bits_of_their_evaluation) {
    enum { KERNELS = 4 };
    static const char *const sizes[] = {WEFT_TEST_KERNEL_LINE, "local_size_x = 20",
                                        "local_size_x = 3, local_size_y = 11"};
    if (weft_test_opencl_count() == 0) {
        skip();
    }
    char body[24576], what[32];
    for (uint32_t seed = 0; seed < KERNELS; seed++) {
        weft_test_random_kernel(body, sizeof body, seed);
        (void)snprintf(what, sizeof what, "by chance %u", seed);
        const struct weft_test_kernel kernel = {what, sizes[seed % 3], body};
        run_kernel(&kernel, 1);
    }
}

static void interpret(uint32_t *result, const struct weft_test_kernel_module *module,
                      const struct weft_test_kernel_given *given) {
    const struct weft_ir_specialization constants[] = {
        {.id = 0, .size = 4, .value = &given->specialization[0]},
        {.id = 1, .size = 4, .value = &given->specialization[1]}};
    const struct weft_ir_source source = source_of(module, constants, false);
    struct weft_test_kernel_given copy = *given;
    struct weft_interpreted *kernel = NULL;
    char text[WEFT_IR_TEXT] = "";
    assert_ok(weft_interpret(&kernel, &source, false, text, NULL));
    const struct weft_ir_program *program = weft_interpreted_program(kernel);
    struct weft_interpret_group *group = calloc(1, sizeof *group);
    assert_non_null(group);
    group->kernel = kernel;
    group->memory = malloc(weft_interpreted_memory(kernel));
    group->groups[0] = GROUPS;
    group->groups[1] = group->groups[2] = 1;
    group->step_limit = UINT64_MAX;
    for (uint32_t i = 0; i < program->binding_count; i++) {
        const bool reads = program->bindings[i].binding == 0;
        group->range[i] = (struct weft_interpreted_range){
            .data = (uint8_t *)(reads ? copy.words : result), .size = BYTES, .writable = !reads};
    }
    group->range[WEFT_INTERPRET_PUSH] =
        (struct weft_interpreted_range){.data = (uint8_t *)copy.push, .size = sizeof copy.push};
    weft_interpret_begin(group);
    for (group->id[0] = 0; group->id[0] < GROUPS; group->id[0]++) {
        weft_interpret_group(group);
    }
    assert_int_equal(group->fault.kind, WEFT_INTERPRET_NO_FAULT);
    free(group->memory);
    free(group);
    weft_interpreted_free(&kernel);
}

WEFT_TEST(other_kernels_give_the_bits_of_the_interpreter) {
    if (weft_test_opencl_count() == 0) {
        skip();
    }
    for (size_t i = 0; i < weft_test_other_kernel_count; i++) {
        const struct weft_test_other_kernel *other = &weft_test_other_kernels[i];
        const struct weft_test_kernel_module module =
            weft_test_kernel_compile(&other->kernel, other->extensions);
        for (uint32_t seed = 1; seed <= 3; seed++) {
            const struct weft_test_kernel_given given = weft_test_kernel_given(seed);
            uint32_t expected[WORDS];
            memset(expected, 0xAB, sizeof expected);
            interpret(expected, &module, &given);
            expect_on_devices(&other->kernel, &module, &given, seed % 2 == 0, expected, seed);
        }
        free(module.words);
    }
}

/* ---- accesses that are checked ---- */

WEFT_TEST(a_checked_kernel_reaches_no_memory_but_its_own) {
    const struct weft_test_kernel_given far = weft_test_kernel_far_given();
    const struct weft_test_kernel_given lost = weft_test_kernel_lost_given();
    if (weft_test_opencl_count() == 0) {
        skip();
    }
    const struct weft_test_kernel_module far_module =
        weft_test_kernel_compile(&weft_test_kernel_far, "");
    const struct weft_test_kernel_module lost_module =
        weft_test_kernel_compile(&weft_test_kernel_lost, "");
    for (uint32_t device = 0; device < weft_test_opencl_count(); device++) {
        uint32_t result[WORDS];
        run_on(device, result, &weft_test_kernel_far, &far_module, &far, true, 4 * 101);
        run_on(device, result, &weft_test_kernel_lost, &lost_module, &lost, true, BYTES);
        weft_test_kernel_expect_found(result);
    }
    free(far_module.words);
    free(lost_module.words);
}

/* ---- refusals ---- */

WEFT_TEST_ON_HOST(memory_that_ends_is_an_error, host) {
    static const char *const chosen[] = {"loops in loops", "functions that return early",
                                         "barriers in loops"};
    for (size_t i = 0; i < weft_test_kernel_count; i++) {
        bool is_chosen = false;
        for (size_t k = 0; k < sizeof chosen / sizeof chosen[0]; k++) {
            is_chosen = is_chosen || strcmp(weft_test_kernels[i].what, chosen[k]) == 0;
        }
        if (!is_chosen) {
            continue;
        }
        const struct weft_test_kernel_module module =
            weft_test_kernel_compile(&weft_test_kernels[i], "");
        const struct weft_ir_source source = {
            .words = module.words, .size = module.size, .entry_point = "main"};
        struct weft_cl_text text = {0};
        weft_status status = WEFT_OUT_OF_HOST_MEMORY;
        while (weft_test_next_failure(host, status)) {
            char error[WEFT_IR_TEXT] = "";
            status = weft_cl_emit(&text, &source, error, &host->host);
            assert_int_equal(!text.text, status != WEFT_OK);
            assert_int_equal(error[0] != '\0', status != WEFT_OK);
        }
        assert_in_range(host->failures, 20, 1000);
        weft_free(&host->host, text.text);
        free(module.words);
    }
}

static void expect_refused(const char *body, const char *extensions, const char *message) {
    const struct weft_test_kernel kernel = {"refused", WEFT_TEST_KERNEL_LINE, body};
    const struct weft_test_kernel_module module = weft_test_kernel_compile(&kernel, extensions);
    struct weft_cl_text text;
    char error[WEFT_IR_TEXT] = "";
    assert_status(emit(&text, (struct words){module.words, module.size}, error), WEFT_UNSUPPORTED);
    assert_non_null(strstr(error, message));
    assert_null(text.text);
    free(module.words);
}

WEFT_TEST(what_cannot_be_written_is_refused_by_name) {
    static const char wide[] = "#extension GL_EXT_shader_explicit_arithmetic_types : require\n";
    static const char ballots[] = "#extension GL_KHR_shader_subgroup_ballot : require\n";
    expect_refused("void main() { out_(0, sin(real(0))); }", "", "instruction 13 of GLSL.std.450");
    expect_refused("void main() { uint64_t a[3] = {1ul, 2ul, 3ul}; a[in_(0) % 3] = in_(1);\n"
                   "out_(0, uint(a[in_(2) % 3])); }",
                   wide, "of 64 bits with an index");
    expect_refused("void main() { out_(0, subgroupBallot(lane() > 3).x); }", ballots,
                   "OpGroupNonUniformBallot");
    char body[24576];
    size_t length = (size_t)snprintf(body, sizeof body, "void main() { uint a = in_(0);\n");
    for (uint32_t i = 0; i < 250; i++) {
        length += (size_t)snprintf(body + length, sizeof body - length,
                                   "if (a %% %u == 1) { out_(0, a); return; }\n", i + 2);
    }
    (void)snprintf(body + length, sizeof body - length, "out_(1, a); }");
    expect_refused(body, "", "nested more deeply");
}
