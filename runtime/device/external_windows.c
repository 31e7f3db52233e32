/* SPDX-License-Identifier: MIT */
/* HANDLEs of Windows: VK_KHR_external_memory_win32, VK_KHR_external_semaphore_win32. Importing leaves a handle to its owner. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <inttypes.h>

#include "core/try.h"
#include "device/external.h"

#include <vulkan/vulkan_win32.h>

const struct weft_external_names weft_external_names = {
    .get_memory = "vkGetMemoryWin32HandleKHR",
    .get_semaphore = "vkGetSemaphoreWin32HandleKHR",
    .import_semaphore = "vkImportSemaphoreWin32HandleKHR",
    .memory = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT,
    .semaphore = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT,
};

static HANDLE handle_of(weft_external_handle handle) {
    return (HANDLE)handle; /* NOLINT(performance-no-int-to-ptr) */
}

/* INVALID_HANDLE_VALUE, -1, is also the pseudo-handle of this process. */
weft_status weft_external_check(const weft_device *device, weft_external_handle handle,
                                const char *function) {
    DWORD flags = 0;
    if (handle > 0 && GetHandleInformation(handle_of(handle), &flags)) {
        return WEFT_OK;
    }
    return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                     "%s: %" PRIdPTR " is no handle that is open", function, handle);
}

/* Any that the buffer allows may import what the same driver exported. */
weft_status weft_external_memory_types(uint32_t *types, weft_device *device,
                                       weft_external_type type, weft_external_handle handle) {
    (void)types;
    (void)device;
    (void)type;
    (void)handle;
    return WEFT_OK;
}

weft_status weft_external_memory_import(VkDeviceMemory *memory, weft_device *device,
                                        const VkMemoryAllocateInfo *info, weft_external_type type,
                                        weft_external_handle handle) {
    (void)type;
    const VkImportMemoryWin32HandleInfoKHR imported = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_WIN32_HANDLE_INFO_KHR,
        .pNext = info->pNext,
        .handleType = weft_external_names.memory,
        .handle = handle_of(handle)};
    VkMemoryAllocateInfo importing = *info;
    importing.pNext = &imported;
    return WEFT_VK_MAKE(device, AllocateMemory, &importing, memory);
}

weft_status weft_external_memory_export(weft_external_handle *handle, weft_device *device,
                                        VkDeviceMemory memory, weft_external_type type) {
    (void)type;
    PFN_vkGetMemoryWin32HandleKHR get = (PFN_vkGetMemoryWin32HandleKHR)device->external.get_memory;
    const VkMemoryGetWin32HandleInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_WIN32_HANDLE_INFO_KHR,
        .memory = memory,
        .handleType = weft_external_names.memory};
    HANDLE made = NULL;
    WEFT_TRY(weft_device_check(device, get(device->vk.handle, &info, &made),
                               weft_external_names.get_memory));
    *handle = (weft_external_handle)made;
    return WEFT_OK;
}

weft_status weft_external_semaphore_import(weft_device *device, VkSemaphore semaphore,
                                           weft_external_handle handle) {
    PFN_vkImportSemaphoreWin32HandleKHR import =
        (PFN_vkImportSemaphoreWin32HandleKHR)device->external.import_semaphore;
    const VkImportSemaphoreWin32HandleInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_WIN32_HANDLE_INFO_KHR,
        .semaphore = semaphore,
        .handleType = weft_external_names.semaphore,
        .handle = handle_of(handle)};
    return weft_device_check(device, import(device->vk.handle, &info),
                             weft_external_names.import_semaphore);
}

weft_status weft_external_semaphore_export(weft_external_handle *handle, weft_device *device,
                                           VkSemaphore semaphore) {
    PFN_vkGetSemaphoreWin32HandleKHR get =
        (PFN_vkGetSemaphoreWin32HandleKHR)device->external.get_semaphore;
    const VkSemaphoreGetWin32HandleInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_WIN32_HANDLE_INFO_KHR,
        .semaphore = semaphore,
        .handleType = weft_external_names.semaphore};
    HANDLE made = NULL;
    WEFT_TRY(weft_device_check(device, get(device->vk.handle, &info, &made),
                               weft_external_names.get_semaphore));
    *handle = (weft_external_handle)made;
    return WEFT_OK;
}
