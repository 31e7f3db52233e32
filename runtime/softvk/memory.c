/* SPDX-License-Identifier: MIT */
/* Device memory, and buffers in it. */
#include "softvk/memory.h"

#include "softvk/device.h"
#include "softvk/shared_memory.h"

/* ---- memory ---- */

/* Counts the bytes as in use, if the heap has them. */
static bool take_from_heap(struct weft_soft_device *device, uint64_t size) {
    const uint64_t heap = device->physical->properties.memory;
    uint64_t used = atomic_load(&device->memory_in_use);
    do {
        if (size > heap || used > heap - size) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&device->memory_in_use, &used, used + size));
    return true;
}

static void drop_memory(struct weft_soft_device *device, struct weft_soft_memory *memory) {
    atomic_fetch_sub(&device->memory_in_use, memory->counted);
    weft_soft_delete(device, memory);
}

/* Bytes of the device's own. */
static VkResult make_bytes(struct weft_soft_memory *memory, struct weft_soft_device *device,
                           const void *chain) {
    const VkExportMemoryAllocateInfo *exported =
        weft_soft_find_structure(chain, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
    if (memory->size > SIZE_MAX) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    if (exported && exported->handleTypes != 0) {
        return weft_soft_shared_create(&memory->shared, &memory->bytes, (size_t)memory->size);
    }
    return device->backend->allocate(memory, device->state);
}

static VkResult find_bytes(struct weft_soft_memory *memory, struct weft_soft_device *device,
                           const void *chain) {
    const VkImportMemoryHostPointerInfoEXT *host =
        weft_soft_find_structure(chain, VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
    const struct weft_soft_import_info *own =
        weft_soft_find_structure(chain, WEFT_SOFT_IMPORT_INFO);
    const intptr_t imported = weft_soft_shared_import_of(chain);
    if (own) {
        memory->own = own->own;
        memory->is_imported = true;
        return VK_SUCCESS;
    }
    if (host) {
        memory->bytes = host->pHostPointer;
        memory->is_imported = true;
        return VK_SUCCESS;
    }
    if (imported != WEFT_SOFT_NOT_SHARED) {
        return memory->size > SIZE_MAX ? VK_ERROR_INVALID_EXTERNAL_HANDLE
                                       : weft_soft_shared_open(&memory->shared, &memory->bytes,
                                                               imported, (size_t)memory->size);
    }
    if (memory->for_host) {
        return make_bytes(memory, device, chain);
    }
    if (!take_from_heap(device, memory->size)) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    memory->counted = memory->size;
    return make_bytes(memory, device, chain);
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice handle,
                                                      const VkMemoryAllocateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkDeviceMemory *memory) {
    (void)allocator;
    struct weft_soft_device *device = weft_soft_device_of(handle);
    struct weft_soft_memory *made = weft_soft_new(device, sizeof *made);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *made = (struct weft_soft_memory){.size = info->allocationSize,
                                      .shared = WEFT_SOFT_NOT_SHARED,
                                      .for_host = info->memoryTypeIndex == WEFT_SOFT_HOST_MEMORY};
    const VkResult result = find_bytes(made, device, info->pNext);
    if (result != VK_SUCCESS) {
        drop_memory(device, made);
        return result;
    }
    *memory = WEFT_SOFT_HANDLE(VkDeviceMemory, made);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice handle, VkDeviceMemory memory,
                                              const VkAllocationCallbacks *allocator) {
    (void)allocator;
    struct weft_soft_device *device = weft_soft_device_of(handle);
    struct weft_soft_memory *old = weft_soft_memory_of(memory);
    if (!old) {
        return;
    }
    if (old->shared != WEFT_SOFT_NOT_SHARED) {
        weft_soft_shared_free(old->shared, old->bytes, (size_t)old->size);
    } else if (!old->is_imported) {
        device->backend->free(old, device->state);
    }
    drop_memory(device, old);
}

void weft_soft_move_memory(VkDeviceMemory imported, void *bytes) {
    weft_soft_memory_of(imported)->bytes = bytes;
}

/* Any of the host's memory is as good as the device's. */
static VKAPI_ATTR VkResult VKAPI_CALL
get_host_pointer(VkDevice handle, VkExternalMemoryHandleTypeFlagBits type, const void *pointer,
                 VkMemoryHostPointerPropertiesEXT *properties) {
    (void)handle;
    (void)type;
    (void)pointer;
    properties->memoryTypeBits = 1;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL map_memory(VkDevice handle, VkDeviceMemory memory,
                                                 VkDeviceSize offset, VkDeviceSize size,
                                                 VkMemoryMapFlags flags, void **data) {
    (void)size;
    (void)flags;
    struct weft_soft_device *device = weft_soft_device_of(handle);
    struct weft_soft_memory *mapped = weft_soft_memory_of(memory);
    uint8_t *bytes = mapped->bytes ? mapped->bytes : device->backend->map(mapped, device->state);
    *data = bytes ? bytes + offset : NULL;
    return bytes ? VK_SUCCESS : VK_ERROR_MEMORY_MAP_FAILED;
}

static VKAPI_ATTR void VKAPI_CALL unmap_memory(VkDevice handle, VkDeviceMemory memory) {
    (void)handle;
    (void)memory;
}

/* ---- buffers ---- */

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice handle, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkBuffer *buffer) {
    (void)allocator;
    const struct weft_soft_device *device = weft_soft_device_of(handle);
    const struct weft_soft_properties *properties = &device->physical->properties;
    struct weft_soft_buffer *made = weft_soft_new(device, sizeof *made);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->size = info->size;
    made->alignment =
        weft_soft_find_structure(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO)
            ? properties->limits.minStorageBufferOffsetAlignment
            : properties->buffer_alignment;
    *buffer = WEFT_SOFT_HANDLE(VkBuffer, made);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_buffer(VkDevice handle, VkBuffer buffer,
                                                 const VkAllocationCallbacks *allocator) {
    (void)allocator;
    weft_soft_delete(weft_soft_device_of(handle), weft_soft_buffer_of(buffer));
}

static VKAPI_ATTR void VKAPI_CALL get_requirements(VkDevice handle, VkBuffer buffer,
                                                   VkMemoryRequirements *requirements) {
    const struct weft_soft_device *device = weft_soft_device_of(handle);
    const uint32_t types = device->physical->properties.separate_memory ? 3 : 1;
    const uint64_t size = weft_soft_buffer_of(buffer)->size;
    const uint64_t alignment = weft_soft_buffer_of(buffer)->alignment;
    const uint64_t rounded =
        size > UINT64_MAX - alignment ? size : (size + alignment - 1) / alignment * alignment;
    *requirements =
        (VkMemoryRequirements){.size = rounded, .alignment = alignment, .memoryTypeBits = types};
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_buffer(VkDevice handle, VkBuffer buffer,
                                                  VkDeviceMemory memory, VkDeviceSize offset) {
    (void)handle;
    weft_soft_buffer_of(buffer)->memory = weft_soft_memory_of(memory);
    weft_soft_buffer_of(buffer)->offset = offset;
    return VK_SUCCESS;
}

const struct weft_soft_function weft_soft_memory_functions[] = {
    WEFT_SOFT_FUNCTION(AllocateMemory, allocate_memory),
    WEFT_SOFT_FUNCTION(FreeMemory, free_memory),
    WEFT_SOFT_FUNCTION(MapMemory, map_memory),
    WEFT_SOFT_FUNCTION(UnmapMemory, unmap_memory),
    WEFT_SOFT_FUNCTION(GetMemoryHostPointerPropertiesEXT, get_host_pointer),
    WEFT_SOFT_FUNCTION(CreateBuffer, create_buffer),
    WEFT_SOFT_FUNCTION(DestroyBuffer, destroy_buffer),
    WEFT_SOFT_FUNCTION(GetBufferMemoryRequirements, get_requirements),
    WEFT_SOFT_FUNCTION(BindBufferMemory, bind_buffer),
    {NULL, NULL},
};
