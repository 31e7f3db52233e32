/* SPDX-License-Identifier: MIT */
/* Instances, and what can be asked before there is one. */
#include "softvk/instance.h"

#include <string.h>

#include "core/hash.h"
#include "cpu/kernel.h"
#include "jobs/machine.h"

/* Objects of other processors and vector widths, and of other versions of the compiler, are another device's. */
static void make_uuid(uint8_t uuid[VK_UUID_SIZE], uint32_t lanes) {
    const uint8_t number = (uint8_t)lanes;
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, weft_version(), strlen(weft_version()) + 1);
    weft_sha256_add(&hash, weft_cpu_target(), strlen(weft_cpu_target()) + 1);
    weft_sha256_add(&hash, weft_cpu_compiler(), strlen(weft_cpu_compiler()) + 1);
    weft_sha256_add(&hash, &number, 1);
    const weft_digest digest = weft_sha256_end(&hash);
    memcpy(uuid, digest.bytes, VK_UUID_SIZE);
}

static void describe(struct weft_soft_physical *physical, struct weft_soft_instance *instance) {
    physical->loader = WEFT_SOFT_LOADER_MAGIC;
    physical->instance = instance;
    physical->memory = weft_machine_memory();
    weft_processor_settings_read(&physical->settings);
    make_uuid(physical->uuid, physical->settings.lanes);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkInstance *instance) {
    (void)allocator;
    const struct weft_soft_host_info *given =
        weft_soft_find_structure(info->pNext, WEFT_SOFT_HOST_INFO);
    const weft_host *host = given ? given->host : NULL;
    if (info->enabledLayerCount > 0) {
        return VK_ERROR_LAYER_NOT_PRESENT;
    }
    if (info->enabledExtensionCount > 0) {
        return VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    struct weft_soft_instance *made = weft_alloc_zero(host, 1, sizeof *made);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->loader = WEFT_SOFT_LOADER_MAGIC;
    if (host) {
        made->host = *host;
    }
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

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_groups(VkInstance handle, uint32_t *count,
                                                       VkPhysicalDeviceGroupProperties *groups) {
    struct weft_soft_instance *instance = weft_soft_instance_of(handle);
    if (!groups) {
        *count = 1;
        return VK_SUCCESS;
    }
    if (*count == 0) {
        return VK_INCOMPLETE;
    }
    *count = 1;
    groups[0].physicalDeviceCount = 1;
    groups[0].physicalDevices[0] = WEFT_SOFT_HANDLE(VkPhysicalDevice, &instance->physical);
    groups[0].subsetAllocation = VK_FALSE;
    return VK_SUCCESS;
}

const struct weft_soft_function weft_soft_instance_functions[] = {
    WEFT_SOFT_FUNCTION(CreateInstance, create_instance),
    WEFT_SOFT_FUNCTION(DestroyInstance, destroy_instance),
    WEFT_SOFT_FUNCTION(EnumerateInstanceVersion, enumerate_version),
    WEFT_SOFT_FUNCTION(EnumerateInstanceExtensionProperties, enumerate_extensions),
    WEFT_SOFT_FUNCTION(EnumerateInstanceLayerProperties, enumerate_layers),
    WEFT_SOFT_FUNCTION(EnumeratePhysicalDevices, enumerate_physical),
    WEFT_SOFT_FUNCTION(EnumeratePhysicalDeviceGroups, enumerate_groups),
    WEFT_SOFT_FUNCTION(GetInstanceProcAddr, weft_soft_get_instance_proc_addr),
    {NULL, NULL},
};
