/* SPDX-License-Identifier: MIT */
#include "device/software.h"

#include <stdlib.h>
#include <string.h>

#include "core/system/system.h"
#include "null/null_device.h"
#include "opencl/devices.h"
#include "opencl/opencl.h"
#include "processor/processor.h"

static bool is_set_to(const char *variable, const char *value) {
    const char *text = getenv(variable);
    return text && strcmp(text, value) == 0;
}

/* Tests of drivers hide the processor, and so can whoever wants to see what a machine without it does. */
static uint32_t count_processors(const weft_host *host) {
    (void)host;
    return !is_set_to("WEFT_PROCESSOR", "0");
}

static uint32_t count_null(const weft_host *host) {
    (void)host;
    return is_set_to("WEFT_NULL_DEVICE", "1");
}

static void *opencl_device(uint32_t index) {
    return weft_cl_device_at(index);
}

static bool is_second_choice(const void *user, bool has_twin) {
    return !is_set_to("WEFT_OPENCL", "1") && (has_twin || weft_cl_is_second_choice(user));
}

const struct weft_software weft_software[WEFT_SOFTWARE_COUNT] = {
    {.backend = &weft_processor_backend, .count = count_processors, .alone = "processor"},
    {.backend = &weft_null_backend, .count = count_null},
    {.backend = &weft_opencl_backend,
     .is_slow_to_list = true,
     .count = weft_cl_device_count,
     .user = opencl_device,
     .is_second_choice = is_second_choice},
};

bool weft_software_may_have_gpu(void) {
    return is_set_to("WEFT_OPENCL", "1") || weft_system_may_have_gpu();
}

const struct weft_software *weft_software_of_driver(const char *name) {
    for (uint32_t i = 0; i < WEFT_SOFTWARE_COUNT; i++) {
        if (strcmp(weft_software[i].backend->driver, name) == 0) {
            return &weft_software[i];
        }
    }
    return NULL;
}
