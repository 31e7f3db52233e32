/* SPDX-License-Identifier: MIT */
#ifndef WEFT_CPU_VK_COMMAND_H
#define WEFT_CPU_VK_COMMAND_H

#include "cpu/stream.h"
#include "cpu/vk.h"

#define WEFT_CPU_MAX_SETS 8u
#define WEFT_CPU_MAX_PUSH 256u /* bytes of push constants */

struct weft_cpu_descriptor_set;

struct weft_cpu_bound_set {
    const struct weft_cpu_descriptor_set *set;
    uint32_t offsets[WEFT_CPU_MAX_BINDINGS]; /* dynamic ones */
};

struct weft_cpu_command_pool {
    struct weft_cpu_device *device;
    struct weft_cpu_command_buffer *buffers;
};

struct weft_cpu_command_buffer {
    uintptr_t loader;
    struct weft_cpu_command_pool *pool;
    struct weft_cpu_command_buffer *next, *previous; /* in the pool */
    struct weft_cpu_stream stream;
    /* While it is recorded. */
    struct weft_cpu_pipeline *pipeline;
    struct weft_cpu_bound_set sets[WEFT_CPU_MAX_SETS];
    uint8_t push[WEFT_CPU_MAX_PUSH];
};

WEFT_CPU_OBJECT(VkCommandPool, command_pool)
WEFT_CPU_OBJECT(VkCommandBuffer, command_buffer)

/** Adds a record to the command buffer's stream; null when memory is out, which vkEndCommandBuffer tells. */
void *weft_cpu_record(struct weft_cpu_command_buffer *buffer, enum weft_cpu_command command,
                      size_t size);

#endif
