/* SPDX-License-Identifier: MIT */
#include "support_native.h"

#include "core/math/float_state.h"
#include "native/interpreted.h"
#include "native/memory.h"

#define BYTES  WEFT_TEST_KERNEL_BYTES
#define GROUPS WEFT_TEST_NATIVE_GROUPS

struct weft_native_kernel *weft_test_native_compile(const char *what,
                                                    const struct weft_test_kernel_module *program,
                                                    const struct weft_test_kernel_given *given,
                                                    uint32_t lanes, bool checked) {
    const struct weft_ir_specialization constants[] = {
        {.id = 0, .size = 4, .value = &given->specialization[0]},
        {.id = 1, .size = 4, .value = &given->specialization[1]}};
    const struct weft_ir_source source = {.words = program->words,
                                          .size = program->size,
                                          .entry_point = "main",
                                          .constants = constants,
                                          .constant_count = 2,
                                          .lanes = lanes == WEFT_TEST_INTERPRETED ? 8 : lanes,
                                          .checked = checked};
    struct weft_native_object object = {0};
    struct weft_native_kernel *kernel = NULL;
    struct weft_test_host host;
    weft_test_host_begin(&host);
    if ((lanes == WEFT_TEST_INTERPRETED ? weft_native_interpret : weft_native_compile)(
            &object, &source, &host.host) != WEFT_OK) {
        fail_msg("%s: %s", what, weft_test_log(&host));
    }
    assert_ok(weft_native_kernel_load(&kernel, object.bytes, object.size, NULL));
    weft_free(&host.host, object.bytes);
    weft_test_host_end(&host);
    return kernel;
}

void weft_test_native_run(uint32_t *result, const struct weft_native_kernel *kernel,
                          const struct weft_test_kernel_given *given, uint64_t size) {
    const struct weft_native_interface *interface = &kernel->interface;
    const size_t scratch_size = ((size_t)interface->scratch_size + 64) / 64 * 64;
    uint8_t *scratch = weft_native_bytes_allocate(scratch_size);
    assert_non_null(scratch);
    memset(scratch, 0xFF, scratch_size);
    struct weft_test_kernel_given copy = *given;
    struct weft_native_range ranges[WEFT_NATIVE_MAX_BINDINGS] = {{0}};
    for (uint32_t i = 0; i < interface->binding_count; i++) {
        const bool given_range = interface->bindings[i].binding == 0;
        ranges[i] = (struct weft_native_range){.data = given_range ? copy.words : result,
                                               .size = given_range ? BYTES : size};
    }
    const atomic_uint_least32_t halt = 0;
    const struct weft_native_call call = {.ranges = ranges,
                                          .push = given->push,
                                          .scratch = scratch,
                                          .groups = {GROUPS, 1, 1},
                                          .halt = &halt,
                                          .interpreted = kernel->interpreted};
    const weft_float_state state = weft_float_state_kernel();
    kernel->entry(&call, 0, 0, 0, 1);
    kernel->entry(&call, 1, 0, 0, GROUPS - 1);
    weft_float_state_restore(&state);
    weft_native_bytes_free(scratch);
}
