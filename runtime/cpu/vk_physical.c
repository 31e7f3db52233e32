/* SPDX-License-Identifier: MIT */
/* What the physical device is: properties, limits, memory, its queue family, and what it has none of. */
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "cpu/processor.h"
#include "cpu/shared_memory.h"
#include "cpu/vk_command.h"
#include "cpu/vk_instance.h"
#include "native/kernel.h"

#define SUBGROUP_OPERATIONS                                         \
    (VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT | \
     VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT)

const VkExtensionProperties weft_cpu_device_extensions[] = {
    {VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME, 1},
    {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, 1},
#if defined(__linux__)
    {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, 1},
#elif defined(_WIN32)
    {"VK_KHR_external_memory_win32", 1},
#endif
#ifdef VK_EXT_pipeline_robustness
    {VK_EXT_PIPELINE_ROBUSTNESS_EXTENSION_NAME, 1},
#endif
};
const uint32_t weft_cpu_device_extension_count =
    sizeof weft_cpu_device_extensions / sizeof weft_cpu_device_extensions[0];

/* ---- properties ---- */

/* Limits of what it has not got are 0. */
static VkPhysicalDeviceLimits limits(void) {
    return (VkPhysicalDeviceLimits){
        .maxStorageBufferRange = WEFT_CPU_MAX_RANGE,
        .maxPushConstantsSize = WEFT_CPU_MAX_PUSH,
        .maxMemoryAllocationCount = UINT32_MAX,
        .bufferImageGranularity = 1,
        .maxBoundDescriptorSets = WEFT_CPU_MAX_SETS,
        .maxPerStageDescriptorStorageBuffers = WEFT_CPU_MAX_BINDINGS,
        .maxPerStageResources = WEFT_CPU_MAX_BINDINGS,
        .maxDescriptorSetStorageBuffers = WEFT_CPU_MAX_BINDINGS,
        .maxDescriptorSetStorageBuffersDynamic = WEFT_CPU_MAX_BINDINGS,
        .maxComputeSharedMemorySize = WEFT_CPU_SHARED_MEMORY,
        .maxComputeWorkGroupCount = {INT32_MAX, UINT16_MAX, UINT16_MAX},
        .maxComputeWorkGroupInvocations = WEFT_CPU_MAX_INVOCATIONS,
        .maxComputeWorkGroupSize = {WEFT_CPU_MAX_INVOCATIONS, WEFT_CPU_MAX_INVOCATIONS,
                                    WEFT_CPU_MAX_INVOCATIONS},
        .minMemoryMapAlignment = 64,
        .minStorageBufferOffsetAlignment = WEFT_CPU_RANGE_ALIGNMENT,
        .timestampComputeAndGraphics = VK_TRUE,
        .timestampPeriod = 1.0f,
        .discreteQueuePriorities = 2,
        .optimalBufferCopyOffsetAlignment = 1,
        .optimalBufferCopyRowPitchAlignment = 1,
        .nonCoherentAtomSize = 1,
    };
}

static void fill_properties(VkPhysicalDeviceProperties *properties,
                            const struct weft_cpu_physical *physical) {
    *properties = (VkPhysicalDeviceProperties){
        .apiVersion = VK_API_VERSION_1_2,
        .driverVersion =
            VK_MAKE_API_VERSION(0, WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH),
        /* Numbers of vendors are given out by the PCI SIG and Khronos, and we have none. */
        .vendorID = 0,
        .deviceID = 0,
        .deviceType = VK_PHYSICAL_DEVICE_TYPE_CPU,
        .limits = limits(),
    };
    weft_cpu_processor_name(properties->deviceName, sizeof properties->deviceName);
    memcpy(properties->pipelineCacheUUID, physical->uuid, VK_UUID_SIZE);
}

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice device,
                                                 VkPhysicalDeviceProperties *properties) {
    fill_properties(properties, weft_cpu_physical_of(device));
}

static void write_driver_info(char info[VK_MAX_DRIVER_INFO_SIZE],
                              const struct weft_cpu_physical *physical) {
    if (weft_cpu_can_compile()) {
        (void)snprintf(info, VK_MAX_DRIVER_INFO_SIZE, "%s, %u-bit vectors", weft_version(),
                       32 * physical->settings.lanes);
    } else {
        (void)snprintf(info, VK_MAX_DRIVER_INFO_SIZE, "%s, interpreted: slow, without LLVM",
                       weft_version());
    }
}

