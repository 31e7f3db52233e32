/* SPDX-License-Identifier: MIT */
#ifndef WEFT_CPU_VK_INSTANCE_H
#define WEFT_CPU_VK_INSTANCE_H

#include "cpu/settings.h"
#include "cpu/vk.h"

/** The one physical device, which is part of its instance. */
struct weft_cpu_physical {
    uintptr_t loader;
    struct weft_cpu_instance *instance;
    struct weft_cpu_settings settings; /* as they were when the instance was made */
    uint64_t memory;                   /* bytes of its heap */
    uint8_t uuid[VK_UUID_SIZE];        /* of pipeline caches: what machine code fits */
};

struct weft_cpu_instance {
    uintptr_t loader;
    weft_host host;
    struct weft_cpu_physical physical;
};

WEFT_CPU_OBJECT(VkInstance, instance)
WEFT_CPU_OBJECT(VkPhysicalDevice, physical)

/** The extensions of the device. */
extern const VkExtensionProperties weft_cpu_device_extensions[];
extern const uint32_t weft_cpu_device_extension_count;

/** Whether all features that a chain, such as VkDeviceCreateInfo's, turns on are there. */
bool weft_cpu_has_features(const void *chain);

#endif
