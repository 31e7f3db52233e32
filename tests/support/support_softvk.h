/* SPDX-License-Identifier: MIT */
/*
 * A device of runtime/softvk with what its tests need, made by the functions of TESTED_PROC_ADDR, which the includer defines. The kernels
 * are C functions: what compiled ones compute is not the subject there.
 */
#ifndef WEFT_TESTS_SUPPORT_SOFTVK_H
#define WEFT_TESTS_SUPPORT_SOFTVK_H

#include "device/instance.h"
#include "processor/processor.h"
#include "support.h"

#define MIB ((uint64_t)1 << 20)

/* A device with a queue, a command pool, and two buffers of bytes that the host sees. */
struct fixture {
    struct weft_test_host host;
    PFN_vkGetInstanceProcAddr get; /* the library's, or that of tests/driver */
    struct weft_vk_instance instance;
    VkPhysicalDevice physical;
    struct weft_vk_device vk;
    VkQueue queue;
    VkCommandPool pool;
    VkSemaphore timeline;
    uint64_t value;
    VkDeviceMemory memory;
    uint8_t *bytes[2];
    VkBuffer buffers[2];
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkDescriptorPool descriptors;
    VkDescriptorSet set; /* binding 0 and 1: the buffers */
};

#define BUFFER_SIZE (4 * MIB)

#define assert_vk(call) assert_int_equal(call, VK_SUCCESS)

/* ---- making it ---- */

static inline VkResult create_instance(struct weft_vk_instance *instance,
                                       PFN_vkGetInstanceProcAddr get, const weft_host *host) {
    const struct weft_soft_instance_info info = {
        .sType = WEFT_SOFT_INSTANCE_INFO, .backend = &weft_processor_backend, .host = host};
    const VkInstanceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                         .pNext = &info};
    *instance =
        (struct weft_vk_instance){.version = VK_API_VERSION_1_2, .GetInstanceProcAddr = get};
    PFN_vkCreateInstance make = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
    const VkResult result = make(&create, NULL, &instance->handle);
    if (result == VK_SUCCESS) {
        assert_ok(weft_vk_load_instance(instance, host));
    }
    return result;
}

static inline VkPhysicalDevice only_device(const struct weft_vk_instance *instance) {
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    uint32_t count = 1;
    assert_vk(instance->EnumeratePhysicalDevices(instance->handle, &count, &physical));
    assert_int_equal(count, 1);
    return physical;
}

static inline VkResult create_device(VkDevice *device, const struct weft_vk_instance *instance,
                                     VkPhysicalDevice physical, const void *chain,
                                     const char *extension) {
    const float priority = 1.0F;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = chain,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = extension != NULL,
                                     .ppEnabledExtensionNames = &extension};
    return instance->CreateDevice(physical, &info, NULL, device);
}

static inline VkResult create_timeline(VkSemaphore *semaphore, const struct fixture *f,
                                       uint64_t value) {
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                            .initialValue = value};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    return f->vk.CreateSemaphore(f->vk.handle, &info, NULL, semaphore);
}

static inline VkResult create_buffers(struct fixture *f) {
    const VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .allocationSize = 2 * BUFFER_SIZE};
    VkResult result = f->vk.AllocateMemory(f->vk.handle, &allocate, NULL, &f->memory);
    for (uint32_t i = 0; i < 2 && result == VK_SUCCESS; i++) {
        const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                         .size = BUFFER_SIZE,
                                         .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
        void *mapped = NULL;
        result = f->vk.CreateBuffer(f->vk.handle, &info, NULL, &f->buffers[i]);
        if (result == VK_SUCCESS) {
            assert_vk(
                f->vk.BindBufferMemory(f->vk.handle, f->buffers[i], f->memory, i * BUFFER_SIZE));
            assert_vk(
                f->vk.MapMemory(f->vk.handle, f->memory, i * BUFFER_SIZE, BUFFER_SIZE, 0, &mapped));
            f->bytes[i] = mapped;
        }
    }
    return result;
}

static inline VkResult create_layouts(struct fixture *f) {
    const VkDescriptorSetLayoutBinding bindings[] = {
        {.binding = 1, .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = 1},
        {.binding = 0, .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = 1}};
    const VkDescriptorSetLayoutCreateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 2,
        .pBindings = bindings};
    const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .setLayoutCount = 1,
                                             .pSetLayouts = &f->set_layout};
    const VkResult result =
        f->vk.CreateDescriptorSetLayout(f->vk.handle, &set_info, NULL, &f->set_layout);
    return result == VK_SUCCESS ? f->vk.CreatePipelineLayout(f->vk.handle, &info, NULL, &f->layout)
                                : result;
}

static inline VkWriteDescriptorSet write_of(VkDescriptorSet set, uint32_t binding,
                                            const VkDescriptorBufferInfo *info) {
    return (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = set,
                                  .dstBinding = binding,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = info};
}

