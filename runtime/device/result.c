/* SPDX-License-Identifier: MIT */
#include "device/result.h"

#include <string.h>

#include "device/device.h"
#include "device/fork.h"

/** "VK_ERROR_DEVICE_LOST"; "VkResult" for values that Vulkan 1.2 core functions do not return. */
static const char *result_name(VkResult result) {
#define NAME(value) \
    case value:     \
        return #value
    switch ((int)result) {
        NAME(VK_SUCCESS);
        NAME(VK_NOT_READY);
        NAME(VK_TIMEOUT);
        NAME(VK_EVENT_SET);
        NAME(VK_EVENT_RESET);
        NAME(VK_INCOMPLETE);
        NAME(VK_ERROR_OUT_OF_HOST_MEMORY);
        NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY);
        NAME(VK_ERROR_INITIALIZATION_FAILED);
        NAME(VK_ERROR_DEVICE_LOST);
        NAME(VK_ERROR_MEMORY_MAP_FAILED);
        NAME(VK_ERROR_LAYER_NOT_PRESENT);
        NAME(VK_ERROR_EXTENSION_NOT_PRESENT);
        NAME(VK_ERROR_FEATURE_NOT_PRESENT);
        NAME(VK_ERROR_INCOMPATIBLE_DRIVER);
        NAME(VK_ERROR_TOO_MANY_OBJECTS);
        NAME(VK_ERROR_FRAGMENTED_POOL);
        NAME(VK_ERROR_UNKNOWN);
        NAME(VK_ERROR_OUT_OF_POOL_MEMORY);
        NAME(VK_ERROR_FRAGMENTATION);
        NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE);
        NAME(VK_ERROR_VALIDATION_FAILED_EXT);
        NAME(VK_ERROR_INVALID_SHADER_NV);
    default:
        return "VkResult";
    }
#undef NAME
}

/** Anything without a status of its own is WEFT_DRIVER_ERROR. */
static weft_status result_status(VkResult result) {
    switch ((int)result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return WEFT_OUT_OF_HOST_MEMORY;
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTATION:
        return WEFT_OUT_OF_DEVICE_MEMORY;
    case VK_ERROR_DEVICE_LOST:
        return WEFT_DEVICE_LOST;
    case VK_ERROR_EXTENSION_NOT_PRESENT:
    case VK_ERROR_FEATURE_NOT_PRESENT:
        return WEFT_UNSUPPORTED;
    default:
        return WEFT_DRIVER_ERROR;
    }
}

weft_status weft_vk_check(const weft_host *host, VkResult result, const char *call) {
    if (result == VK_SUCCESS) {
        return WEFT_OK;
    }
    return weft_fail(host, result_status(result), "%s: %s (%d)", call, result_name(result),
                     (int)result);
}

weft_status weft_device_check(weft_device *device, VkResult result, const char *call) {
    if (result == VK_ERROR_DEVICE_LOST) {
        device->lost = true;
    }
    return weft_vk_check(&device->host, result, call);
}

weft_status weft_device_made(weft_device *device, VkResult result, const char *call, void *handle,
                             size_t size) {
    if (result != VK_SUCCESS) {
        memset(handle, 0, size);
    }
    return weft_device_check(device, result, call);
}

weft_status weft_device_alive(const weft_device *device) {
    weft_device_inherit(device);
    if (device->forgotten) {
        return weft_device_forgotten(device);
    }
    if (device->lost) {
        return weft_fail(&device->host, WEFT_DEVICE_LOST, "the device %s was %s", device->info.name,
                         device->cancelled ? "given up by weft_device_cancel" : "lost earlier");
    }
    return WEFT_OK;
}

weft_status weft_device_runs(const weft_device *device) {
    if (device->compile_only) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED,
                         "%s was opened for compiling only: it runs nothing and has no memory",
                         device->info.name);
    }
    return weft_device_alive(device);
}
