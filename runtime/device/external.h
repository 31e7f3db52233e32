/* SPDX-License-Identifier: MIT */
/*
 * Memory and semaphores that others have, too, as the operating system knows them: file descriptors (external_posix.c) or
 * HANDLEs of Windows (external_windows.c).
 */
#ifndef WEFT_DEVICE_EXTERNAL_H
#define WEFT_DEVICE_EXTERNAL_H

#include "device/device.h"

#ifdef _WIN32
#define WEFT_EXTERNAL_MEMORY_EXTENSION    "VK_KHR_external_memory_win32"
#define WEFT_EXTERNAL_SEMAPHORE_EXTENSION "VK_KHR_external_semaphore_win32"
#else
#define WEFT_EXTERNAL_MEMORY_EXTENSION    VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME
#define WEFT_EXTERNAL_SEMAPHORE_EXTENSION VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME
#endif

/* The system's functions, null what it has no use for, and types of handles. */
struct weft_external_names {
    const char *get_memory, *memory_properties, *get_semaphore, *import_semaphore;
    VkExternalMemoryHandleTypeFlagBits memory;
    VkExternalSemaphoreHandleTypeFlagBits semaphore;
};

extern const struct weft_external_names weft_external_names;

/* Which extensions of a device are there, or enabled. */
struct weft_external_extensions {
    bool memory, dma_buf, semaphore;
};

/** Finds the functions of what is enabled. What lacks one is as if it were not. */
void weft_external_load(weft_device *device, const struct weft_external_extensions *enabled);

/** WEFT_INVALID_ARGUMENT, which names `function`, for what is nothing that this process has open. */
weft_status weft_external_check(const weft_device *device, weft_external_handle handle,
                                const char *function);

/** Removes from *types the memory types that cannot import the handle's memory. */
weft_status weft_external_memory_types(uint32_t *types, weft_device *device,
                                       weft_external_type type, weft_external_handle handle);
/** vkAllocateMemory of what the handle is of; the handle stays the caller's. */
weft_status weft_external_memory_import(VkDeviceMemory *memory, weft_device *device,
                                        const VkMemoryAllocateInfo *info, weft_external_type type,
                                        weft_external_handle handle);
/** A new handle, which is the caller's. */
weft_status weft_external_memory_export(weft_external_handle *handle, weft_device *device,
                                        VkDeviceMemory memory, weft_external_type type);

/** Gives a semaphore the payload that the handle is of; the handle stays the caller's. */
weft_status weft_external_semaphore_import(weft_device *device, VkSemaphore semaphore,
                                           weft_external_handle handle);
/** A new handle, which is the caller's. */
weft_status weft_external_semaphore_export(weft_external_handle *handle, weft_device *device,
                                           VkSemaphore semaphore);

#endif
