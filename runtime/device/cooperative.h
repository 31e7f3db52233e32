/* SPDX-License-Identifier: MIT */
/*
 * Cooperative matrices (VK_KHR_cooperative_matrix), which a subgroup multiplies together, and the choice of subgroups' sizes
 * (VK_EXT_subgroup_size_control), without which a kernel could not know how many invocations that takes. Those of f16 are for fast mode, those
 * of bytes for every mode.
 */
#ifndef WEFT_DEVICE_COOPERATIVE_H
#define WEFT_DEVICE_COOPERATIVE_H

#include <weft/device.h>

#include "device/vk.h"

#define WEFT_COOPERATIVE_EXTENSION "VK_KHR_cooperative_matrix"

/* As Vulkan has it, which headers before 1.3.255 do not. */
struct weft_cooperative_features {
    VkStructureType sType;
    void *pNext;
    VkBool32 cooperative_matrix;
    VkBool32 robust_buffer_access;
};

/**
 * The sizes of subgroups that kernels can ask for, of a device with the extension, go to `info`: both are 0 where its features are
 * missing.
 */
void weft_subgroup_sizes_read(weft_device_info *info, VkPhysicalDevice handle,
                              const struct weft_vk_instance *instance);

/**
 * The shapes of matrices of f16 that are added up in f32, and of those of bytes that are added up in int32, of a device with the extension, go
 * to `info`. bytes: the device has the feature shaderInt8, without which no module can declare the latter.
 */
weft_status weft_cooperative_read(weft_device_info *info, bool bytes, VkPhysicalDevice handle,
                                  const struct weft_vk_instance *instance, const weft_host *host);

/** Links that turn both on, for the chain of a VkDeviceCreateInfo. */
struct weft_cooperative_links {
    VkPhysicalDeviceSubgroupSizeControlFeatures sizes;
    VkPhysicalDeviceVulkanMemoryModelFeatures memory_model;
    struct weft_cooperative_features matrices;
};

/** The chain with those that are wanted in front of `next`. */
void *weft_cooperative_enable(struct weft_cooperative_links *links, bool sizes, bool matrices,
                              void *next);

/** Request of a pipeline's stage for full subgroups of a size. */
struct weft_subgroup_request {
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size;
};
void weft_subgroup_size_require(VkPipelineShaderStageCreateInfo *stage,
                                struct weft_subgroup_request *request, uint32_t size,
                                const weft_device_info *info);

#endif
