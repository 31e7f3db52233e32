/* SPDX-License-Identifier: MIT */
/* Descriptor pools and sets: ranges of bytes that kernels get. */
#include "softvk/descriptor.h"

#include <string.h>

#include "softvk/device.h"
#include "softvk/memory.h"

/* ---- pools ---- */

static void fill_pool(struct weft_soft_descriptor_pool *pool,
                      const VkDescriptorPoolCreateInfo *info) {
    uint64_t slots = 0;
    for (uint32_t i = 0; i < info->poolSizeCount; i++) {
        slots += info->pPoolSizes[i].descriptorCount;
    }
    pool->sets_left = info->maxSets;
    pool->slots_left = slots < UINT32_MAX ? (uint32_t)slots : UINT32_MAX;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pool(VkDevice handle,
                                                  const VkDescriptorPoolCreateInfo *info,
                                                  const VkAllocationCallbacks *allocator,
                                                  VkDescriptorPool *pool) {
    (void)allocator;
    struct weft_soft_descriptor_pool *made =
        weft_soft_new(weft_soft_device_of(handle), sizeof *made);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    fill_pool(made, info);
    *pool = WEFT_SOFT_HANDLE(VkDescriptorPool, made);
    return VK_SUCCESS;
}

void weft_soft_set_destroy(const struct weft_soft_device *device,
                           struct weft_soft_descriptor_set *set) {
    struct weft_soft_descriptor_pool *pool = set->pool;
    if (set->previous) {
        set->previous->next = set->next;
    } else {
        pool->sets = set->next;
    }
    if (set->next) {
        set->next->previous = set->previous;
    }
    pool->sets_left++;
    pool->slots_left += set->layout->slot_count;
    weft_soft_set_layout_release(device, set->layout);
    weft_soft_delete(device, set);
}

void weft_soft_pool_empty(const struct weft_soft_device *device,
                          struct weft_soft_descriptor_pool *pool) {
    while (pool->sets) {
        weft_soft_set_destroy(device, pool->sets);
    }
}

static VKAPI_ATTR void VKAPI_CALL destroy_pool(VkDevice handle, VkDescriptorPool pool,
                                               const VkAllocationCallbacks *allocator) {
    (void)allocator;
    if (pool != VK_NULL_HANDLE) {
        weft_soft_pool_empty(weft_soft_device_of(handle), weft_soft_descriptor_pool_of(pool));
        weft_soft_delete(weft_soft_device_of(handle), weft_soft_descriptor_pool_of(pool));
    }
}

/* ---- sets ---- */

static VkResult make_set(VkDescriptorSet *set, const struct weft_soft_device *device,
                         struct weft_soft_descriptor_pool *pool,
                         struct weft_soft_set_layout *layout) {
    if (pool->sets_left == 0 || pool->slots_left < layout->slot_count) {
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    struct weft_soft_descriptor_set *made =
        weft_soft_new(device, sizeof *made + (size_t)layout->slot_count * sizeof made->ranges[0]);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    pool->sets_left--;
    pool->slots_left -= layout->slot_count;
    made->pool = pool;
    made->layout = weft_soft_set_layout_keep(layout);
    made->next = pool->sets;
    if (made->next) {
        made->next->previous = made;
    }
    pool->sets = made;
    *set = WEFT_SOFT_HANDLE(VkDescriptorSet, made);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_sets(VkDevice handle,
                                                    const VkDescriptorSetAllocateInfo *info,
                                                    VkDescriptorSet *sets) {
    const struct weft_soft_device *device = weft_soft_device_of(handle);
    struct weft_soft_descriptor_pool *pool = weft_soft_descriptor_pool_of(info->descriptorPool);
    for (uint32_t i = 0; i < info->descriptorSetCount; i++) {
        const VkResult result =
            make_set(&sets[i], device, pool, weft_soft_set_layout_of(info->pSetLayouts[i]));
        if (result != VK_SUCCESS) {
            while (i > 0) {
                weft_soft_set_destroy(device, weft_soft_descriptor_set_of(sets[--i]));
            }
            memset(sets, 0, info->descriptorSetCount * sizeof *sets);
            return result;
        }
    }
    return VK_SUCCESS;
}

/* ---- updates ---- */

static struct weft_soft_range range_of(const VkDescriptorBufferInfo *info,
                                       const struct weft_soft_device *device) {
    const struct weft_soft_buffer *buffer = weft_soft_buffer_of(info->buffer);
    if (!buffer || !buffer->memory || info->offset > buffer->size) {
        return (struct weft_soft_range){0};
    }
    const uint64_t most = device->physical->properties.limits.maxStorageBufferRange;
    const uint64_t left = buffer->size - info->offset;
    const uint64_t size =
        info->range < left ? info->range : left; /* VK_WHOLE_SIZE is the largest number */
    return (struct weft_soft_range){.memory = buffer->memory,
                                    .offset = buffer->offset + info->offset,
                                    .size = size < most ? size : most};
}

/* The slot, and how many there are from it on; 0 for a binding that the layout does not have. */
uint32_t weft_soft_find_slots(uint32_t *slot, const struct weft_soft_set_layout *layout,
                              uint32_t number, uint32_t element) {
    const struct weft_soft_layout_binding *binding = weft_soft_find_binding(layout, number);
    if (!binding || element >= layout->slot_count - binding->first) {
        return 0;
    }
    *slot = binding->first + element;
    return layout->slot_count - *slot;
}

void weft_soft_write_slots(const struct weft_soft_device *device,
                           struct weft_soft_descriptor_set *set, uint32_t binding, uint32_t element,
                           uint32_t count, const uint8_t *infos, size_t stride) {
    uint32_t slot = 0;
    const uint32_t left = weft_soft_find_slots(&slot, set->layout, binding, element);
    for (uint32_t i = 0; i < count && i < left; i++) {
        VkDescriptorBufferInfo info;
        memcpy(&info, infos + i * stride, sizeof info);
        set->ranges[slot + i] = range_of(&info, device);
    }
}

static VKAPI_ATTR void VKAPI_CALL update_sets(VkDevice handle, uint32_t write_count,
                                              const VkWriteDescriptorSet *writes,
                                              uint32_t copy_count,
                                              const VkCopyDescriptorSet *copies) {
    (void)copy_count; /* Weft copies none: tests/driver does it */
    (void)copies;
    for (uint32_t i = 0; i < write_count; i++) {
        const VkWriteDescriptorSet *write = &writes[i];
        weft_soft_write_slots(weft_soft_device_of(handle),
                              weft_soft_descriptor_set_of(write->dstSet), write->dstBinding,
                              write->dstArrayElement, write->descriptorCount,
                              (const uint8_t *)write->pBufferInfo, sizeof *write->pBufferInfo);
    }
}

const struct weft_soft_function weft_soft_descriptor_functions[] = {
    WEFT_SOFT_FUNCTION(CreateDescriptorPool, create_pool),
    WEFT_SOFT_FUNCTION(DestroyDescriptorPool, destroy_pool),
    WEFT_SOFT_FUNCTION(AllocateDescriptorSets, allocate_sets),
    WEFT_SOFT_FUNCTION(UpdateDescriptorSets, update_sets),
    {NULL, NULL},
};
