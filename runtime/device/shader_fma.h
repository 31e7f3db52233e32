/* SPDX-License-Identifier: MIT */
/* VK_KHR_shader_fma, which Vulkan-Headers before 1.4.328 do not have; and 64-bit numbers. */
#ifndef WEFT_DEVICE_SHADER_FMA_H
#define WEFT_DEVICE_SHADER_FMA_H

#include <stdbool.h>

#include "device/vk.h"

#define WEFT_SHADER_FMA_EXTENSION "VK_KHR_shader_fma"

/* VkPhysicalDeviceShaderFmaFeaturesKHR */
struct weft_shader_fma_features {
    VkStructureType sType;
    void *pNext;
    VkBool32 float16, float32, float64;
};

/** Reads whether there are Fma of float32, false where the device lacks the extension, and floats and integers of 64 bits. */
void weft_shader_fma_read(bool *fma, bool *float64, bool has_extension, VkPhysicalDevice handle,
                          const struct weft_vk_instance *instance);

/** Links what turns the extension on in front of `next`; the first of the chain. */
void *weft_shader_fma_enable(struct weft_shader_fma_features *link, void *next);

#endif
