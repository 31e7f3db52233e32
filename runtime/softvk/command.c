/* SPDX-License-Identifier: MIT */
/* Command pools, and command buffers from birth to death. */
#include "softvk/command.h"

#include <string.h>

#include "softvk/device.h"

static const weft_host *host_of(const struct weft_soft_command_buffer *buffer) {
    return &buffer->pool->device->host;
}

void *weft_soft_record(struct weft_soft_command_buffer *buffer, enum weft_soft_command command,
                       size_t size) {
    return weft_soft_stream_add(&buffer->stream, command, size, host_of(buffer));
}

/* ---- pools ---- */

static VKAPI_ATTR VkResult VKAPI_CALL create_pool(VkDevice handle,
                                                  const VkCommandPoolCreateInfo *info,
                                                  const VkAllocationCallbacks *allocator,
                                                  VkCommandPool *pool) {
    (void)info;
    (void)allocator;
    struct weft_soft_device *device = weft_soft_device_of(handle);
    struct weft_soft_command_pool *made = weft_soft_new(device, sizeof *made);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->device = device;
    *pool = WEFT_SOFT_HANDLE(VkCommandPool, made);
    return VK_SUCCESS;
}

static void destroy_command_buffer(struct weft_soft_command_buffer *buffer) {
    struct weft_soft_command_pool *pool = buffer->pool;
    if (buffer->previous) {
        buffer->previous->next = buffer->next;
    } else {
        pool->buffers = buffer->next;
    }
    if (buffer->next) {
        buffer->next->previous = buffer->previous;
    }
    weft_soft_stream_free(&buffer->stream, &pool->device->host);
    weft_soft_delete(pool->device, buffer);
}

static VKAPI_ATTR void VKAPI_CALL destroy_pool(VkDevice handle, VkCommandPool pool,
                                               const VkAllocationCallbacks *allocator) {
    (void)allocator;
    struct weft_soft_command_pool *old = weft_soft_command_pool_of(pool);
    if (!old) {
        return;
    }
    while (old->buffers) {
        destroy_command_buffer(old->buffers);
    }
    weft_soft_delete(weft_soft_device_of(handle), old);
}

static void reset(struct weft_soft_command_buffer *buffer, bool release) {
    weft_soft_stream_reset(&buffer->stream);
    if (release) {
        weft_soft_stream_free(&buffer->stream, host_of(buffer));
    }
}

/* ---- command buffers ---- */

static struct weft_soft_command_buffer *make_command_buffer(struct weft_soft_command_pool *pool) {
    struct weft_soft_command_buffer *made = weft_soft_new(pool->device, sizeof *made);
    if (made) {
        made->loader = WEFT_SOFT_LOADER_MAGIC;
        made->pool = pool;
        made->next = pool->buffers;
        if (made->next) {
            made->next->previous = made;
        }
        pool->buffers = made;
    }
    return made;
}

static VKAPI_ATTR void VKAPI_CALL free_buffers(VkDevice handle, VkCommandPool pool, uint32_t count,
                                               const VkCommandBuffer *buffers) {
    (void)handle;
    (void)pool;
    for (uint32_t i = 0; i < count; i++) {
        if (buffers[i]) {
            destroy_command_buffer(weft_soft_command_buffer_of(buffers[i]));
        }
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_buffers(VkDevice handle,
                                                       const VkCommandBufferAllocateInfo *info,
                                                       VkCommandBuffer *buffers) {
    struct weft_soft_command_pool *pool = weft_soft_command_pool_of(info->commandPool);
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        buffers[i] = WEFT_SOFT_HANDLE(VkCommandBuffer, make_command_buffer(pool));
        if (!buffers[i]) {
            free_buffers(handle, info->commandPool, i, buffers);
            memset(buffers, 0, info->commandBufferCount * sizeof *buffers);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL begin(VkCommandBuffer handle,
                                            const VkCommandBufferBeginInfo *info) {
    (void)info;
    struct weft_soft_command_buffer *buffer = weft_soft_command_buffer_of(handle);
    weft_soft_stream_reset(&buffer->stream);
    buffer->pipeline = NULL;
    memset(buffer->sets, 0, sizeof buffer->sets);
    memset(buffer->push, 0, sizeof buffer->push);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL end(VkCommandBuffer handle) {
    return weft_soft_command_buffer_of(handle)->stream.failed ? VK_ERROR_OUT_OF_HOST_MEMORY
                                                              : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL reset_buffer(VkCommandBuffer handle,
                                                   VkCommandBufferResetFlags flags) {
    reset(weft_soft_command_buffer_of(handle),
          (flags & VK_COMMAND_BUFFER_RESET_RELEASE_RESOURCES_BIT) != 0);
    return VK_SUCCESS;
}

const struct weft_soft_function weft_soft_command_functions[] = {
    WEFT_SOFT_FUNCTION(CreateCommandPool, create_pool),
    WEFT_SOFT_FUNCTION(DestroyCommandPool, destroy_pool),
    WEFT_SOFT_FUNCTION(AllocateCommandBuffers, allocate_buffers),
    WEFT_SOFT_FUNCTION(FreeCommandBuffers, free_buffers),
    WEFT_SOFT_FUNCTION(BeginCommandBuffer, begin),
    WEFT_SOFT_FUNCTION(EndCommandBuffer, end),
    WEFT_SOFT_FUNCTION(ResetCommandBuffer, reset_buffer),
    {NULL, NULL},
};
