/* SPDX-License-Identifier: MIT */
#include "device/executable.h"

#include "core/host.h"

bool weft_executable_feature(VkPhysicalDevice handle, const struct weft_vk_instance *instance) {
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR feature = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &feature};
    instance->GetPhysicalDeviceFeatures2(handle, &features);
    return feature.pipelineExecutableInfo == VK_TRUE;
}

weft_status weft_executable_load(struct weft_vk_device *vk, const struct weft_vk_instance *instance,
                                 const weft_host *host) {
#define LOAD(name)                                                                               \
    vk->name = (PFN_vk##name##KHR)instance->GetDeviceProcAddr(vk->handle, "vk" #name "KHR");     \
    if (!vk->name) {                                                                             \
        return weft_fail(host, WEFT_UNSUPPORTED,                                                 \
                         "the driver lacks vk" #name "KHR of an extension that it says it has"); \
    }
    LOAD(GetPipelineExecutableProperties)
    LOAD(GetPipelineExecutableStatistics)
    LOAD(GetPipelineExecutableInternalRepresentations)
#undef LOAD
    return WEFT_OK;
}
