/* SPDX-License-Identifier: MIT */
/* Support of a device for memory and semaphores shared with others. */
#include "device/external.h"

const char *weft_external_type_name(weft_external_type type) {
    switch (type) {
    case WEFT_EXTERNAL_OPAQUE:
        return "opaque";
    case WEFT_EXTERNAL_DMA_BUF:
        return "dma_buf";
    }
    return "unknown";
}

static PFN_vkVoidFunction find(const weft_device *device, const char *name) {
    return name ? device->instance.GetDeviceProcAddr(device->vk.handle, name) : NULL;
}

void weft_external_load(weft_device *device, const struct weft_external_extensions *enabled) {
    const struct weft_vk_instance *instance = &device->instance;
    const struct weft_external_names *names = &weft_external_names;
    struct weft_vk_external *external = &device->external;
    if (enabled->memory) {
        external->get_memory = find(device, names->get_memory);
        external->memory_properties = find(device, names->memory_properties);
        external->dma_buf = enabled->dma_buf && external->memory_properties;
    }
    if (enabled->semaphore) {
        external->get_semaphore = find(device, names->get_semaphore);
        external->import_semaphore = find(device, names->import_semaphore);
    }
    if (external->get_memory) {
        external->buffer_properties =
            (PFN_vkGetPhysicalDeviceExternalBufferProperties)instance->GetInstanceProcAddr(
                instance->handle, "vkGetPhysicalDeviceExternalBufferProperties");
    }
    if (external->get_semaphore && external->import_semaphore) {
        external->semaphore_properties =
            (PFN_vkGetPhysicalDeviceExternalSemaphoreProperties)instance->GetInstanceProcAddr(
                instance->handle, "vkGetPhysicalDeviceExternalSemaphoreProperties");
    }
}
