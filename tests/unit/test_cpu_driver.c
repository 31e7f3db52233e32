/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/*
 * The processor device's Vulkan functions, called as an application would call them, on one thread and on four. The kernels
 * are C functions: what compiled ones compute is not the subject here.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "core/clock.h"
#include "core/float_state.h"
#include "core/hash.h"
#include "cpu/driver.h"
#include "cpu/vk_cache.h"
#include "cpu/vk_pipeline.h"
#include "device/instance.h"
#include "device/physical.h"
#include "native/target.h"
#include "support.h"

#define MIB ((uint64_t)1 << 20)

/* Functions that Weft does not call, and so has no table for. */
#define MORE_FUNCTIONS(X)              \
    X(CreateFence)                     \
    X(DestroyFence)                    \
    X(ResetFences)                     \
    X(GetFenceStatus)                  \
    X(WaitForFences)                   \
    X(QueueWaitIdle)                   \
    X(SignalSemaphore)                 \
    X(GetDeviceQueue2)                 \
    X(GetBufferMemoryRequirements2)    \
    X(BindBufferMemory2)               \
    X(FlushMappedMemoryRanges)         \
    X(InvalidateMappedMemoryRanges)    \
    X(ResetCommandPool)                \
    X(CmdUpdateBuffer)                 \
    X(CmdDispatchIndirect)             \
    X(CmdExecuteCommands)              \
    X(CmdCopyQueryPoolResults)         \
    X(CmdSetEvent)                     \
    X(CmdWaitEvents)                   \
    X(CreateEvent)                     \
    X(DestroyEvent)                    \
    X(SetEvent)                        \
    X(GetEventStatus)                  \
    X(ResetQueryPool)                  \
    X(FreeDescriptorSets)              \
    X(ResetDescriptorPool)             \
    X(CreateDescriptorUpdateTemplate)  \
    X(DestroyDescriptorUpdateTemplate) \
    X(UpdateDescriptorSetWithTemplate) \
    X(MergePipelineCaches)

#define MEMBER(name) PFN_vk##name name;

/* A device with a queue, a command pool, and two buffers of bytes that the host sees. */
struct fixture {
    struct weft_test_host host;
    struct weft_vk_instance instance;
    VkPhysicalDevice physical;
    struct weft_vk_device vk;
    struct {
        MORE_FUNCTIONS(MEMBER)
    } more;
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

static VkResult create_instance(struct weft_vk_instance *instance, const weft_host *host) {
    const struct weft_cpu_host_info info = {.sType = WEFT_CPU_HOST_INFO, .host = host};
    const VkInstanceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                         .pNext = &info};
    *instance = (struct weft_vk_instance){.version = VK_API_VERSION_1_2,
                                          .GetInstanceProcAddr = weft_cpu_get_instance_proc_addr};
    PFN_vkCreateInstance make =
        (PFN_vkCreateInstance)weft_cpu_get_instance_proc_addr(NULL, "vkCreateInstance");
    const VkResult result = make(&create, NULL, &instance->handle);
    if (result == VK_SUCCESS) {
        assert_ok(weft_vk_load_instance(instance, host));
    }
    return result;
}

static VkPhysicalDevice only_device(const struct weft_vk_instance *instance) {
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    uint32_t count = 1;
    assert_vk(instance->EnumeratePhysicalDevices(instance->handle, &count, &physical));
    assert_int_equal(count, 1);
    return physical;
}

static VkResult create_device(VkDevice *device, const struct weft_vk_instance *instance,
                              VkPhysicalDevice physical, const void *chain, const char *extension) {
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

static VkResult create_timeline(VkSemaphore *semaphore, const struct fixture *f, uint64_t value) {
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                            .initialValue = value};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    return f->vk.CreateSemaphore(f->vk.handle, &info, NULL, semaphore);
}

