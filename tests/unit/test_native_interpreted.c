/* SPDX-License-Identifier: MIT */
/* Kernels without native code: their objects, damaged ones, memory that ends, and loops that do. test_native_compile.c has results. */
#include <stdlib.h>

#include "interpret/interpret.h"
#include "native/interpreted.h"
#include "native/memory.h"
#include "native/object.h"
#include "support.h"
#include "support_kernels.h"

static const struct weft_test_kernel adder = {
    "adder", WEFT_TEST_KERNEL_LINE,
    "shared uint all[64]; void main() { all[lane()] = in_(0) + COUNT; barrier(); out_(0, all[63 - "
    "lane()] + push.a); }"};

static weft_status compile(struct weft_native_object *object,
                           const struct weft_test_kernel_module *module, const weft_host *host) {
    static const uint32_t count = 5;
    const struct weft_ir_specialization constants[] = {{.id = 1, .size = 4, .value = &count}};
    const struct weft_ir_source source = {.words = module->words,
                                          .size = module->size,
                                          .entry_point = "main",
                                          .constants = constants,
                                          .constant_count = 1,
                                          .lanes = 8};
    return weft_native_interpret(object, &source, host);
}

/* One workgroup, on words that are their own numbers. */
static void run(uint32_t *result, const struct weft_native_kernel *kernel, uint32_t halt) {
    static uint32_t given[WEFT_TEST_KERNEL_WORDS];
    const uint32_t push[4] = {1000};
    const atomic_uint_least32_t halted = halt;
    struct weft_native_range ranges[WEFT_NATIVE_MAX_BINDINGS] = {{0}};
    for (uint32_t i = 0; i < WEFT_TEST_KERNEL_WORDS; i++) {
        given[i] = i;
    }
    for (uint32_t i = 0; i < kernel->interface.binding_count; i++) {
        const bool reads = kernel->interface.bindings[i].binding == 0;
        ranges[i] = (struct weft_native_range){.data = reads ? given : result,
                                               .size = WEFT_TEST_KERNEL_BYTES};
    }
    const struct weft_native_call call = {
        .ranges = ranges,
        .push = push,
        .scratch = weft_native_bytes_allocate(kernel->interface.scratch_size),
        .groups = {1, 1, 1},
        .halt = &halted,
        .interpreted = kernel->interpreted};
    assert_non_null(call.scratch);
    kernel->entry(&call, 0, 0, 0, 1);
    weft_native_bytes_free(call.scratch);
}

#ifndef _WIN32 /* which has no setenv */

static bool contains(const struct weft_native_object *object, const char part[4]) {
    bool found = false;
    for (size_t i = 0; i + 4 <= object->size; i++) {
        found = found || memcmp(object->bytes + i, part, 4) == 0;
    }
    return found;
}

/* A device that has begun with a compiler keeps its objects in a cache for such: none that is slow may come to lie there. */
WEFT_TEST_ON_HOST(nothing_is_interpreted_in_place_of_compiling, test) {
    if (!weft_native_can_compile()) {
        skip();
    }
    struct weft_test_kernel_module module = weft_test_kernel_compile(&adder, "");
    const struct weft_ir_source source = {
        .words = module.words, .size = module.size, .entry_point = "main", .lanes = 8};
    struct weft_native_object object = {0};
    assert_int_equal(setenv("WEFT_LLVM", "0", 1), 0);
    assert_string_equal(weft_native_compiler_fault(), "the environment has WEFT_LLVM=0");
    assert_ok(weft_native_compile(&object, &source, &test->host));
    assert_int_equal(unsetenv("WEFT_LLVM"), 0);
    assert_true(contains(&object, "\x7f"
                                  "ELF"));
    assert_false(contains(&object, "WIR\n"));
    weft_free(&test->host, object.bytes);
    free(module.words);
}
#endif

WEFT_TEST_ON_HOST(an_object_holds_all_that_a_kernel_needs, test) {
    struct weft_test_kernel_module module = weft_test_kernel_compile(&adder, "");
    struct weft_native_object object = {0};
    struct weft_native_kernel *kernel = NULL;
    uint32_t result[WEFT_TEST_KERNEL_WORDS] = {0};
    assert_ok(compile(&object, &module, &test->host));
    memset(module.words, 0, module.size);
    free(module.words);
    weft_host gone = test->host; /* a kernel outlives the host that it was loaded with */
    assert_ok(weft_native_kernel_load(&kernel, object.bytes, object.size, &gone));
    memset(&gone, 0x55, sizeof gone);
    weft_free(&test->host, object.bytes);
    assert_int_equal(kernel->interface.local_size[0], 64);
    assert_int_equal(kernel->interface.lanes, 8);
    run(result, kernel, 0);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(result[4 * i], 4 * (63 - i) + 5 + 1000);
    }
    weft_native_kernel_unload(&kernel, &test->host);
    assert_null(kernel);
}

