/* SPDX-License-Identifier: MIT */
/* Kernels on Windows' stacks, which grow by the page below the last one that was touched, and no further. */
#include <pthread.h>

#include "core/math/float_state.h"
#include "native/kernel.h"
#include "native/memory.h"
#include "support_spirv.h"

enum { INVOCATIONS = 16, ELEMENTS = 2048 }; /* 128 KiB of arrays on the stack */

static const char text[] = "#version 450\n"
                           "layout(local_size_x = 16) in;\n"
                           "layout(std430, set = 0, binding = 0) buffer Words { uint words[]; };\n"
                           "void main() {\n"
                           "    uint array[2048];\n"
                           "    uint me = gl_LocalInvocationIndex;\n"
                           "    for (uint i = 0; i < 2048; i++) { array[i] = i * me; }\n"
                           "    words[me] = array[words[me] & 2047];\n"
                           "}\n";

static struct weft_native_object compile(void) {
    struct words words = weft_test_compile(text);
    const struct weft_ir_source source = {
        .words = words.data,
        .size = words.size,
        .entry_point = "main",
        .lanes = INVOCATIONS <= weft_native_lanes() ? INVOCATIONS : weft_native_lanes()};
    struct weft_native_object object;
    assert_ok(weft_native_compile(&object, &source, NULL));
    weft_free(NULL, words.data);
    return object;
}

/* As LLVM does it: by writing a zero where the stack pointer is. */
WEFT_TEST(large_frames_are_touched_page_by_page) {
    static const uint8_t touch[] = {0x48, 0xC7, 0x04, 0x24, 0, 0, 0, 0};
    struct weft_native_object object = compile();
    size_t found = 0;
    for (size_t i = 0; i + sizeof touch <= object.size; i++) {
        found += memcmp(object.bytes + i, touch, sizeof touch) == 0;
    }
    assert_true(found > 0);
    weft_free(NULL, object.bytes);
}

struct run {
    const struct weft_native_kernel *kernel;
    uint32_t words[INVOCATIONS];
};

static void *run_kernel(void *argument) {
    struct run *run = argument;
    const struct weft_native_range range = {.data = run->words, .size = sizeof run->words};
    void *scratch = weft_native_bytes_allocate(run->kernel->interface.scratch_size + 64u);
    assert_non_null(scratch);
    const struct weft_native_call call = {
        .ranges = &range, .scratch = scratch, .groups = {1, 1, 1}};
    const weft_float_state state = weft_float_state_kernel();
    run->kernel->entry(&call, 0, 0, 0, 1);
    weft_float_state_restore(&state);
    weft_native_bytes_free(scratch);
    return NULL;
}

WEFT_TEST(a_new_thread_has_stack_enough) {
    struct weft_native_object object = compile();
    struct weft_native_kernel *kernel = NULL;
    assert_ok(weft_native_kernel_load(&kernel, object.bytes, object.size, NULL));
    struct run run = {.kernel = kernel};
    for (uint32_t i = 0; i < INVOCATIONS; i++) {
        run.words[i] = 97 * i + 1000;
    }
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_kernel, &run), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (uint32_t i = 0; i < INVOCATIONS; i++) {
        assert_int_equal(run.words[i], (97 * i + 1000) % ELEMENTS * i);
    }
    weft_native_kernel_unload(&kernel, NULL);
    weft_free(NULL, object.bytes);
}
