/* SPDX-License-Identifier: MIT */
/* VK_KHR_shader_fma, which Vulkan-Headers before 1.4.328 do not have; and 64-bit numbers. */
#ifndef WEFT_DEVICE_SHADER_FMA_H
#define WEFT_DEVICE_SHADER_FMA_H

#include "device/physical.h"

#define WEFT_SHADER_FMA_EXTENSION "VK_KHR_shader_fma"

/* VkPhysicalDeviceShaderFmaFeaturesKHR */
struct weft_shader_fma_features {
    VkStructureType sType;
    void *pNext;
    VkBool32 float16, float32, float64;
};

/** Reads what there is: physical->fma says before that the extension is there, and after it that Fma of float32 is, too. */
void weft_shader_fma_read(struct weft_physical *physical, const struct weft_vk_instance *instance);

/** Links what turns the extension on in front of `next`; the first of the chain. */
void *weft_shader_fma_enable(struct weft_shader_fma_features *link, void *next);

#endif
