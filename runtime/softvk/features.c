/* SPDX-License-Identifier: MIT */
/* The features there are, and whether there are all that somebody turns on. */
#include <string.h>

#include "softvk/instance.h"

/* Any structure of features: a type, a pointer, and then VkBool32 only. */
union features {
    VkBaseOutStructure base;
    VkPhysicalDeviceFeatures2 all;
    VkPhysicalDeviceVulkan11Features vulkan11;
    VkPhysicalDeviceVulkan12Features vulkan12;
    VkPhysicalDevice16BitStorageFeatures storage16;
    VkPhysicalDevice8BitStorageFeatures storage8;
    VkPhysicalDeviceShaderFloat16Int8Features int8;
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
    VkPhysicalDeviceHostQueryResetFeatures query_reset;
    VkPhysicalDeviceShaderIntegerDotProductFeatures integer_dots;
#ifdef VK_EXT_pipeline_robustness
    VkPhysicalDevicePipelineRobustnessFeaturesEXT robustness;
#endif
};

#define FEATURES_AT ((size_t)offsetof(VkPhysicalDeviceFeatures2, features))

static const VkPhysicalDeviceFeatures basic = {
    .robustBufferAccess = VK_TRUE,
    .shaderInt64 = VK_TRUE,
    .shaderInt16 = VK_TRUE,
};

/* End of a structure's features, given the last; undefined padding follows. */
#define END(structure, last) (offsetof(structure, last) + sizeof(VkBool32))

/* Offers features in a structure of that type; returns their end, or 0 for a type without features of ours. */
static size_t offered(union features *features, VkStructureType type) {
    *features = (union features){.base = {.sType = type}};
    switch ((int)type) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2:
        features->all.features = basic;
        return END(VkPhysicalDeviceFeatures2, features.inheritedQueries);
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES:
        features->vulkan11.storageBuffer16BitAccess = VK_TRUE;
        return END(VkPhysicalDeviceVulkan11Features, shaderDrawParameters);
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES:
        features->vulkan12.storageBuffer8BitAccess = VK_TRUE;
        features->vulkan12.shaderInt8 = VK_TRUE;
        features->vulkan12.timelineSemaphore = VK_TRUE;
        features->vulkan12.hostQueryReset = VK_TRUE;
        return END(VkPhysicalDeviceVulkan12Features, subgroupBroadcastDynamicId);
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES:
        features->storage16.storageBuffer16BitAccess = VK_TRUE;
        return END(VkPhysicalDevice16BitStorageFeatures, storageInputOutput16);
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES:
        features->storage8.storageBuffer8BitAccess = VK_TRUE;
        return END(VkPhysicalDevice8BitStorageFeatures, storagePushConstant8);
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES:
        features->int8.shaderInt8 = VK_TRUE;
        return END(VkPhysicalDeviceShaderFloat16Int8Features, shaderInt8);
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES:
        features->timeline.timelineSemaphore = VK_TRUE;
        return END(VkPhysicalDeviceTimelineSemaphoreFeatures, timelineSemaphore);
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES:
        features->query_reset.hostQueryReset = VK_TRUE;
        return END(VkPhysicalDeviceHostQueryResetFeatures, hostQueryReset);
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES:
        features->integer_dots.shaderIntegerDotProduct = VK_TRUE;
        return END(VkPhysicalDeviceShaderIntegerDotProductFeatures, shaderIntegerDotProduct);
#ifdef VK_EXT_pipeline_robustness
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_FEATURES_EXT:
        features->robustness.pipelineRobustness = VK_TRUE;
        return END(VkPhysicalDevicePipelineRobustnessFeaturesEXT, pipelineRobustness);
#endif
    default:
        return 0;
    }
}

static VKAPI_ATTR void VKAPI_CALL get_features2(VkPhysicalDevice device,
                                                VkPhysicalDeviceFeatures2 *features) {
    (void)device;
    features->features = basic;
    for (VkBaseOutStructure *link = features->pNext; link; link = link->pNext) {
        union features there;
        const size_t end = offered(&there, link->sType);
        if (end > FEATURES_AT) {
            memcpy((uint8_t *)link + FEATURES_AT, (const uint8_t *)&there + FEATURES_AT,
                   end - FEATURES_AT);
        }
    }
}

static bool is_subset(const uint8_t *wanted, const uint8_t *there, size_t size) {
    bool subset = true;
    for (size_t at = 0; at < size; at += sizeof(VkBool32)) {
        VkBool32 on, can;
        memcpy(&on, wanted + at, sizeof on);
        memcpy(&can, there + at, sizeof can);
        subset = subset && (on != VK_TRUE || can == VK_TRUE);
    }
    return subset;
}

bool weft_soft_has_features(const void *chain) {
    bool all = true;
    for (const VkBaseInStructure *link = chain; link; link = link->pNext) {
        union features there;
        const size_t end = offered(&there, link->sType);
        all = all &&
              (end == 0 || is_subset((const uint8_t *)link + FEATURES_AT,
                                     (const uint8_t *)&there + FEATURES_AT, end - FEATURES_AT));
    }
    return all;
}

const struct weft_soft_function weft_soft_physical_feature_functions[] = {
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceFeatures2, get_features2),
    {NULL, NULL},
};
