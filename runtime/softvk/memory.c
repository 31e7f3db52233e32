/* SPDX-License-Identifier: MIT */
/* Device memory, which is host memory, and buffers in it. */
#include "softvk/memory.h"

#include "cpu/kernel.h"
#include "cpu/memory.h"
#include "softvk/device.h"
#include "softvk/shared_memory.h"

#define ALIGNMENT ((size_t)64) /* of buffers: a cache line, and the widest vector */

/* ---- memory ---- */

/* Counts the bytes as in use, if the heap has them. */
static bool take_from_heap(struct weft_soft_device *device, uint64_t size) {
    uint64_t used = atomic_load(&device->memory_in_use);
    do {
        if (size > device->physical->memory || used > device->physical->memory - size) {
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
static VkResult make_bytes(struct weft_soft_memory *memory, const void *chain) {
    const VkExportMemoryAllocateInfo *exported =
        weft_soft_find_structure(chain, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
    if (memory->size > SIZE_MAX) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    if (exported && exported->handleTypes != 0) {
        return weft_soft_shared_create(&memory->shared, &memory->bytes, (size_t)memory->size);
    }
    memory->bytes = weft_cpu_bytes_allocate((size_t)memory->size);
    return memory->bytes ? VK_SUCCESS : VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static VkResult find_bytes(struct weft_soft_memory *memory, struct weft_soft_device *device,
                           const void *chain) {
    const VkImportMemoryHostPointerInfoEXT *host =
        weft_soft_find_structure(chain, VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
    const intptr_t imported = weft_soft_shared_import_of(chain);
    if (host) {
        memory->bytes = host->pHostPointer;
        memory->is_host = true;
        return VK_SUCCESS;
    }
    if (imported != WEFT_SOFT_NOT_SHARED) {
        return memory->size > SIZE_MAX ? VK_ERROR_INVALID_EXTERNAL_HANDLE
                                       : weft_soft_shared_open(&memory->shared, &memory->bytes,
                                                               imported, (size_t)memory->size);
    }
    if (!take_from_heap(device, memory->size)) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    memory->counted = memory->size;
    return make_bytes(memory, chain);
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
    *made = (struct weft_soft_memory){.size = info->allocationSize, .shared = WEFT_SOFT_NOT_SHARED};
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
    struct weft_soft_memory *old = weft_soft_memory_of(memory);
    if (!old) {
        return;
    }
    if (old->shared != WEFT_SOFT_NOT_SHARED) {
        weft_soft_shared_free(old->shared, old->bytes, (size_t)old->size);
    } else if (!old->is_host) {
        weft_cpu_bytes_free(old->bytes);
    }
    drop_memory(weft_soft_device_of(handle), old);
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
    (void)handle;
    (void)size;
    (void)flags;
    *data = weft_soft_memory_of(memory)->bytes + offset;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL unmap_memory(VkDevice handle, VkDeviceMemory memory) {
    (void)handle;
    (void)memory;
}

/* Flushing and invalidating: what the host and the device see is the same bytes. */
static VKAPI_ATTR VkResult VKAPI_CALL sync_ranges(VkDevice handle, uint32_t count,
                                                  const VkMappedMemoryRange *ranges) {
    (void)handle;
    (void)count;
    (void)ranges;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL get_commitment(VkDevice handle, VkDeviceMemory memory,
                                                 VkDeviceSize *bytes) {
    (void)handle;
    *bytes = weft_soft_memory_of(memory)->size;
}

/* ---- buffers ---- */

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice handle, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkBuffer *buffer) {
    (void)allocator;
    struct weft_soft_buffer *made = weft_soft_new(weft_soft_device_of(handle), sizeof *made);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->size = info->size;
    made->alignment =
        weft_soft_find_structure(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO)
            ? WEFT_CPU_RANGE_ALIGNMENT
            : ALIGNMENT;
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
    (void)handle;
    const uint64_t size = weft_soft_buffer_of(buffer)->size;
    const uint64_t alignment = weft_soft_buffer_of(buffer)->alignment;
    const uint64_t rounded =
        size > UINT64_MAX - alignment ? size : (size + alignment - 1) / alignment * alignment;
    *requirements =
        (VkMemoryRequirements){.size = rounded, .alignment = alignment, .memoryTypeBits = 1};
}

static VKAPI_ATTR void VKAPI_CALL get_requirements2(VkDevice handle,
                                                    const VkBufferMemoryRequirementsInfo2 *info,
                                                    VkMemoryRequirements2 *requirements) {
    VkMemoryDedicatedRequirements *dedicated = NULL;
    for (VkBaseOutStructure *link = requirements->pNext; link; link = link->pNext) {
        if (link->sType == VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS) {
            dedicated = (VkMemoryDedicatedRequirements *)link;
            dedicated->prefersDedicatedAllocation = VK_FALSE;
            dedicated->requiresDedicatedAllocation = VK_FALSE;
        }
    }
    get_requirements(handle, info->buffer, &requirements->memoryRequirements);
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_buffer(VkDevice handle, VkBuffer buffer,
                                                  VkDeviceMemory memory, VkDeviceSize offset) {
    (void)handle;
    weft_soft_buffer_of(buffer)->bytes = weft_soft_memory_of(memory)->bytes + offset;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_buffers(VkDevice handle, uint32_t count,
                                                   const VkBindBufferMemoryInfo *infos) {
    for (uint32_t i = 0; i < count; i++) {
        (void)bind_buffer(handle, infos[i].buffer, infos[i].memory, infos[i].memoryOffset);
    }
    return VK_SUCCESS;
}

const struct weft_soft_function weft_soft_memory_functions[] = {
    WEFT_SOFT_FUNCTION(AllocateMemory, allocate_memory),
    WEFT_SOFT_FUNCTION(FreeMemory, free_memory),
    WEFT_SOFT_FUNCTION(MapMemory, map_memory),
    WEFT_SOFT_FUNCTION(UnmapMemory, unmap_memory),
    WEFT_SOFT_FUNCTION(FlushMappedMemoryRanges, sync_ranges),
    WEFT_SOFT_FUNCTION(InvalidateMappedMemoryRanges, sync_ranges),
    WEFT_SOFT_FUNCTION(GetDeviceMemoryCommitment, get_commitment),
    WEFT_SOFT_FUNCTION(GetMemoryHostPointerPropertiesEXT, get_host_pointer),
    WEFT_SOFT_FUNCTION(CreateBuffer, create_buffer),
    WEFT_SOFT_FUNCTION(DestroyBuffer, destroy_buffer),
    WEFT_SOFT_FUNCTION(GetBufferMemoryRequirements, get_requirements),
    WEFT_SOFT_FUNCTION(GetBufferMemoryRequirements2, get_requirements2),
    WEFT_SOFT_FUNCTION(BindBufferMemory, bind_buffer),
    WEFT_SOFT_FUNCTION(BindBufferMemory2, bind_buffers),
    {NULL, NULL},
};