static VkResult create_buffers(struct fixture *f) {
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

static VkResult create_layouts(struct fixture *f) {
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

static VkWriteDescriptorSet write_of(VkDescriptorSet set, uint32_t binding,
                                     const VkDescriptorBufferInfo *info) {
    return (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = set,
                                  .dstBinding = binding,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = info};
}

static VkResult create_descriptors(struct fixture *f) {
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

static void load_more(struct fixture *f) {
#define LOAD(name)                                                                        \
    f->more.name = (PFN_vk##name)f->instance.GetDeviceProcAddr(f->vk.handle, "vk" #name); \
    assert_non_null(f->more.name);
    MORE_FUNCTIONS(LOAD)
#undef LOAD
}

/* As far as memory goes; close_fixture takes it from there. */
static VkResult open_fixture(struct fixture *f) {
    const VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .timelineSemaphore = VK_TRUE};
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkResult result = create_instance(&f->instance, &f->host.host);
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
    load_more(f);
    f->vk.GetDeviceQueue(f->vk.handle, 0, 0, &f->queue);
    result = f->vk.CreateCommandPool(f->vk.handle, &pool, NULL, &f->pool);
    result = result == VK_SUCCESS ? create_timeline(&f->timeline, f, 0) : result;
    result = result == VK_SUCCESS ? create_buffers(f) : result;
    result = result == VK_SUCCESS ? create_layouts(f) : result;
    return result == VK_SUCCESS ? create_descriptors(f) : result;
}

static void close_fixture(struct fixture *f) {
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
    const struct weft_test_host host = f->host;
    *f = (struct fixture){.host = host};
}

static int set_up_with(void **state, const char *threads) {
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    assert_int_equal(setenv("WEFT_PROCESSOR_THREADS", threads, 1), 0);
    weft_test_host_begin(&f->host);
    assert_vk(open_fixture(f));
    *state = f;
    return 0;
}

static int set_up_one(void **state) {
    return set_up_with(state, "1");
}

static int set_up_four(void **state) {
    return set_up_with(state, "4");
}

static int tear_down(void **state) {
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

static VkCommandBuffer begin(const struct fixture *f) {
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
static uint64_t submit_after(struct fixture *f, VkCommandBuffer commands, VkSemaphore wait,
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

static uint64_t submit(struct fixture *f, VkCommandBuffer commands) {
    return submit_after(f, commands, VK_NULL_HANDLE, 0);
}

static VkResult wait_for(const struct fixture *f, VkSemaphore semaphore, uint64_t value,
                         uint64_t timeout) {
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &semaphore,
                                      .pValues = &value};
    return f->vk.WaitSemaphores(f->vk.handle, &info, timeout);
}

static uint64_t counter(const struct fixture *f, VkSemaphore semaphore) {
    uint64_t value = 0;
    assert_vk(f->vk.GetSemaphoreCounterValue(f->vk.handle, semaphore, &value));
    return value;
}

static void signal_to(const struct fixture *f, VkSemaphore semaphore, uint64_t value) {
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = value};
    assert_vk(f->more.SignalSemaphore(f->vk.handle, &info));
}

/* Ends, submits and waits. */
static void run(struct fixture *f, VkCommandBuffer commands) {
    assert_vk(f->vk.EndCommandBuffer(commands));
    assert_vk(wait_for(f, f->timeline, submit(f, commands), UINT64_MAX));
}

/* ---- kernels ---- */

static uint32_t word_at(const struct weft_cpu_call *call, uint32_t binding, uint64_t index) {
    return ((const uint32_t *)call->ranges[binding].data)[index];
}

/* Counts itself in word x + y * 1000 + z * 100000 of binding 0, times the push constant. */
static void count_groups(const struct weft_cpu_call *call, uint32_t x, uint32_t y, uint32_t z,
                         uint32_t count) {
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
static void add_words(const struct weft_cpu_call *call, uint32_t x, uint32_t y, uint32_t z,
                      uint32_t count) {
    (void)x;
    (void)y;
    (void)z;
    (void)count;
    ((uint32_t *)call->ranges[1].data)[0] = word_at(call, 0, 0) + word_at(call, 0, 1) +
                                            call->groups[0] + call->groups[1] + call->groups[2];
}

/* What the thread that runs it is like: a subnormal product, half an ulp rounded, and whether signals are blocked. */
static void look_at_thread(const struct weft_cpu_call *call, uint32_t x, uint32_t y, uint32_t z,
                           uint32_t count) {
    (void)y;
    (void)z;
    const volatile float small = 1e-30F, one = 1.0F, half_ulp = 0x1p-24F;
    float *floats = call->ranges[0].data;
    sigset_t mask;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (uint32_t i = x; i < x + count; i++) {
        floats[4 * i] = small * small * 1e20F;
        floats[4 * i + 1] = small * 1e-9F;
        floats[4 * i + 2] = one + half_ulp;
        floats[4 * i + 3] = (float)sigismember(&mask, SIGUSR1);
    }
    usleep(100);
}

static atomic_bool gate_open;
static atomic_uint gate_entered;

static void wait_at_gate(const struct weft_cpu_call *call, uint32_t x, uint32_t y, uint32_t z,
                         uint32_t count) {
    (void)x;
    (void)y;
    (void)z;
    atomic_fetch_add(&gate_entered, count);
    while (!atomic_load(&gate_open)) {
        usleep(50);
    }
    ((uint32_t *)call->ranges[0].data)[0]++;
}

static const struct weft_cpu_kernel counting = {.interface = {.local_size = {64, 1, 1},
                                                              .lanes = 8,
                                                              .scratch_size = 1024,
                                                              .push_size = 4,
                                                              .binding_count = 1,
                                                              .bindings = {{0, 0}}},
                                                .entry = count_groups};
static const struct weft_cpu_kernel adding = {
    .interface = {.binding_count = 2, .bindings = {{0, 0}, {0, 1}}}, .entry = add_words};
static const struct weft_cpu_kernel looking = {
    .interface = {.binding_count = 1, .bindings = {{0, 0}}}, .entry = look_at_thread};
static const struct weft_cpu_kernel gate = {.interface = {.binding_count = 1, .bindings = {{0, 0}}},
                                            .entry = wait_at_gate};

static VkPipeline pipeline_of(const struct fixture *f, const struct weft_cpu_kernel *kernel) {
    VkPipeline pipeline = VK_NULL_HANDLE;
    assert_vk(weft_cpu_pipeline_wrap(&pipeline, f->vk.handle, f->layout, kernel));
    return pipeline;
}

static void bind(const struct fixture *f, VkCommandBuffer commands, VkPipeline pipeline) {
    f->vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    f->vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, f->layout, 0, 1, &f->set,
                                0, NULL);
}

static void push(const struct fixture *f, VkCommandBuffer commands, uint32_t value) {
    f->vk.CmdPushConstants(commands, f->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof value,
                           &value);
}

static uint32_t *words(const struct fixture *f, uint32_t buffer) {
    return (uint32_t *)(void *)f->bytes[buffer];
}

/* ---- what the device is ---- */

WEFT_TEST_WITH(test_physical_device, struct fixture *f, set_up_four, tear_down) {
    struct weft_physical physical;
    assert_ok(weft_physical_read(&physical, &f->instance, f->physical, 5, WEFT_NO_FAMILY, NULL));
    const weft_device_info *info = &physical.info;
    assert_true(info->usable);
    assert_int_equal(info->type, WEFT_DEVICE_PROCESSOR);
    assert_string_equal(info->driver, WEFT_CPU_DRIVER_NAME);
    assert_true(info->name[0] != '\0' && info->name[0] != ' ');
    assert_int_equal(info->threads, 4);
    assert_true(info->has_pipeline_feedback && info->has_subgroup_arithmetic);
    assert_false(info->has_f16_arithmetic);
    assert_int_equal(info->max_workgroup_invocations, 1024);
    assert_int_equal(info->max_shared_memory, 128 << 10);
    assert_true(info->timestamp_period_ns == 1.0);
    assert_true(info->device_memory >= 64 * MIB);
    assert_int_equal(physical.queue_family, 0);
    assert_int_equal(physical.float_modes, 0);
}

WEFT_TEST_WITH(test_missing_names, struct fixture *f, set_up_one, tear_down) {
    static const char *const names[] = {"vkCmdDraw", "vkCreateImage", "vkCreateSwapchainKHR",
                                        "",          "vkCreateBuffe", "vkCreateBufferr"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_null(f->instance.GetDeviceProcAddr(f->vk.handle, names[i]));
        assert_null(weft_cpu_get_instance_proc_addr(f->instance.handle, names[i]));
    }
    assert_null(weft_cpu_get_instance_proc_addr(NULL, NULL));
}

WEFT_TEST_WITH(test_what_is_not_there_is_refused, struct fixture *f, set_up_one, tear_down) {
    VkDevice device = VK_NULL_HANDLE;
    VkPhysicalDeviceVulkan12Features twelve = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .shaderFloat16 = VK_TRUE};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &twelve};
    assert_int_equal(create_device(&device, &f->instance, f->physical, &features, NULL),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    twelve.shaderFloat16 = VK_FALSE;
    twelve.shaderInt8 = VK_TRUE;
    features.features.geometryShader = VK_TRUE;
    assert_int_equal(create_device(&device, &f->instance, f->physical, &features, NULL),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    features.features.geometryShader = VK_FALSE;
    features.features.robustBufferAccess = VK_TRUE;
    assert_int_equal(
        create_device(&device, &f->instance, f->physical, &features, "VK_KHR_swapchain"),
        VK_ERROR_EXTENSION_NOT_PRESENT);
    assert_null(device);
    /* Structures end in padding, which is no feature. */
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .timelineSemaphore = VK_TRUE};
    static const VkBool32 one = VK_TRUE;
    memcpy((uint8_t *)&timeline + sizeof timeline - sizeof one, &one, sizeof one);
    features.pNext = &timeline;
    assert_vk(create_device(&device, &f->instance, f->physical, &features,
                            VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME));
    f->vk.DestroyDevice(device, NULL);
}

static void expect_bad_setting(struct fixture *f, const char *name, const char *value) {
    struct weft_vk_instance instance;
    VkDevice device = VK_NULL_HANDLE;
    assert_int_equal(setenv(name, value, 1), 0);
    weft_test_host_reset(&f->host);
    assert_vk(create_instance(&instance, &f->host.host));
    assert_int_equal(create_device(&device, &instance, only_device(&instance), NULL, NULL),
                     VK_ERROR_INITIALIZATION_FAILED);
    weft_test_expect_log(&f->host, "error: ", name);
    instance.DestroyInstance(instance.handle, NULL);
    assert_int_equal(unsetenv(name), 0);
}

WEFT_TEST_WITH(test_bad_settings_are_named, struct fixture *f, set_up_one, tear_down) {
    static const char *const bad[] = {"0", "-1", "7x", "five", "1e9", "99999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        expect_bad_setting(f, "WEFT_PROCESSOR_THREADS", bad[i]);
        expect_bad_setting(f, "WEFT_PROCESSOR_LANES", bad[i]);
    }
    expect_bad_setting(f, "WEFT_PROCESSOR_LANES", "32");
}

WEFT_TEST_WITH(test_lanes, struct fixture *f, set_up_one, tear_down) {
    static const char *const lanes[] = {"4", "8", "16"};
    uint8_t uuids[3][VK_UUID_SIZE];
    for (uint32_t i = 0; i < 3; i++) {
        struct weft_vk_instance instance;
        struct weft_physical physical;
        char width[32];
        assert_int_equal(setenv("WEFT_PROCESSOR_LANES", lanes[i], 1), 0);
        assert_vk(create_instance(&instance, &f->host.host));
        assert_ok(weft_physical_read(&physical, &instance, only_device(&instance), 0,
                                     WEFT_NO_FAMILY, NULL));
        assert_int_equal(physical.info.subgroup_size, 4U << i);
        (void)snprintf(width, sizeof width, "%u-bit vectors", 128U << i);
        assert_non_null(strstr(physical.info.driver_version, width));
        memcpy(uuids[i], physical.info.uuid, VK_UUID_SIZE);
        instance.DestroyInstance(instance.handle, NULL);
    }
    assert_int_equal(unsetenv("WEFT_PROCESSOR_LANES"), 0);
    assert_memory_not_equal(uuids[0], uuids[1], VK_UUID_SIZE);
    assert_memory_not_equal(uuids[1], uuids[2], VK_UUID_SIZE);
}

/* ---- memory ---- */

WEFT_TEST_WITH(test_device_memory_runs_out, struct fixture *f, set_up_one, tear_down) {
    VkPhysicalDeviceMemoryProperties properties;
    f->instance.GetPhysicalDeviceMemoryProperties(f->physical, &properties);
    assert_int_equal(properties.memoryHeapCount, 1);
    const uint64_t heap = properties.memoryHeaps[0].size;
    const uint64_t sizes[] = {heap + 1, heap - MIB, UINT64_MAX, UINT64_MAX - 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        VkDeviceMemory memory = VK_NULL_HANDLE;
        const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .allocationSize = sizes[i]};
        assert_int_equal(f->vk.AllocateMemory(f->vk.handle, &info, NULL, &memory),
                         VK_ERROR_OUT_OF_DEVICE_MEMORY);
    }
}

WEFT_TEST_WITH(test_buffers, struct fixture *f, set_up_one, tear_down) {
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = 100};
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_vk(f->vk.CreateBuffer(f->vk.handle, &info, NULL, &buffer));
    const VkBufferMemoryRequirementsInfo2 ask = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2, .buffer = buffer};
    VkMemoryRequirements2 requirements = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
    f->more.GetBufferMemoryRequirements2(f->vk.handle, &ask, &requirements);
    assert_int_equal(requirements.memoryRequirements.size, 128);
    assert_int_equal(requirements.memoryRequirements.alignment, 64);
    assert_int_equal(requirements.memoryRequirements.memoryTypeBits, 1);
    const VkBindBufferMemoryInfo bound = {.sType = VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO,
                                          .buffer = buffer,
                                          .memory = f->memory,
                                          .memoryOffset = 64};
    assert_vk(f->more.BindBufferMemory2(f->vk.handle, 1, &bound));
    const VkMappedMemoryRange range = {
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE, .memory = f->memory, .size = VK_WHOLE_SIZE};
    assert_vk(f->more.FlushMappedMemoryRanges(f->vk.handle, 1, &range));
    assert_vk(f->more.InvalidateMappedMemoryRanges(f->vk.handle, 1, &range));
    VkCommandBuffer commands = begin(f);
    f->vk.CmdFillBuffer(commands, buffer, 0, VK_WHOLE_SIZE, 0x01020304);
    run(f, commands);
    assert_int_equal(words(f, 0)[16], 0x01020304);
    assert_int_equal(words(f, 0)[16 + 24], 0x01020304);
    f->vk.DestroyBuffer(f->vk.handle, buffer, NULL);
}

