/* SPDX-License-Identifier: MIT */
#ifndef WEFT_SOFTVK_COMMAND_H
#define WEFT_SOFTVK_COMMAND_H

#include "softvk/functions.h"
#include "softvk/stream.h"

struct weft_soft_descriptor_set;

struct weft_soft_bound_set {
    const struct weft_soft_descriptor_set *set;
    uint32_t offsets[WEFT_SOFT_MAX_BINDINGS]; /* dynamic ones */
};

struct weft_soft_command_pool {
    struct weft_soft_device *device;
    struct weft_soft_command_buffer *buffers;
};

struct weft_soft_command_buffer {
    uintptr_t loader;
    struct weft_soft_command_pool *pool;
    struct weft_soft_command_buffer *next, *previous; /* in the pool */
    struct weft_soft_stream stream;
    /* While it is recorded. */
    struct weft_soft_pipeline *pipeline;
    struct weft_soft_bound_set sets[WEFT_SOFT_MAX_SETS];
    uint8_t push[WEFT_SOFT_MAX_PUSH];
};

WEFT_SOFT_OBJECT(VkCommandPool, command_pool)
WEFT_SOFT_OBJECT(VkCommandBuffer, command_buffer)

/** Adds a record to the command buffer's stream; null when memory is out, which vkEndCommandBuffer tells. */
void *weft_soft_record(struct weft_soft_command_buffer *buffer, enum weft_soft_command command,
                       size_t size);

#endif
