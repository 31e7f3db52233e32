/* SPDX-License-Identifier: MIT */
/* The physical device: properties, limits, memory, its queue family, and unsupported features. */
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "jobs/machine.h"
#include "softvk/cache.h"
#include "softvk/command.h"
#include "softvk/instance.h"
#include "softvk/memory.h"
#include "softvk/shared_memory.h"

/* The last ones are about memory that is bytes of this process. */
const VkExtensionProperties weft_soft_device_extensions[] = {
    {VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME, 1},
    {VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME, 1},
#ifdef VK_EXT_pipeline_robustness
    {VK_EXT_PIPELINE_ROBUSTNESS_EXTENSION_NAME, 1},
#endif
    {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, 1},
#if defined(__linux__)
    {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, 1},
#elif defined(_WIN32)
    {"VK_KHR_external_memory_win32", 1},
#endif
};

uint32_t weft_soft_device_extension_count(const struct weft_soft_physical *physical) {
    uint32_t count = 0;
    const uint32_t all =
        (uint32_t)(sizeof weft_soft_device_extensions / sizeof weft_soft_device_extensions[0]);
    while (count < all &&
           (physical->properties.host_memory ||
            strstr(weft_soft_device_extensions[count].extensionName, "external_memory") == NULL)) {
        count++;
    }
    return count;
}

/* ---- properties ---- */

static void fill_properties(VkPhysicalDeviceProperties *properties,
                            const struct weft_soft_physical *physical) {
    *properties = (VkPhysicalDeviceProperties){
        .apiVersion = VK_API_VERSION_1_2,
        .driverVersion =
            VK_MAKE_API_VERSION(0, WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH),
        /* Numbers of vendors are given out by the PCI SIG and Khronos, and we have none. */
        .vendorID = physical->properties.vendor_id,
        .deviceID = 0,
        .deviceType = physical->properties.type,
        .limits = physical->properties.limits,
    };
    memcpy(properties->deviceName, physical->properties.name, sizeof properties->deviceName);
    weft_soft_cache_uuid(properties->pipelineCacheUUID, physical);
}

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice device,
                                                 VkPhysicalDeviceProperties *properties) {
    fill_properties(properties, weft_soft_physical_of(device));
}

static void write_driver(char name[VK_MAX_DRIVER_NAME_SIZE], char info[VK_MAX_DRIVER_INFO_SIZE],
                         const struct weft_soft_physical *physical) {
    (void)snprintf(name, VK_MAX_DRIVER_NAME_SIZE, "%s", physical->instance->backend->driver);
    memcpy(info, physical->properties.version, VK_MAX_DRIVER_INFO_SIZE);
}

static void fill_driver(VkPhysicalDeviceDriverProperties *driver,
                        const struct weft_soft_physical *physical) {
    write_driver(driver->driverName, driver->driverInfo, physical);
    driver->conformanceVersion = (VkConformanceVersion){0}; /* it has not been through the tests */
}

static void fill_ids(uint8_t device[VK_UUID_SIZE], uint8_t driver[VK_UUID_SIZE],
                     const struct weft_soft_physical *physical) {
    const weft_digest digest = weft_digest_of(weft_version(), strlen(weft_version()));
    memcpy(device, physical->properties.uuid, VK_UUID_SIZE);
    memcpy(driver, digest.bytes, VK_UUID_SIZE);
}

static void fill_subgroup(VkPhysicalDeviceSubgroupProperties *subgroup,
                          const struct weft_soft_physical *physical) {
    subgroup->subgroupSize = physical->properties.subgroup_size;
    subgroup->supportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
    subgroup->supportedOperations = physical->properties.subgroup_operations;
    subgroup->quadOperationsInAllStages = VK_FALSE;
}

static void fill_vulkan11(VkPhysicalDeviceVulkan11Properties *eleven,
                          const struct weft_soft_physical *physical) {
    void *next = eleven->pNext;
    *eleven = (VkPhysicalDeviceVulkan11Properties){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES,
        .pNext = next,
        .subgroupSize = physical->properties.subgroup_size,
        .subgroupSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT,
        .subgroupSupportedOperations = physical->properties.subgroup_operations,
        .maxPerSetDescriptors = WEFT_SOFT_MAX_BINDINGS * WEFT_SOFT_MAX_SETS,
        .maxMemoryAllocationSize = physical->properties.memory,
        .deviceNodeMask = 1,
    };
    fill_ids(eleven->deviceUUID, eleven->driverUUID, physical);
}

/* No float control is claimed: nothing in a module changes what kernels do, and Weft's probe finds out what that is. */
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
                          const struct weft_soft_physical *physical) {
    void *next = twelve->pNext;
    *twelve = (VkPhysicalDeviceVulkan12Properties){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES,
        .pNext = next,
        .denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE,
        .roundingModeIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE,
        /* Limits of layouts that are updated after binding, which need a feature; but these count all descriptors. */
        .maxPerStageDescriptorUpdateAfterBindStorageBuffers = WEFT_SOFT_MAX_BINDINGS,
        .maxPerStageUpdateAfterBindResources = WEFT_SOFT_MAX_BINDINGS,
        .maxDescriptorSetUpdateAfterBindStorageBuffers = WEFT_SOFT_MAX_BINDINGS,
        .maxDescriptorSetUpdateAfterBindStorageBuffersDynamic = WEFT_SOFT_MAX_BINDINGS,
        .maxTimelineSemaphoreValueDifference = UINT64_MAX,
    };
    write_driver(twelve->driverName, twelve->driverInfo, physical);
}

