/* SPDX-License-Identifier: MIT */
/* The OpenCL devices that this machine's loader finds, and kernels on them. */
#ifndef WEFT_TESTS_SUPPORT_OPENCL_H
#define WEFT_TESTS_SUPPORT_OPENCL_H

#include "opencl/emit.h"
#include "support.h"

/** How many there are; says why there is none. */
uint32_t weft_test_opencl_count(void);

/** Its name and its driver's version. */
const char *weft_test_opencl_name(uint32_t device);

struct weft_test_opencl_run {
    const struct weft_cl_text *text;
    const void *push; /* text->push_size bytes */
    struct {
        void *data;
        uint32_t size;
    } ranges[WEFT_IR_MAX_BINDINGS]; /* in the order of text->bindings */
    uint32_t groups;                /* along x */
};

/**
 * Runs a kernel on a device, in two parts where it has more than one workgroup. All ranges are in one buffer, one behind the
 * other. Fails the test, naming the device, where the text cannot be built, and where something between ranges changes.
 */
void weft_test_opencl_run(uint32_t device, const char *what,
                          const struct weft_test_opencl_run *run);

#endif
