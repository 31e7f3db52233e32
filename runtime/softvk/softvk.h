/* SPDX-License-Identifier: MIT */
/*
 * Vulkan 1.2, compute only, in this process: no loader, no library. What computes is a back end. There are the functions that Weft
 * calls; tests/driver adds the others, so that the system's loader can open it as a driver and the validation layer watch what Weft does.
 */
#ifndef WEFT_SOFTVK_SOFTVK_H
#define WEFT_SOFTVK_SOFTVK_H

#include "softvk/backend.h"

/** vkGetInstanceProcAddr. Null for names of what is not there: images, graphics, sparse memory, presentation. */
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL weft_soft_get_instance_proc_addr(VkInstance instance,
                                                                          const char *name);

/** The functions whose first parameter is a VkPhysicalDevice, for a loader. */
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL weft_soft_get_physical_proc_addr(VkInstance instance,
                                                                          const char *name);

/**
 * Must be in the pNext chain of VkInstanceCreateInfo: which device there is. `host` is what the instance and all that is made from it
 * allocate and log with; null: the C library's allocator and no log. Memory of VkDeviceMemory is the back end's.
 */
struct weft_soft_instance_info {
    VkStructureType sType; /* WEFT_SOFT_INSTANCE_INFO */
    const void *pNext;
    const struct weft_soft_backend *backend;
    const weft_host *host; /* copied */
    void *user;            /* for weft_soft_backend::open */
};

#define WEFT_SOFT_INSTANCE_INFO ((VkStructureType)0x57454654) /* far from what Khronos gives out */

/** weft_soft_properties::lacks of a device. */
const char *weft_soft_lacks(VkPhysicalDevice device);

/**
 * May be in the pNext chain of VkDeviceCreateInfo: who computes. With `jobs` null, so many threads of the device's own; with 0
 * threads, too, as without this structure. Back ends that need no jobs ignore it.
 */
struct weft_soft_jobs_info {
    VkStructureType sType; /* WEFT_SOFT_JOBS_INFO */
    const void *pNext;
    uint32_t threads;
    const weft_job_system *jobs; /* copied */
};

#define WEFT_SOFT_JOBS_INFO ((VkStructureType)0x57454655)

/** May be in the pNext chain of VkMemoryAllocateInfo: memory that is there, weft_soft_memory::own. The caller keeps it until it is freed here. */
struct weft_soft_import_info {
    VkStructureType sType; /* WEFT_SOFT_IMPORT_INFO */
    const void *pNext;
    void *own;
};

#define WEFT_SOFT_IMPORT_INFO ((VkStructureType)0x57454657)

/**
 * In a child that was forked since the device was made, before anything else is done with it: makes its locks anew, and lets what needs
 * its threads start new ones. False where that cannot be: its back end does not survive forks, something was under way in the parent, or the
 * system has no more locks; then
 * nothing may be done with the device, and it is not destroyed either.
 */
bool weft_soft_device_inherit(VkDevice device);

/** weft_soft_properties::survives_fork of a device. */
bool weft_soft_survives_fork(VkDevice device);

/** Memory that was imported from the host is at `bytes` from now on. Nothing that is submitted and not done uses it. */
void weft_soft_move_memory(VkDeviceMemory imported, void *bytes);

/**
 * Has pipelines that are made from now on compiled with care: more slowly, for a driver that the probe has caught miscompiling. Nothing
 * changes where the back end has one way to compile.
 */
void weft_soft_set_careful(VkDevice device, bool careful);

/** weft_soft_properties::can_be_careful of a device. */
bool weft_soft_can_be_careful(VkDevice device);

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

#endif
