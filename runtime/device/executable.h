/* SPDX-License-Identifier: MIT */
/* VK_KHR_pipeline_executable_properties, by which drivers tell what their compilers made of pipelines. */
#ifndef WEFT_DEVICE_EXECUTABLE_H
#define WEFT_DEVICE_EXECUTABLE_H

#include <weft/weft.h>

#include "device/vk.h"

/** True if a device with the extension has the feature, too. */
bool weft_executable_feature(VkPhysicalDevice handle, const struct weft_vk_instance *instance);

/** Loads the functions of a device that has it enabled. WEFT_UNSUPPORTED where one is missing. */
weft_status weft_executable_load(struct weft_vk_device *vk, const struct weft_vk_instance *instance,
                                 const weft_host *host);

#endif