/* Every allocation of the driver's fails once, with all after it or alone, and nothing is lost or broken. */
static VkResult use_everything(struct fixture *f) {
    VkResult result = open_fixture(f);
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = f->pool,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo start = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkSubmitInfo submission = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                     .commandBufferCount = 1,
                                     .pCommandBuffers = &commands};
    if (result == VK_SUCCESS) {
        result = weft_cpu_pipeline_wrap(&pipeline, f->vk.handle, f->layout, &counting);
    }
    if (result == VK_SUCCESS) {
        result = f->vk.AllocateCommandBuffers(f->vk.handle, &info, &commands);
    }
    if (result == VK_SUCCESS) {
        assert_vk(f->vk.BeginCommandBuffer(commands, &start));
        bind(f, commands, pipeline);
        push(f, commands, 1);
        f->vk.CmdDispatch(commands, 3, 3, 3);
        result = f->vk.EndCommandBuffer(commands);
    }
    if (result == VK_SUCCESS) {
        result = f->vk.QueueSubmit(f->queue, 1, &submission, VK_NULL_HANDLE);
    }
    if (result == VK_SUCCESS) {
        result = f->more.QueueWaitIdle(f->queue);
    }
    if (f->vk.handle) {
        f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
    }
    close_fixture(f);
    return result;
}

WEFT_TEST_WITH(test_host_memory_runs_out, struct fixture *f, set_up_one, tear_down) {
    for (int rest = 0; rest < 2; rest++) {
        close_fixture(f);
        weft_test_host_reset(&f->host);
        f->host.fail_rest = rest;
        weft_status status = WEFT_OUT_OF_HOST_MEMORY;
        while (weft_test_next_failure(&f->host, status)) {
            const VkResult result = use_everything(f);
            status = result == VK_SUCCESS                    ? WEFT_OK
                     : result == VK_ERROR_OUT_OF_HOST_MEMORY ? WEFT_OUT_OF_HOST_MEMORY
                                                             : WEFT_DRIVER_ERROR;
        }
        assert_true(f->host.failures > 10);
    }
}

/* ---- dispatches ---- */

static void expect_counts(struct fixture *f, VkPipeline pipeline, const uint32_t base[3],
                          const uint32_t groups[3]) {
    VkCommandBuffer commands = begin(f);
    memset(f->bytes[0], 0, BUFFER_SIZE);
    bind(f, commands, pipeline);
    push(f, commands, 3);
    f->vk.CmdDispatchBase(commands, base[0], base[1], base[2], groups[0], groups[1], groups[2]);
    run(f, commands);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < BUFFER_SIZE / 4; i++) {
        const uint64_t x = i % 1000, y = i / 1000 % 100, z = i / 100000;
        const bool inside = x >= base[0] && x < base[0] + groups[0] && y >= base[1] &&
                            y < base[1] + groups[1] && z >= base[2] && z < base[2] + groups[2];
        wrong += words(f, 0)[i] != (inside ? 3U : 0U);
    }
    assert_int_equal(wrong, 0);
    f->vk.FreeCommandBuffers(f->vk.handle, f->pool, 1, &commands);
}

TEST(test_each_group_runs_once, f) {
    static const uint32_t cases[][6] = {
        {0, 0, 0, 1, 1, 1},   {0, 0, 0, 1000, 100, 10}, {0, 0, 0, 7, 5, 3},    {1, 2, 3, 2, 2, 2},
        {0, 0, 0, 1, 100, 1}, {0, 0, 0, 1, 1, 10},      {999, 99, 9, 1, 1, 1}, {0, 0, 0, 0, 4, 4},
        {5, 0, 0, 995, 1, 1}, {0, 0, 0, 2, 100, 10}};
    VkPipeline pipeline = pipeline_of(f, &counting);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            expect_counts(f, pipeline, cases[i], cases[i] + 3);
        }
    }
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
}

TEST(test_groups_and_ranges, f) {
    VkPipeline pipeline = pipeline_of(f, &adding);
    VkCommandBuffer commands = begin(f);
    const uint32_t data[2] = {1000, 500};
    bind(f, commands, pipeline);
    f->more.CmdUpdateBuffer(commands, f->buffers[0], 0, sizeof data, data);
    f->vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                             VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0, NULL, 0, NULL, 0, NULL);
    f->vk.CmdDispatch(commands, 5, 1, 2);
    run(f, commands);
    assert_int_equal(words(f, 1)[0], 1508);
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
}

TEST(test_indirect, f) {
    VkPipeline pipeline = pipeline_of(f, &counting);
    VkCommandBuffer commands = begin(f);
    const uint32_t groups[3] = {4, 2, 1};
    memset(f->bytes[0], 0, BUFFER_SIZE);
    bind(f, commands, pipeline);
    push(f, commands, 1);
    f->more.CmdUpdateBuffer(commands, f->buffers[1], 64, sizeof groups, groups);
    f->more.CmdDispatchIndirect(commands, f->buffers[1], 64);
    run(f, commands);
    assert_int_equal(words(f, 0)[3], 1);
    assert_int_equal(words(f, 0)[4], 0);
    assert_int_equal(words(f, 0)[1003], 1);
    assert_int_equal(words(f, 0)[2003], 0);
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
}

