/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* What tests/driver adds to the library's Vulkan functions, called as an application would call it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <unistd.h>

#include "driver/driver.h"
#include "softvk/cache.h"

#define TESTED_PROC_ADDR weft_driver_get_instance_proc_addr
#include "support_softvk.h"

/* The function of the fixture's driver. */
#define MORE(name) ((PFN_vk##name)f->instance.GetDeviceProcAddr(f->vk.handle, "vk" #name))

/* ---- commands ---- */

TEST(test_indirect, f) {
    VkPipeline pipeline = pipeline_of(f, &counting);
    VkCommandBuffer commands = begin(f);
    const uint32_t groups[3] = {4, 2, 1};
    memset(f->bytes[0], 0, BUFFER_SIZE);
    bind(f, commands, pipeline);
    push(f, commands, 1);
    MORE(CmdUpdateBuffer)(commands, f->buffers[1], 64, sizeof groups, groups);
    MORE(CmdDispatchIndirect)(commands, f->buffers[1], 64);
    run(f, commands);
    assert_int_equal(words(f, 0)[3], 1);
    assert_int_equal(words(f, 0)[4], 0);
    assert_int_equal(words(f, 0)[1003], 1);
    assert_int_equal(words(f, 0)[2003], 0);
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
}

TEST(test_secondary_command_buffers, f) {
    VkPipeline pipeline = pipeline_of(f, &counting);
    VkCommandBuffer second = begin(f), commands = begin(f);
    memset(f->bytes[0], 0, BUFFER_SIZE);
    bind(f, second, pipeline);
    push(f, second, 5);
    f->vk.CmdDispatch(second, 2, 1, 1);
    assert_vk(f->vk.EndCommandBuffer(second));
    MORE(CmdExecuteCommands)(commands, 1, &second);
    MORE(CmdExecuteCommands)(commands, 1, &second);
    run(f, commands);
    assert_int_equal(words(f, 0)[1], 10);
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
}

/* ---- descriptors and memory ---- */

WEFT_TEST_WITH(test_copied_and_templated_sets, struct fixture *f, set_up_one, tear_down) {
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = f->descriptors,
        .descriptorSetCount = 1,
        .pSetLayouts = &f->set_layout};
    VkDescriptorSet other = VK_NULL_HANDLE;
    assert_vk(f->vk.AllocateDescriptorSets(f->vk.handle, &allocate, &other));
    /* Binding 0 by a template, binding 1 from the fixture's set. */
    const VkDescriptorUpdateTemplateEntry entry = {.dstBinding = 0,
                                                   .descriptorCount = 1,
                                                   .descriptorType =
                                                       VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                   .offset = sizeof(VkDescriptorBufferInfo)};
    const VkDescriptorUpdateTemplateCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO,
        .descriptorUpdateEntryCount = 1,
        .pDescriptorUpdateEntries = &entry};
    VkDescriptorUpdateTemplate template = VK_NULL_HANDLE;
    assert_vk(MORE(CreateDescriptorUpdateTemplate)(f->vk.handle, &info, NULL, &template));
    const VkDescriptorBufferInfo data[2] = {{0},
                                            {.buffer = f->buffers[0], .offset = 16, .range = 16}};
    MORE(UpdateDescriptorSetWithTemplate)(f->vk.handle, other, template, data);
    MORE(DestroyDescriptorUpdateTemplate)(f->vk.handle, template, NULL);
    const VkCopyDescriptorSet copy = {.sType = VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET,
                                      .srcSet = f->set,
                                      .srcBinding = 1,
                                      .dstSet = other,
                                      .dstBinding = 1,
                                      .descriptorCount = 1};
    f->vk.UpdateDescriptorSets(f->vk.handle, 0, NULL, 1, &copy);
    VkPipeline pipeline = pipeline_of(f, &adding);
    VkCommandBuffer commands = begin(f);
    words(f, 0)[4] = 40;
    words(f, 0)[5] = 2;
    f->vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    f->vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, f->layout, 0, 1, &other,
                                0, NULL);
    f->vk.CmdDispatch(commands, 1, 1, 1);
    run(f, commands);
    assert_int_equal(words(f, 1)[0], 45);
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
}

