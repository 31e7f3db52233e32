/* SPDX-License-Identifier: MIT */
/* A static program has no way to a Vulkan loader (core/system/library_none.c): in place of volk_unit.c. */
#include <stddef.h>

#include "device/loader.h"

PFN_vkGetInstanceProcAddr weft_loader_open(void) {
    return NULL;
}
