/* SPDX-License-Identifier: MIT */
/* The kernels of support_kernels.h on the processor, without a device. */
#ifndef WEFT_TESTS_SUPPORT_NATIVE_H
#define WEFT_TESTS_SUPPORT_NATIVE_H

#include "native/kernel.h"
#include "support_kernels.h"

#define WEFT_TEST_NATIVE_GROUPS 3u

/** In place of lanes: the kernel is interpreted, by subgroups of 8. */
enum { WEFT_TEST_INTERPRETED = 0 };

/** Fails the test where it cannot be compiled. weft_native_kernel_unload frees it. */
struct weft_native_kernel *weft_test_native_compile(const char *what,
                                                    const struct weft_test_kernel_module *program,
                                                    const struct weft_test_kernel_given *given,
                                                    uint32_t lanes, bool checked);

/** Runs WEFT_TEST_NATIVE_GROUPS workgroups. size: of the binding of results; what is beyond must stay as it is. */
void weft_test_native_run(uint32_t *result, const struct weft_native_kernel *kernel,
                          const struct weft_test_kernel_given *given, uint64_t size);

#endif
