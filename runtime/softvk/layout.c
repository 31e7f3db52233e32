/* SPDX-License-Identifier: MIT */
/* Layouts of descriptor sets, of storage buffers only, and of pipelines. */
#include <stdlib.h>

#include "softvk/descriptor.h"
#include "softvk/device.h"

static bool is_dynamic(VkDescriptorType type) {
    return type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC;
}

static bool is_supported(const VkDescriptorSetLayoutCreateInfo *info) {
    bool supported = true;
    uint64_t slots = 0;
    for (uint32_t i = 0; i < info->bindingCount; i++) {
        const VkDescriptorSetLayoutBinding *binding = &info->pBindings[i];
        supported =
            supported && (binding->descriptorCount == 0 || is_dynamic(binding->descriptorType) ||
                          binding->descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER);
        slots += binding->descriptorCount;
    }
    return supported && slots <= UINT32_MAX;
}

static int by_number(const void *left, const void *right) {
    const struct weft_soft_layout_binding *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

/* Gives bindings their slots and offsets in the order of their numbers, as updates need that run past the end of one. */
static void number_slots(struct weft_soft_set_layout *layout) {
    qsort(layout->bindings, layout->binding_count, sizeof layout->bindings[0], by_number);
    for (uint32_t i = 0; i < layout->binding_count; i++) {
        struct weft_soft_layout_binding *binding = &layout->bindings[i];
        binding->first = layout->slot_count;
        layout->slot_count += binding->count;
        if (binding->first_offset != WEFT_SOFT_NOT_DYNAMIC) {
            binding->first_offset = layout->offset_count;
            layout->offset_count += binding->count;
        }
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL create_set_layout(VkDevice handle,
                                                        const VkDescriptorSetLayoutCreateInfo *info,
                                                        const VkAllocationCallbacks *allocator,
                                                        VkDescriptorSetLayout *layout) {
    (void)allocator;
    const struct weft_soft_device *device = weft_soft_device_of(handle);
    if (!is_supported(info)) {
        return VK_ERROR_UNKNOWN;
    }
    struct weft_soft_set_layout *made =
        weft_soft_new(device, sizeof *made + (size_t)info->bindingCount * sizeof made->bindings[0]);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    atomic_init(&made->references, 1);
    made->binding_count = info->bindingCount;
    for (uint32_t i = 0; i < info->bindingCount; i++) {
        const VkDescriptorSetLayoutBinding *binding = &info->pBindings[i];
        made->bindings[i] = (struct weft_soft_layout_binding){
            .number = binding->binding,
            .count = binding->descriptorCount,
            .first_offset = is_dynamic(binding->descriptorType) ? 0 : WEFT_SOFT_NOT_DYNAMIC};
    }
    number_slots(made);
    *layout = WEFT_SOFT_HANDLE(VkDescriptorSetLayout, made);
    return VK_SUCCESS;
}

struct weft_soft_set_layout *weft_soft_set_layout_keep(struct weft_soft_set_layout *layout) {
    if (layout) {
        atomic_fetch_add(&layout->references, 1);
    }
    return layout;
}

void weft_soft_set_layout_release(const struct weft_soft_device *device,
                                  struct weft_soft_set_layout *layout) {
    if (layout && atomic_fetch_sub(&layout->references, 1) == 1) {
        weft_soft_delete(device, layout);
    }
}

static VKAPI_ATTR void VKAPI_CALL destroy_set_layout(VkDevice handle, VkDescriptorSetLayout layout,
                                                     const VkAllocationCallbacks *allocator) {
    (void)allocator;
    weft_soft_set_layout_release(weft_soft_device_of(handle), weft_soft_set_layout_of(layout));
}

const struct weft_soft_layout_binding *weft_soft_find_binding(
    const struct weft_soft_set_layout *layout, uint32_t number) {
    const struct weft_soft_layout_binding *found = NULL;
    for (uint32_t i = 0; layout && i < layout->binding_count && !found; i++) {
        found = layout->bindings[i].number == number ? &layout->bindings[i] : NULL;
    }
    return found;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pipeline_layout(VkDevice handle,
                                                             const VkPipelineLayoutCreateInfo *info,
                                                             const VkAllocationCallbacks *allocator,
                                                             VkPipelineLayout *layout) {
    (void)allocator;
    const struct weft_soft_device *device = weft_soft_device_of(handle);
    if (info->setLayoutCount > WEFT_SOFT_MAX_SETS) {
        return VK_ERROR_UNKNOWN;
    }
    struct weft_soft_pipeline_layout *made = weft_soft_new(device, sizeof *made);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < info->pushConstantRangeCount; i++) {
        const uint32_t end =
            info->pPushConstantRanges[i].offset + info->pPushConstantRanges[i].size;
        made->push_size = end > made->push_size ? end : made->push_size;
    }
    made->set_count = info->setLayoutCount;
    for (uint32_t i = 0; i < info->setLayoutCount; i++) {
        made->sets[i] = weft_soft_set_layout_keep(weft_soft_set_layout_of(info->pSetLayouts[i]));
    }
    *layout = WEFT_SOFT_HANDLE(VkPipelineLayout, made);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_pipeline_layout(VkDevice handle, VkPipelineLayout layout,
                                                          const VkAllocationCallbacks *allocator) {
    (void)allocator;
    const struct weft_soft_device *device = weft_soft_device_of(handle);
    struct weft_soft_pipeline_layout *old = weft_soft_pipeline_layout_of(layout);
    for (uint32_t i = 0; old && i < old->set_count; i++) {
        weft_soft_set_layout_release(device, old->sets[i]);
    }
    weft_soft_delete(device, old);
}

const struct weft_soft_function weft_soft_layout_functions[] = {
    WEFT_SOFT_FUNCTION(CreateDescriptorSetLayout, create_set_layout),
    WEFT_SOFT_FUNCTION(DestroyDescriptorSetLayout, destroy_set_layout),
    WEFT_SOFT_FUNCTION(CreatePipelineLayout, create_pipeline_layout),
    WEFT_SOFT_FUNCTION(DestroyPipelineLayout, destroy_pipeline_layout),
    {NULL, NULL},
};
