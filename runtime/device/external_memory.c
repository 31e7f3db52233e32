/* SPDX-License-Identifier: MIT */
/* Buffers of memory that others have, too. */
#include <inttypes.h>

#include "core/given.h"
#include "core/system/write_signals.h"
#include "core/try.h"
#include "device/debug_label.h"
#include "device/external.h"

static VkExternalMemoryHandleTypeFlagBits bit_of(weft_external_type type) {
    return type == WEFT_EXTERNAL_DMA_BUF ? VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
                                         : weft_external_names.memory;
}

#define USAGE                                                                \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | \
     VK_BUFFER_USAGE_TRANSFER_DST_BIT)

weft_status weft_device_get_external(const weft_device *device, weft_external_type type,
                                     weft_external_info *info) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(device, host), device, info);
    if ((unsigned)type > WEFT_EXTERNAL_DMA_BUF) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT,
                         "weft_device_get_external: %d is no type of memory", (int)type);
    }
    WEFT_TRY(weft_device_alive(device));
    const struct weft_vk_external *external = &device->external;
    *info = (weft_external_info){false, false};
    if (!external->buffer_properties || (type == WEFT_EXTERNAL_DMA_BUF && !external->dma_buf)) {
        return WEFT_OK;
    }
    const VkPhysicalDeviceExternalBufferInfo asked = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
        .usage = USAGE,
        .handleType = bit_of(type)};
    VkExternalBufferProperties properties = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    external->buffer_properties(device->physical, &asked, &properties);
    const VkExternalMemoryFeatureFlags features =
        properties.externalMemoryProperties.externalMemoryFeatures;
    info->exports = (features & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT) != 0;
    info->imports = (features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) != 0;
    return WEFT_OK;
}

/* ---- making ---- */

/* Source of a buffer's memory: an imported handle, or new memory that can be exported. */
struct source {
    weft_external_type type;
    bool imported;
    weft_external_handle handle;
};

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

/* Memory that has a handle is a file, to the system, and so has the limit of files; drivers do not ask for it. */
static weft_status export_memory(weft_buffer *buffer, const VkMemoryAllocateInfo *info) {
    struct weft_write_signals signals;
    const uint64_t limit = weft_write_limit();
    if (info->allocationSize > limit) {
        return weft_fail(&buffer->device->host, WEFT_OUT_OF_DEVICE_MEMORY,
                         "%s: memory that others have, too, is a file: expected at most %" PRIu64
                         " bytes, the limit of this process's files (RLIMIT_FSIZE), found %" PRIu64,
                         buffer->device->info.name, limit, (uint64_t)info->allocationSize);
    }
    weft_write_signals_hold(&signals);
    const weft_status status =
        WEFT_VK_MAKE(buffer->device, AllocateMemory, info, &buffer->imported);
    weft_write_signals_release(&signals);
    return status;
}

static weft_status make_memory(weft_buffer *buffer, const VkMemoryRequirements *needs,
                               const struct source *source) {
    weft_device *device = buffer->device;
    const VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .buffer = buffer->handle};
    const VkExportMemoryAllocateInfo exported = {.sType =
                                                     VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                                 .pNext = &dedicated,
                                                 .handleTypes = bit_of(source->type)};
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .pNext = source->imported ? (const void *)&dedicated : &exported,
                                 .allocationSize = needs->size};
    uint32_t types = needs->memoryTypeBits;
    if (source->imported) {
        WEFT_TRY(weft_external_memory_types(&types, device, source->type, source->handle));
    }
    if (!find_type(&info.memoryTypeIndex, device, types)) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED, "%s has no memory for a buffer of %s",
                         device->info.name, weft_external_type_name(source->type));
    }
    return source->imported ? weft_external_memory_import(&buffer->imported, device, &info,
                                                          source->type, source->handle)
                            : export_memory(buffer, &info);
}

static weft_status fill(weft_buffer *buffer, const struct source *source) {
    weft_device *device = buffer->device;
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = bit_of(source->type)};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .pNext = &external,
                               .size = (buffer->size + 3) / 4 * 4,
                               .usage = USAGE};
    VkMemoryRequirements needs;
    weft_vkbuffer_share(&info, device);
    WEFT_TRY(WEFT_VK_MAKE(device, CreateBuffer, &info, &buffer->handle));
    weft_debug_name(device, VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer->handle, "weft buffer");
    device->vk.GetBufferMemoryRequirements(device->vk.handle, buffer->handle, &needs);
    WEFT_TRY(make_memory(buffer, &needs, source));
    return WEFT_VK(device, BindBufferMemory, buffer->handle, buffer->imported, 0);
}

static weft_status make(weft_buffer **buffer, weft_device *device, uint64_t size,
                        const struct source *source) {
    weft_buffer *made = weft_alloc_zero(&device->host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(&device->host, "buffer");
    }
    *made = (weft_buffer){.device = device,
                          .size = size,
                          .is_external = true,
                          .is_exportable = !source->imported,
                          .external = source->type};
    const weft_status status = fill(made, source);
    if (status != WEFT_OK) {
        weft_buffer_destroy(&made);
        return status;
    }
    *buffer = made;
    return WEFT_OK;
}

static weft_status check(const weft_device *device, weft_buffer *const *buffer, uint64_t size,
                         const struct source *source, const char *function) {
    weft_external_info info;
    if (!buffer || size == 0) {
        return weft_fail(&device->host, WEFT_INVALID_ARGUMENT, "%s: %s", function,
                         buffer ? "size is 0" : "buffer is null");
    }
    WEFT_TRY(weft_device_runs(device));
    WEFT_TRY(weft_device_get_external(device, source->type, &info));
    if (!(source->imported ? info.imports : info.exports)) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED, "%s: %s %s no memory of type %s",
                         function, device->info.name, source->imported ? "imports" : "exports",
                         weft_external_type_name(source->type));
    }
    if (size > device->info.device_memory) {
        return weft_fail(&device->host, WEFT_OUT_OF_DEVICE_MEMORY,
                         "%s: %" PRIu64 " bytes, the device can have %" PRIu64, function, size,
                         device->info.device_memory);
    }
    return source->imported ? weft_external_check(device, source->handle, function) : WEFT_OK;
}

weft_status weft_buffer_create_exportable(weft_buffer **buffer, weft_device *device, uint64_t size,
                                          weft_external_type type) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(device, host), buffer, device);
    const struct source source = {.type = type};
    WEFT_TRY(check(device, buffer, size, &source, "weft_buffer_create_exportable"));
    return make(buffer, device, size, &source);
}

weft_status weft_buffer_import_memory(weft_buffer **buffer, weft_device *device,
                                      weft_external_type type, weft_external_handle handle,
                                      uint64_t size) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(device, host), buffer, device);
    const struct source source = {.type = type, .imported = true, .handle = handle};
    WEFT_TRY(check(device, buffer, size, &source, "weft_buffer_import_memory"));
    return make(buffer, device, size, &source);
}

weft_status weft_buffer_export_memory(weft_buffer *buffer, weft_external_handle *handle) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(buffer, device->host), buffer, handle);
    if (!buffer->is_exportable) {
        return weft_fail(&buffer->device->host, WEFT_INVALID_ARGUMENT,
                         "weft_buffer_export_memory: the buffer is not exportable");
    }
    WEFT_TRY(weft_device_runs(buffer->device));
    return weft_external_memory_export(handle, buffer->device, buffer->imported, buffer->external);
}
