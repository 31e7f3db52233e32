/* SPDX-License-Identifier: MIT */
#ifndef WEFT_SOFTVK_MEMORY_H
#define WEFT_SOFTVK_MEMORY_H

#include "softvk/functions.h"

/** The type of memory that the host maps, where memory is separate; 0 is the device's, or all there is. */
#define WEFT_SOFT_HOST_MEMORY 1u

struct weft_soft_buffer {
    uint64_t size;
    uint64_t alignment;              /* of memory that it is bound to, and of that memory's size */
    struct weft_soft_memory *memory; /* null before it is bound to memory, at … */
    uint64_t offset;                 /* … this byte */
};

WEFT_SOFT_OBJECT(VkDeviceMemory, memory)
WEFT_SOFT_OBJECT(VkBuffer, buffer)

/** `size` bytes of a buffer. */
static inline struct weft_soft_range weft_soft_buffer_range(VkBuffer handle, uint64_t offset,
                                                            uint64_t size) {
    const struct weft_soft_buffer *buffer = weft_soft_buffer_of(handle);
    return (struct weft_soft_range){buffer->memory, buffer->offset + offset, size};
}

#endif
