/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall, seals */
#endif
#define _FILE_OFFSET_BITS 64
#include "softvk/shared_memory.h"

#ifdef __linux__

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/system/system_posix.h"
#include "core/system/write_signals.h"
#include "softvk/memory.h"

const VkExternalMemoryHandleTypeFlagBits weft_soft_shared_type =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;

intptr_t weft_soft_shared_import_of(const void *chain) {
    const VkImportMemoryFdInfoKHR *info =
        weft_soft_find_structure(chain, VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR);
    return info && info->handleType == weft_soft_shared_type ? info->fd : WEFT_SOFT_NOT_SHARED;
}

/* Sealed against resizing: reading a mapping after the file shrank raises SIGBUS. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static uint8_t *map(int file, size_t size) {
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return bytes == MAP_FAILED ? NULL : bytes;
}

/* The limit of files is one of this memory, too: a signal comes of what is above it. */
static bool set_size(int file, size_t size) {
    struct weft_write_signals signals;
    weft_write_signals_hold(&signals);
    const bool is_set = ftruncate(file, (off_t)size) == 0;
    weft_write_signals_release(&signals);
    return is_set;
}

VkResult weft_soft_shared_create(intptr_t *handle, uint8_t **bytes, size_t size) {
    int file = (int)syscall(SYS_memfd_create, "weft", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0 || weft_posix_lift(&file) != 0) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (!set_size(file, size) || fcntl(file, F_ADD_SEALS, SEALS) != 0 ||
        (*bytes = map(file, size)) == NULL) {
        (void)close(file);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    *handle = file;
    return VK_SUCCESS;
}

/* Importing takes the descriptor. */
VkResult weft_soft_shared_open(intptr_t *own, uint8_t **bytes, intptr_t handle, size_t size) {
    const int file = (int)handle;
    const int seals = fcntl(file, F_GET_SEALS);
    struct stat about;
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(file, &about) != 0 ||
        about.st_size < 0 || (uint64_t)about.st_size < size) {
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    *bytes = map(file, size);
    *own = handle;
    return *bytes ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

void weft_soft_shared_free(intptr_t own, uint8_t *bytes, size_t size) {
    (void)munmap(bytes, size);
    (void)close((int)own);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_memory(VkDevice handle, const VkMemoryGetFdInfoKHR *info,
                                                 int *file) {
    (void)handle;
    *file =
        fcntl((int)weft_soft_memory_of(info->memory)->shared, F_DUPFD_CLOEXEC, WEFT_POSIX_FIRST);
    return *file >= 0 ? VK_SUCCESS : VK_ERROR_TOO_MANY_OBJECTS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_properties(VkDevice handle,
                                                     VkExternalMemoryHandleTypeFlagBits type,
                                                     int file,
                                                     VkMemoryFdPropertiesKHR *properties) {
    (void)handle;
    (void)type;
    (void)file;
    properties->memoryTypeBits = 0; /* of descriptors that are not opaque, of which it takes none */
    return VK_ERROR_INVALID_EXTERNAL_HANDLE;
}

const struct weft_soft_function weft_soft_shared_memory_functions[] = {
    WEFT_SOFT_FUNCTION(GetMemoryFdKHR, get_memory),
    WEFT_SOFT_FUNCTION(GetMemoryFdPropertiesKHR, get_properties),
    {NULL, NULL},
};

#else /* macOS: its shared memory has no size that stays */

const VkExternalMemoryHandleTypeFlagBits weft_soft_shared_type =
    (VkExternalMemoryHandleTypeFlagBits)0;

intptr_t weft_soft_shared_import_of(const void *chain) {
    (void)chain;
    return WEFT_SOFT_NOT_SHARED;
}

VkResult weft_soft_shared_create(intptr_t *handle, uint8_t **bytes, size_t size) {
    (void)handle;
    (void)bytes;
    (void)size;
    return VK_ERROR_INVALID_EXTERNAL_HANDLE;
}

VkResult weft_soft_shared_open(intptr_t *own, uint8_t **bytes, intptr_t handle, size_t size) {
    (void)own;
    (void)bytes;
    (void)handle;
    (void)size;
    return VK_ERROR_INVALID_EXTERNAL_HANDLE;
}

void weft_soft_shared_free(intptr_t own, uint8_t *bytes, size_t size) {
    (void)own;
    (void)bytes;
    (void)size;
}

const struct weft_soft_function weft_soft_shared_memory_functions[] = {{NULL, NULL}};

#endif
