/* SPDX-License-Identifier: MIT */
#include "device/setup.h"

#include <stdio.h>

#include "core/system/disk_cache.h"
#include "core/system/system.h"
#include "core/try.h"
#include "device/commands.h"
#include "device/fences.h"
#include "device/fork.h"

#define HARDWARE_SUBMISSION_LIMIT_MS 500u

static weft_status begin(weft_device **device, const weft_host *host, weft_math math) {
    if ((unsigned)math > WEFT_MATH_FUSED) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "there is no math mode %d", (int)math);
    }
    weft_device *made = weft_alloc_zero(host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(host, "device");
    }
    made->host = *host;
    made->math = math;
    weft_device_own(made);
    if (!weft_device_locks_create(&made->locks)) {
        weft_free(host, made);
        return weft_fail(host, WEFT_OUT_OF_HOST_MEMORY, "the system has no more locks");
    }
    *device = made;
    return WEFT_OK;
}

void weft_setup_physical(weft_device *device, const struct weft_physical *physical) {
    VkPhysicalDeviceProperties properties;
    device->physical = physical->handle;
    device->version = physical->version;
    device->has_timeline = physical->timeline;
    device->info = physical->info;
    device->queue_family = physical->queue_family;
    device->timestamp_bits = physical->timestamp_bits;
    device->families[0] = physical->queue_family;
    device->family_count = 1;
    device->float_modes = physical->float_modes;
    device->robustness = physical->robustness;
    device->integer_dots = physical->integer_dots;
    device->instance.GetPhysicalDeviceProperties(device->physical, &properties);
    VkPhysicalDeviceMaintenance3Properties sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
    VkPhysicalDeviceProperties2 more = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                        .pNext = &sizes};
    device->instance.GetPhysicalDeviceProperties2(device->physical, &more);
    device->max_allocation = sizes.maxMemoryAllocationSize;
    device->instance.GetPhysicalDeviceMemoryProperties(device->physical,
                                                       &device->memory_properties);
    device->limits = properties.limits;
    device->on_processor = physical->on_processor;
    device->queries_wait = physical->queries_wait;
    device->cost_column = physical->native         ? WEFT_COST_PROCESSOR
                          : physical->on_processor ? WEFT_COST_SOFTWARE
                                                   : WEFT_COST_HARDWARE;
}

/*
 * Floating-point operations per millisecond, before anything was measured. Well below what devices
 * of the kind reach, so that the first submissions are split too often rather than too seldom.
 */
static double first_rate(weft_device_type type) {
    switch (type) {
    case WEFT_DEVICE_DISCRETE:
        return 5e8;
    case WEFT_DEVICE_INTEGRATED:
    case WEFT_DEVICE_VIRTUAL:
        return 5e7;
    default:
        return 2e6;
    }
}

static weft_status set_weight_storage(weft_device *device, weft_weight_storage wanted) {
    const bool fast = device->math == WEFT_MATH_FAST;
    if ((unsigned)wanted > WEFT_WEIGHTS_I8_ONLY) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT, "there is no weight storage %d",
                         (int)wanted);
    }
    if (wanted == WEFT_WEIGHTS_F16 && !fast) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "f16 weights need fast math; %s math keeps f32",
                         weft_math_name(device->math));
    }
    device->weight_storage = wanted;
    if (wanted == WEFT_WEIGHTS_AUTO) {
        device->weight_storage = fast ? WEFT_WEIGHTS_F16 : WEFT_WEIGHTS_F32;
    }
    return WEFT_OK;
}

static weft_status set_parameters(weft_device *device, const struct weft_setup *setup) {
    device->memory_limit = setup->memory_limit;
    device->submission_limit_ms = setup->submission_limit_ms;
    const bool has_watchdog = !device->on_processor;
    if (setup->submission_limit_ms == 0 &&
        (has_watchdog || (device->host.interrupted && !device->in_process))) {
        device->submission_limit_ms = HARDWARE_SUBMISSION_LIMIT_MS;
    }
    device->flops_per_ms = first_rate(device->info.type);
    if (device->executables) { /* what comes from a cache may come without what is told of it */
        return WEFT_OK;
    }
    return weft_cache_create(&device->cache, setup->cache_dir, setup->cache_limit, &device->host);
}

/* Creates the counter of submissions. */
static weft_status create_timeline(weft_device *device) {
    if (!device->has_timeline) {
        return weft_fences_create(device);
    }
    VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    return WEFT_VK_MAKE(device, CreateSemaphore, &info, &device->timeline);
}

static weft_status finish(weft_device *device, const struct weft_setup *setup) {
    static weft_status (*const steps[])(weft_device *) = {
        create_timeline,
        weft_memory_pool_create,
        weft_commands_create,
    };
    WEFT_TRY(set_weight_storage(device, setup->weights));
    WEFT_TRY(set_parameters(device, setup));
    for (size_t i = 0; !device->compile_only && i < sizeof steps / sizeof steps[0]; i++) {
        WEFT_TRY(steps[i](device));
    }
    device->parts = setup->parts;
    for (const struct weft_device_part *part = device->parts; part->create; part++) {
        WEFT_TRY(part->create(device));
    }
    char number[16] = "";
    if (device->info.index != WEFT_INDEX_ALONE) {
        (void)snprintf(number, sizeof number, " %u", device->info.index);
    }
    weft_log(&device->host, WEFT_LOG_INFO, "opened device%s: %s (%s, %s), %s math%s", number,
             device->info.name, device->info.driver, device->info.driver_version,
             weft_math_name(device->math), device->compile_only ? ", for compiling only" : "");
    return WEFT_OK;
}

weft_status weft_setup_device(weft_device **device, const struct weft_setup *setup,
                              weft_status (*fill)(weft_device *device, const void *params),
                              const void *params) {
    weft_device *made = NULL;
    WEFT_TRY(begin(&made, setup->host, setup->math));
    weft_status status = fill(made, params);
    if (status == WEFT_OK) {
        status = finish(made, setup);
    }
    if (status != WEFT_OK) {
        weft_device_destroy(&made);
        return status;
    }
    *device = made;
    return WEFT_OK;
}