static void fill_driver(VkPhysicalDeviceDriverProperties *driver,
                        const struct weft_cpu_physical *physical) {
    (void)snprintf(driver->driverName, sizeof driver->driverName, "%s", WEFT_CPU_DRIVER_NAME);
    write_driver_info(driver->driverInfo, physical);
    driver->conformanceVersion = (VkConformanceVersion){0}; /* it has not been through the tests */
}

static void fill_ids(uint8_t device[VK_UUID_SIZE], uint8_t driver[VK_UUID_SIZE],
                     const struct weft_cpu_physical *physical) {
    const weft_digest digest = weft_digest_of(weft_version(), strlen(weft_version()));
    memcpy(device, physical->uuid, VK_UUID_SIZE);
    memcpy(driver, digest.bytes, VK_UUID_SIZE);
}

static void fill_subgroup(VkPhysicalDeviceSubgroupProperties *subgroup,
                          const struct weft_cpu_physical *physical) {
    subgroup->subgroupSize = physical->settings.lanes;
    subgroup->supportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
    subgroup->supportedOperations = SUBGROUP_OPERATIONS;
    subgroup->quadOperationsInAllStages = VK_FALSE;
}

static void fill_vulkan11(VkPhysicalDeviceVulkan11Properties *eleven,
                          const struct weft_cpu_physical *physical) {
    void *next = eleven->pNext;
    *eleven = (VkPhysicalDeviceVulkan11Properties){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES,
        .pNext = next,
        .subgroupSize = physical->settings.lanes,
        .subgroupSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT,
        .subgroupSupportedOperations = SUBGROUP_OPERATIONS,
        .maxPerSetDescriptors = WEFT_CPU_MAX_BINDINGS * WEFT_CPU_MAX_SETS,
        .maxMemoryAllocationSize = physical->memory,
        .deviceNodeMask = 1,
    };
    fill_ids(eleven->deviceUUID, eleven->driverUUID, physical);
}

/*
 * No float control is claimed: nothing in a module changes what kernels do. Their threads round to nearest, keep infinities and
 * NaN, and flush subnormals, as Weft's probe finds out.
 */
static void fill_float_controls(VkPhysicalDeviceFloatControlsProperties *controls) {
    void *next = controls->pNext;
    *controls = (VkPhysicalDeviceFloatControlsProperties){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES,
        .pNext = next,
        .denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE,
        .roundingModeIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE,
    };
}

static void fill_vulkan12(VkPhysicalDeviceVulkan12Properties *twelve,
                          const struct weft_cpu_physical *physical) {
    void *next = twelve->pNext;
    *twelve = (VkPhysicalDeviceVulkan12Properties){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES,
        .pNext = next,
        .denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE,
        .roundingModeIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE,
        /* Of layouts that are updated after they were bound, which need a feature; but these count all descriptors. */
        .maxPerStageDescriptorUpdateAfterBindStorageBuffers = WEFT_CPU_MAX_BINDINGS,
        .maxPerStageUpdateAfterBindResources = WEFT_CPU_MAX_BINDINGS,
        .maxDescriptorSetUpdateAfterBindStorageBuffers = WEFT_CPU_MAX_BINDINGS,
        .maxDescriptorSetUpdateAfterBindStorageBuffersDynamic = WEFT_CPU_MAX_BINDINGS,
        .maxTimelineSemaphoreValueDifference = UINT64_MAX,
    };
    (void)snprintf(twelve->driverName, sizeof twelve->driverName, "%s", WEFT_CPU_DRIVER_NAME);
    write_driver_info(twelve->driverInfo, physical);
}

static void fill_indexing(VkPhysicalDeviceDescriptorIndexingProperties *indexing) {
    void *next = indexing->pNext;
    *indexing = (VkPhysicalDeviceDescriptorIndexingProperties){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_PROPERTIES,
        .pNext = next,
        .maxPerStageDescriptorUpdateAfterBindStorageBuffers = WEFT_CPU_MAX_BINDINGS,
        .maxPerStageUpdateAfterBindResources = WEFT_CPU_MAX_BINDINGS,
        .maxDescriptorSetUpdateAfterBindStorageBuffers = WEFT_CPU_MAX_BINDINGS,
        .maxDescriptorSetUpdateAfterBindStorageBuffersDynamic = WEFT_CPU_MAX_BINDINGS,
    };
}

