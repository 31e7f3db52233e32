/* SPDX-License-Identifier: MIT */
#ifndef WEFT_SOFTVK_MEMORY_H
#define WEFT_SOFTVK_MEMORY_H

#include "softvk/functions.h"

struct weft_soft_memory {
    uint8_t *bytes;
    uint64_t size;
    uint64_t counted; /* bytes of the heap that it takes: none where it was imported */
    bool is_host;     /* the bytes are the host's, */
    intptr_t shared;  /* or are shared by this handle, which is its own; or WEFT_SOFT_NOT_SHARED */
};

struct weft_soft_buffer {
    uint64_t size;
    uint64_t alignment; /* of memory that it is bound to, and of that memory's size */
    uint8_t *bytes;     /* null before it is bound to memory */
};

WEFT_SOFT_OBJECT(VkDeviceMemory, memory)
WEFT_SOFT_OBJECT(VkBuffer, buffer)

#endif
