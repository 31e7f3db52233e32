/* SPDX-License-Identifier: MIT */
/* Descriptor sets: one per dispatch, holding its storage buffers. */
#include "plan/plan.h"

/** True if a dispatch binds an input or output of the plan. */
static bool binds_port(const struct weft_lowering *lowering, const struct weft_dispatch *dispatch) {
    for (uint32_t i = 0; i < dispatch->operand_count; i++) {
        if (lowering->storages[dispatch->operand[i].storage].kind == WEFT_STORAGE_PORT) {
            return true;
        }
    }
    return false;
}

static weft_status create_pool(VkDescriptorPool *pool, weft_device *device, uint32_t sets,
                               uint32_t descriptors) {
    VkDescriptorPoolSize size = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                 .descriptorCount = descriptors};
    VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = sets,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    return WEFT_VK_MAKE(device, CreateDescriptorPool, &info, pool);
}

weft_status weft_descriptors_create(VkDescriptorPool *pool, VkDescriptorSet *sets,
                                    const weft_plan *plan, bool ports) {
    weft_device *device = plan->device;
    const struct weft_lowering *lowering = &plan->lowering;
    uint32_t set_count = 0;
    uint32_t descriptor_count = 0;
    for (uint32_t i = 0; i < lowering->dispatch_count; i++) {
        if (binds_port(lowering, &lowering->dispatches[i]) == ports) {
            set_count++;
            descriptor_count += lowering->dispatches[i].operand_count;
        }
    }
    weft_status status =
        set_count ? create_pool(pool, device, set_count, descriptor_count) : WEFT_OK;
    for (uint32_t i = 0; i < lowering->dispatch_count && status == WEFT_OK; i++) {
        const struct weft_dispatch *dispatch = &lowering->dispatches[i];
        if (binds_port(lowering, dispatch) != ports) {
            continue;
        }
        VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = *pool,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &dispatch->built->set_layout};
        status = weft_device_check(
            device, device->vk.AllocateDescriptorSets(device->vk.handle, &info, &sets[i]),
            "vkAllocateDescriptorSets");
    }
    return status;
}

static VkDescriptorBufferInfo buffer_of(const weft_plan *plan, VkBuffer arena,
                                        const struct weft_operand *operand, const VkBuffer *buffers,
                                        const uint64_t *offsets) {
    const struct weft_storage *storage = &plan->lowering.storages[operand->storage];
    VkDescriptorBufferInfo info = {.offset = operand->offset,
                                   .range = operand->range ? operand->range
                                                           : storage->bytes - operand->offset};
    switch (storage->kind) {
    case WEFT_STORAGE_ARENA:
        info.buffer = arena;
        info.offset += storage->offset;
        break;
    case WEFT_STORAGE_PORT:
        info.buffer = buffers[storage->port];
        info.offset += offsets[storage->port];
        break;
    case WEFT_STORAGE_CONSTANT:
        info.buffer = storage->constant->buffer;
        break;
    }
    return info;
}

void weft_descriptors_write(const weft_plan *plan, VkBuffer arena, uint32_t index,
                            VkDescriptorSet set, const VkBuffer *buffers, const uint64_t *offsets) {
    const struct weft_dispatch *dispatch = &plan->lowering.dispatches[index];
    VkDescriptorBufferInfo infos[WEFT_MAX_BINDINGS];
    VkWriteDescriptorSet writes[WEFT_MAX_BINDINGS];
    for (uint32_t i = 0; i < dispatch->operand_count; i++) {
        infos[i] = buffer_of(plan, arena, &dispatch->operand[i], buffers, offsets);
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .pBufferInfo = &infos[i]};
    }
    plan->device->vk.UpdateDescriptorSets(plan->device->vk.handle, dispatch->operand_count, writes,
                                          0, NULL);
}
