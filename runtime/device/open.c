/* SPDX-License-Identifier: MIT */
/* Listing the system's devices, and opening one with our own instance and VkDevice. */
#include "core/float_state.h"
#include "core/rules.h"
#include "core/try.h"
#include "device/instance.h"
#include "device/physical.h"
#include "device/result.h"
#include "device/setup.h"
#include "device/validation.h"

static weft_status read_list(struct weft_physical **list, uint32_t *count, const weft_host *host) {
    struct weft_vk_instance instance;
    char reason[WEFT_REASON_SIZE] = "";
    *list = NULL;
    *count = 0;
    weft_status status = weft_instance_create(&instance, host, NULL, reason);
    if (status == WEFT_NO_DEVICE) {
        weft_log(host, WEFT_LOG_INFO, "no devices: %s", reason);
        return WEFT_OK;
    }
    if (status == WEFT_OK) {
        status = weft_physical_list(list, count, &instance, host);
        weft_instance_destroy(&instance, VK_NULL_HANDLE);
    }
    return status;
}

weft_status weft_device_list(weft_device_info *infos, uint32_t *count, const weft_host *host) {
    if (!count || (!infos && *count != 0)) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "weft_device_list: %s is null",
                         !count ? "count" : "infos");
    }
    struct weft_physical *list = NULL;
    uint32_t found = 0;
    WEFT_TRY(read_list(&list, &found, host));
    for (uint32_t i = 0; i < found && i < *count; i++) {
        infos[i] = list[i].info;
    }
    *count = found;
    weft_free(host, list);
    return WEFT_OK;
}

/*
 * With the one feature Weft needs, and in fast mode f16 arithmetic where there is any, which `weft bench` measures and no
 * kernel of the library uses. Nothing else is turned on, so nothing else can come to matter.
 */
static weft_status create_device(weft_device *device, const struct weft_physical *physical) {
    const char *extensions[2];
    uint32_t extension_count = 0;
    if (physical->info.has_pipeline_feedback) {
        extensions[extension_count++] = VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME;
    }
    if (physical->portability_subset) {
        extensions[extension_count++] = "VK_KHR_portability_subset";
    }
    const float priority = 1.0f;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = physical->queue_family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkPhysicalDeviceVulkan12Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .timelineSemaphore = VK_TRUE,
        .shaderFloat16 = device->math == WEFT_MATH_FAST && physical->info.has_f16_arithmetic,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = extension_count,
        .ppEnabledExtensionNames = extensions,
    };
    return weft_device_check(
        device, device->instance.CreateDevice(physical->handle, &info, NULL, &device->vk.handle),
        "vkCreateDevice");
}

static weft_status create_and_load(weft_device *device, const struct weft_physical *physical) {
    weft_setup_physical(device, physical);
    WEFT_TRY(create_device(device, physical));
    /* Loaded first: it is what destroys the handle should another function be missing. */
    device->vk.DestroyDevice = (PFN_vkDestroyDevice)device->instance.GetDeviceProcAddr(
        device->vk.handle, "vkDestroyDevice");
    WEFT_TRY(weft_vk_load_device(&device->vk, &device->instance, &device->host));
    device->vk.GetDeviceQueue(device->vk.handle, device->queue_family, 0, &device->queue);
    return WEFT_OK;
}

static weft_status open_system_device(weft_device *device, const weft_device_params *params) {
    char reason[WEFT_REASON_SIZE] = "";
    const bool validation = weft_validation_wanted(params->validation);
    device->owns_handles = true;
    weft_status status =
        weft_instance_create(&device->instance, &device->host, validation ? device : NULL, reason);
    if (status == WEFT_NO_DEVICE) {
        return weft_fail(&device->host, status, "%s", reason);
    }
    WEFT_TRY(status);
    struct weft_physical *list = NULL;
    uint32_t count = 0;
    WEFT_TRY(weft_physical_list(&list, &count, &device->instance, &device->host));
    const struct weft_physical *chosen = NULL;
    status = weft_physical_select(&chosen, list, count, params->select, &device->host);
    if (status == WEFT_OK) {
        status = create_and_load(device, chosen);
    }
    weft_free(&device->host, list);
    return status;
}

/*
 * A driver that runs shaders on the processor starts its threads here, and they inherit how this
 * thread treats subnormals. Reproducible math wants them flushed, and lavapipe has no execution mode
 * for that: flushing by instructions costs it time (measured: 1.4 × in matmul, 2.8 × in GELU). Should a driver start
 * its threads elsewhere, the probe finds out that it keeps subnormals.
 */
static weft_status open_flushing(weft_device *device, const void *open_params) {
    const weft_device_params *params = open_params;
    if (params->math != WEFT_MATH_REPRODUCIBLE || !weft_rule_holds("thread-flush")) {
        return open_system_device(device, params);
    }
    const weft_float_state state = weft_float_state_flush();
    weft_status status = open_system_device(device, params);
    weft_float_state_restore(state);
    return status;
}

weft_status weft_device_open(weft_device **device, const weft_device_params *params) {
    static const weft_device_params defaults = {.host = {0}};
    params = !params ? &defaults : params;
    if (!device) {
        return weft_fail(&params->host, WEFT_INVALID_ARGUMENT, "weft_device_open: device is null");
    }
    const struct weft_setup setup = {
        .host = &params->host,
        .math = params->math,
        .weights = params->weights,
        .memory_limit = params->memory_limit,
        .cache_dir = params->cache_dir,
        .submission_limit_ms = params->submission_limit_ms,
    };
    return weft_setup_device(device, &setup, open_flushing, params);
}
