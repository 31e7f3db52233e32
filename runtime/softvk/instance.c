/* SPDX-License-Identifier: MIT */
/* Instances, and what can be asked before there is one. */
#include "softvk/instance.h"

/* Limits of what no device has got are 0. */
static VkPhysicalDeviceLimits common_limits(void) {
    return (VkPhysicalDeviceLimits){
        .maxPushConstantsSize = WEFT_SOFT_MAX_PUSH,
        .maxMemoryAllocationCount = UINT32_MAX,
        .bufferImageGranularity = 1,
        .maxBoundDescriptorSets = WEFT_SOFT_MAX_SETS,
        .maxPerStageDescriptorStorageBuffers = WEFT_SOFT_MAX_BINDINGS,
        .maxPerStageResources = WEFT_SOFT_MAX_BINDINGS,
        .maxDescriptorSetStorageBuffers = WEFT_SOFT_MAX_BINDINGS,
        .maxDescriptorSetStorageBuffersDynamic = WEFT_SOFT_MAX_BINDINGS,
        .maxComputeWorkGroupCount = {INT32_MAX, UINT16_MAX, UINT16_MAX},
        .minMemoryMapAlignment = 64,
        .timestampComputeAndGraphics = VK_TRUE,
        .timestampPeriod = 1.0f,
        .discreteQueuePriorities = 2,
        .optimalBufferCopyOffsetAlignment = 1,
        .optimalBufferCopyRowPitchAlignment = 1,
        .nonCoherentAtomSize = 1,
    };
}

static void describe(struct weft_soft_physical *physical, struct weft_soft_instance *instance) {
    physical->loader = WEFT_SOFT_LOADER_MAGIC;
    physical->instance = instance;
    physical->properties.limits = common_limits();
    physical->properties.buffer_alignment = 64; /* a cache line, and the widest vector */
    physical->properties.type = VK_PHYSICAL_DEVICE_TYPE_CPU;
    instance->backend->describe(&physical->properties, instance->user);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkInstance *instance) {
    (void)allocator;
    const struct weft_soft_instance_info *given =
        weft_soft_find_structure(info->pNext, WEFT_SOFT_INSTANCE_INFO);
    if (!given) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    if (info->enabledLayerCount > 0) {
        return VK_ERROR_LAYER_NOT_PRESENT;
    }
    if (info->enabledExtensionCount > 0) {
        return VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    struct weft_soft_instance *made = weft_alloc_zero(given->host, 1, sizeof *made);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->loader = WEFT_SOFT_LOADER_MAGIC;
    if (given->host) {
        made->host = *given->host;
    }
    made->backend = given->backend;
    made->user = given->user;
    describe(&made->physical, made);
    *instance = WEFT_SOFT_HANDLE(VkInstance, made);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance handle,
                                                   const VkAllocationCallbacks *allocator) {
    (void)allocator;
    struct weft_soft_instance *instance = weft_soft_instance_of(handle);
    if (instance) {
        const weft_host host = instance->host;
        weft_free(&host, instance);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_version(uint32_t *version) {
    *version = VK_API_VERSION_1_2;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_extensions(const char *layer, uint32_t *count,
                                                           VkExtensionProperties *properties) {
    if (layer) {
        return VK_ERROR_LAYER_NOT_PRESENT;
    }
    return weft_soft_enumerate(properties, count, NULL, 0, sizeof *properties);
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_layers(uint32_t *count,
                                                       VkLayerProperties *properties) {
    return weft_soft_enumerate(properties, count, NULL, 0, sizeof *properties);
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_physical(VkInstance handle, uint32_t *count,
                                                         VkPhysicalDevice *devices) {
    struct weft_soft_instance *instance = weft_soft_instance_of(handle);
    VkPhysicalDevice one = WEFT_SOFT_HANDLE(VkPhysicalDevice, &instance->physical);
    return weft_soft_enumerate(devices, count, &one, 1, sizeof one);
}

const struct weft_soft_function weft_soft_instance_functions[] = {
    WEFT_SOFT_FUNCTION(CreateInstance, create_instance),
    WEFT_SOFT_FUNCTION(DestroyInstance, destroy_instance),
    WEFT_SOFT_FUNCTION(EnumerateInstanceVersion, enumerate_version),
    WEFT_SOFT_FUNCTION(EnumerateInstanceExtensionProperties, enumerate_extensions),
    WEFT_SOFT_FUNCTION(EnumerateInstanceLayerProperties, enumerate_layers),
    WEFT_SOFT_FUNCTION(EnumeratePhysicalDevices, enumerate_physical),
    WEFT_SOFT_FUNCTION(GetInstanceProcAddr, weft_soft_get_instance_proc_addr),
    {NULL, NULL},
};