/* One recording, submitted three times before anything is waited for, and once more after that. */
TEST(test_recordings_are_run_again, f) {
    VkPipeline pipeline = pipeline_of(f, &counting);
    VkCommandBuffer commands = begin(f);
    memset(f->bytes[0], 0, BUFFER_SIZE);
    bind(f, commands, pipeline);
    for (uint32_t i = 1; i <= 2; i++) {
        push(f, commands, i);
        f->vk.CmdDispatch(commands, 100, 10, 1);
    }
    assert_vk(f->vk.EndCommandBuffer(commands));
    (void)submit(f, commands);
    (void)submit(f, commands);
    assert_vk(wait_for(f, f->timeline, submit(f, commands), UINT64_MAX));
    assert_int_equal(words(f, 0)[99], 9);
    assert_int_equal(words(f, 0)[9099], 9);
    assert_vk(wait_for(f, f->timeline, submit(f, commands), UINT64_MAX));
    assert_int_equal(words(f, 0)[99], 12);
    /* Recorded anew, what it held is gone. */
    const VkCommandBufferBeginInfo start = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_vk(f->vk.ResetCommandBuffer(commands, VK_COMMAND_BUFFER_RESET_RELEASE_RESOURCES_BIT));
    assert_vk(f->vk.BeginCommandBuffer(commands, &start));
    run(f, commands);
    assert_int_equal(words(f, 0)[99], 12);
    assert_vk(f->more.ResetCommandPool(f->vk.handle, f->pool, 0));
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
    f->more.CmdExecuteCommands(commands, 1, &second);
    f->more.CmdExecuteCommands(commands, 1, &second);
    run(f, commands);
    assert_int_equal(words(f, 0)[1], 10);
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
}

/* ---- descriptors ---- */

struct two_sets {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkDescriptorPool pool;
    VkDescriptorSet sets[2];
};

/* Sets of one dynamic binding, number 3. The layout of sets is gone before they are used. */
static struct two_sets make_two_sets(const struct fixture *f) {
    struct two_sets two;
    const VkDescriptorSetLayoutBinding binding = {.binding = 3,
                                                  .descriptorType =
                                                      VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC,
                                                  .descriptorCount = 1};
    const VkDescriptorSetLayoutCreateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding};
    assert_vk(f->vk.CreateDescriptorSetLayout(f->vk.handle, &set_info, NULL, &two.set_layout));
    const VkDescriptorSetLayout layouts[2] = {two.set_layout, two.set_layout};
    const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .setLayoutCount = 2,
                                             .pSetLayouts = layouts};
    assert_vk(f->vk.CreatePipelineLayout(f->vk.handle, &info, NULL, &two.layout));
    const VkDescriptorPoolSize size = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC,
                                       .descriptorCount = 2};
    const VkDescriptorPoolCreateInfo pool_info = {.sType =
                                                      VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                                  .maxSets = 2,
                                                  .poolSizeCount = 1,
                                                  .pPoolSizes = &size};
    assert_vk(f->vk.CreateDescriptorPool(f->vk.handle, &pool_info, NULL, &two.pool));
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = two.pool,
        .descriptorSetCount = 2,
        .pSetLayouts = layouts};
    assert_vk(f->vk.AllocateDescriptorSets(f->vk.handle, &allocate, two.sets));
    f->vk.DestroyDescriptorSetLayout(f->vk.handle, two.set_layout, NULL);
    return two;
}

WEFT_TEST_WITH(test_sets_and_dynamic_offsets, struct fixture *f, set_up_one, tear_down) {
    static const struct weft_cpu_kernel kernel = {
        .interface = {.binding_count = 2, .bindings = {{1, 3}, {0, 3}}}, .entry = add_words};
    struct two_sets two = make_two_sets(f);
    for (uint32_t i = 0; i < 2; i++) {
        const VkDescriptorBufferInfo info = {
            .buffer = f->buffers[0], .offset = 64 * i, .range = 64};
        const VkWriteDescriptorSet write = write_of(two.sets[i], 3, &info);
        f->vk.UpdateDescriptorSets(f->vk.handle, 1, &write, 0, NULL);
    }
    VkPipeline pipeline = VK_NULL_HANDLE;
    assert_vk(weft_cpu_pipeline_wrap(&pipeline, f->vk.handle, two.layout, &kernel));
    VkCommandBuffer commands = begin(f);
    const uint32_t offsets[2] = {256, 128}; /* words 64 and 16 + 32 */
    memset(f->bytes[0], 0, 1024);
    words(f, 0)[48] = 20;
    words(f, 0)[49] = 3;
    f->vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    f->vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, two.layout, 0, 2,
                                two.sets, 2, offsets);
    f->vk.CmdDispatch(commands, 1, 1, 1);
    run(f, commands);
    assert_int_equal(words(f, 0)[64], 26);
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
    f->vk.DestroyDescriptorPool(f->vk.handle, two.pool, NULL);
    f->vk.DestroyPipelineLayout(f->vk.handle, two.layout, NULL);
}

WEFT_TEST_WITH(test_pools_run_out, struct fixture *f, set_up_one, tear_down) {
    const VkDescriptorSetLayout layouts[3] = {f->set_layout, f->set_layout, f->set_layout};
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = f->descriptors,
                                        .descriptorSetCount = 3,
                                        .pSetLayouts = layouts};
    VkDescriptorSet sets[3] = {f->set, f->set, f->set};
    assert_int_equal(f->vk.AllocateDescriptorSets(f->vk.handle, &info, sets),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    assert_true(sets[0] == VK_NULL_HANDLE && sets[2] == VK_NULL_HANDLE);
    info.descriptorSetCount = 2;
    assert_vk(f->vk.AllocateDescriptorSets(f->vk.handle, &info, sets));
    assert_vk(f->more.FreeDescriptorSets(f->vk.handle, f->descriptors, 1, &sets[1]));
    info.descriptorSetCount = 1;
    assert_vk(f->vk.AllocateDescriptorSets(f->vk.handle, &info, sets));
    assert_vk(f->more.ResetDescriptorPool(f->vk.handle, f->descriptors, 0));
    info.descriptorSetCount = 3;
    assert_vk(f->vk.AllocateDescriptorSets(f->vk.handle, &info, sets));
}

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
    assert_vk(f->more.CreateDescriptorUpdateTemplate(f->vk.handle, &info, NULL, &template));
    const VkDescriptorBufferInfo data[2] = {{0},
                                            {.buffer = f->buffers[0], .offset = 16, .range = 16}};
    f->more.UpdateDescriptorSetWithTemplate(f->vk.handle, other, template, data);
    f->more.DestroyDescriptorUpdateTemplate(f->vk.handle, template, NULL);
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

WEFT_TEST_WITH(test_layouts_that_do_not_fit, struct fixture *f, set_up_one, tear_down) {
    static const struct weft_cpu_kernel kernels[] = {
        {.interface = {.binding_count = 1, .bindings = {{1, 0}}}},
        {.interface = {.binding_count = 1, .bindings = {{0, 2}}}},
        {.interface = {.push_size = 257}}};
    VkPipeline pipeline = VK_NULL_HANDLE;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        assert_int_equal(weft_cpu_pipeline_wrap(&pipeline, f->vk.handle, f->layout, &kernels[i]),
                         VK_ERROR_INVALID_SHADER_NV);
    }
    const VkDescriptorSetLayoutBinding image = {.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                                                .descriptorCount = 1};
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &image};
    VkDescriptorSetLayout layout = VK_NULL_HANDLE;
    assert_int_equal(f->vk.CreateDescriptorSetLayout(f->vk.handle, &info, NULL, &layout),
                     VK_ERROR_UNKNOWN);
}

/* ---- copies ---- */