static inline VkResult create_descriptors(struct fixture *f) {
    const VkDescriptorPoolSize size = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                       .descriptorCount = 8};
    const VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 3,
                                             .poolSizeCount = 1,
                                             .pPoolSizes = &size};
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorSetCount = 1,
        .pSetLayouts = &f->set_layout};
    VkResult result = f->vk.CreateDescriptorPool(f->vk.handle, &info, NULL, &f->descriptors);
    if (result != VK_SUCCESS) {
        return result;
    }
    VkDescriptorSetAllocateInfo from = allocate;
    from.descriptorPool = f->descriptors;
    result = f->vk.AllocateDescriptorSets(f->vk.handle, &from, &f->set);
    for (uint32_t i = 0; i < 2 && result == VK_SUCCESS; i++) {
        const VkDescriptorBufferInfo buffer = {.buffer = f->buffers[i], .range = VK_WHOLE_SIZE};
        const VkWriteDescriptorSet write = write_of(f->set, i, &buffer);
        f->vk.UpdateDescriptorSets(f->vk.handle, 1, &write, 0, NULL);
    }
    return result;
}

/* As far as memory goes; close_fixture takes it from there. */
static inline VkResult open_fixture(struct fixture *f) {
    const VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .timelineSemaphore = VK_TRUE};
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkResult result = create_instance(&f->instance, f->get, &f->host.host);
    if (result != VK_SUCCESS) {
        return result;
    }
    f->physical = only_device(&f->instance);
    result = create_device(&f->vk.handle, &f->instance, f->physical, &timeline, NULL);
    if (result != VK_SUCCESS) {
        return result;
    }
    assert_ok(weft_vk_load_device(&f->vk, &f->instance, &f->host.host));
    assert_ok(weft_vk_load_timeline(&f->vk, f->instance.version, &f->instance, &f->host.host));
    f->vk.GetDeviceQueue(f->vk.handle, 0, 0, &f->queue);
    result = f->vk.CreateCommandPool(f->vk.handle, &pool, NULL, &f->pool);
    result = result == VK_SUCCESS ? create_timeline(&f->timeline, f, 0) : result;
    result = result == VK_SUCCESS ? create_buffers(f) : result;
    result = result == VK_SUCCESS ? create_layouts(f) : result;
    return result == VK_SUCCESS ? create_descriptors(f) : result;
}

static inline void close_fixture(struct fixture *f) {
    if (f->vk.handle) {
        const struct weft_vk_device *vk = &f->vk;
        assert_vk(vk->DeviceWaitIdle(vk->handle));
        vk->DestroyDescriptorPool(vk->handle, f->descriptors, NULL);
        vk->DestroyPipelineLayout(vk->handle, f->layout, NULL);
        vk->DestroyDescriptorSetLayout(vk->handle, f->set_layout, NULL);
        vk->DestroyBuffer(vk->handle, f->buffers[0], NULL);
        vk->DestroyBuffer(vk->handle, f->buffers[1], NULL);
        vk->FreeMemory(vk->handle, f->memory, NULL);
        vk->DestroySemaphore(vk->handle, f->timeline, NULL);
        vk->DestroyCommandPool(vk->handle, f->pool, NULL);
        vk->DestroyDevice(vk->handle, NULL);
    }
    if (f->instance.handle) {
        f->instance.DestroyInstance(f->instance.handle, NULL);
    }
    *f = (struct fixture){.host = f->host, .get = f->get};
}

static inline int set_up_with(void **state, const char *threads) {
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    assert_int_equal(setenv("WEFT_PROCESSOR_THREADS", threads, 1), 0);
    f->get = TESTED_PROC_ADDR;
    weft_test_host_begin(&f->host);
    assert_vk(open_fixture(f));
    *state = f;
    return 0;
}

static inline int set_up_one(void **state) {
    return set_up_with(state, "1");
}

static inline int set_up_four(void **state) {
    return set_up_with(state, "4");
}

static inline int tear_down(void **state) {
    struct fixture *f = *state;
    close_fixture(f);
    weft_test_host_end(&f->host);
    free(f);
    return 0;
}

/* A test on one thread and on four. */
#define TEST(name, f)                                                     \
    static void name##_body(struct fixture *f);                           \
    WEFT_TEST_WITH(name##_1, struct fixture *f, set_up_one, tear_down) {  \
        name##_body(f);                                                   \
    }                                                                     \
    WEFT_TEST_WITH(name##_4, struct fixture *f, set_up_four, tear_down) { \
        name##_body(f);                                                   \
    }                                                                     \
    static void name##_body(struct fixture *f)

/* ---- using it ---- */

static inline VkCommandBuffer begin(const struct fixture *f) {
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = f->pool,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo start = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    assert_vk(f->vk.AllocateCommandBuffers(f->vk.handle, &info, &commands));
    assert_vk(f->vk.BeginCommandBuffer(commands, &start));
    return commands;
}

