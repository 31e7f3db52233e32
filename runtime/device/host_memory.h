/* SPDX-License-Identifier: MIT */
/* Memory of the host that a device works on in place (VK_EXT_external_memory_host). */
#ifndef WEFT_DEVICE_HOST_MEMORY_H
#define WEFT_DEVICE_HOST_MEMORY_H

#include "device/vk.h"

/** Alignment in bytes of such memory, on a device that has the extension. */
uint64_t weft_host_memory_alignment(VkPhysicalDevice handle,
                                    const struct weft_vk_instance *instance);

#endif
