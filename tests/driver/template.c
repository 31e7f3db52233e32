/* SPDX-License-Identifier: MIT */
/* Templates for updating descriptor sets. */
#include <string.h>

#include "driver/driver.h"
#include "softvk/descriptor.h"
#include "softvk/device.h"

struct weft_soft_template {
    uint32_t count;
    VkDescriptorUpdateTemplateEntry entries[];
};

WEFT_SOFT_OBJECT(VkDescriptorUpdateTemplate, template)

static VKAPI_ATTR VkResult VKAPI_CALL
create_template(VkDevice handle, const VkDescriptorUpdateTemplateCreateInfo *info,
                const VkAllocationCallbacks *allocator, VkDescriptorUpdateTemplate *template) {
    (void)allocator;
    const uint32_t count = info->descriptorUpdateEntryCount;
    struct weft_soft_template *made =
        weft_soft_new(weft_soft_device_of(handle), sizeof *made + count * sizeof made->entries[0]);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->count = count;
    if (count > 0) {
        memcpy(made->entries, info->pDescriptorUpdateEntries, count * sizeof made->entries[0]);
    }
    *template = WEFT_SOFT_HANDLE(VkDescriptorUpdateTemplate, made);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_template(VkDevice handle,
                                                   VkDescriptorUpdateTemplate template,
                                                   const VkAllocationCallbacks *allocator) {
    (void)allocator;
    weft_soft_delete(weft_soft_device_of(handle), weft_soft_template_of(template));
}

static VKAPI_ATTR void VKAPI_CALL update_set(VkDevice handle, VkDescriptorSet set,
                                             VkDescriptorUpdateTemplate template,
                                             const void *data) {
    const struct weft_soft_template *by = weft_soft_template_of(template);
    for (uint32_t i = 0; i < by->count; i++) {
        const VkDescriptorUpdateTemplateEntry *entry = &by->entries[i];
        weft_soft_write_slots(weft_soft_device_of(handle), weft_soft_descriptor_set_of(set),
                              entry->dstBinding, entry->dstArrayElement, entry->descriptorCount,
                              (const uint8_t *)data + entry->offset, entry->stride);
    }
}

const struct weft_soft_function weft_driver_template_functions[] = {
    WEFT_SOFT_FUNCTION(CreateDescriptorUpdateTemplate, create_template),
    WEFT_SOFT_FUNCTION(DestroyDescriptorUpdateTemplate, destroy_template),
    WEFT_SOFT_FUNCTION(UpdateDescriptorSetWithTemplate, update_set),
    {NULL, NULL},
};
