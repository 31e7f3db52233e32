/* SPDX-License-Identifier: MIT */
/*
 * Device memory that processes share, by handles of the system: shared_memory_posix.c (VK_KHR_external_memory_fd, on Linux),
 * shared_memory_windows.c (VK_KHR_external_memory_win32).
 */
#ifndef WEFT_SOFTVK_SHARED_MEMORY_H
#define WEFT_SOFTVK_SHARED_MEMORY_H

#include "softvk/functions.h"

#define WEFT_SOFT_NOT_SHARED ((intptr_t)-1)

/** Type of the handles; 0 on a system without shared memory. */
extern const VkExternalMemoryHandleTypeFlagBits weft_soft_shared_type;

/** Handle that a VkMemoryAllocateInfo's chain imports; WEFT_SOFT_NOT_SHARED if none. */
intptr_t weft_soft_shared_import_of(const void *chain);

/** New memory of zeros, with a handle that is its own. */
VkResult weft_soft_shared_create(intptr_t *handle, uint8_t **bytes, size_t size);
/** Maps the memory of a handle. *own is the memory's own handle; on failure the given one is unchanged. */
VkResult weft_soft_shared_open(intptr_t *own, uint8_t **bytes, intptr_t handle, size_t size);
void weft_soft_shared_free(intptr_t own, uint8_t *bytes, size_t size);

#endif