WEFT_TEST_ON_HOST(a_loop_ends_when_it_is_told_to, test) {
    static const struct weft_test_kernel endless = {
        "endless", WEFT_TEST_KERNEL_LINE,
        "void main() { uint n = in_(0); out_(0, 77u); while (n != ~0u) { n = n / 2; } out_(0, n); "
        "}"};
    struct weft_test_kernel_module module = weft_test_kernel_compile(&endless, "");
    struct weft_native_object object = {0};
    struct weft_native_kernel *kernel = NULL;
    uint32_t result[WEFT_TEST_KERNEL_WORDS] = {0};
    assert_ok(compile(&object, &module, &test->host));
    assert_ok(weft_native_kernel_load(&kernel, object.bytes, object.size, &test->host));
    run(result, kernel, 1);
    assert_int_equal(result[0], 0); /* not even begun */
    weft_native_kernel_unload(&kernel, &test->host);
    weft_free(&test->host, object.bytes);
    free(module.words);
}

WEFT_TEST_ON_HOST(damaged_modules_do_no_harm, test) {
    struct weft_test_kernel_module module = weft_test_kernel_compile(&adder, "");
    struct weft_native_object object = {0};
    struct weft_native_interface interface;
    const uint8_t *code = NULL;
    size_t size = 0;
    uint32_t loaded = 0;
    assert_ok(compile(&object, &module, &test->host));
    assert_ok(weft_native_object_open(&interface, &code, &size, object.bytes, object.size, NULL));
    for (uint64_t round = 0; round < 3000; round++) {
        struct weft_native_object damaged = {0};
        struct weft_native_kernel *kernel = NULL;
        size_t damaged_size = 0;
        uint8_t *bytes = weft_test_mutate(code, size, 3, round, &damaged_size);
        assert_ok(weft_native_object_pack(&damaged, &interface, bytes, damaged_size, NULL));
        const weft_status status =
            weft_native_kernel_load(&kernel, damaged.bytes, damaged.size, &test->host);
        assert_true(status == WEFT_OK || status == WEFT_BAD_FILE);
        loaded += status == WEFT_OK;
        weft_native_kernel_unload(&kernel, &test->host);
        weft_free(NULL, damaged.bytes);
        free(bytes);
        weft_test_host_reset(test);
    }
    assert_in_range(loaded, 10, 2900);
    weft_free(&test->host, object.bytes);
    free(module.words);
}

WEFT_TEST_ON_HOST(memory_that_ends_is_an_error, test) {
    struct weft_test_kernel_module module = weft_test_kernel_compile(&adder, "");
    struct weft_native_object object = {0};
    struct weft_native_kernel *kernel = NULL;
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(test, status)) {
        status = compile(&object, &module, &test->host);
        assert_int_equal(!object.bytes, status != WEFT_OK);
    }
    status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(test, status)) {
        status = weft_native_kernel_load(&kernel, object.bytes, object.size, &test->host);
        assert_int_equal(!kernel, status != WEFT_OK);
    }
    weft_native_kernel_unload(&kernel, &test->host);
    weft_free(&test->host, object.bytes);
    free(module.words);
}

WEFT_TEST_ON_HOST(what_is_not_interpreted_is_refused_by_name, test) {
    static const struct {
        const char *body, *message;
    } refused[] = {
        {"void main() { out_(0, sin(real(0))); }", "instruction 13 of GLSL.std.450"},
        {"void main() { out_(0, uint(double(real(0)) * 3.0)); }", "floats of 64 bits"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const struct weft_test_kernel kernel = {"refused", WEFT_TEST_KERNEL_LINE, refused[i].body};
        struct weft_test_kernel_module module = weft_test_kernel_compile(&kernel, "");
        struct weft_native_object object = {0};
        WEFT_EXPECT_REFUSED(test, WEFT_UNSUPPORTED, compile(&object, &module, &test->host),
                            refused[i].message);
        assert_null(object.bytes);
        free(module.words);
    }
}