TEST(test_copies_and_fills, f) {
    VkCommandBuffer commands = begin(f);
    const VkBufferCopy regions[] = {{.srcOffset = 4, .dstOffset = 0, .size = 3 * MIB},
                                    {.srcOffset = 0, .dstOffset = 3 * MIB + 8, .size = 12}};
    for (uint32_t i = 0; i < BUFFER_SIZE / 4; i++) {
        words(f, 0)[i] = i * 2654435761U;
    }
    f->vk.CmdFillBuffer(commands, f->buffers[1], 0, VK_WHOLE_SIZE, 0xabcdef01);
    f->vk.CmdCopyBuffer(commands, f->buffers[0], f->buffers[1], 2, regions);
    f->vk.CmdFillBuffer(commands, f->buffers[0], 8, 3 * MIB + 4, 7);
    const uint32_t second = words(f, 0)[1];
    run(f, commands);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < 3 * MIB / 4; i++) {
        wrong += words(f, 1)[i] != (i + 1) * 2654435761U;
    }
    for (uint32_t i = 3 * MIB / 4 + 5; i < BUFFER_SIZE / 4; i++) {
        wrong += words(f, 1)[i] != 0xabcdef01;
    }
    for (uint32_t i = 0; i < BUFFER_SIZE / 4; i++) {
        const bool filled = i >= 2 && i < 2 + (3 * MIB + 4) / 4;
        wrong += words(f, 0)[i] != (filled ? 7 : i * 2654435761U);
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(words(f, 1)[3 * MIB / 4 + 1], 0xabcdef01);
    assert_int_equal(words(f, 1)[3 * MIB / 4 + 3], second);
}

/* ---- time stamps ---- */

TEST(test_time_stamps, f) {
    const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                        .queryCount = 4};
    const VkQueryResultFlags with = VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT;
    uint64_t stamps[8] = {0};
    VkQueryPool pool = VK_NULL_HANDLE;
    VkPipeline pipeline = pipeline_of(f, &looking);
    assert_vk(f->vk.CreateQueryPool(f->vk.handle, &info, NULL, &pool));
    f->more.ResetQueryPool(f->vk.handle, pool, 0, 4);
    assert_int_equal(
        f->vk.GetQueryPoolResults(f->vk.handle, pool, 0, 4, sizeof stamps, stamps, 16, with),
        VK_NOT_READY);
    VkCommandBuffer commands = begin(f);
    bind(f, commands, pipeline);
    f->vk.CmdResetQueryPool(commands, pool, 0, 4);
    f->vk.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool, 0);
    f->vk.CmdDispatch(commands, 4, 1, 1);
    f->vk.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 1);
    f->more.CmdCopyQueryPoolResults(commands, pool, 0, 2, f->buffers[1], 8, 8,
                                    VK_QUERY_RESULT_64_BIT);
    assert_vk(f->vk.EndCommandBuffer(commands));
    (void)submit(f, commands);
    assert_vk(f->vk.GetQueryPoolResults(f->vk.handle, pool, 0, 2, sizeof stamps, stamps, 16,
                                        with | VK_QUERY_RESULT_WAIT_BIT));
    assert_true(stamps[1] == 1 && stamps[3] == 1);
    assert_in_range(stamps[2] - stamps[0], 100000,
                    UINT64_C(60000000000)); /* it sleeps for 100 us */
    assert_vk(f->more.QueueWaitIdle(f->queue));
    assert_memory_equal(f->bytes[1] + 8, &stamps[0], 8);
    assert_memory_equal(f->bytes[1] + 16, &stamps[2], 8);
    assert_int_equal(
        f->vk.GetQueryPoolResults(f->vk.handle, pool, 1, 2, sizeof stamps, stamps, 16, with),
        VK_NOT_READY);
    assert_int_equal(stamps[3], 0);
    uint32_t narrow = 0;
    assert_vk(f->vk.GetQueryPoolResults(f->vk.handle, pool, 0, 1, sizeof narrow, &narrow, 4, 0));
    f->vk.DestroyQueryPool(f->vk.handle, pool, NULL);
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
}

/* ---- semaphores, fences, events ---- */

TEST(test_timelines, f) {
    VkSemaphore semaphore = VK_NULL_HANDLE;
    assert_vk(create_timeline(&semaphore, f, 7));
    assert_int_equal(counter(f, semaphore), 7);
    assert_vk(wait_for(f, semaphore, 7, 0));
    assert_int_equal(wait_for(f, semaphore, 8, 0), VK_TIMEOUT);
    const double start = weft_clock_ms();
    assert_int_equal(wait_for(f, semaphore, 8, 3000000), VK_TIMEOUT);
    assert_true(weft_clock_ms() - start >= 2.9);
    signal_to(f, semaphore, 100);
    assert_int_equal(counter(f, semaphore), 100);
    assert_vk(wait_for(f, semaphore, 8, UINT64_MAX));
    /* Any of two, and all of two. */
    const VkSemaphore both[2] = {semaphore, f->timeline};
    const uint64_t values[2] = {100, f->value + 1};
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .flags = VK_SEMAPHORE_WAIT_ANY_BIT,
                                .semaphoreCount = 2,
                                .pSemaphores = both,
                                .pValues = values};
    assert_vk(f->vk.WaitSemaphores(f->vk.handle, &info, 0));
    info.flags = 0;
    assert_int_equal(f->vk.WaitSemaphores(f->vk.handle, &info, 0), VK_TIMEOUT);
    (void)submit(f, VK_NULL_HANDLE);
    assert_vk(f->vk.WaitSemaphores(f->vk.handle, &info, UINT64_MAX));
    f->vk.DestroySemaphore(f->vk.handle, semaphore, NULL);
}

/* Submissions wait for values that nobody has promised yet, and keep their order. */
TEST(test_wait_before_signal, f) {
    VkSemaphore semaphore = VK_NULL_HANDLE;
    assert_vk(create_timeline(&semaphore, f, 0));
    VkCommandBuffer first = begin(f), second = begin(f);
    f->vk.CmdFillBuffer(first, f->buffers[0], 0, 64, 1);
    f->vk.CmdFillBuffer(second, f->buffers[0], 0, 64, 2);
    assert_vk(f->vk.EndCommandBuffer(first));
    assert_vk(f->vk.EndCommandBuffer(second));
    words(f, 0)[0] = 0;
    const uint64_t one = submit_after(f, first, semaphore, 3);
    const uint64_t two = submit_after(f, second, VK_NULL_HANDLE, 0);
    assert_int_equal(wait_for(f, f->timeline, two, 2000000), VK_TIMEOUT);
    signal_to(f, semaphore, 2);
    assert_int_equal(wait_for(f, f->timeline, one, 2000000), VK_TIMEOUT);
    assert_int_equal(words(f, 0)[0], 0);
    signal_to(f, semaphore, 3);
    assert_vk(wait_for(f, f->timeline, two, UINT64_MAX));
    assert_int_equal(words(f, 0)[0], 2);
    f->vk.DestroySemaphore(f->vk.handle, semaphore, NULL);
}

struct later {
    struct fixture *f;
    VkSemaphore semaphore;
    VkEvent event;
};

static void *signal_later(void *argument) {
    const struct later *later = argument;
    usleep(20000);
    if (later->event != VK_NULL_HANDLE) {
        (void)later->f->more.SetEvent(later->f->vk.handle, later->event);
    } else {
        signal_to(later->f, later->semaphore, 1);
    }
    return NULL;
}

/* Another thread signals while this one waits for ever for what comes of it. */
TEST(test_signal_of_another_thread, f) {
    struct later later = {.f = f};
    pthread_t thread;
    assert_vk(create_timeline(&later.semaphore, f, 0));
    const uint64_t value = submit_after(f, VK_NULL_HANDLE, later.semaphore, 1);
    assert_int_equal(pthread_create(&thread, NULL, signal_later, &later), 0);
    assert_vk(wait_for(f, f->timeline, value, UINT64_MAX));
    assert_int_equal(pthread_join(thread, NULL), 0);
    f->vk.DestroySemaphore(f->vk.handle, later.semaphore, NULL);
}

