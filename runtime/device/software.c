/* SPDX-License-Identifier: MIT */
#include "device/software.h"

#include <stdlib.h>
#include <string.h>

#include "null/null_device.h"
#include "processor/processor.h"

static bool is_set_to(const char *variable, const char *value) {
    const char *text = getenv(variable);
    return text && strcmp(text, value) == 0;
}

/* Tests of drivers hide the processor, and so can whoever wants to see what a machine without it does. */
static bool has_processor(void) {
    return !is_set_to("WEFT_PROCESSOR", "0");
}

static bool wants_null(void) {
    return is_set_to("WEFT_NULL_DEVICE", "1");
}

const struct weft_software weft_software[WEFT_SOFTWARE_COUNT] = {
    {&weft_processor_backend, has_processor},
    {&weft_null_backend, wants_null},
};

const struct weft_software *weft_software_of_driver(const char *name) {
    for (uint32_t i = 0; i < WEFT_SOFTWARE_COUNT; i++) {
        if (strcmp(weft_software[i].backend->driver, name) == 0) {
            return &weft_software[i];
        }
    }
    return NULL;
}
