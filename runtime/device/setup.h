/* SPDX-License-Identifier: MIT */
/* Steps shared by opening a device and adopting one. */
#ifndef WEFT_DEVICE_SETUP_H
#define WEFT_DEVICE_SETUP_H

#include "device/device.h"
#include "device/physical.h"

/** Parameters common to all ways of making a device; see weft_device_params. */
struct weft_setup {
    const weft_host *host;
    weft_math math;
    weft_weight_storage weights;
    uint64_t memory_limit;
    const char *cache_dir;
    uint64_t cache_limit;
    uint32_t submission_limit_ms;
    const struct weft_device_part *parts;
};

/** Makes a weft_setup from the parameters of any of these ways: the fields have the same names. */
#define WEFT_SETUP(params, device_parts)                                               \
    {                                                                                  \
        .host = &(params)->host, .math = (params)->math, .weights = (params)->weights, \
        .memory_limit = (params)->memory_limit, .cache_dir = (params)->cache_dir,      \
        .cache_limit = (params)->cache_limit,                                          \
        .submission_limit_ms = (params)->submission_limit_ms, .parts = (device_parts), \
    }

/** Copies what was read of the physical device, its limits and its memory into the device. */
void weft_setup_physical(weft_device *device, const struct weft_physical *physical);

struct weft_soft_jobs_info;

/** Makes the VkDevice of a physical device of device->instance, with all that Weft uses, and takes its queue. `jobs` is for a device of softvk's, or null. */
weft_status weft_device_create(weft_device *device, const struct weft_physical *physical,
                               const struct weft_soft_jobs_info *jobs);

/**
 * A device: zeroed but for host and math; then `fill`, which sets device->instance, vk and queue and calls
 * weft_setup_physical; then everything above the VkDevice: memory, semaphore, commands, and the parts of the layers above.
 * Errors also: WEFT_INVALID_ARGUMENT for a math mode that does not exist.
 */
weft_status weft_setup_device(weft_device **device, const struct weft_setup *setup,
                              weft_status (*fill)(weft_device *device, const void *params),
                              const void *params);

#endif
