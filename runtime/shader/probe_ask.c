/* SPDX-License-Identifier: MIT */
#include "shader/probe_ask.h"

#include <string.h>

#include "core/try.h"
#include "device/commands.h"
#include "shader/pipeline.h"

/* All that one run of a kernel needs. */
struct run {
    const struct weft_probe_question *question;
    const struct weft_pipeline *pipeline;
    VkBuffer buffers[2]; /* inputs, results */
    struct weft_allocation *allocations[2];
    VkDescriptorPool pool;
    VkDescriptorSet set;
};

/* Host-visible memory: it does not count against the caller's limit, and needs no copies. */
static weft_status create_buffers(struct run *run, weft_device *device) {
    const struct weft_probe_question *question = run->question;
    const size_t sizes[] = {question->input_count * sizeof(uint32_t),
                            question->result_count * sizeof(uint32_t)};
    for (size_t i = 0; i < 2; i++) {
        WEFT_TRY(weft_vkbuffer_create(&run->buffers[i], &run->allocations[i], device, sizes[i],
                                      WEFT_MEMORY_STAGING));
    }
    memcpy(run->allocations[0]->mapped, question->inputs, sizes[0]);
    /* No right result is all ones everywhere, so a dispatch that writes nothing is found out. */
    memset(run->allocations[1]->mapped, 0xff, sizes[1]);
    return WEFT_OK;
}

static weft_status create_set(struct run *run, weft_device *device) {
    VkDescriptorPoolSize size = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = 2};
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    WEFT_TRY(WEFT_VK_MAKE(device, CreateDescriptorPool, &pool, &run->pool));
    VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = run->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &run->pipeline->set_layout,
    };
    WEFT_TRY(WEFT_VK(device, AllocateDescriptorSets, &info, &run->set));
    VkDescriptorBufferInfo buffers[2];
    VkWriteDescriptorSet writes[2];
    for (uint32_t i = 0; i < 2; i++) {
        buffers[i] = (VkDescriptorBufferInfo){.buffer = run->buffers[i], .range = VK_WHOLE_SIZE};
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = run->set,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .pBufferInfo = &buffers[i],
        };
    }
    device->vk.UpdateDescriptorSets(device->vk.handle, 2, writes, 0, NULL);
    return WEFT_OK;
}

static void record(const void *user, const weft_device *device, VkCommandBuffer commands) {
    const struct run *run = user;
    const struct weft_probe_question *question = run->question;
    const struct weft_pipeline *pipeline = run->pipeline;
    device->vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->handle);
    device->vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout, 0,
                                     1, &run->set, 0, NULL);
    device->vk.CmdPushConstants(commands, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                question->push_count * (uint32_t)sizeof question->push[0],
                                question->push);
    device->vk.CmdDispatchBase(commands, 0, 0, 0, question->groups, 1, 1);
    VkMemoryBarrier written = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    device->vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                  VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &written, 0, NULL, 0, NULL);
}

static weft_status make_and_run(struct run *run, weft_device *device) {
    const struct weft_probe_question *question = run->question;
    const struct weft_pipeline_desc desc = {.name = question->shader,
                                            .binding_count = 2,
                                            .push_size = question->push_count *
                                                         (uint32_t)sizeof question->push[0]};
    WEFT_TRY(weft_pipeline_get(&run->pipeline, device, &desc));
    WEFT_TRY(create_buffers(run, device));
    WEFT_TRY(create_set(run, device));
    WEFT_TRY(weft_commands_once(device, record, run));
    memcpy(question->results, run->allocations[1]->mapped,
           question->result_count * sizeof question->results[0]);
    return WEFT_OK;
}

weft_status weft_probe_ask(const struct weft_probe_question *question, weft_device *device) {
    struct run run = {.question = question};
    const weft_status status = make_and_run(&run, device);
    if (run.pool != VK_NULL_HANDLE) {
        device->vk.DestroyDescriptorPool(device->vk.handle, run.pool, NULL);
    }
    for (size_t i = 0; i < 2; i++) {
        weft_vkbuffer_destroy(device, &run.buffers[i], &run.allocations[i]);
    }
    return status;
}
