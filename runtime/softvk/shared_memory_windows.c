/* SPDX-License-Identifier: MIT */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "softvk/memory.h"
#include "softvk/shared_memory.h"

#include <vulkan/vulkan_win32.h>

const VkExternalMemoryHandleTypeFlagBits weft_soft_shared_type =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT;

static HANDLE handle_of(intptr_t handle) {
    return (HANDLE)handle; /* NOLINT(performance-no-int-to-ptr) */
}

static BOOL duplicate(HANDLE *copy, HANDLE handle) {
    const HANDLE process = GetCurrentProcess();
    return DuplicateHandle(process, handle, process, copy, 0, FALSE, DUPLICATE_SAME_ACCESS);
}

intptr_t weft_soft_shared_import_of(const void *chain) {
    const VkImportMemoryWin32HandleInfoKHR *info =
        weft_soft_find_structure(chain, VK_STRUCTURE_TYPE_IMPORT_MEMORY_WIN32_HANDLE_INFO_KHR);
    return info && info->handleType == weft_soft_shared_type ? (intptr_t)info->handle
                                                             : WEFT_SOFT_NOT_SHARED;
}

VkResult weft_soft_shared_create(intptr_t *handle, uint8_t **bytes, size_t size) {
    const HANDLE section = CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE,
                                              (DWORD)((uint64_t)size >> 32), (DWORD)size, NULL);
    if (!section) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    *bytes = MapViewOfFile(section, FILE_MAP_ALL_ACCESS, 0, 0, size);
    if (!*bytes) {
        CloseHandle(section);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    *handle = (intptr_t)section;
    return VK_SUCCESS;
}

/* Importing leaves the handle to whom it belongs. A section cannot shrink; one that is too small is not mapped. */
VkResult weft_soft_shared_open(intptr_t *own, uint8_t **bytes, intptr_t handle, size_t size) {
    HANDLE section = NULL;
    if (!duplicate(&section, handle_of(handle))) {
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    *bytes = MapViewOfFile(section, FILE_MAP_ALL_ACCESS, 0, 0, size);
    if (!*bytes) {
        CloseHandle(section);
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    *own = (intptr_t)section;
    return VK_SUCCESS;
}

void weft_soft_shared_free(intptr_t own, uint8_t *bytes, size_t size) {
    (void)size;
    UnmapViewOfFile(bytes);
    CloseHandle(handle_of(own));
}

static VKAPI_ATTR VkResult VKAPI_CALL get_memory(VkDevice handle,
                                                 const VkMemoryGetWin32HandleInfoKHR *info,
                                                 HANDLE *copy) {
    (void)handle;
    return duplicate(copy, handle_of(weft_soft_memory_of(info->memory)->shared))
               ? VK_SUCCESS
               : VK_ERROR_TOO_MANY_OBJECTS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_properties(VkDevice handle,
                                                     VkExternalMemoryHandleTypeFlagBits type,
                                                     HANDLE memory,
                                                     VkMemoryWin32HandlePropertiesKHR *properties) {
    (void)handle;
    (void)type;
    (void)memory;
    properties->memoryTypeBits = 0; /* of handles that are not opaque, of which it takes none */
    return VK_ERROR_INVALID_EXTERNAL_HANDLE;
}

const struct weft_soft_function weft_soft_shared_memory_functions[] = {
    WEFT_SOFT_FUNCTION(GetMemoryWin32HandleKHR, get_memory),
    WEFT_SOFT_FUNCTION(GetMemoryWin32HandlePropertiesKHR, get_properties),
    {NULL, NULL},
};
