/* SPDX-License-Identifier: MIT */
/*
 * Device memory that processes share, by handles of the system: shared_memory_posix.c (VK_KHR_external_memory_fd, on Linux),
 * shared_memory_windows.c (VK_KHR_external_memory_win32).
 */
#ifndef WEFT_SOFTVK_SHARED_MEMORY_H
#define WEFT_SOFTVK_SHARED_MEMORY_H

#include "softvk/functions.h"

#define WEFT_SOFT_NOT_SHARED ((intptr_t)-1)

/** Of the handles; 0 on a system where memory is not shared. */
extern const VkExternalMemoryHandleTypeFlagBits weft_soft_shared_type;

/** What a VkMemoryAllocateInfo's chain imports; WEFT_SOFT_NOT_SHARED where it imports no handle. */
intptr_t weft_soft_shared_import_of(const void *chain);

/** New memory of zeros, with a handle that is its own. */
VkResult weft_soft_shared_create(intptr_t *handle, uint8_t **bytes, size_t size);
/** What a handle is of, which is as given where this fails; *own is the memory's own one. */
VkResult weft_soft_shared_open(intptr_t *own, uint8_t **bytes, intptr_t handle, size_t size);
void weft_soft_shared_free(intptr_t own, uint8_t *bytes, size_t size);

#endif
