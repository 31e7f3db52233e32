/* SPDX-License-Identifier: MIT */
/* Finding an OpenCL device of the system's, for tests that need one. */
#ifndef WEFT_TESTS_SUPPORT_OPENCL_DEVICE_H
#define WEFT_TESTS_SUPPORT_OPENCL_DEVICE_H

#include "opencl/opencl.h"
#include "support.h"

/** The first one that can be used; may be called in a forked child. */
static inline bool weft_test_find_opencl(weft_device_info *found) {
    weft_device_info infos[16];
    uint32_t count = 16;
    if (weft_device_list(infos, &count, NULL) != WEFT_OK) {
        return false;
    }
    for (uint32_t i = 0; i < count && i < 16; i++) {
        if (infos[i].usable && strcmp(infos[i].driver, WEFT_OPENCL_DRIVER_NAME) == 0) {
            *found = infos[i];
            return true;
        }
    }
    return false;
}

/** Returns an OpenCL device, or skips the test and says so. */
static inline weft_device_info weft_test_need_opencl(void) {
    weft_device_info info = {0};
    if (!weft_test_find_opencl(&info)) {
        print_message("there is no OpenCL device\n");
        skip();
    }
    return info;
}

#endif