WEFT_TEST_WITH(test_descriptors_are_given_back, struct fixture *f, set_up_one, tear_down) {
    const VkDescriptorSetLayout layouts[3] = {f->set_layout, f->set_layout, f->set_layout};
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = f->descriptors,
                                        .descriptorSetCount = 2,
                                        .pSetLayouts = layouts};
    VkDescriptorSet sets[3];
    assert_vk(f->vk.AllocateDescriptorSets(f->vk.handle, &info, sets));
    assert_vk(MORE(FreeDescriptorSets)(f->vk.handle, f->descriptors, 1, &sets[1]));
    info.descriptorSetCount = 1;
    assert_vk(f->vk.AllocateDescriptorSets(f->vk.handle, &info, sets));
    assert_vk(MORE(ResetDescriptorPool)(f->vk.handle, f->descriptors, 0));
    info.descriptorSetCount = 3;
    assert_vk(f->vk.AllocateDescriptorSets(f->vk.handle, &info, sets));
}

WEFT_TEST_WITH(test_buffers, struct fixture *f, set_up_one, tear_down) {
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = 100};
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_vk(f->vk.CreateBuffer(f->vk.handle, &info, NULL, &buffer));
    const VkBufferMemoryRequirementsInfo2 ask = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2, .buffer = buffer};
    VkMemoryRequirements2 requirements = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
    MORE(GetBufferMemoryRequirements2)(f->vk.handle, &ask, &requirements);
    assert_int_equal(requirements.memoryRequirements.size, 128);
    const VkBindBufferMemoryInfo bound = {.sType = VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO,
                                          .buffer = buffer,
                                          .memory = f->memory,
                                          .memoryOffset = 64};
    assert_vk(MORE(BindBufferMemory2)(f->vk.handle, 1, &bound));
    const VkMappedMemoryRange range = {
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE, .memory = f->memory, .size = VK_WHOLE_SIZE};
    assert_vk(MORE(FlushMappedMemoryRanges)(f->vk.handle, 1, &range));
    assert_vk(MORE(InvalidateMappedMemoryRanges)(f->vk.handle, 1, &range));
    VkCommandBuffer commands = begin(f);
    f->vk.CmdFillBuffer(commands, buffer, 0, VK_WHOLE_SIZE, 0x01020304);
    run(f, commands);
    assert_int_equal(words(f, 0)[16], 0x01020304);
    f->vk.DestroyBuffer(f->vk.handle, buffer, NULL);
}

/* ---- queries, semaphores, events ---- */

TEST(test_time_stamps_are_copied, f) {
    const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                        .queryCount = 1};
    uint64_t stamp = 0;
    VkQueryPool pool = VK_NULL_HANDLE;
    assert_vk(f->vk.CreateQueryPool(f->vk.handle, &info, NULL, &pool));
    VkCommandBuffer commands = begin(f);
    f->vk.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 0);
    MORE(CmdCopyQueryPoolResults)
    (commands, pool, 0, 1, f->buffers[1], 8, 8, VK_QUERY_RESULT_64_BIT);
    run(f, commands);
    assert_vk(f->vk.GetQueryPoolResults(f->vk.handle, pool, 0, 1, sizeof stamp, &stamp, 8,
                                        VK_QUERY_RESULT_64_BIT));
    assert_memory_equal(f->bytes[1] + 8, &stamp, 8);
    MORE(ResetQueryPool)(f->vk.handle, pool, 0, 1);
    assert_int_equal(f->vk.GetQueryPoolResults(f->vk.handle, pool, 0, 1, sizeof stamp, &stamp, 8,
                                               VK_QUERY_RESULT_64_BIT),
                     VK_NOT_READY);
    f->vk.DestroyQueryPool(f->vk.handle, pool, NULL);
    assert_vk(MORE(ResetCommandPool)(f->vk.handle, f->pool, 0));
}