TEST(test_binary_semaphores, f) {
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    assert_vk(f->vk.CreateSemaphore(f->vk.handle, &info, NULL, &semaphore));
    const VkSubmitInfo submits[] = {{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                     .signalSemaphoreCount = 1,
                                     .pSignalSemaphores = &semaphore},
                                    {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                     .waitSemaphoreCount = 1,
                                     .pWaitSemaphores = &semaphore,
                                     .pWaitDstStageMask = &stage}};
    for (int round = 0; round < 3; round++) { /* a wait takes the signal back */
        assert_vk(f->vk.QueueSubmit(f->queue, 2, submits, VK_NULL_HANDLE));
        assert_vk(f->more.QueueWaitIdle(f->queue));
        assert_int_equal(counter(f, semaphore), 0);
    }
    f->vk.DestroySemaphore(f->vk.handle, semaphore, NULL);
}

TEST(test_fences, f) {
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fences[2];
    assert_vk(f->vk.QueueSubmit(f->queue, 0, NULL, VK_NULL_HANDLE));
    assert_vk(f->more.CreateFence(f->vk.handle, &info, NULL, &fences[0]));
    info.flags = VK_FENCE_CREATE_SIGNALED_BIT;
    assert_vk(f->more.CreateFence(f->vk.handle, &info, NULL, &fences[1]));
    assert_int_equal(f->more.GetFenceStatus(f->vk.handle, fences[0]), VK_NOT_READY);
    assert_vk(f->more.GetFenceStatus(f->vk.handle, fences[1]));
    assert_vk(f->more.WaitForFences(f->vk.handle, 2, fences, VK_FALSE, 0));
    assert_int_equal(f->more.WaitForFences(f->vk.handle, 2, fences, VK_TRUE, 1000), VK_TIMEOUT);
    assert_vk(f->vk.QueueSubmit(f->queue, 0, NULL, fences[0]));
    assert_vk(f->more.WaitForFences(f->vk.handle, 2, fences, VK_TRUE, UINT64_MAX));
    assert_vk(f->more.ResetFences(f->vk.handle, 2, fences));
    assert_int_equal(f->more.GetFenceStatus(f->vk.handle, fences[1]), VK_NOT_READY);
    /* The last of several submissions signals it. */
    const VkSubmitInfo submits[3] = {{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO},
                                     {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO},
                                     {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO}};
    assert_vk(f->vk.QueueSubmit(f->queue, 3, submits, fences[1]));
    assert_vk(f->more.WaitForFences(f->vk.handle, 1, &fences[1], VK_TRUE, UINT64_C(60000000000)));
    f->more.DestroyFence(f->vk.handle, fences[0], NULL);
    f->more.DestroyFence(f->vk.handle, fences[1], NULL);
}

TEST(test_events, f) {
    const VkEventCreateInfo info = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    struct later later = {.f = f};
    VkEvent done = VK_NULL_HANDLE;
    pthread_t thread;
    assert_vk(f->more.CreateEvent(f->vk.handle, &info, NULL, &later.event));
    assert_vk(f->more.CreateEvent(f->vk.handle, &info, NULL, &done));
    VkCommandBuffer commands = begin(f);
    f->more.CmdWaitEvents(commands, 1, &later.event, VK_PIPELINE_STAGE_HOST_BIT,
                          VK_PIPELINE_STAGE_TRANSFER_BIT, 0, NULL, 0, NULL, 0, NULL);
    f->more.CmdSetEvent(commands, done, VK_PIPELINE_STAGE_TRANSFER_BIT);
    assert_vk(f->vk.EndCommandBuffer(commands));
    const uint64_t value = submit(f, commands);
    assert_int_equal(f->more.GetEventStatus(f->vk.handle, done), VK_EVENT_RESET);
    assert_int_equal(pthread_create(&thread, NULL, signal_later, &later), 0);
    assert_vk(wait_for(f, f->timeline, value, UINT64_MAX));
    assert_int_equal(f->more.GetEventStatus(f->vk.handle, done), VK_EVENT_SET);
    assert_int_equal(pthread_join(thread, NULL), 0);
    f->more.DestroyEvent(f->vk.handle, later.event, NULL);
    f->more.DestroyEvent(f->vk.handle, done, NULL);
}

/* ---- who runs what ---- */

/* Nobody waits, and it is done all the same. */
TEST(test_progress_without_waiting, f) {
    VkCommandBuffer commands = begin(f);
    f->vk.CmdFillBuffer(commands, f->buffers[0], 0, 64, 77);
    assert_vk(f->vk.EndCommandBuffer(commands));
    for (int round = 0; round < 20; round++) {
        words(f, 0)[0] = 0;
        const uint64_t value = submit(f, commands);
        const double start = weft_clock_ms();
        while (counter(f, f->timeline) < value && weft_clock_ms() - start < 300000.0) {
            usleep(100);
        }
        assert_int_equal(counter(f, f->timeline), value);
        assert_int_equal(words(f, 0)[0], 77);
        usleep(round == 10 ? 50000 : 0); /* so long that the thread has gone to sleep */
    }
    /* Without even looking. */
    VkPipeline pipeline = pipeline_of(f, &gate);
    VkCommandBuffer passing = begin(f);
    bind(f, passing, pipeline);
    f->vk.CmdDispatch(passing, 1, 1, 1);
    assert_vk(f->vk.EndCommandBuffer(passing));
    atomic_store(&gate_open, true);
    atomic_store(&gate_entered, 0);
    (void)submit(f, passing);
    const double start = weft_clock_ms();
    while (atomic_load(&gate_entered) == 0 && weft_clock_ms() - start < 300000.0) {
        usleep(1000);
    }
    assert_int_equal(atomic_load(&gate_entered), 1);
    assert_vk(f->more.QueueWaitIdle(f->queue));
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
}

/* A submission returns at once, and a wait with an end does not begin what may take longer. */
TEST(test_waits_end_in_time, f) {
    VkPipeline pipeline = pipeline_of(f, &gate);
    VkCommandBuffer commands = begin(f);
    bind(f, commands, pipeline);
    f->vk.CmdDispatch(commands, 1, 1, 1);
    assert_vk(f->vk.EndCommandBuffer(commands));
    atomic_store(&gate_open, false);
    atomic_store(&gate_entered, 0);
    words(f, 0)[0] = 0;
    (void)submit(f, commands);
    const uint64_t value = submit(f, commands);
    assert_int_equal(wait_for(f, f->timeline, value, 5000000), VK_TIMEOUT);
    const double start = weft_clock_ms();
    while (atomic_load(&gate_entered) == 0 && weft_clock_ms() - start < 300000.0) {
        usleep(100);
    }
    assert_int_equal(atomic_load(&gate_entered), 1);
    assert_int_equal(counter(f, f->timeline), value - 2);
    atomic_store(&gate_open, true);
    assert_vk(wait_for(f, f->timeline, value, UINT64_MAX));
    assert_int_equal(words(f, 0)[0], 2);
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
}

struct waiter {
    const struct fixture *f;
    uint64_t value;
    VkResult result;
};

static void *wait_on_thread(void *argument) {
    struct waiter *waiter = argument;
    waiter->result = wait_for(waiter->f, waiter->f->timeline, waiter->value, UINT64_MAX);
    return NULL;
}

TEST(test_many_threads_wait, f) {
    enum { WAITERS = 6, ROUNDS = 50 };
    VkPipeline pipeline = pipeline_of(f, &counting);
    VkCommandBuffer commands = begin(f);
    bind(f, commands, pipeline);
    push(f, commands, 1);
    f->vk.CmdDispatch(commands, 100, 1, 1);
    assert_vk(f->vk.EndCommandBuffer(commands));
    memset(f->bytes[0], 0, 4096);
    for (int round = 0; round < ROUNDS; round++) {
        struct waiter waiters[WAITERS];
        pthread_t threads[WAITERS];
        for (int i = 0; i < WAITERS; i++) {
            waiters[i] = (struct waiter){.f = f, .value = submit(f, commands)};
            assert_int_equal(pthread_create(&threads[i], NULL, wait_on_thread, &waiters[i]), 0);
        }
        for (int i = 0; i < WAITERS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_vk(waiters[i].result);
        }
    }
    assert_int_equal(words(f, 0)[0], WAITERS * ROUNDS);
    assert_int_equal(words(f, 0)[99], WAITERS * ROUNDS);
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
}