static void fill_indexing(VkPhysicalDeviceDescriptorIndexingProperties *indexing) {
    void *next = indexing->pNext;
    *indexing = (VkPhysicalDeviceDescriptorIndexingProperties){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_PROPERTIES,
        .pNext = next,
        .maxPerStageDescriptorUpdateAfterBindStorageBuffers = WEFT_SOFT_MAX_BINDINGS,
        .maxPerStageUpdateAfterBindResources = WEFT_SOFT_MAX_BINDINGS,
        .maxDescriptorSetUpdateAfterBindStorageBuffers = WEFT_SOFT_MAX_BINDINGS,
        .maxDescriptorSetUpdateAfterBindStorageBuffersDynamic = WEFT_SOFT_MAX_BINDINGS,
    };
}

static void fill_maintenance3(VkPhysicalDeviceMaintenance3Properties *maintenance,
                              const struct weft_soft_physical *physical) {
    maintenance->maxPerSetDescriptors = WEFT_SOFT_MAX_BINDINGS * WEFT_SOFT_MAX_SETS;
    maintenance->maxMemoryAllocationSize = physical->properties.memory;
}

static void fill_id(VkPhysicalDeviceIDProperties *id, const struct weft_soft_physical *physical) {
    fill_ids(id->deviceUUID, id->driverUUID, physical);
    memset(id->deviceLUID, 0, sizeof id->deviceLUID);
    id->deviceNodeMask = 1;
    id->deviceLUIDValid = VK_FALSE;
}

/* Dot products of words of four bytes; others are not compiled (spirv/ir/instruction.c). */
static void fill_integer_dots(VkPhysicalDeviceShaderIntegerDotProductProperties *dots,
                              const struct weft_soft_physical *physical) {
    void *next = dots->pNext;
    const VkBool32 accelerated = physical->properties.accelerates_dots ? VK_TRUE : VK_FALSE;
    *dots = (VkPhysicalDeviceShaderIntegerDotProductProperties){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES,
        .pNext = next,
        .integerDotProduct4x8BitPackedSignedAccelerated = accelerated,
        .integerDotProduct4x8BitPackedMixedSignednessAccelerated = accelerated,
    };
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

static void fill_link(VkBaseOutStructure *link, const struct weft_soft_physical *physical) {
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
            physical->properties.limits.minStorageBufferOffsetAlignment;
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES:
        ((VkPhysicalDeviceTimelineSemaphoreProperties *)any)->maxTimelineSemaphoreValueDifference =
            UINT64_MAX;
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES:
        fill_integer_dots(any, physical);
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
    const struct weft_soft_physical *physical = weft_soft_physical_of(device);
    fill_properties(&properties->properties, physical);
    for (VkBaseOutStructure *link = properties->pNext; link; link = link->pNext) {
        fill_link(link, physical);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_extensions(VkPhysicalDevice device,
                                                           const char *layer, uint32_t *count,
                                                           VkExtensionProperties *properties) {
    if (layer) {
        return VK_ERROR_LAYER_NOT_PRESENT;
    }
    return weft_soft_enumerate(properties, count, weft_soft_device_extensions,
                               weft_soft_device_extension_count(weft_soft_physical_of(device)),
                               sizeof *properties);
}

const char *weft_soft_lacks(VkPhysicalDevice device) {
    return weft_soft_physical_of(device)->properties.lacks;
}

/* ---- memory and queues ---- */

static VKAPI_ATTR void VKAPI_CALL get_memory(VkPhysicalDevice device,
                                             VkPhysicalDeviceMemoryProperties *memory) {
    const struct weft_soft_physical *physical = weft_soft_physical_of(device);
    const VkMemoryPropertyFlags mapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                         VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                                         VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    *memory = (VkPhysicalDeviceMemoryProperties){
        .memoryTypeCount = 1,
        .memoryTypes = {{.propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | mapped}},
        .memoryHeapCount = 1,
        .memoryHeaps = {{.size = physical->properties.memory,
                         .flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
    };
    if (physical->properties.separate_memory) {
        memory->memoryTypes[0].propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
        memory->memoryTypes[WEFT_SOFT_HOST_MEMORY] =
            (VkMemoryType){.propertyFlags = mapped, .heapIndex = 1};
        memory->memoryTypeCount = memory->memoryHeapCount = 2;
        memory->memoryHeaps[1].size = weft_machine_memory();
    }
}

static const VkQueueFamilyProperties family = {
    .queueFlags = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
    .queueCount = 1,
    .timestampValidBits = 64,
};

static VKAPI_ATTR void VKAPI_CALL get_families(VkPhysicalDevice device, uint32_t *count,
                                               VkQueueFamilyProperties *families) {
    (void)device;
    (void)weft_soft_enumerate(families, count, &family, 1, sizeof family);
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
    } else if (info->handleType == weft_soft_shared_type) {
        properties->externalMemoryProperties = (VkExternalMemoryProperties){
            .externalMemoryFeatures = VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT |
                                      VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT,
            .compatibleHandleTypes = info->handleType};
    }
}

const struct weft_soft_function weft_soft_physical_functions[] = {
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceProperties, get_properties),
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceProperties2, get_properties2),
    WEFT_SOFT_FUNCTION(EnumerateDeviceExtensionProperties, enumerate_extensions),
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceMemoryProperties, get_memory),
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceQueueFamilyProperties, get_families),
    WEFT_SOFT_FUNCTION(GetPhysicalDeviceExternalBufferProperties, get_external_buffer),
    {NULL, NULL},
};
