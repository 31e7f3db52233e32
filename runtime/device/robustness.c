/* SPDX-License-Identifier: MIT */
#include "device/robustness.h"

#ifdef VK_EXT_pipeline_robustness

const char *weft_robustness_extension(void) {
    return VK_EXT_PIPELINE_ROBUSTNESS_EXTENSION_NAME;
}

bool weft_robustness_feature(VkPhysicalDevice handle, const struct weft_vk_instance *instance) {
    VkPhysicalDevicePipelineRobustnessFeaturesEXT feature = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_FEATURES_EXT};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &feature};
    instance->GetPhysicalDeviceFeatures2(handle, &features);
    return feature.pipelineRobustness == VK_TRUE;
}

void *weft_robustness_enable(struct weft_robustness_link *link, void *next) {
    link->feature = (VkPhysicalDevicePipelineRobustnessFeaturesEXT){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_FEATURES_EXT,
        .pNext = next,
        .pipelineRobustness = VK_TRUE};
    return &link->feature;
}

const void *weft_robustness_request(void) {
    static const VkPipelineRobustnessCreateInfoEXT request = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT,
        .storageBuffers = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_ROBUST_BUFFER_ACCESS_EXT,
        .uniformBuffers = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DEVICE_DEFAULT_EXT,
        .vertexInputs = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DEVICE_DEFAULT_EXT,
        .images = VK_PIPELINE_ROBUSTNESS_IMAGE_BEHAVIOR_DEVICE_DEFAULT_EXT};
    return &request;
}

#else

const char *weft_robustness_extension(void) {
    return NULL;
}

bool weft_robustness_feature(VkPhysicalDevice handle, const struct weft_vk_instance *instance) {
    (void)handle;
    (void)instance;
    return false;
}

void *weft_robustness_enable(struct weft_robustness_link *link, void *next) {
    (void)link;
    return next;
}

const void *weft_robustness_request(void) {
    return NULL;
}

#endif
