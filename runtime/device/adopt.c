/* SPDX-License-Identifier: MIT */
/* Adopting a VkDevice that the caller made and keeps. */
#include <string.h>

#include "core/given.h"
#include "core/try.h"
#include "device/cooperative.h"
#include "device/debug_label.h"
#include "device/external.h"
#include "device/instance.h"
#include "device/loader.h"
#include "device/physical.h"
#include "device/setup.h"
#include "device/slow.h"

#include <weft/vulkan.h>

const char *const *weft_vulkan_required_extensions(void) {
    static const char *const none[] = {NULL};
    return none;
}

const char *const *weft_vulkan_optional_extensions(void) {
    static const char *const optional[] = {VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME,
                                           WEFT_EXTERNAL_MEMORY_EXTENSION,
                                           WEFT_EXTERNAL_SEMAPHORE_EXTENSION,
                                           VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME,
                                           VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME,
                                           WEFT_COOPERATIVE_EXTENSION,
                                           NULL};
    return optional;
}

weft_status weft_vulkan_require_features(VkPhysicalDeviceFeatures2 *features) {
    WEFT_ENTER;
    WEFT_GIVEN(NULL, features);
    bool set = false;
    VkBaseOutStructure *link = (VkBaseOutStructure *)features;
    for (; link; link = link->pNext) {
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
            ((VkPhysicalDeviceVulkan12Features *)link)->timelineSemaphore = VK_TRUE;
            set = true;
        } else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES) {
            ((VkPhysicalDeviceTimelineSemaphoreFeatures *)link)->timelineSemaphore = VK_TRUE;
            set = true;
        }
    }
    return set ? WEFT_OK : WEFT_INVALID_ARGUMENT;
}

static weft_status check_params(const weft_device_adopt_params *params) {
    const char *missing = params->instance == VK_NULL_HANDLE          ? "instance"
                          : params->physical_device == VK_NULL_HANDLE ? "physical_device"
                          : params->device == VK_NULL_HANDLE          ? "device"
                          : params->queue == VK_NULL_HANDLE           ? "queue"
                                                                      : NULL;
    if (missing) {
        return weft_fail(&params->host, WEFT_INVALID_ARGUMENT, "weft_device_adopt: %s is null",
                         missing);
    }
    if ((!params->lock_queue) != (!params->unlock_queue)) {
        return weft_fail(&params->host, WEFT_INVALID_ARGUMENT,
                         "weft_device_adopt: %s is set without %s",
                         !params->lock_queue ? "unlock_queue" : "lock_queue",
                         !params->lock_queue ? "lock_queue" : "unlock_queue");
    }
    const bool has_factors = params->float16 || params->int8;
    if (params->cooperative_matrix && (!has_factors || !params->subgroup_size_control)) {
        return weft_fail(&params->host, WEFT_INVALID_ARGUMENT,
                         "weft_device_adopt: cooperative_matrix is set without %s",
                         has_factors ? "subgroup_size_control" : "float16 or int8");
    }
    return WEFT_OK;
}

static weft_status check_allocator(const weft_device_adopt_params *params) {
    const weft_vulkan_allocator *allocator = params->allocator;
    if (!allocator || (allocator->allocate && allocator->free)) {
        return WEFT_OK;
    }
    return weft_fail(&params->host, WEFT_INVALID_ARGUMENT,
                     "weft_device_adopt: the allocator has no %s",
                     allocator->allocate ? "free" : "allocate");
}

static weft_status load_instance(weft_device *device, const weft_device_adopt_params *params) {
    struct weft_vk_instance *instance = &device->instance;
    instance->GetInstanceProcAddr = params->get_instance_proc_addr;
    if (!instance->GetInstanceProcAddr) {
        instance->GetInstanceProcAddr = weft_loader_open();
    }
    if (!instance->GetInstanceProcAddr) {
        return weft_fail(&device->host, WEFT_NO_DEVICE,
                         "weft_device_adopt: get_instance_proc_addr is null and no Vulkan loader "
                         "is installed");
    }
    instance->handle = params->instance;
    instance->version =
        params->instance_version == 0 ? VK_API_VERSION_1_2 : params->instance_version;
    return weft_vk_load_instance(instance, &device->host);
}

static weft_status load_device(weft_device *device, const weft_device_adopt_params *params) {
    device->vk.handle = params->device;
    WEFT_TRY(weft_vk_load_device(&device->vk, &device->instance, &device->host));
    if (device->has_timeline) {
        WEFT_TRY(
            weft_vk_load_timeline(&device->vk, device->version, &device->instance, &device->host));
    }
    weft_external_load(device, &(struct weft_external_extensions){
                                   .memory = params->external_memory,
                                   .dma_buf = params->external_memory_dma_buf,
                                   .semaphore = params->external_semaphore,
                               });
    return params->debug_labels ? weft_debug_label_load(device, true) : WEFT_OK;
}

