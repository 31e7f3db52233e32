/* SPDX-License-Identifier: MIT */
#include "device/shader_fma.h"

/* Number of the extension, 580 (registry/vk.xml). */
enum { STRUCTURE_FEATURES = 1000579000 };

void weft_shader_fma_read(bool *fma, bool *float64, bool has_extension, VkPhysicalDevice handle,
                          const struct weft_vk_instance *instance) {
    struct weft_shader_fma_features of_fma = {.sType = (VkStructureType)STRUCTURE_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = has_extension ? &of_fma : NULL};
    instance->GetPhysicalDeviceFeatures2(handle, &features);
    *fma = of_fma.float32 == VK_TRUE;
    *float64 =
        features.features.shaderFloat64 == VK_TRUE && features.features.shaderInt64 == VK_TRUE;
}

void *weft_shader_fma_enable(struct weft_shader_fma_features *link, void *next) {
    *link = (struct weft_shader_fma_features){
        .sType = (VkStructureType)STRUCTURE_FEATURES, .pNext = next, .float32 = VK_TRUE};
    return link;
}