static void fill_maintenance3(VkPhysicalDeviceMaintenance3Properties *maintenance,
                              const struct weft_cpu_physical *physical) {
    maintenance->maxPerSetDescriptors = WEFT_CPU_MAX_BINDINGS * WEFT_CPU_MAX_SETS;
    maintenance->maxMemoryAllocationSize = physical->memory;
}

static void fill_id(VkPhysicalDeviceIDProperties *id, const struct weft_cpu_physical *physical) {
    fill_ids(id->deviceUUID, id->driverUUID, physical);
    memset(id->deviceLUID, 0, sizeof id->deviceLUID);
    id->deviceNodeMask = 1;
    id->deviceLUIDValid = VK_FALSE;
}

#ifdef VK_EXT_pipeline_robustness
static void fill_robustness(VkPhysicalDevicePipelineRobustnessPropertiesEXT *robustness) {
    robustness->defaultRobustnessStorageBuffers =
        VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DISABLED_EXT;
    robustness->defaultRobustnessUniformBuffers =
        VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DISABLED_EXT;
    robustness->defaultRobustnessVertexInputs = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DISABLED_EXT;
    robustness->defaultRobustnessImages = VK_PIPELINE_ROBUSTNESS_IMAGE_BEHAVIOR_DISABLED_EXT;
}
#endif

static void fill_link(VkBaseOutStructure *link, const struct weft_cpu_physical *physical) {
    void *any = link;
    switch ((int)link->sType) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES:
        fill_vulkan11(any, physical);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES:
        fill_vulkan12(any, physical);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES:
        fill_driver(any, physical);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES:
        fill_float_controls(any);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES:
        fill_subgroup(any, physical);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES:
        fill_maintenance3(any, physical);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_PROPERTIES:
        fill_indexing(any);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES:
        fill_id(any, physical);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT:
        ((VkPhysicalDeviceExternalMemoryHostPropertiesEXT *)any)->minImportedHostPointerAlignment =
            WEFT_CPU_RANGE_ALIGNMENT;
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES:
        ((VkPhysicalDeviceTimelineSemaphoreProperties *)any)->maxTimelineSemaphoreValueDifference =
            UINT64_MAX;
        break;
#ifdef VK_EXT_pipeline_robustness
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_PROPERTIES_EXT:
        fill_robustness(any);
        break;
#endif
    default:
        break; /* of something that is not there: left as it is, as Vulkan wants */
    }
}

