/* SPDX-License-Identifier: MIT */
/* Buffers of memory that others have, too (VK_KHR_external_memory_fd, VK_EXT_external_memory_dma_buf). */
#include <inttypes.h>

#include <weft/external.h>

#include "core/system.h"
#include "core/try.h"
#include "device/device.h"

const char *weft_external_type_name(weft_external_type type) {
    switch (type) {
    case WEFT_EXTERNAL_OPAQUE_FD:
        return "opaque_fd";
    case WEFT_EXTERNAL_DMA_BUF:
        return "dma_buf";
    }
    return "unknown";
}

static VkExternalMemoryHandleTypeFlagBits bit_of(weft_external_type type) {
    return type == WEFT_EXTERNAL_DMA_BUF ? VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
                                         : VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
}

#define USAGE                                                                \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | \
     VK_BUFFER_USAGE_TRANSFER_DST_BIT)

weft_status weft_device_get_external(const weft_device *device, weft_external_type type,
                                     weft_external_info *info) {
    if (!device || !info || (unsigned)type > WEFT_EXTERNAL_DMA_BUF) {
        return weft_fail(device ? &device->host : NULL, WEFT_INVALID_ARGUMENT,
                         "weft_device_get_external: null argument, or no type of memory");
    }
    *info = (weft_external_info){false, false};
    if (!device->vk.GetMemoryFdKHR || (type == WEFT_EXTERNAL_DMA_BUF && !device->has_dma_buf)) {
        return WEFT_OK;
    }
    const VkPhysicalDeviceExternalBufferInfo asked = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
        .usage = USAGE,
        .handleType = bit_of(type)};
    VkExternalBufferProperties properties = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    device->GetExternalBufferProperties(device->physical, &asked, &properties);
    const VkExternalMemoryFeatureFlags features =
        properties.externalMemoryProperties.externalMemoryFeatures;
    info->exports = (features & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT) != 0;
    info->imports = (features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) != 0;
    return WEFT_OK;
}

void weft_external_memory_load(weft_device *device, bool dma_buf) {
    const struct weft_vk_instance *instance = &device->instance;
    struct weft_vk_device *vk = &device->vk;
    device->GetExternalBufferProperties =
        (PFN_vkGetPhysicalDeviceExternalBufferProperties)instance->GetInstanceProcAddr(
            instance->handle, "vkGetPhysicalDeviceExternalBufferProperties");
    vk->GetMemoryFdPropertiesKHR = (PFN_vkGetMemoryFdPropertiesKHR)instance->GetDeviceProcAddr(
        vk->handle, "vkGetMemoryFdPropertiesKHR");
    if (device->GetExternalBufferProperties && vk->GetMemoryFdPropertiesKHR) {
        vk->GetMemoryFdKHR =
            (PFN_vkGetMemoryFdKHR)instance->GetDeviceProcAddr(vk->handle, "vkGetMemoryFdKHR");
    }
    device->has_dma_buf = dma_buf;
}

/* ---- making ---- */

/* The first of those that suit best: who imports finds the type of who exported. */
static bool find_type(uint32_t *type, const weft_device *device, uint32_t bits) {
    const VkPhysicalDeviceMemoryProperties *memory = &device->memory_properties;
    bool found = false, local = false;
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
        const bool is_local =
            (memory->memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
        if ((bits & (UINT32_C(1) << i)) != 0 && (!found || (is_local && !local))) {
            *type = i;
            found = true;
            local = is_local;
        }
    }
    return found;
}

/* Of a descriptor that is imported; negative: memory to be exported. Importing takes the descriptor. */
static weft_status make_memory(weft_buffer *buffer, uint32_t types, uint64_t size,
                               weft_external_type type, int descriptor) {
    weft_device *device = buffer->device;
    const VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .buffer = buffer->handle};
    const VkExportMemoryAllocateInfo exported = {.sType =
                                                     VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                                 .pNext = &dedicated,
                                                 .handleTypes = bit_of(type)};
    const VkImportMemoryFdInfoKHR imported = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                              .pNext = &dedicated,
                                              .handleType = bit_of(type),
                                              .fd = descriptor};
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .pNext = descriptor < 0 ? (const void *)&exported : &imported,
                                 .allocationSize = size};
    if (!find_type(&info.memoryTypeIndex, device, types)) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED, "%s has no memory for a %s",
                         device->info.name, weft_external_type_name(type));
    }
    return WEFT_VK_MAKE(device, AllocateMemory, &info, &buffer->imported);
}

