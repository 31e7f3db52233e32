/* SPDX-License-Identifier: MIT */
#include "support_dispatch.h"

#include "device/commands.h"

static VkDescriptorPool make_pool(weft_device *device, uint32_t bindings) {
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, bindings};
    const VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = 1,
                                             .pPoolSizes = &size};
    VkDescriptorPool pool = VK_NULL_HANDLE;
    assert_int_equal(device->vk.CreateDescriptorPool(device->vk.handle, &info, NULL, &pool),
                     VK_SUCCESS);
    return pool;
}

static VkDescriptorSet make_set(weft_device *device, VkDescriptorPool pool, VkBuffer buffer,
                                const struct weft_pipeline *pipeline, VkDeviceSize part) {
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &pipeline->set_layout};
    VkDescriptorSet set = VK_NULL_HANDLE;
    assert_int_equal(device->vk.AllocateDescriptorSets(device->vk.handle, &allocate, &set),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < pipeline->binding_count; i++) {
        const VkDescriptorBufferInfo range = {buffer, i * part, part};
        const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                            .dstSet = set,
                                            .dstBinding = i,
                                            .descriptorCount = 1,
                                            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                            .pBufferInfo = &range};
        device->vk.UpdateDescriptorSets(device->vk.handle, 1, &write, 0, NULL);
    }
    return set;
}

static void record(weft_device *device, VkCommandBuffer commands,
                   const struct weft_test_dispatch *dispatch, VkDescriptorSet set) {
    const struct weft_vk_device *vk = &device->vk;
    const struct weft_pipeline *pipeline = dispatch->pipeline;
    vk->CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->handle);
    vk->CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout, 0, 1,
                              &set, 0, NULL);
    if (pipeline->push_size > 0) {
        vk->CmdPushConstants(commands, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                             pipeline->push_size, dispatch->push);
    }
    vk->CmdDispatchBase(commands, dispatch->base, 0, 0, dispatch->groups, 1, 1);
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT};
    vk->CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                           VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
}

void weft_test_dispatch(weft_device *device, const struct weft_test_dispatch *dispatch,
                        uint32_t *data, size_t words) {
    const uint32_t bindings = dispatch->pipeline->binding_count;
    VkBuffer buffer = VK_NULL_HANDLE;
    struct weft_allocation *allocation = NULL;
    assert_ok(weft_vkbuffer_create(&buffer, &allocation, device, 4 * words, WEFT_MEMORY_DEVICE));
    assert_ok(weft_device_upload(device, buffer, 0, data, 4 * words));
    VkDescriptorPool pool = make_pool(device, bindings);
    VkDescriptorSet set = make_set(device, pool, buffer, dispatch->pipeline, 4 * words / bindings);
    struct weft_commands *commands = NULL;
    assert_ok(weft_commands_take(&commands, device));
    assert_ok(weft_commands_begin(commands, device));
    record(device, commands->handle, dispatch, set);
    assert_ok(weft_commands_run(commands, device));
    weft_commands_give(device, commands);
    assert_ok(weft_device_download(device, buffer, 0, data, 4 * words));
    device->vk.DestroyDescriptorPool(device->vk.handle, pool, NULL);
    weft_vkbuffer_destroy(device, &buffer, &allocation);
}
