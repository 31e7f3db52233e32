/* SPDX-License-Identifier: MIT */
#ifndef WEFT_SOFTVK_INSTANCE_H
#define WEFT_SOFTVK_INSTANCE_H

#include "softvk/functions.h"

/** The one physical device, which is part of its instance. */
struct weft_soft_physical {
    uintptr_t loader;
    struct weft_soft_instance *instance;
    struct weft_soft_properties properties; /* as they were when the instance was made */
};

struct weft_soft_instance {
    uintptr_t loader;
    weft_host host;
    const struct weft_soft_backend *backend;
    void *user; /* of weft_soft_instance_info */
    struct weft_soft_physical physical;
};

WEFT_SOFT_OBJECT(VkInstance, instance)
WEFT_SOFT_OBJECT(VkPhysicalDevice, physical)

/** The extensions of a device, and how many it has of them. */
extern const VkExtensionProperties weft_soft_device_extensions[];
uint32_t weft_soft_device_extension_count(const struct weft_soft_physical *physical);

/** True if all features that a chain, such as VkDeviceCreateInfo's, turns on are there. */
bool weft_soft_has_features(const void *chain);

#endif
