/* SPDX-License-Identifier: MIT */
/*
 * A driver of Vulkan 1.1: the one that WEFT_HELD_DRIVER is the path of, without what came after, but for the extensions that it has; with
 * WEFT_HELD_WITHOUT also without one of these, and with WEFT_HELD_RANGE with bindings of at most so many bytes.
 * With it the validation layer sees whether Weft uses anything of 1.2 on a device that does not have it.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "behind.h"

#define HELD_VERSION VK_MAKE_API_VERSION(0, 1, 1, 0)

const char weft_behind_variable[] = "WEFT_HELD_DRIVER";

/*
 * What it is in front of gives, found again by each thread that lists devices. A call through an atomic member reads it as if it were
 * none (gcc 12): loads are said aloud.
 */
static struct {
    _Atomic(PFN_vkGetDeviceProcAddr) get_device;
    _Atomic(PFN_vkGetPhysicalDeviceProperties) properties;
    _Atomic(PFN_vkGetPhysicalDeviceProperties2) properties2;
    _Atomic(PFN_vkEnumerateDeviceExtensionProperties) extensions;
} real;

/* Functions of compute and of what it needs that Vulkan 1.2 and 1.3 brought, by names without KHR. */
static bool is_newer(const char *name) {
    static const char *const newer[] = {
        "vkResetQueryPool",
        "vkGetSemaphoreCounterValue",
        "vkWaitSemaphores",
        "vkSignalSemaphore",
        "vkGetBufferDeviceAddress",
        "vkGetBufferOpaqueCaptureAddress",
        "vkGetDeviceMemoryOpaqueCaptureAddress",
        "vkGetPhysicalDeviceToolProperties",
        "vkCreatePrivateDataSlot",
        "vkDestroyPrivateDataSlot",
        "vkSetPrivateData",
        "vkGetPrivateData",
        "vkCmdSetEvent2",
        "vkCmdResetEvent2",
        "vkCmdWaitEvents2",
        "vkCmdPipelineBarrier2",
        "vkCmdWriteTimestamp2",
        "vkQueueSubmit2",
        "vkCmdCopyBuffer2",
        "vkCmdCopyImage2",
        "vkCmdCopyBufferToImage2",
        "vkCmdCopyImageToBuffer2",
        "vkGetDeviceBufferMemoryRequirements",
        "vkGetDeviceImageMemoryRequirements",
    };
    bool found = false;
    for (size_t i = 0; i < sizeof newer / sizeof newer[0]; i++) {
        found = found || strcmp(name, newer[i]) == 0;
    }
    return found;
}

static void hold(VkPhysicalDeviceProperties *properties) {
    const char *range = getenv("WEFT_HELD_RANGE");
    properties->apiVersion = HELD_VERSION;
    if (range) {
        properties->limits.maxStorageBufferRange = (uint32_t)strtoul(range, NULL, 10);
    }
}

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice device,
                                                 VkPhysicalDeviceProperties *properties) {
    atomic_load (&real.properties)(device, properties);
    hold(properties);
}

static VKAPI_ATTR void VKAPI_CALL get_properties2(VkPhysicalDevice device,
                                                  VkPhysicalDeviceProperties2 *properties) {
    atomic_load (&real.properties2)(device, properties);
    hold(&properties->properties);
}

/* The number stays: in the place of that one there is one that nobody knows. */
static VKAPI_ATTR VkResult VKAPI_CALL get_extensions(VkPhysicalDevice device, const char *layer,
                                                     uint32_t *count, VkExtensionProperties *list) {
    const char *without = getenv("WEFT_HELD_WITHOUT");
    const VkResult result = atomic_load(&real.extensions)(device, layer, count, list);
    for (uint32_t i = 0; list && without && i < *count; i++) {
        if (strcmp(list[i].extensionName, without) == 0) {
            strcpy(list[i].extensionName, "VK_WEFT_none");
        }
    }
    return result;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char *name);

/* What the loader gets of `found`. */
static PFN_vkVoidFunction held(PFN_vkVoidFunction found, const char *name) {
    if (!found || is_newer(name)) {
        return NULL;
    }
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
        real.get_device = (PFN_vkGetDeviceProcAddr)found;
        return (PFN_vkVoidFunction)get_device;
    }
    if (strcmp(name, "vkGetPhysicalDeviceProperties") == 0) {
        real.properties = (PFN_vkGetPhysicalDeviceProperties)found;
        return (PFN_vkVoidFunction)get_properties;
    }
    if (strcmp(name, "vkEnumerateDeviceExtensionProperties") == 0) {
        real.extensions = (PFN_vkEnumerateDeviceExtensionProperties)found;
        return (PFN_vkVoidFunction)get_extensions;
    }
    if (strcmp(name, "vkGetPhysicalDeviceProperties2") == 0 ||
        strcmp(name, "vkGetPhysicalDeviceProperties2KHR") == 0) {
        real.properties2 = (PFN_vkGetPhysicalDeviceProperties2)found;
        return (PFN_vkVoidFunction)get_properties2;
    }
    return found;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char *name) {
    return held(atomic_load(&real.get_device)(device, name), name);
}

EXPORTED VKAPI_ATTR VkResult VKAPI_CALL
vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) {
    const struct weft_behind *behind = weft_behind();
    return behind ? behind->negotiate(version) : VK_ERROR_INITIALIZATION_FAILED;
}

EXPORTED VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
                                                                            const char *name) {
    const struct weft_behind *behind = weft_behind();
    return behind ? held(behind->get_instance(instance, name), name) : NULL;
}

EXPORTED VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name) {
    const struct weft_behind *behind = weft_behind();
    return behind ? held(behind->get_physical(instance, name), name) : NULL;
}
