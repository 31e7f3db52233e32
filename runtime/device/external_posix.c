/* SPDX-License-Identifier: MIT */
/* File descriptors: VK_KHR_external_memory_fd, VK_EXT_external_memory_dma_buf, VK_KHR_external_semaphore_fd. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* F_DUPFD_CLOEXEC */
#endif
#define _FILE_OFFSET_BITS 64
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <unistd.h>

#include "core/try.h"
#include "device/external.h"

const struct weft_external_names weft_external_names = {
    .get_memory = "vkGetMemoryFdKHR",
    .memory_properties = "vkGetMemoryFdPropertiesKHR",
    .get_semaphore = "vkGetSemaphoreFdKHR",
    .import_semaphore = "vkImportSemaphoreFdKHR",
    .memory = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    .semaphore = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
};

static VkExternalMemoryHandleTypeFlagBits bit_of(weft_external_type type) {
    return type == WEFT_EXTERNAL_DMA_BUF ? VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
                                         : weft_external_names.memory;
}

weft_status weft_external_check(const weft_device *device, weft_external_handle handle,
                                const char *function) {
    if (handle >= 0 && handle <= INT_MAX && fcntl((int)handle, F_GETFD) >= 0) {
        return WEFT_OK;
    }
    return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                     "%s: %" PRIdPTR " is no descriptor that is open", function, handle);
}

/* Importing takes the descriptor that it is given. */
static weft_status duplicate(int *copy, const weft_device *device, weft_external_handle handle) {
    *copy = fcntl((int)handle, F_DUPFD_CLOEXEC, 0);
    return *copy >= 0 ? WEFT_OK
                      : weft_fail(&device->host, WEFT_OUT_OF_HOST_MEMORY, "no descriptor is left");
}

/* Those of a dma-buf are its own; any that the buffer allows may import what the same driver exported. */
weft_status weft_external_memory_types(uint32_t *types, weft_device *device,
                                       weft_external_type type, weft_external_handle handle) {
    PFN_vkGetMemoryFdPropertiesKHR get =
        (PFN_vkGetMemoryFdPropertiesKHR)device->external.memory_properties;
    VkMemoryFdPropertiesKHR properties = {.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
    if (type != WEFT_EXTERNAL_DMA_BUF) {
        return WEFT_OK;
    }
    WEFT_TRY(weft_device_check(device,
                               get(device->vk.handle, bit_of(type), (int)handle, &properties),
                               weft_external_names.memory_properties));
    *types &= properties.memoryTypeBits;
    return WEFT_OK;
}

weft_status weft_external_memory_import(VkDeviceMemory *memory, weft_device *device,
                                        const VkMemoryAllocateInfo *info, weft_external_type type,
                                        weft_external_handle handle) {
    int taken = -1;
    WEFT_TRY(duplicate(&taken, device, handle));
    const VkImportMemoryFdInfoKHR imported = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                              .pNext = info->pNext,
                                              .handleType = bit_of(type),
                                              .fd = taken};
    VkMemoryAllocateInfo importing = *info;
    importing.pNext = &imported;
    const weft_status status = WEFT_VK_MAKE(device, AllocateMemory, &importing, memory);
    if (status != WEFT_OK) {
        (void)close(taken);
    }
    return status;
}

weft_status weft_external_memory_export(weft_external_handle *handle, weft_device *device,
                                        VkDeviceMemory memory, weft_external_type type) {
    PFN_vkGetMemoryFdKHR get = (PFN_vkGetMemoryFdKHR)device->external.get_memory;
    const VkMemoryGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                       .memory = memory,
                                       .handleType = bit_of(type)};
    int made = -1;
    WEFT_TRY(weft_device_check(device, get(device->vk.handle, &info, &made),
                               weft_external_names.get_memory));
    *handle = made;
    return WEFT_OK;
}

weft_status weft_external_semaphore_import(weft_device *device, VkSemaphore semaphore,
                                           weft_external_handle handle) {
    PFN_vkImportSemaphoreFdKHR import =
        (PFN_vkImportSemaphoreFdKHR)device->external.import_semaphore;
    int taken = -1;
    WEFT_TRY(duplicate(&taken, device, handle));
    const VkImportSemaphoreFdInfoKHR info = {.sType =
                                                 VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
                                             .semaphore = semaphore,
                                             .handleType = weft_external_names.semaphore,
                                             .fd = taken};
    const weft_status status = weft_device_check(device, import(device->vk.handle, &info),
                                                 weft_external_names.import_semaphore);
    if (status != WEFT_OK) {
        (void)close(taken);
    }
    return status;
}

weft_status weft_external_semaphore_export(weft_external_handle *handle, weft_device *device,
                                           VkSemaphore semaphore) {
    PFN_vkGetSemaphoreFdKHR get = (PFN_vkGetSemaphoreFdKHR)device->external.get_semaphore;
    const VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                          .semaphore = semaphore,
                                          .handleType = weft_external_names.semaphore};
    int made = -1;
    WEFT_TRY(weft_device_check(device, get(device->vk.handle, &info, &made),
                               weft_external_names.get_semaphore));
    *handle = made;
    return WEFT_OK;
}
