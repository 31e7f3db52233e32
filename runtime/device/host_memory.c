/* SPDX-License-Identifier: MIT */
#include "device/host_memory.h"

#include <inttypes.h>

#include "core/given.h"
#include "core/try.h"
#include "device/debug_label.h"
#include "device/device.h"
#include "softvk/softvk.h"

#define HANDLE_TYPE VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT

uint64_t weft_host_memory_alignment(VkPhysicalDevice handle,
                                    const struct weft_vk_instance *instance) {
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &host};
    instance->GetPhysicalDeviceProperties2(handle, &properties);
    return host.minImportedHostPointerAlignment;
}

static weft_status check(const weft_device *device, weft_buffer *const *buffer, const void *memory,
                         uint64_t size) {
    const weft_host *host = &device->host;
    const uint64_t alignment = device->info.host_memory_alignment;
    if (!buffer || !memory || size == 0) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "weft_buffer_wrap_host: %s",
                         !buffer   ? "buffer is null"
                         : !memory ? "the memory is null"
                                   : "size is 0");
    }
    WEFT_TRY(weft_device_runs(device));
    if (alignment == 0) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "weft_buffer_wrap_host: %s cannot work on the host's memory in place",
                         device->info.name);
    }
    if ((uintptr_t)memory % alignment != 0) {
        return weft_fail(
            host, WEFT_INVALID_ARGUMENT,
            "weft_buffer_wrap_host: the memory does not begin at a multiple of %" PRIu64
            " bytes, but %" PRIu64 " behind one",
            alignment, (uint64_t)((uintptr_t)memory % alignment));
    }
    if (size > device->info.device_memory) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "weft_buffer_wrap_host: %" PRIu64 " bytes, the device can have %" PRIu64,
                         size, device->info.device_memory);
    }
    return WEFT_OK;
}

/* A type that the host's writes need no flushing for. */
static bool find_type(uint32_t *type, const weft_device *device, uint32_t bits) {
    const VkPhysicalDeviceMemoryProperties *memory = &device->memory_properties;
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
        if ((bits & (UINT32_C(1) << i)) != 0 &&
            (memory->memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0) {
            *type = i;
            return true;
        }
    }
    return false;
}

static weft_status import_memory(VkDeviceMemory *imported, weft_device *device, void *memory,
                                 uint64_t size, const VkMemoryRequirements *wanted) {
    const uint64_t alignment = device->info.host_memory_alignment;
    const uint64_t there = (size + alignment - 1) / alignment * alignment;
    VkMemoryHostPointerPropertiesEXT properties = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    WEFT_TRY(WEFT_VK(device, GetMemoryHostPointerPropertiesEXT, HANDLE_TYPE, memory, &properties));
    const VkImportMemoryHostPointerInfoEXT pointer = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = HANDLE_TYPE,
        .pHostPointer = memory};
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .pNext = &pointer,
                                 .allocationSize = there};
    if (wanted->size > there || (uintptr_t)memory % wanted->alignment != 0 ||
        !find_type(&info.memoryTypeIndex, device,
                   wanted->memoryTypeBits & properties.memoryTypeBits)) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED,
                         "weft_buffer_wrap_host: %s cannot work on memory of this kind in place",
                         device->info.name);
    }
    return WEFT_VK_MAKE(device, AllocateMemory, &info, imported);
}

static weft_status fill(weft_buffer *buffer, void *memory) {
    weft_device *device = buffer->device;
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = HANDLE_TYPE};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .pNext = &external,
                               .size = buffer->size,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkMemoryRequirements requirements;
    weft_vkbuffer_share(&info, device);
    WEFT_TRY(WEFT_VK_MAKE(device, CreateBuffer, &info, &buffer->handle));
    weft_debug_name(device, VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer->handle, "weft buffer");
    device->vk.GetBufferMemoryRequirements(device->vk.handle, buffer->handle, &requirements);
    WEFT_TRY(import_memory(&buffer->imported, device, memory, buffer->size, &requirements));
    return WEFT_VK(device, BindBufferMemory, buffer->handle, buffer->imported, 0);
}

weft_status weft_buffer_wrap_host(weft_buffer **buffer, weft_device *device, void *memory,
                                  uint64_t size) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(device, host), buffer, device, memory);
    WEFT_TRY(check(device, buffer, memory, size));
    weft_buffer *made = weft_alloc_zero(&device->host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(&device->host, "buffer");
    }
    *made = (weft_buffer){.device = device, .size = size, .is_host = true};
    const weft_status status = fill(made, memory);
    if (status != WEFT_OK) {
        weft_buffer_destroy(&made);
        return status;
    }
    *buffer = made;
    return WEFT_OK;
}

bool weft_device_moves_buffers(const weft_device *device) {
    return device->in_process && device->info.host_memory_alignment != 0;
}

void weft_buffer_move(const weft_buffer *buffer, void *memory) {
    weft_soft_move_memory(buffer->imported, memory);
}
