/* SPDX-License-Identifier: MIT */
#ifndef WEFT_CPU_VK_MEMORY_H
#define WEFT_CPU_VK_MEMORY_H

#include "cpu/vk.h"

struct weft_cpu_memory {
    uint8_t *bytes;
    uint64_t size;
    bool imported; /* the bytes are somebody else's */
};

struct weft_cpu_buffer {
    uint64_t size;
    uint64_t alignment; /* of memory that it is bound to, and of that memory's size */
    uint8_t *bytes;     /* null before it is bound to memory */
};

WEFT_CPU_OBJECT(VkDeviceMemory, memory)
WEFT_CPU_OBJECT(VkBuffer, buffer)

#endif
