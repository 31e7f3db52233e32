/* SPDX-License-Identifier: MIT */
/*
 * The processor as a Vulkan 1.2 device, compute only, in this process: no loader, no library. The same functions make the
 * driver of tests/driver, which the system's loader opens, so that the validation layer can watch what Weft does with them.
 */
#ifndef WEFT_SOFTVK_SOFTVK_H
#define WEFT_SOFTVK_SOFTVK_H

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan.h>

#include "core/host.h"

/** VkPhysicalDeviceDriverProperties::driverName of the device. */
#define WEFT_PROCESSOR_DRIVER_NAME "Weft processor"

/** vkGetInstanceProcAddr. Null for names of what is not there: images, graphics, sparse memory, presentation. */
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL weft_soft_get_instance_proc_addr(VkInstance instance,
                                                                          const char *name);

/** The functions whose first parameter is a VkPhysicalDevice, for a loader. */
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL weft_soft_get_physical_proc_addr(VkInstance instance,
                                                                          const char *name);

/**
 * May be in the pNext chain of VkInstanceCreateInfo: what the instance and all that is made from it allocate and log with.
 * Without it, the C library's allocator and no log. Memory of VkDeviceMemory comes from the C library always.
 */
struct weft_soft_host_info {
    VkStructureType sType; /* WEFT_SOFT_HOST_INFO */
    const void *pNext;
    const weft_host *host; /* copied */
};

#define WEFT_SOFT_HOST_INFO ((VkStructureType)0x57454654) /* far from what Khronos gives out */

/**
 * May be in the pNext chain of VkDeviceCreateInfo: who computes. With `jobs` null, so many threads of the device's own; with 0
 * threads, too, as without this structure.
 */
struct weft_soft_jobs_info {
    VkStructureType sType; /* WEFT_SOFT_JOBS_INFO */
    const void *pNext;
    uint32_t threads;
    const weft_job_system *jobs; /* copied */
};

#define WEFT_SOFT_JOBS_INFO ((VkStructureType)0x57454655)

/**
 * In a child that was forked since the device was made, before anything else is done with it: makes its locks anew, and lets what needs
 * its threads start new ones. False where that cannot be: something was under way in the parent, or the system has no more locks; then
 * nothing may be done with the device, and it is not destroyed either.
 */
bool weft_soft_device_inherit(VkDevice device);

/**
 * May be in the pNext chain of VkSemaphoreWaitInfo, for a wait for one timeline semaphore: what may end the wait before its time.
 * Then VK_TIMEOUT comes back, and what the wait was for is cancelled: of the submissions that set the semaphore to `first` and up to
 * the value waited for, none runs any more or has begun when it does; but they are signalled in their turn.
 */
struct weft_soft_wait_info {
    VkStructureType sType; /* WEFT_SOFT_WAIT_INFO */
    const void *pNext;
    uint64_t first;
    bool
        alone; /* the calling thread runs nothing but these submissions, and of them only what ends by itself */
    /* Asked by the calling thread every 50 ms: true ends the wait. */
    bool (*ends)(void *user);
    void *user;
};

#define WEFT_SOFT_WAIT_INFO ((VkStructureType)0x57454656)

/**
 * Cancels all that was submitted to the device's queue, and all that will be: what runs ends between two groups, or, in kernels that
 * were given with bounds checks, between two turns of a loop; what has not begun never does. All of it is signalled, whatever it was to
 * wait for. Sets atomic variables and does nothing else: from any thread, at any time, also in a signal handler.
 */
void weft_soft_cancel(VkDevice device);

/** How many threads a device that is made now will compute with. */
uint32_t weft_processor_thread_count(void);

#endif
