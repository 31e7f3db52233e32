/* SPDX-License-Identifier: MIT */
#ifndef WEFT_SOFTVK_INSTANCE_H
#define WEFT_SOFTVK_INSTANCE_H

#include "softvk/functions.h"
#include "softvk/settings.h"

/** The one physical device, which is part of its instance. */
struct weft_soft_physical {
    uintptr_t loader;
    struct weft_soft_instance *instance;
    struct weft_processor_settings settings; /* as they were when the instance was made */
    uint64_t memory;                         /* bytes of its heap */
    uint8_t uuid[VK_UUID_SIZE];              /* of pipeline caches: what machine code fits */
};

struct weft_soft_instance {
    uintptr_t loader;
    weft_host host;
    struct weft_soft_physical physical;
};

WEFT_SOFT_OBJECT(VkInstance, instance)
WEFT_SOFT_OBJECT(VkPhysicalDevice, physical)

/** The extensions of the device. */
extern const VkExtensionProperties weft_soft_device_extensions[];
extern const uint32_t weft_soft_device_extension_count;

/** Whether all features that a chain, such as VkDeviceCreateInfo's, turns on are there. */
bool weft_soft_has_features(const void *chain);

#endif