TEST(test_many_small_submissions, f) {
    enum { ROUNDS = 5000 };
    VkPipeline pipeline = pipeline_of(f, &counting);
    VkCommandBuffer commands = begin(f);
    bind(f, commands, pipeline);
    push(f, commands, 1);
    f->vk.CmdDispatch(commands, 1, 1, 1);
    assert_vk(f->vk.EndCommandBuffer(commands));
    words(f, 0)[0] = 0;
    for (int i = 0; i < ROUNDS; i++) {
        assert_vk(wait_for(f, f->timeline, submit(f, commands), UINT64_MAX));
    }
    for (int i = 0; i < ROUNDS; i++) {
        (void)submit(f, commands);
    }
    assert_vk(f->vk.DeviceWaitIdle(f->vk.handle));
    assert_int_equal(words(f, 0)[0], 2 * ROUNDS);
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
}

/* A device may go while there is something that it has not begun. */
TEST(test_destroyed_with_work_left, f) {
    VkSemaphore never = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    assert_vk(create_device(&device, &f->instance, f->physical, NULL, NULL));
    f->vk.GetDeviceQueue(device, 0, 0, &queue);
    assert_vk(create_timeline(&never, f, 0));
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .waitSemaphoreCount = 1,
                               .pWaitSemaphores = &never,
                               .pWaitDstStageMask = &stage};
    assert_vk(f->vk.QueueSubmit(queue, 1, &info, VK_NULL_HANDLE));
    f->vk.DestroyDevice(device, NULL);
    f->vk.DestroySemaphore(f->vk.handle, never, NULL);
}

/* ---- the threads that compute ---- */

/* Kernels see numbers that flush and round as they should, whatever the caller has set; and the caller has it again. */
TEST(test_threads_state, f) {
    VkPipeline pipeline = pipeline_of(f, &looking);
    VkCommandBuffer commands = begin(f);
    sigset_t before, after, usr1;
    sigemptyset(&usr1);
    bind(f, commands, pipeline);
    f->vk.CmdDispatch(commands, 64, 1, 1);
    assert_vk(f->vk.EndCommandBuffer(commands));
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &usr1, NULL), 0);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
#if defined(__SSE__)
    const unsigned control = _mm_getcsr();
    _mm_setcsr((control & ~0x6000u) | 0x4000u); /* rounds up, keeps subnormals */
    const unsigned set = _mm_getcsr();
#endif
    const VkResult result = wait_for(f, f->timeline, submit(f, commands), UINT64_MAX);
#if defined(__SSE__)
    const unsigned found = _mm_getcsr();
    _mm_setcsr(control);
    assert_int_equal(found, set);
#endif
    assert_vk(result);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
    assert_int_equal(sigismember(&after, SIGUSR1), sigismember(&before, SIGUSR1));
    const float *floats = (const float *)(const void *)f->bytes[0];
    for (uint32_t i = 0; i < 64; i++) {
        assert_true((floats[4 * i] == 0.0F) == WEFT_FLOAT_STATE_FLUSHES);
        assert_true((floats[4 * i + 1] == 0.0F) == WEFT_FLOAT_STATE_FLUSHES);
        assert_true(floats[4 * i + 2] == 1.0F);
    }
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
}

/* The device's own threads are not for the program's signal handlers. */
TEST(test_threads_block_signals, f) {
    VkPipeline pipeline = pipeline_of(f, &looking);
    VkCommandBuffer commands = begin(f);
    bind(f, commands, pipeline);
    f->vk.CmdDispatch(commands, 1, 1, 1);
    assert_vk(f->vk.EndCommandBuffer(commands));
    const uint64_t value = submit(f, commands);
    while (counter(f, f->timeline) < value) { /* so the queue's thread runs it */
        usleep(100);
    }
    assert_true(((const float *)(const void *)f->bytes[0])[3] == 1.0F);
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
}

/* ---- pipeline caches ---- */

static VkPipelineCache cache_of(const struct fixture *f, const uint8_t *data, size_t size) {
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                            .initialDataSize = size,
                                            .pInitialData = data};
    VkPipelineCache cache = VK_NULL_HANDLE;
    assert_vk(f->vk.CreatePipelineCache(f->vk.handle, &info, NULL, &cache));
    return cache;
}

static void put(const struct fixture *f, VkPipelineCache cache, const char *name, size_t size) {
    struct weft_cpu_object object = {.bytes = weft_alloc(&f->host.host, size), .size = size};
    const weft_digest key = weft_digest_of(name, strlen(name));
    memset(object.bytes, name[0], size);
    weft_cpu_cache_put(weft_cpu_cache_of(cache), &key, &object, &f->host.host);
    weft_free(&f->host.host, object.bytes);
}

static uint8_t *data_of(const struct fixture *f, VkPipelineCache cache, size_t *size) {
    assert_vk(f->vk.GetPipelineCacheData(f->vk.handle, cache, size, NULL));
    uint8_t *data = malloc(*size);
    assert_non_null(data);
    assert_vk(f->vk.GetPipelineCacheData(f->vk.handle, cache, size, data));
    return data;
}

WEFT_TEST_WITH(test_cache_data, struct fixture *f, set_up_one, tear_down) {
    VkPipelineCache cache = cache_of(f, NULL, 0);
    put(f, cache, "first", 100);
    put(f, cache, "second", 1);
    put(f, cache, "third", 5000);
    put(f, cache, "second", 33);
    size_t size = 0;
    uint8_t *data = data_of(f, cache, &size);
    assert_int_equal(weft_cpu_cache_of(cache)->count, 3);
    /* What comes back is the same. */
    VkPipelineCache again = cache_of(f, data, size);
    assert_int_equal(weft_cpu_cache_of(again)->count, 3);
    size_t size_again = 0;
    uint8_t *data_again = data_of(f, again, &size_again);
    assert_int_equal(size_again, size);
    assert_memory_equal(data_again, data, size);
    /* Less room: what was written is a cache of its own. */
    for (size_t room = 0; room < size; room += 97) {
        size_t written = room;
        assert_int_equal(f->vk.GetPipelineCacheData(f->vk.handle, cache, &written, data_again),
                         VK_INCOMPLETE);
        assert_true(written <= room);
        VkPipelineCache part = cache_of(f, data_again, written);
        assert_in_range(weft_cpu_cache_of(part)->count, 0, 2);
        f->vk.DestroyPipelineCache(f->vk.handle, part, NULL);
    }
    put(f, again, "fourth", 4);
    assert_vk(f->more.MergePipelineCaches(f->vk.handle, cache, 1, &again));
    assert_int_equal(weft_cpu_cache_of(cache)->count, 4);
    f->vk.DestroyPipelineCache(f->vk.handle, cache, NULL);
    f->vk.DestroyPipelineCache(f->vk.handle, again, NULL);
    free(data);
    free(data_again);
}

WEFT_TEST_WITH(test_damaged_caches_are_empty, struct fixture *f, set_up_one, tear_down) {
    VkPipelineCache cache = cache_of(f, NULL, 0);
    put(f, cache, "first", 100);
    put(f, cache, "second", 200);
    size_t size = 0;
    uint8_t *data = data_of(f, cache, &size);
    for (uint64_t round = 0; round < 2000; round++) {
        size_t damaged_size = 0;
        uint8_t *damaged = weft_test_mutate(data, size, 11, round, &damaged_size);
        if (damaged_size == size && memcmp(damaged, data, size) == 0) {
            free(damaged);
            continue;
        }
        VkPipelineCache made = cache_of(f, damaged, damaged_size);
        assert_int_equal(weft_cpu_cache_of(made)->count, 0);
        f->vk.DestroyPipelineCache(f->vk.handle, made, NULL);
        free(damaged);
    }
    f->vk.DestroyPipelineCache(f->vk.handle, cache, NULL);
    free(data);
}

