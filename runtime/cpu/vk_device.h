/* SPDX-License-Identifier: MIT */
#ifndef WEFT_CPU_VK_DEVICE_H
#define WEFT_CPU_VK_DEVICE_H

#include <stdatomic.h>

#include "cpu/scratch.h"
#include "cpu/threads.h"
#include "cpu/vk_instance.h"
#include "cpu/vk_queue.h"

struct weft_cpu_device {
    uintptr_t loader;
    weft_host host;
    const struct weft_cpu_physical *physical;
    bool checked; /* robustBufferAccess is on */
    struct weft_cpu_threads *threads;
    weft_job_system jobs;
    struct weft_cpu_scratch scratch;
    struct weft_cpu_queue queue;
    atomic_uint_least64_t memory_in_use; /* bytes of VkDeviceMemory */
};

WEFT_CPU_OBJECT(VkDevice, device)

/** Zeroed, from the device's host; null when memory is out. */
static inline void *weft_cpu_new(const struct weft_cpu_device *device, size_t size) {
    return weft_alloc_zero(&device->host, 1, size);
}

static inline void weft_cpu_delete(const struct weft_cpu_device *device, void *object) {
    weft_free(&device->host, object);
}

#endif
