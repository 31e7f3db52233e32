/* SPDX-License-Identifier: MIT */
#include "processor/processor.h"

#include "driver/driver.h"

const struct weft_soft_backend *weft_driver_backend(void) {
    return &weft_processor_backend;
}
