/* SPDX-License-Identifier: MIT */
#ifndef WEFT_CPU_VK_MEMORY_H
#define WEFT_CPU_VK_MEMORY_H

#include "cpu/vk.h"

struct weft_cpu_memory {
    uint8_t *bytes;
    uint64_t size;
};

struct weft_cpu_buffer {
    uint64_t size;
    uint8_t *bytes; /* null before it is bound to memory */
};

WEFT_CPU_OBJECT(VkDeviceMemory, memory)
WEFT_CPU_OBJECT(VkBuffer, buffer)

#endif
