/* SPDX-License-Identifier: MIT */
#include "device/fork.h"

#include <limits.h>

#include "core/system/system.h"
#include "softvk/softvk.h"

/* ---- the driver's functions that end something, without the driver ---- */

#define FORGET(X)                                 \
    X(CommandPool, VkCommandPool)                 \
    X(QueryPool, VkQueryPool)                     \
    X(Buffer, VkBuffer)                           \
    X(Fence, VkFence)                             \
    X(Semaphore, VkSemaphore)                     \
    X(DescriptorSetLayout, VkDescriptorSetLayout) \
    X(DescriptorPool, VkDescriptorPool)           \
    X(PipelineLayout, VkPipelineLayout)           \
    X(Pipeline, VkPipeline)                       \
    X(PipelineCache, VkPipelineCache)

#define DEFINE(name, type)                                                                    \
    static VKAPI_ATTR void VKAPI_CALL forget_##name(VkDevice device, type handle,             \
                                                    const VkAllocationCallbacks *allocator) { \
        (void)device;                                                                         \
        (void)handle;                                                                         \
        (void)allocator;                                                                      \
    }
FORGET(DEFINE)
DEFINE(Memory, VkDeviceMemory)
#undef DEFINE

static void forget_given(void *user, const weft_vulkan_memory *memory) {
    (void)user;
    (void)memory;
}

/* Its own handles are closed only where they are its own. */
static void forget(weft_device *device) {
    device->lost = true;
    device->forgotten = true;
    device->owns_handles = false;
#define PUT(name, type) device->vk.Destroy##name = forget_##name;
    FORGET(PUT)
#undef PUT
    device->vk.FreeMemory = forget_Memory;
    device->allocator.free = forget_given;
}

/* ---- what the fork found ---- */

#define NOBODY 0UL /* a device that was not opened, such as a test's for compiling GLSL */

/* True if what the threads share is as it is between two calls: a lock that is held here is that of a thread which is not. */
static bool is_whole(weft_device *device) {
    return weft_device_locks_are_free(&device->locks) && device->locks.making == 0;
}

static void inherit(weft_device *device, bool interrupted) {
    const bool whole = !interrupted && !device->torn && is_whole(device);
    device->torn = !whole;
    if (!weft_device_locks_create(&device->locks)) {
        device->torn = true;
    }
    const bool goes_on = !device->torn && !device->forgotten && device->in_process &&
                         weft_soft_device_inherit(device->vk.handle);
    if (!goes_on) {
        forget(device);
    }
}

void weft_device_own(weft_device *device) {
    device->opened_by = weft_system_process();
    atomic_init(&device->process, device->opened_by);
}

/* While a thread is at it, the device is of the process with that number's bits inverted, which no process has. */
void weft_device_inherit(const weft_device *of_parent) {
    const unsigned long here = weft_system_process();
    weft_device *device = (weft_device *)(uintptr_t)of_parent;
    unsigned long process = atomic_load(&device->process);
    while (process != here && process != NOBODY) {
        const bool interrupted = process > ULONG_MAX / 2;
        if (process == ~here) { /* another thread of the child is at it, which takes no time */
            process = atomic_load(&device->process);
        } else if (atomic_compare_exchange_weak(&device->process, &process, ~here)) {
            inherit(device, interrupted);
            atomic_store(&device->process, here);
            return;
        }
    }
}

weft_status weft_device_forgotten(const weft_device *device) {
    return weft_fail(&device->host, WEFT_DEVICE_LOST,
                     "the device %s was opened by process %lu%s and cannot be used after the fork: "
                     "open devices after the fork only, or start the child by spawn or exec",
                     device->info.name, device->opened_by,
                     device->in_process && weft_soft_survives_fork(device->vk.handle)
                         ? ", was at work when that forked,"
                         : "");
}
