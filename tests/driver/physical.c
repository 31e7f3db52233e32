/* SPDX-License-Identifier: MIT */
/* What can be asked of the physical device in other words than Weft's, and what it has none of. */
#include "driver/driver.h"

/* ---- in other words ---- */

static VKAPI_ATTR void VKAPI_CALL get_features(VkPhysicalDevice device,
                                               VkPhysicalDeviceFeatures *features) {
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    WEFT_LIBRARY(GetPhysicalDeviceFeatures2)(device, &all);
    *features = all.features;
}

static VKAPI_ATTR void VKAPI_CALL get_memory2(VkPhysicalDevice device,
                                              VkPhysicalDeviceMemoryProperties2 *memory) {
    WEFT_LIBRARY(GetPhysicalDeviceMemoryProperties)(device, &memory->memoryProperties);
}

static VKAPI_ATTR void VKAPI_CALL get_families2(VkPhysicalDevice device, uint32_t *count,
                                                VkQueueFamilyProperties2 *families) {
    if (!families) {
        *count = 1;
    } else if (*count > 0) {
        *count = 1;
        WEFT_LIBRARY(GetPhysicalDeviceQueueFamilyProperties)
        (device, count, &families[0].queueFamilyProperties);
    }
}

/* ---- what there is none of ---- */

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_layers(VkPhysicalDevice device, uint32_t *count,
                                                       VkLayerProperties *properties) {
    (void)device;
    return weft_soft_enumerate(properties, count, NULL, 0, sizeof *properties);
}

static VKAPI_ATTR void VKAPI_CALL get_format(VkPhysicalDevice device, VkFormat format,
                                             VkFormatProperties *properties) {
    (void)device;
    (void)format;
    *properties = (VkFormatProperties){0};
}

static VKAPI_ATTR void VKAPI_CALL get_format2(VkPhysicalDevice device, VkFormat format,
                                              VkFormatProperties2 *properties) {
    get_format(device, format, &properties->formatProperties);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_image_format(VkPhysicalDevice device, VkFormat format,
                                                       VkImageType type, VkImageTiling tiling,
                                                       VkImageUsageFlags usage,
                                                       VkImageCreateFlags flags,
                                                       VkImageFormatProperties *properties) {
    (void)device;
    (void)format;
    (void)type;
    (void)tiling;
    (void)usage;
    (void)flags;
    *properties = (VkImageFormatProperties){0};
    return VK_ERROR_FORMAT_NOT_SUPPORTED;
}

static VKAPI_ATTR VkResult VKAPI_CALL
get_image_format2(VkPhysicalDevice device, const VkPhysicalDeviceImageFormatInfo2 *info,
                  VkImageFormatProperties2 *properties) {
    (void)device;
    (void)info;
    properties->imageFormatProperties = (VkImageFormatProperties){0};
    return VK_ERROR_FORMAT_NOT_SUPPORTED;
}

static VKAPI_ATTR void VKAPI_CALL get_sparse_format(VkPhysicalDevice device, VkFormat format,
                                                    VkImageType type, VkSampleCountFlagBits samples,
                                                    VkImageUsageFlags usage, VkImageTiling tiling,
                                                    uint32_t *count,
                                                    VkSparseImageFormatProperties *properties) {
    (void)device;
    (void)format;
    (void)type;
    (void)samples;
    (void)usage;
    (void)tiling;
    (void)weft_soft_enumerate(properties, count, NULL, 0, sizeof *properties);
}

static VKAPI_ATTR void VKAPI_CALL
get_sparse_format2(VkPhysicalDevice device, const VkPhysicalDeviceSparseImageFormatInfo2 *info,
                   uint32_t *count, VkSparseImageFormatProperties2 *properties) {
    (void)device;
    (void)info;
    (void)weft_soft_enumerate(properties, count, NULL, 0, sizeof *properties);
}

static VKAPI_ATTR void VKAPI_CALL get_external_fence(VkPhysicalDevice device,
                                                     const VkPhysicalDeviceExternalFenceInfo *info,
                                                     VkExternalFenceProperties *properties) {
    (void)device;
    (void)info;
    properties->exportFromImportedHandleTypes = 0;
    properties->compatibleHandleTypes = 0;
    properties->externalFenceFeatures = 0;
}

static VKAPI_ATTR void VKAPI_CALL
get_external_semaphore(VkPhysicalDevice device, const VkPhysicalDeviceExternalSemaphoreInfo *info,
                       VkExternalSemaphoreProperties *properties) {
    (void)device;
    (void)info;
    properties->exportFromImportedHandleTypes = 0;
    properties->compatibleHandleTypes = 0;
    properties->externalSemaphoreFeatures = 0;
}

const struct weft_soft_function weft_driver_physical_functions[] = {
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceFeatures, get_features),
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceMemoryProperties2, get_memory2),
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceQueueFamilyProperties2, get_families2),
    WEFT_SOFT_FUNCTION(EnumerateDeviceLayerProperties, enumerate_layers),
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceFormatProperties, get_format),
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceFormatProperties2, get_format2),
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceImageFormatProperties, get_image_format),
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceImageFormatProperties2, get_image_format2),
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceSparseImageFormatProperties, get_sparse_format),
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceSparseImageFormatProperties2, get_sparse_format2),
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceExternalFenceProperties, get_external_fence),
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceExternalSemaphoreProperties, get_external_semaphore),
    {NULL, NULL},
};