/* Submits, after `wait` has reached `wait_value` if it is one; the timeline will have the value that is returned. */
static inline uint64_t submit_after(struct fixture *f, VkCommandBuffer commands, VkSemaphore wait,
                                    uint64_t wait_value) {
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const uint64_t value = ++f->value;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait != VK_NULL_HANDLE,
        .pWaitSemaphoreValues = &wait_value,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &values,
                               .waitSemaphoreCount = wait != VK_NULL_HANDLE,
                               .pWaitSemaphores = &wait,
                               .pWaitDstStageMask = &stage,
                               .commandBufferCount = commands != VK_NULL_HANDLE,
                               .pCommandBuffers = &commands,
                               .signalSemaphoreCount = 1,
                               .pSignalSemaphores = &f->timeline};
    assert_vk(f->vk.QueueSubmit(f->queue, 1, &info, VK_NULL_HANDLE));
    return value;
}

static inline uint64_t submit(struct fixture *f, VkCommandBuffer commands) {
    return submit_after(f, commands, VK_NULL_HANDLE, 0);
}

static inline VkResult wait_for(const struct fixture *f, VkSemaphore semaphore, uint64_t value,
                                uint64_t timeout) {
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &semaphore,
                                      .pValues = &value};
    return f->vk.WaitSemaphores(f->vk.handle, &info, timeout);
}

static inline uint64_t counter(const struct fixture *f, VkSemaphore semaphore) {
    uint64_t value = 0;
    assert_vk(f->vk.GetSemaphoreCounterValue(f->vk.handle, semaphore, &value));
    return value;
}

/* Ends, submits and waits. */
static inline void run(struct fixture *f, VkCommandBuffer commands) {
    assert_vk(f->vk.EndCommandBuffer(commands));
    assert_vk(wait_for(f, f->timeline, submit(f, commands), UINT64_MAX));
}

/* ---- kernels ---- */

static inline uint32_t word_at(const struct weft_native_call *call, uint32_t binding,
                               uint64_t index) {
    return ((const uint32_t *)call->ranges[binding].data)[index];
}

/* Counts itself in word x + y * 1000 + z * 100000 of binding 0, times the push constant. */
static inline void count_groups(const struct weft_native_call *call, uint32_t x, uint32_t y,
                                uint32_t z, uint32_t count) {
    uint32_t step = 0;
    memcpy(&step, call->push, sizeof step);
    memset(call->scratch, (int)x, 1024);
    for (uint32_t i = x; i < x + count; i++) {
        const uint64_t at = i + y * UINT64_C(1000) + z * UINT64_C(100000);
        const bool fits = 4 * at < call->ranges[0].size;
        _Atomic uint32_t *word = (_Atomic uint32_t *)call->ranges[0].data + (fits ? at : 0);
        atomic_fetch_add(word, step);
    }
    /* No other thread writes to this one's scratch. */
    if (((const uint8_t *)call->scratch)[1023] != (uint8_t)x) {
        ((uint32_t *)call->ranges[0].data)[0] = UINT32_MAX;
    }
}

/* Word 0 of binding 1 is the sum of the groups of the dispatch and the first two words of binding 0. */
static inline void add_words(const struct weft_native_call *call, uint32_t x, uint32_t y,
                             uint32_t z, uint32_t count) {
    (void)x;
    (void)y;
    (void)z;
    (void)count;
    ((uint32_t *)call->ranges[1].data)[0] = word_at(call, 0, 0) + word_at(call, 0, 1) +
                                            call->groups[0] + call->groups[1] + call->groups[2];
}

__attribute__((unused)) static const struct weft_native_kernel counting = {
    .interface = {.local_size = {64, 1, 1},
                  .lanes = 8,
                  .scratch_size = 1024,
                  .push_size = 4,
                  .binding_count = 1,
                  .bindings = {{0, 0}}},
    .entry = count_groups};
__attribute__((unused)) static const struct weft_native_kernel adding = {
    .interface = {.binding_count = 2, .bindings = {{0, 0}, {0, 1}}}, .entry = add_words};
static inline VkPipeline pipeline_of(const struct fixture *f,
                                     const struct weft_native_kernel *kernel) {
    VkPipeline pipeline = VK_NULL_HANDLE;
    assert_vk(weft_processor_pipeline_wrap(&pipeline, f->vk.handle, f->layout, kernel));
    return pipeline;
}

static inline void bind(const struct fixture *f, VkCommandBuffer commands, VkPipeline pipeline) {
    f->vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    f->vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, f->layout, 0, 1, &f->set,
                                0, NULL);
}

static inline void push(const struct fixture *f, VkCommandBuffer commands, uint32_t value) {
    f->vk.CmdPushConstants(commands, f->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof value,
                           &value);
}

static inline uint32_t *words(const struct fixture *f, uint32_t buffer) {
    return (uint32_t *)(void *)f->bytes[buffer];
}

#endif
