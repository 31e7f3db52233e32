/* SPDX-License-Identifier: MIT */
/* Buffers: ours, with memory from the pool, and a caller's, wrapped. */
#include <inttypes.h>

#include "device/device.h"

#include <weft/vulkan.h>

#include "core/given.h"
#include "core/try.h"
#include "device/debug_label.h"
#include "device/fork.h"

static uint64_t largest_heap(const weft_device *device) {
    const VkPhysicalDeviceMemoryProperties *memory = &device->memory_properties;
    uint64_t largest = 0;
    for (uint32_t i = 0; i < memory->memoryHeapCount; i++) {
        largest = memory->memoryHeaps[i].size > largest ? memory->memoryHeaps[i].size : largest;
    }
    return largest;
}

void weft_vkbuffer_share(VkBufferCreateInfo *info, const weft_device *device) {
    info->sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    if (device->family_count > 1) {
        info->sharingMode = VK_SHARING_MODE_CONCURRENT;
        info->queueFamilyIndexCount = device->family_count;
        info->pQueueFamilyIndices = device->families;
    }
}

weft_status weft_vkbuffer_create(VkBuffer *buffer, struct weft_allocation **allocation,
                                 weft_device *device, VkDeviceSize size,
                                 enum weft_memory_kind kind) {
    /* The driver never sees sizes that no memory can hold: it may not cope with them. */
    const uint64_t largest = largest_heap(device);
    if (size > largest) {
        return weft_fail(&device->host, WEFT_OUT_OF_DEVICE_MEMORY,
                         "%" PRIu64 " bytes asked, the largest memory heap has %" PRIu64, size,
                         largest);
    }
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    weft_vkbuffer_share(&info, device);
    VkBuffer handle = VK_NULL_HANDLE;
    struct weft_allocation *memory = NULL;
    WEFT_TRY(WEFT_VK(device, CreateBuffer, &info, NULL, &handle));
    VkMemoryRequirements requirements;
    device->vk.GetBufferMemoryRequirements(device->vk.handle, handle, &requirements);
    weft_status status = weft_memory_allocate(&memory, device, &requirements, kind);
    if (status == WEFT_OK) {
        status = WEFT_VK(device, BindBufferMemory, handle, memory->memory, memory->offset);
    }
    if (status != WEFT_OK) {
        weft_vkbuffer_destroy(device, &handle, &memory);
        return status;
    }
    *buffer = handle;
    *allocation = memory;
    return WEFT_OK;
}

void weft_vkbuffer_destroy(weft_device *device, VkBuffer *buffer,
                           struct weft_allocation **allocation) {
    if (*buffer != VK_NULL_HANDLE) {
        if (device->cancelled) { /* nobody has waited for what was submitted */
            weft_device_settle(device, device->timeline_value);
        }
        device->vk.DestroyBuffer(device->vk.handle, *buffer, NULL);
        *buffer = VK_NULL_HANDLE;
    }
    weft_memory_free(device, allocation);
}

weft_status weft_buffer_create(weft_buffer **buffer, weft_device *device, uint64_t size) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(device, host), buffer, device);
    if (size == 0) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT, "weft_buffer_create: size is 0");
    }
    WEFT_TRY(weft_device_runs(device));
    weft_buffer *made = weft_alloc_zero(&device->host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(&device->host, "buffer");
    }
    *made = (weft_buffer){.device = device, .size = size};
    /* Whole words, so that a shader may read the last bytes as part of one. */
    uint64_t rounded = size > UINT64_MAX - 3 ? size : (size + 3) / 4 * 4;
    weft_status status =
        weft_vkbuffer_create(&made->handle, &made->allocation, device, rounded, WEFT_MEMORY_DEVICE);
    if (status != WEFT_OK) {
        weft_free(&device->host, made);
        return status;
    }
    weft_debug_name(device, VK_OBJECT_TYPE_BUFFER, (uint64_t)made->handle, "weft buffer");
    *buffer = made;
    return WEFT_OK;
}

weft_status weft_buffer_wrap(weft_buffer **buffer, weft_device *device, VkBuffer handle,
                             uint64_t offset, uint64_t size) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(device, host), buffer, device);
    if (handle == VK_NULL_HANDLE || size == 0) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT, "weft_buffer_wrap: %s",
                         handle == VK_NULL_HANDLE ? "the VkBuffer is null" : "size is 0");
    }
    if (offset > UINT64_MAX - size) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "weft_buffer_wrap: %" PRIu64 " bytes at %" PRIu64 " fit no buffer", size,
                         offset);
    }
    const uint64_t alignment = device->limits.minStorageBufferOffsetAlignment;
    if (offset % alignment != 0) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "weft_buffer_wrap: offset %" PRIu64
                         " is not a multiple of minStorageBufferOffsetAlignment, %" PRIu64,
                         offset, alignment);
    }
    WEFT_TRY(weft_device_runs(device));
    weft_buffer *made = weft_alloc_zero(&device->host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(&device->host, "buffer");
    }
    *made = (weft_buffer){.device = device, .handle = handle, .offset = offset, .size = size};
    *buffer = made;
    return WEFT_OK;
}

void weft_buffer_destroy(weft_buffer **buffer) {
    WEFT_ENTER;
    if (!buffer || !*buffer) {
        return;
    }
    weft_buffer *old = *buffer;
    weft_device *device = old->device;
    weft_device_inherit(device);
    if (old->allocation || old->is_host || old->is_external || old->is_opencl) {
        /* A run that was submitted and not yet waited for may still use the memory. */
        weft_device_settle(device, device->timeline_value);
        weft_vkbuffer_destroy(device, &old->handle, &old->allocation);
    }
    if (old->imported != VK_NULL_HANDLE) {
        device->vk.FreeMemory(device->vk.handle, old->imported, NULL);
    }
    weft_free(&device->host, old);
    *buffer = NULL;
}

uint64_t weft_buffer_size(const weft_buffer *buffer) {
    return !buffer ? 0 : buffer->size;
}

VkBuffer weft_buffer_vulkan(const weft_buffer *buffer, uint64_t *offset) {
    if (!buffer) {
        return VK_NULL_HANDLE;
    }
    if (offset) {
        *offset = buffer->offset;
    }
    return buffer->handle;
}

static weft_status check_range(const weft_buffer *buffer, uint64_t offset, uint64_t size,
                               const char *function) {
    const weft_host *host = &buffer->device->host;
    if (offset > buffer->size || size > buffer->size - offset) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "%s: %" PRIu64 " bytes at %" PRIu64 " do not fit a buffer of %" PRIu64,
                         function, size, offset, buffer->size);
    }
    return weft_device_runs(buffer->device);
}

weft_status weft_buffer_write(weft_buffer *buffer, uint64_t offset, const void *data,
                              uint64_t size) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(buffer, device->host), buffer);
    WEFT_GIVEN_LIST(WEFT_HOST_OF(buffer, device->host), data, size);
    WEFT_TRY(check_range(buffer, offset, size, "weft_buffer_write"));
    return weft_device_upload(buffer->device, buffer->handle, buffer->offset + offset, data, size);
}

weft_status weft_buffer_read(weft_buffer *buffer, uint64_t offset, void *data, uint64_t size) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(buffer, device->host), buffer);
    WEFT_GIVEN_LIST(WEFT_HOST_OF(buffer, device->host), data, size);
    WEFT_TRY(check_range(buffer, offset, size, "weft_buffer_read"));
    return weft_device_download(buffer->device, buffer->handle, buffer->offset + offset, data,
                                size);
}