/* A VkDevice cannot be asked what was enabled on it, and what was not must not be used. */
static void leave_out(struct weft_physical *physical, const weft_device_adopt_params *params) {
    weft_device_info *info = &physical->info;
    info->has_pipeline_feedback = false;
    info->host_memory_alignment = 0;
    info->has_f16_arithmetic = info->has_f16_arithmetic && params->float16;
    if (!params->subgroup_size_control) {
        info->least_subgroup = info->most_subgroup = 0;
    }
    if (!params->cooperative_matrix || !params->float16) {
        memset(info->matrix_shapes, 0, sizeof info->matrix_shapes);
    }
    if (!params->cooperative_matrix || !params->int8) {
        memset(info->integer_matrix_shapes, 0, sizeof info->integer_matrix_shapes);
    }
    physical->robustness = false;
    physical->integer_dots = info->has_integer_dot_product = false;
    physical->timeline = physical->timeline && params->timeline_semaphore;
    if (physical->version < VK_API_VERSION_1_2) {
        physical->float_modes = params->float_controls ? physical->float_modes : 0;
    }
}

/* Reads the features of the caller's VkDevice, as far as the caller declares them. */
static weft_status read_physical(struct weft_physical *physical, weft_device *device,
                                 const weft_device_adopt_params *params) {
    uint32_t index = 0;
    if (params->queue_family == WEFT_NO_FAMILY) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "weft_device_adopt: queue_family is VK_QUEUE_FAMILY_IGNORED");
    }
    WEFT_TRY(
        weft_physical_index(&index, &device->instance, params->physical_device, &device->host));
    WEFT_TRY(weft_physical_read(physical, &device->instance, params->physical_device, index,
                                params->queue_family, &device->host));
    if (physical->queue_family == WEFT_NO_FAMILY) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "weft_device_adopt: %s has no queue family %u", physical->info.name,
                         params->queue_family);
    }
    if (!physical->info.usable) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED, "weft_device_adopt: %s %s",
                         physical->info.name, physical->info.reason);
    }
    leave_out(physical, params);
    weft_slow_warn(&physical->info, false, &device->host);
    return WEFT_OK;
}

/* Adds a family that shares buffers, once. */
static weft_status add_family(weft_device *device, uint32_t family,
                              const VkQueueFamilyProperties *families, uint32_t count) {
    if (family >= count) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "weft_device_adopt: shared family %u, and %s has %u", family,
                         device->info.name, count);
    }
    for (uint32_t i = 0; i < device->family_count; i++) {
        if (device->families[i] == family) {
            return WEFT_OK;
        }
    }
    device->families[device->family_count++] = family;
    const uint32_t bits = families[family].timestampValidBits;
    if ((families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) {
        device->timestamp_bits = bits < device->timestamp_bits ? bits : device->timestamp_bits;
        device->info.timestamp_period_ns = bits == 0 ? 0.0 : device->info.timestamp_period_ns;
    }
    return WEFT_OK;
}

static weft_status read_families(weft_device *device, const weft_device_adopt_params *params) {
    const struct weft_vk_instance *instance = &device->instance;
    uint32_t count = 0;
    if (params->shared_family_count == 0) {
        return WEFT_OK;
    }
    if (params->shared_family_count > WEFT_MAX_SHARED_FAMILIES || !params->shared_families) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "weft_device_adopt: %u shared families, of at most %d%s",
                         params->shared_family_count, WEFT_MAX_SHARED_FAMILIES,
                         params->shared_families ? "" : ", but shared_families is null");
    }
    instance->GetPhysicalDeviceQueueFamilyProperties(params->physical_device, &count, NULL);
    VkQueueFamilyProperties *families =
        weft_alloc_zero(&device->host, (size_t)count + 1, sizeof *families);
    if (!families) {
        return weft_fail_memory(&device->host, "queue families");
    }
    instance->GetPhysicalDeviceQueueFamilyProperties(params->physical_device, &count, families);
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < params->shared_family_count && status == WEFT_OK; i++) {
        status = add_family(device, params->shared_families[i], families, count);
    }
    weft_free(&device->host, families);
    return status;
}

static weft_status fill_device(weft_device *device, const void *adopt_params) {
    const weft_device_adopt_params *params = adopt_params;
    device->queue = params->queue;
    device->allocator = params->allocator ? *params->allocator : (weft_vulkan_allocator){0};
    device->lock_queue = params->lock_queue;
    device->unlock_queue = params->unlock_queue;
    device->lock_user = params->lock_user;
    struct weft_physical physical;
    WEFT_TRY(load_instance(device, params));
    WEFT_TRY(read_physical(&physical, device, params));
    weft_setup_physical(device, &physical);
    WEFT_TRY(load_device(device, params));
    return read_families(device, params);
}

weft_status weft_device_adopt_with(weft_device **device, const weft_device_adopt_params *params,
                                   const struct weft_device_part *parts) {
    if (!params) {
        return WEFT_INVALID_ARGUMENT;
    }
    if (!device) {
        return weft_fail(&params->host, WEFT_INVALID_ARGUMENT, "weft_device_adopt: device is null");
    }
    WEFT_TRY(check_params(params));
    WEFT_TRY(check_allocator(params));
    const struct weft_setup setup = WEFT_SETUP(params, parts);
    return weft_setup_device(device, &setup, fill_device, params);
}