TEST(test_semaphores, f) {
    VkSemaphore semaphore = VK_NULL_HANDLE;
    assert_vk(create_timeline(&semaphore, f, 7));
    const uint64_t value = submit_after(f, VK_NULL_HANDLE, semaphore, 100);
    assert_int_equal(wait_for(f, f->timeline, value, 3000000), VK_TIMEOUT);
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = 100};
    assert_vk(MORE(SignalSemaphore)(f->vk.handle, &info));
    assert_vk(MORE(QueueWaitIdle)(f->queue));
    assert_int_equal(counter(f, f->timeline), value);
    f->vk.DestroySemaphore(f->vk.handle, semaphore, NULL);
}

struct later {
    struct fixture *f;
    VkEvent event;
};

static void *set_later(void *argument) {
    const struct later *later = argument;
    const struct fixture *f = later->f;
    usleep(20000);
    (void)MORE(SetEvent)(f->vk.handle, later->event);
    return NULL;
}

TEST(test_events, f) {
    const VkEventCreateInfo info = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    struct later later = {.f = f};
    VkEvent done = VK_NULL_HANDLE;
    pthread_t thread;
    assert_vk(MORE(CreateEvent)(f->vk.handle, &info, NULL, &later.event));
    assert_vk(MORE(CreateEvent)(f->vk.handle, &info, NULL, &done));
    VkCommandBuffer commands = begin(f);
    MORE(CmdWaitEvents)
    (commands, 1, &later.event, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, NULL,
     0, NULL, 0, NULL);
    MORE(CmdSetEvent)(commands, done, VK_PIPELINE_STAGE_TRANSFER_BIT);
    assert_vk(f->vk.EndCommandBuffer(commands));
    const uint64_t value = submit(f, commands);
    assert_int_equal(MORE(GetEventStatus)(f->vk.handle, done), VK_EVENT_RESET);
    assert_int_equal(pthread_create(&thread, NULL, set_later, &later), 0);
    assert_vk(wait_for(f, f->timeline, value, UINT64_MAX));
    assert_int_equal(MORE(GetEventStatus)(f->vk.handle, done), VK_EVENT_SET);
    assert_int_equal(pthread_join(thread, NULL), 0);
    MORE(DestroyEvent)(f->vk.handle, later.event, NULL);
    MORE(DestroyEvent)(f->vk.handle, done, NULL);
}

/* ---- caches ---- */

static VkPipelineCache cache_with(const struct fixture *f, const char *name) {
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    const weft_host *host = &weft_soft_device_of(f->vk.handle)->host;
    struct weft_soft_object object = {.bytes = weft_alloc(host, 9), .size = 9};
    const weft_digest key = weft_digest_of(name, strlen(name));
    VkPipelineCache cache = VK_NULL_HANDLE;
    assert_non_null(object.bytes);
    memset(object.bytes, name[0], object.size);
    assert_vk(f->vk.CreatePipelineCache(f->vk.handle, &info, NULL, &cache));
    weft_soft_cache_put(weft_soft_cache_of(cache), &key, &object, host);
    return cache;
}

WEFT_TEST_WITH(test_caches_are_merged, struct fixture *f, set_up_one, tear_down) {
    const VkPipelineCache cache = cache_with(f, "first");
    const VkPipelineCache others[2] = {cache_with(f, "second"), cache_with(f, "first")};
    assert_vk(MORE(MergePipelineCaches)(f->vk.handle, cache, 2, others));
    assert_int_equal(weft_soft_cache_of(cache)->count, 2);
    f->vk.DestroyPipelineCache(f->vk.handle, cache, NULL);
    f->vk.DestroyPipelineCache(f->vk.handle, others[0], NULL);
    f->vk.DestroyPipelineCache(f->vk.handle, others[1], NULL);
}
