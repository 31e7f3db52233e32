/* SPDX-License-Identifier: MIT */
/* Logical devices, with their threads and their queue. */
#include "softvk/device.h"

#include <string.h>

static bool has_extension(const struct weft_soft_physical *physical, const char *name) {
    bool found = false;
    for (uint32_t i = 0; i < weft_soft_device_extension_count(physical); i++) {
        found = found || strcmp(name, weft_soft_device_extensions[i].extensionName) == 0;
    }
    return found;
}

/* As weft_soft_has_features, for VkPhysicalDeviceFeatures outside of a chain. */
static bool has_basic_features(const VkPhysicalDeviceFeatures *features) {
    VkPhysicalDeviceFeatures2 chained = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    if (!features) {
        return true;
    }
    chained.features = *features;
    return weft_soft_has_features(&chained);
}

static VkResult check_info(const struct weft_soft_physical *physical,
                           const VkDeviceCreateInfo *info) {
    const weft_host *host = &physical->instance->host;
    if (physical->properties.fault) {
        weft_log(host, WEFT_LOG_ERROR, "%s: %s", physical->instance->backend->driver,
                 physical->properties.fault);
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        if (!has_extension(physical, info->ppEnabledExtensionNames[i])) {
            return VK_ERROR_EXTENSION_NOT_PRESENT;
        }
    }
    return has_basic_features(info->pEnabledFeatures) && weft_soft_has_features(info->pNext)
               ? VK_SUCCESS
               : VK_ERROR_FEATURE_NOT_PRESENT;
}

static bool wants_checks(const VkDeviceCreateInfo *info) {
    const VkPhysicalDeviceFeatures2 *chained =
        weft_soft_find_structure(info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    const VkPhysicalDeviceFeatures *features =
        chained ? &chained->features : info->pEnabledFeatures;
    return features && features->robustBufferAccess == VK_TRUE;
}

/* Who computes, as it was asked for; nobody but the calling thread where the device needs no jobs. */
static weft_status start_jobs(struct weft_soft_device *device,
                              const struct weft_soft_jobs_info *asked) {
    device->jobs.concurrency = 1;
    if (device->physical->properties.threads == 0) {
        return WEFT_OK;
    }
    if (asked && asked->jobs) {
        return weft_given_jobs_create(&device->given, &device->jobs, asked->jobs,
                                      &device->queue.broken, &device->host);
    }
    const uint32_t threads =
        asked && asked->threads > 0 ? asked->threads : device->physical->properties.threads;
    return weft_threads_start(&device->threads, &device->jobs, threads, &device->host);
}

static void end_jobs(struct weft_soft_device *device) {
    weft_threads_end(&device->threads, &device->host);
    weft_given_jobs_destroy(&device->given);
}

static VkResult start(struct weft_soft_device *device, const struct weft_soft_jobs_info *asked) {
    if (start_jobs(device, asked) != WEFT_OK) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkResult result =
        device->backend->open(&device->state, device, device->physical->instance->user);
    if (result != VK_SUCCESS) {
        end_jobs(device);
        return result;
    }
    result = weft_soft_queue_start(&device->queue, device);
    if (result != VK_SUCCESS) {
        device->backend->close(device->state);
        end_jobs(device);
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice handle,
                                                    const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkDevice *device) {
    (void)allocator;
    const struct weft_soft_physical *physical = weft_soft_physical_of(handle);
    VkResult result = check_info(physical, info);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct weft_soft_device *made = weft_alloc_zero(&physical->instance->host, 1, sizeof *made);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->loader = WEFT_SOFT_LOADER_MAGIC;
    made->host = physical->instance->host;
    made->physical = physical;
    made->backend = physical->instance->backend;
    made->checked = wants_checks(info);
    atomic_flag_clear(&made->jobs_taken);
    result = start(made, weft_soft_find_structure(info->pNext, WEFT_SOFT_JOBS_INFO));
    if (result != VK_SUCCESS) {
        const weft_host host = made->host;
        weft_free(&host, made);
        return result;
    }
    *device = WEFT_SOFT_HANDLE(VkDevice, made);
    return VK_SUCCESS;
}

void weft_soft_set_careful(VkDevice handle, bool careful) {
    struct weft_soft_device *device = weft_soft_device_of(handle);
    atomic_store(&device->careful, careful && device->physical->properties.can_be_careful);
}

bool weft_soft_can_be_careful(VkDevice device) {
    return weft_soft_device_of(device)->physical->properties.can_be_careful;
}

bool weft_soft_survives_fork(VkDevice device) {
    return weft_soft_device_of(device)->physical->properties.survives_fork;
}

bool weft_soft_device_inherit(VkDevice handle) {
    struct weft_soft_device *device = weft_soft_device_of(handle);
    if (!device->physical->properties.survives_fork || atomic_load(&device->busy) > 0 ||
        !weft_soft_take_jobs(device)) {
        return false;
    }
    weft_soft_give_jobs(device);
    return weft_soft_queue_inherit(&device->queue) && weft_threads_inherit(device->threads);
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice handle,
                                                 const VkAllocationCallbacks *allocator) {
    (void)allocator;
    struct weft_soft_device *device = weft_soft_device_of(handle);
    if (!device) {
        return;
    }
    const weft_host host = device->host;
    weft_soft_queue_end(&device->queue);
    device->backend->close(device->state);
    end_jobs(device);
    weft_free(&host, device);
}

static VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice handle, uint32_t family, uint32_t index,
                                            VkQueue *queue) {
    (void)family;
    (void)index;
    *queue = WEFT_SOFT_HANDLE(VkQueue, &weft_soft_device_of(handle)->queue);
}

const struct weft_soft_function weft_soft_device_functions[] = {
    WEFT_SOFT_FUNCTION(CreateDevice, create_device),
    WEFT_SOFT_FUNCTION(DestroyDevice, destroy_device),
    WEFT_SOFT_FUNCTION(GetDeviceProcAddr, weft_soft_get_device_proc_addr),
    WEFT_SOFT_FUNCTION(GetDeviceQueue, get_queue),
    {NULL, NULL},
};
