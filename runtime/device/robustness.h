/* SPDX-License-Identifier: MIT */
/*
 * Bounds checks for single pipelines (VK_EXT_pipeline_robustness), which kernels from outside of the library get where
 * the driver has them. Ours stay within their buffers, and pay for no checks.
 */
#ifndef WEFT_DEVICE_ROBUSTNESS_H
#define WEFT_DEVICE_ROBUSTNESS_H

#include <stdbool.h>

#include "device/vk.h"

/** The extension's name; null where the headers that Weft was built with do not have it. */
const char *weft_robustness_extension(void);

/** True if a device with the extension has the feature, too. */
bool weft_robustness_feature(VkPhysicalDevice handle, const struct weft_vk_instance *instance);

/** A link that turns the feature on, for the chain of a VkDeviceCreateInfo; `next` is the rest of the chain. */
struct weft_robustness_link {
#ifdef VK_EXT_pipeline_robustness
    VkPhysicalDevicePipelineRobustnessFeaturesEXT feature;
#else
    char none;
#endif
};
void *weft_robustness_enable(struct weft_robustness_link *link, void *next);

/** End of a VkComputePipelineCreateInfo's chain that requests checked accesses to storage buffers. */
const void *weft_robustness_request(void);

#endif