/* The memory types of a dma-buf are its own. */
static weft_status types_of(uint32_t *types, weft_device *device, weft_external_type type,
                            int descriptor) {
    VkMemoryFdPropertiesKHR properties = {.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
    if (descriptor < 0 || type != WEFT_EXTERNAL_DMA_BUF) {
        return WEFT_OK;
    }
    WEFT_TRY(WEFT_VK(device, GetMemoryFdPropertiesKHR, bit_of(type), descriptor, &properties));
    *types &= properties.memoryTypeBits;
    return WEFT_OK;
}

static weft_status fill(weft_buffer *buffer, weft_external_type type, int descriptor) {
    weft_device *device = buffer->device;
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = bit_of(type)};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .pNext = &external,
                               .size = (buffer->size + 3) / 4 * 4,
                               .usage = USAGE};
    VkMemoryRequirements needs;
    weft_vkbuffer_share(&info, device);
    WEFT_TRY(WEFT_VK_MAKE(device, CreateBuffer, &info, &buffer->handle));
    device->vk.GetBufferMemoryRequirements(device->vk.handle, buffer->handle, &needs);
    WEFT_TRY(types_of(&needs.memoryTypeBits, device, type, descriptor));
    int taken = -1;
    if (descriptor >= 0 && weft_system_duplicate(&taken, descriptor) != 0) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "weft_buffer_import_memory: %d is no descriptor that is open", descriptor);
    }
    const weft_status status = make_memory(buffer, needs.memoryTypeBits, needs.size, type, taken);
    if (status != WEFT_OK) {
        if (taken >= 0) {
            (void)weft_system_close(taken);
        }
        return status;
    }
    return WEFT_VK(device, BindBufferMemory, buffer->handle, buffer->imported, 0);
}

static weft_status make(weft_buffer **buffer, weft_device *device, uint64_t size,
                        weft_external_type type, int descriptor) {
    weft_buffer *made = weft_alloc_zero(&device->host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(&device->host, "buffer");
    }
    *made = (weft_buffer){.device = device, .size = size, .is_external = true, .external = type};
    const weft_status status = fill(made, type, descriptor);
    if (status != WEFT_OK) {
        weft_buffer_destroy(&made);
        return status;
    }
    *buffer = made;
    return WEFT_OK;
}

static weft_status check(const weft_device *device, weft_buffer *const *buffer, uint64_t size,
                         weft_external_type type, bool imports, const char *function) {
    weft_external_info info;
    if (!buffer || size == 0) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT, "%s: %s", function,
                         buffer ? "size is 0" : "buffer is null");
    }
    WEFT_TRY(weft_device_alive(device));
    WEFT_TRY(weft_device_get_external(device, type, &info));
    if (!(imports ? info.imports : info.exports)) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED, "%s: %s %s no %s", function,
                         device->info.name, imports ? "imports" : "exports",
                         weft_external_type_name(type));
    }
    if (size > device->info.device_memory) {
        return weft_fail(&device->host, WEFT_OUT_OF_DEVICE_MEMORY,
                         "%s: %" PRIu64 " bytes, the device can have %" PRIu64, function, size,
                         device->info.device_memory);
    }
    return WEFT_OK;
}

weft_status weft_buffer_create_exportable(weft_buffer **buffer, weft_device *device, uint64_t size,
                                          weft_external_type type) {
    if (!device) {
        return WEFT_INVALID_ARGUMENT;
    }
    WEFT_TRY(check(device, buffer, size, type, false, "weft_buffer_create_exportable"));
    return make(buffer, device, size, type, -1);
}

weft_status weft_buffer_import_memory(weft_buffer **buffer, weft_device *device,
                                      weft_external_type type, int descriptor, uint64_t size) {
    if (!device) {
        return WEFT_INVALID_ARGUMENT;
    }
    WEFT_TRY(check(device, buffer, size, type, true, "weft_buffer_import_memory"));
    if (descriptor < 0) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "weft_buffer_import_memory: %d is no descriptor", descriptor);
    }
    return make(buffer, device, size, type, descriptor);
}

weft_status weft_buffer_export_memory(weft_buffer *buffer, int *descriptor) {
    if (!buffer || !descriptor || !buffer->is_external) {
        return weft_fail(
            buffer ? &buffer->device->host : NULL, WEFT_INVALID_ARGUMENT,
            "weft_buffer_export_memory: null argument, or a buffer that is not exportable");
    }
    weft_device *device = buffer->device;
    const VkMemoryGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                       .memory = buffer->imported,
                                       .handleType = bit_of(buffer->external)};
    WEFT_TRY(weft_device_alive(device));
    return WEFT_VK(device, GetMemoryFdKHR, &info, descriptor);
}