/* Each part of what a kernel is made of makes another key. */
WEFT_TEST(test_cache_keys) {
    static const uint32_t words_of_module[] = {1, 2, 3, 4};
    const uint32_t one = 1, two = 2;
    const uint64_t wide = 1;
    const struct weft_ir_specialization constants[] = {
        {0, 4, &one}, {0, 4, &two}, {1, 4, &one}, {0, 8, &wide}};
    const struct weft_ir_source sources[] = {
        {words_of_module, 16, "main", NULL, 0, 8, false},
        {words_of_module, 12, "main", NULL, 0, 8, false},
        {words_of_module, 16, "mai", NULL, 0, 8, false},
        {words_of_module, 16, "main", NULL, 0, 16, false},
        {words_of_module, 16, "main", NULL, 0, 8, true},
        {words_of_module, 16, "main", &constants[0], 1, 8, false},
        {words_of_module, 16, "main", &constants[1], 1, 8, false},
        {words_of_module, 16, "main", &constants[2], 1, 8, false},
        {words_of_module, 16, "main", &constants[3], 1, 8, false},
        {words_of_module, 16, "main", constants, 2, 8, false},
    };
    enum { COUNT = sizeof sources / sizeof sources[0] };
    for (size_t i = 0; i < COUNT; i++) {
        const weft_digest key = weft_cpu_cache_key(&sources[i]);
        for (size_t k = 0; k < COUNT; k++) {
            const weft_digest other = weft_cpu_cache_key(&sources[k]);
            assert_int_equal(memcmp(&key, &other, sizeof key) == 0, i == k);
        }
    }
}

/* ---- pipelines out of caches ---- */

static const uint32_t module_words[] = {0x07230203, 0x00010500, 0, 1,
                                        0}; /* a header, and nothing */
static const uint64_t specialized[] = {5, 6};
static const struct weft_ir_specialization cached_constants[] = {{7, 4, &specialized[0]},
                                                                 {9, 8, &specialized[1]}};

/* Puts native_sample.c's kernel, or bytes that are none, where the pipelines below will look. */
static void put_sample(const struct fixture *f, VkPipelineCache cache, const char *entry_point,
                       bool checked, bool damaged) {
    const struct weft_cpu_interface interface = {.local_size = {1, 1, 1},
                                                 .lanes = weft_cpu_native_lanes(),
                                                 .push_size = 8,
                                                 .binding_count = 2,
                                                 .bindings = {{0, 0}, {0, 1}}};
    const struct weft_ir_source source = {.words = module_words,
                                          .size = sizeof module_words,
                                          .entry_point = entry_point,
                                          .constants = cached_constants,
                                          .constant_count = 2,
                                          .lanes = weft_cpu_native_lanes(),
                                          .checked = checked};
    const weft_digest key = weft_cpu_cache_key(&source);
    struct weft_cpu_object object = {0};
    size_t size = 0;
    uint8_t *elf = weft_test_read(WEFT_NATIVE_SAMPLE, &size);
    assert_ok(weft_cpu_object_pack(&object, &interface, elf, size, &f->host.host));
    object.bytes[object.size / 2] ^= damaged;
    weft_cpu_cache_put(weft_cpu_cache_of(cache), &key, &object, &f->host.host);
    free(elf);
}

/* Whether the pipeline came from the cache; that it could be made at all is in *result. */
static bool make_from_cache(VkPipeline *pipeline, VkResult *result, const struct fixture *f,
                            VkPipelineCache cache, const char *entry_point,
                            const void *stage_chain) {
    const VkShaderModuleCreateInfo module_info = {.sType =
                                                      VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                                  .codeSize = sizeof module_words,
                                                  .pCode = module_words};
    const VkSpecializationMapEntry entries[] = {{7, 0, 4}, {9, 8, 8}};
    const VkSpecializationInfo specialization = {.mapEntryCount = 2,
                                                 .pMapEntries = entries,
                                                 .dataSize = sizeof specialized,
                                                 .pData = specialized};
    VkPipelineCreationFeedbackEXT whole = {0}, stage = {0};
    const VkPipelineCreationFeedbackCreateInfoEXT feedback = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO_EXT,
        .pPipelineCreationFeedback = &whole,
        .pipelineStageCreationFeedbackCount = 1,
        .pPipelineStageCreationFeedbacks = &stage};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .pNext = &feedback,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = stage_chain,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = entry_point,
                  .pSpecializationInfo = &specialization},
        .layout = f->layout};
    assert_vk(f->vk.CreateShaderModule(f->vk.handle, &module_info, NULL, &info.stage.module));
    *result = f->vk.CreateComputePipelines(f->vk.handle, cache, 1, &info, NULL, pipeline);
    f->vk.DestroyShaderModule(f->vk.handle, info.stage.module, NULL);
    assert_true((*result == VK_SUCCESS) == (*pipeline != VK_NULL_HANDLE));
    assert_true((whole.flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT_EXT) != 0);
    assert_int_equal(whole.flags, stage.flags);
    return (whole.flags & VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT_EXT) !=
           0;
}

TEST(test_pipelines_from_a_cache, f) {
    const uint32_t values[2] = {123, 456};
    const VkDescriptorBufferInfo narrow = {.buffer = f->buffers[1], .range = sizeof values};
    const VkWriteDescriptorSet write = write_of(f->set, 1, &narrow);
    VkPipelineCache cache = cache_of(f, NULL, 0);
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkResult result = VK_SUCCESS;
    if (weft_cpu_machine()->elf == 0) {
        f->vk.DestroyPipelineCache(f->vk.handle, cache, NULL);
        skip();
    }
    put_sample(f, cache, "main", false, false);
    assert_true(make_from_cache(&pipeline, &result, f, cache, "main", NULL));
    assert_vk(result);
    f->vk.UpdateDescriptorSets(f->vk.handle, 1, &write, 0, NULL);
    VkCommandBuffer commands = begin(f);
    bind(f, commands, pipeline);
    f->vk.CmdPushConstants(commands, f->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof values,
                           values);
    f->vk.CmdDispatchBase(commands, 3, 10, 5, 1, 1, 1);
    run(f, commands);
    assert_memory_equal(f->bytes[0], values, sizeof values);
    assert_int_equal(words(f, 0)[2 + 3], 92); /* see test_cpu_object.c */
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
    f->vk.DestroyPipelineCache(f->vk.handle, cache, NULL);
}

/* Another entry point, bounds checks, or an object that is damaged: not from the cache, and not from such a module. */
WEFT_TEST_WITH(test_what_a_cache_has_not, struct fixture *f, set_up_one, tear_down) {
    VkPipelineCache cache = cache_of(f, NULL, 0);
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkResult result = VK_SUCCESS;
    put_sample(f, cache, "main", false, false);
    put_sample(f, cache, "damaged", false, true);
    assert_false(make_from_cache(&pipeline, &result, f, cache, "other", NULL));
    assert_true(result < 0);
    assert_false(make_from_cache(&pipeline, &result, f, cache, "damaged", NULL));
    assert_true(result < 0);
    assert_false(make_from_cache(&pipeline, &result, f, VK_NULL_HANDLE, "main", NULL));
    assert_true(result < 0);
#ifdef VK_EXT_pipeline_robustness
    const VkPipelineRobustnessCreateInfoEXT checks = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT,
        .storageBuffers = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_ROBUST_BUFFER_ACCESS_EXT};
    assert_false(make_from_cache(&pipeline, &result, f, cache, "main", &checks));
    assert_true(result < 0);
    if (weft_cpu_machine()->elf != 0) {
        put_sample(f, cache, "main", true, false);
        assert_true(make_from_cache(&pipeline, &result, f, cache, "main", &checks));
        f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
    }
#endif
    f->vk.DestroyPipelineCache(f->vk.handle, cache, NULL);
}