static VKAPI_ATTR void VKAPI_CALL get_properties2(VkPhysicalDevice device,
                                                  VkPhysicalDeviceProperties2 *properties) {
    const struct weft_cpu_physical *physical = weft_cpu_physical_of(device);
    fill_properties(&properties->properties, physical);
    for (VkBaseOutStructure *link = properties->pNext; link; link = link->pNext) {
        fill_link(link, physical);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_extensions(VkPhysicalDevice device,
                                                           const char *layer, uint32_t *count,
                                                           VkExtensionProperties *properties) {
    (void)device;
    if (layer) {
        return VK_ERROR_LAYER_NOT_PRESENT;
    }
    return weft_cpu_enumerate(properties, count, weft_cpu_device_extensions,
                              weft_cpu_device_extension_count, sizeof *properties);
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_layers(VkPhysicalDevice device, uint32_t *count,
                                                       VkLayerProperties *properties) {
    (void)device;
    return weft_cpu_enumerate(properties, count, NULL, 0, sizeof *properties);
}

/* ---- memory and queues ---- */

static VKAPI_ATTR void VKAPI_CALL get_memory(VkPhysicalDevice device,
                                             VkPhysicalDeviceMemoryProperties *memory) {
    const struct weft_cpu_physical *physical = weft_cpu_physical_of(device);
    *memory = (VkPhysicalDeviceMemoryProperties){
        .memoryTypeCount = 1,
        .memoryTypes = {{.propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                          VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                          VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                                          VK_MEMORY_PROPERTY_HOST_CACHED_BIT}},
        .memoryHeapCount = 1,
        .memoryHeaps = {{.size = physical->memory, .flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
    };
}

static VKAPI_ATTR void VKAPI_CALL get_memory2(VkPhysicalDevice device,
                                              VkPhysicalDeviceMemoryProperties2 *memory) {
    get_memory(device, &memory->memoryProperties);
}

static const VkQueueFamilyProperties family = {
    .queueFlags = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
    .queueCount = 1,
    .timestampValidBits = 64,
};

static VKAPI_ATTR void VKAPI_CALL get_families(VkPhysicalDevice device, uint32_t *count,
                                               VkQueueFamilyProperties *families) {
    (void)device;
    (void)weft_cpu_enumerate(families, count, &family, 1, sizeof family);
}

static VKAPI_ATTR void VKAPI_CALL get_families2(VkPhysicalDevice device, uint32_t *count,
                                                VkQueueFamilyProperties2 *families) {
    (void)device;
    if (!families) {
        *count = 1;
    } else if (*count > 0) {
        *count = 1;
        families[0].queueFamilyProperties = family;
    }
}

/* ---- what there is none of ---- */

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
    (void)weft_cpu_enumerate(properties, count, NULL, 0, sizeof *properties);
}

static VKAPI_ATTR void VKAPI_CALL
get_sparse_format2(VkPhysicalDevice device, const VkPhysicalDeviceSparseImageFormatInfo2 *info,
                   uint32_t *count, VkSparseImageFormatProperties2 *properties) {
    (void)device;
    (void)info;
    (void)weft_cpu_enumerate(properties, count, NULL, 0, sizeof *properties);
}

static VKAPI_ATTR void VKAPI_CALL
get_external_buffer(VkPhysicalDevice device, const VkPhysicalDeviceExternalBufferInfo *info,
                    VkExternalBufferProperties *properties) {
    (void)device;
    properties->externalMemoryProperties = (VkExternalMemoryProperties){0};
    if (info->handleType == VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT) {
        properties->externalMemoryProperties = (VkExternalMemoryProperties){
            .externalMemoryFeatures = VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT,
            .compatibleHandleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT};
    } else if (info->handleType == weft_cpu_shared_type) {
        properties->externalMemoryProperties = (VkExternalMemoryProperties){
            .externalMemoryFeatures = VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT |
                                      VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT,
            .compatibleHandleTypes = info->handleType};
    }
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

const struct weft_cpu_function weft_cpu_physical_functions[] = {
    WEFT_CPU_FUNCTION(GetPhysicalDeviceProperties, get_properties),
    WEFT_CPU_FUNCTION(GetPhysicalDeviceProperties2, get_properties2),
    WEFT_CPU_FUNCTION(EnumerateDeviceExtensionProperties, enumerate_extensions),
    WEFT_CPU_FUNCTION(EnumerateDeviceLayerProperties, enumerate_layers),
    WEFT_CPU_FUNCTION(GetPhysicalDeviceMemoryProperties, get_memory),
    WEFT_CPU_FUNCTION(GetPhysicalDeviceMemoryProperties2, get_memory2),
    WEFT_CPU_FUNCTION(GetPhysicalDeviceQueueFamilyProperties, get_families),
    WEFT_CPU_FUNCTION(GetPhysicalDeviceQueueFamilyProperties2, get_families2),
    WEFT_CPU_FUNCTION(GetPhysicalDeviceFormatProperties, get_format),
    WEFT_CPU_FUNCTION(GetPhysicalDeviceFormatProperties2, get_format2),
    WEFT_CPU_FUNCTION(GetPhysicalDeviceImageFormatProperties, get_image_format),
    WEFT_CPU_FUNCTION(GetPhysicalDeviceImageFormatProperties2, get_image_format2),
    WEFT_CPU_FUNCTION(GetPhysicalDeviceSparseImageFormatProperties, get_sparse_format),
    WEFT_CPU_FUNCTION(GetPhysicalDeviceSparseImageFormatProperties2, get_sparse_format2),
    WEFT_CPU_FUNCTION(GetPhysicalDeviceExternalBufferProperties, get_external_buffer),
    WEFT_CPU_FUNCTION(GetPhysicalDeviceExternalFenceProperties, get_external_fence),
    WEFT_CPU_FUNCTION(GetPhysicalDeviceExternalSemaphoreProperties, get_external_semaphore),
    {NULL, NULL},
};
