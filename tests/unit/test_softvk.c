/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* The processor device's Vulkan functions, called as an application would call them, on one thread and on four. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "core/hash.h"
#include "core/math/float_state.h"
#include "core/system/clock.h"
#include "device/physical.h"
#include "native/target.h"
#include "softvk/cache.h"

#define TESTED_PROC_ADDR weft_soft_get_instance_proc_addr
#include "support_softvk.h"

/* As a program does by vkSignalSemaphore, which Weft does not call. */
static void signal_to(const struct fixture *f, VkSemaphore semaphore, uint64_t value) {
    weft_soft_queue_set(&weft_soft_device_of(f->vk.handle)->queue,
                        &weft_soft_semaphore_of(semaphore)->value, value);
}

/* ---- kernels ---- */

/* What the thread that runs it is like: a subnormal product, half an ulp rounded, and whether signals are blocked. */
static void look_at_thread(const struct weft_native_call *call, uint32_t x, uint32_t y, uint32_t z,
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

static void wait_at_gate(const struct weft_native_call *call, uint32_t x, uint32_t y, uint32_t z,
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

static const struct weft_native_kernel looking = {
    .interface = {.binding_count = 1, .bindings = {{0, 0}}}, .entry = look_at_thread};
static const struct weft_native_kernel gate = {
    .interface = {.binding_count = 1, .bindings = {{0, 0}}}, .entry = wait_at_gate};

/* ---- what the device is ---- */

WEFT_TEST_WITH(test_physical_device, struct fixture *f, set_up_four, tear_down) {
    struct weft_physical physical;
    assert_ok(weft_physical_read(&physical, &f->instance, f->physical, 5, WEFT_NO_FAMILY, NULL));
    const weft_device_info *info = &physical.info;
    assert_true(info->usable);
    assert_int_equal(info->type, WEFT_DEVICE_PROCESSOR);
    assert_string_equal(info->driver, WEFT_PROCESSOR_DRIVER_NAME);
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
        assert_null(weft_soft_get_instance_proc_addr(f->instance.handle, names[i]));
    }
    assert_null(weft_soft_get_instance_proc_addr(NULL, NULL));
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
    assert_vk(create_instance(&instance, f->get, &f->host.host));
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
        assert_vk(create_instance(&instance, f->get, &f->host.host));
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
    VkMemoryRequirements requirements;
    f->vk.GetBufferMemoryRequirements(f->vk.handle, buffer, &requirements);
    assert_int_equal(requirements.size, 128);
    assert_int_equal(requirements.alignment, 64);
    assert_int_equal(requirements.memoryTypeBits, 1);
    assert_vk(f->vk.BindBufferMemory(f->vk.handle, buffer, f->memory, 64));
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
        result = weft_processor_pipeline_wrap(&pipeline, f->vk.handle, f->layout, &counting);
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
        result = f->vk.DeviceWaitIdle(f->vk.handle);
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
    bind(f, commands, pipeline);
    f->vk.CmdFillBuffer(commands, f->buffers[0], 0, 4, 1000);
    f->vk.CmdFillBuffer(commands, f->buffers[0], 4, 4, 500);
    f->vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                             VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0, NULL, 0, NULL, 0, NULL);
    f->vk.CmdDispatch(commands, 5, 1, 2);
    run(f, commands);
    assert_int_equal(words(f, 1)[0], 1508);
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
    static const struct weft_native_kernel kernel = {
        .interface = {.binding_count = 2, .bindings = {{1, 3}, {0, 3}}}, .entry = add_words};
    struct two_sets two = make_two_sets(f);
    for (uint32_t i = 0; i < 2; i++) {
        const VkDescriptorBufferInfo info = {
            .buffer = f->buffers[0], .offset = 64 * i, .range = 64};
        const VkWriteDescriptorSet write = write_of(two.sets[i], 3, &info);
        f->vk.UpdateDescriptorSets(f->vk.handle, 1, &write, 0, NULL);
    }
    VkPipeline pipeline = VK_NULL_HANDLE;
    assert_vk(weft_processor_pipeline_wrap(&pipeline, f->vk.handle, two.layout, &kernel));
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
    info.descriptorSetCount = 1;
    assert_int_equal(f->vk.AllocateDescriptorSets(f->vk.handle, &info, sets),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
}

WEFT_TEST_WITH(test_layouts_that_do_not_fit, struct fixture *f, set_up_one, tear_down) {
    static const struct weft_native_kernel kernels[] = {
        {.interface = {.binding_count = 1, .bindings = {{1, 0}}}},
        {.interface = {.binding_count = 1, .bindings = {{0, 2}}}},
        {.interface = {.push_size = 257}}};
    VkPipeline pipeline = VK_NULL_HANDLE;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        assert_int_equal(
            weft_processor_pipeline_wrap(&pipeline, f->vk.handle, f->layout, &kernels[i]),
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
    assert_int_equal(
        f->vk.GetQueryPoolResults(f->vk.handle, pool, 0, 4, sizeof stamps, stamps, 16, with),
        VK_NOT_READY);
    VkCommandBuffer commands = begin(f);
    bind(f, commands, pipeline);
    f->vk.CmdResetQueryPool(commands, pool, 0, 4);
    f->vk.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool, 0);
    f->vk.CmdDispatch(commands, 4, 1, 1);
    f->vk.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 1);
    assert_vk(f->vk.EndCommandBuffer(commands));
    (void)submit(f, commands);
    assert_vk(f->vk.GetQueryPoolResults(f->vk.handle, pool, 0, 2, sizeof stamps, stamps, 16,
                                        with | VK_QUERY_RESULT_WAIT_BIT));
    assert_true(stamps[1] == 1 && stamps[3] == 1);
    assert_in_range(stamps[2] - stamps[0], 100000,
                    UINT64_C(60000000000)); /* it sleeps for 100 us */
    assert_vk(f->vk.DeviceWaitIdle(f->vk.handle));
    assert_int_equal(
        f->vk.GetQueryPoolResults(f->vk.handle, pool, 1, 2, sizeof stamps, stamps, 16, with),
        VK_NOT_READY);
    assert_int_equal(stamps[3], 0);
    uint32_t narrow = 0;
    assert_vk(f->vk.GetQueryPoolResults(f->vk.handle, pool, 0, 1, sizeof narrow, &narrow, 4, 0));
    f->vk.DestroyQueryPool(f->vk.handle, pool, NULL);
    f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
}

/* ---- semaphores and fences ---- */

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
};

static void *signal_later(void *argument) {
    const struct later *later = argument;
    usleep(20000);
    signal_to(later->f, later->semaphore, 1);
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
        assert_vk(f->vk.DeviceWaitIdle(f->vk.handle));
        assert_int_equal(counter(f, semaphore), 0);
    }
    f->vk.DestroySemaphore(f->vk.handle, semaphore, NULL);
}

TEST(test_fences, f) {
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fences[2];
    assert_vk(f->vk.QueueSubmit(f->queue, 0, NULL, VK_NULL_HANDLE));
    assert_vk(f->vk.CreateFence(f->vk.handle, &info, NULL, &fences[0]));
    info.flags = VK_FENCE_CREATE_SIGNALED_BIT;
    assert_vk(f->vk.CreateFence(f->vk.handle, &info, NULL, &fences[1]));
    assert_int_equal(f->vk.GetFenceStatus(f->vk.handle, fences[0]), VK_NOT_READY);
    assert_vk(f->vk.GetFenceStatus(f->vk.handle, fences[1]));
    assert_vk(f->vk.WaitForFences(f->vk.handle, 2, fences, VK_FALSE, 0));
    assert_int_equal(f->vk.WaitForFences(f->vk.handle, 2, fences, VK_TRUE, 1000), VK_TIMEOUT);
    assert_vk(f->vk.QueueSubmit(f->queue, 0, NULL, fences[0]));
    assert_vk(f->vk.WaitForFences(f->vk.handle, 2, fences, VK_TRUE, UINT64_MAX));
    assert_vk(f->vk.ResetFences(f->vk.handle, 2, fences));
    assert_int_equal(f->vk.GetFenceStatus(f->vk.handle, fences[1]), VK_NOT_READY);
    /* The last of several submissions signals it. */
    const VkSubmitInfo submits[3] = {{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO},
                                     {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO},
                                     {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO}};
    assert_vk(f->vk.QueueSubmit(f->queue, 3, submits, fences[1]));
    assert_vk(f->vk.WaitForFences(f->vk.handle, 1, &fences[1], VK_TRUE, UINT64_C(60000000000)));
    f->vk.DestroyFence(f->vk.handle, fences[0], NULL);
    f->vk.DestroyFence(f->vk.handle, fences[1], NULL);
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
    assert_vk(f->vk.DeviceWaitIdle(f->vk.handle));
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
    struct weft_soft_object object = {.bytes = weft_alloc(&f->host.host, size), .size = size};
    const weft_digest key = weft_digest_of(name, strlen(name));
    memset(object.bytes, name[0], size);
    weft_soft_cache_put(weft_soft_cache_of(cache), &key, &object, &f->host.host);
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
    assert_int_equal(weft_soft_cache_of(cache)->count, 3);
    /* What comes back is the same. */
    VkPipelineCache again = cache_of(f, data, size);
    assert_int_equal(weft_soft_cache_of(again)->count, 3);
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
        assert_in_range(weft_soft_cache_of(part)->count, 0, 2);
        f->vk.DestroyPipelineCache(f->vk.handle, part, NULL);
    }
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
        assert_int_equal(weft_soft_cache_of(made)->count, 0);
        f->vk.DestroyPipelineCache(f->vk.handle, made, NULL);
        free(damaged);
    }
    f->vk.DestroyPipelineCache(f->vk.handle, cache, NULL);
    free(data);
}

/* The keys are of a build of Weft: so is the data, whose objects would be believed to be there, and never be kept again. */
WEFT_TEST_WITH(test_caches_are_of_a_build, struct fixture *f, set_up_one, tear_down) {
    const struct weft_soft_physical *physical = weft_soft_device_of(f->vk.handle)->physical;
    struct weft_physical read;
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, physical->properties.uuid, VK_UUID_SIZE);
    weft_sha256_add(&hash, weft_build(), strlen(weft_build()) + 1);
    const weft_digest digest = weft_sha256_end(&hash);
    assert_ok(weft_physical_read(&read, &f->instance, f->physical, 5, WEFT_NO_FAMILY, NULL));
    assert_memory_equal(read.info.uuid, digest.bytes, VK_UUID_SIZE);
    assert_memory_equal(read.info.device_uuid, physical->properties.uuid, VK_UUID_SIZE);
    VkPipelineCache cache = cache_of(f, NULL, 0);
    put(f, cache, "first", 100);
    size_t size = 0;
    uint8_t *data = data_of(f, cache, &size);
    assert_memory_equal(data + 16, digest.bytes, VK_UUID_SIZE);
    memcpy(data + 16, physical->properties.uuid, VK_UUID_SIZE); /* as if of another build */
    VkPipelineCache other = cache_of(f, data, size);
    assert_int_equal(weft_soft_cache_of(other)->count, 0);
    f->vk.DestroyPipelineCache(f->vk.handle, cache, NULL);
    f->vk.DestroyPipelineCache(f->vk.handle, other, NULL);
    free(data);
}

/* Each part of what a kernel is made of makes another key. */
WEFT_TEST_WITH(test_cache_keys, struct fixture *f, set_up_one, tear_down) {
    static const uint32_t words_of_module[] = {1, 2, 3, 4};
    const uint64_t data[] = {1, 2, 1};
    const VkSpecializationMapEntry entries[] = {{0, 0, 4}, {0, 8, 4}, {1, 0, 4}, {0, 16, 8}};
    VkSpecializationInfo constants[5];
    for (uint32_t i = 0; i < 5; i++) {
        constants[i] = (VkSpecializationInfo){.mapEntryCount = i < 4 ? 1 : 2,
                                              .pMapEntries = i < 4 ? &entries[i] : entries,
                                              .dataSize = sizeof data,
                                              .pData = data};
    }
    const struct weft_soft_source sources[] = {
        {words_of_module, 16, "main", NULL, false},
        {words_of_module, 12, "main", NULL, false},
        {words_of_module, 16, "mai", NULL, false},
        {words_of_module, 16, "main", NULL, true},
        {words_of_module, 16, "main", &constants[0], false},
        {words_of_module, 16, "main", &constants[1], false},
        {words_of_module, 16, "main", &constants[2], false},
        {words_of_module, 16, "main", &constants[3], false},
        {words_of_module, 16, "main", &constants[4], false},
    };
    const struct weft_soft_device *device = weft_soft_device_of(f->vk.handle);
    enum { COUNT = sizeof sources / sizeof sources[0] };
    for (size_t i = 0; i < COUNT; i++) {
        const weft_digest key = weft_soft_cache_key(device, &sources[i]);
        for (size_t k = 0; k < COUNT; k++) {
            const weft_digest other = weft_soft_cache_key(device, &sources[k]);
            assert_int_equal(memcmp(&key, &other, sizeof key) == 0, i == k);
        }
    }
}

/* ---- pipelines out of caches ---- */

static const uint32_t module_words[] = {0x07230203, 0x00010500, 0, 1,
                                        0}; /* a header, and nothing */
static const uint64_t specialized[] = {5, 6};
static const VkSpecializationMapEntry specialized_entries[] = {{7, 0, 4}, {9, 8, 8}};
static const VkSpecializationInfo specialization = {.mapEntryCount = 2,
                                                    .pMapEntries = specialized_entries,
                                                    .dataSize = sizeof specialized,
                                                    .pData = specialized};

/* Puts native_sample.c's kernel, or bytes that are none, where the pipelines below will look. */
static void put_sample(const struct fixture *f, VkPipelineCache cache, const char *entry_point,
                       bool checked, bool damaged) {
    const struct weft_native_interface interface = {.local_size = {1, 1, 1},
                                                    .lanes = weft_native_lanes(),
                                                    .push_size = 8,
                                                    .binding_count = 2,
                                                    .bindings = {{0, 0}, {0, 1}}};
    const struct weft_soft_source source = {.words = module_words,
                                            .size = sizeof module_words,
                                            .entry_point = entry_point,
                                            .constants = &specialization,
                                            .checked = checked};
    const weft_digest key = weft_soft_cache_key(weft_soft_device_of(f->vk.handle), &source);
    struct weft_native_object packed = {0};
    size_t size = 0;
    uint8_t *elf = weft_test_read(WEFT_NATIVE_SAMPLE, &size);
    assert_ok(weft_native_object_pack(&packed, &interface, elf, size, &f->host.host));
    struct weft_soft_object object = {.bytes = packed.bytes, .size = packed.size};
    object.bytes[object.size / 2] ^= damaged;
    weft_soft_cache_put(weft_soft_cache_of(cache), &key, &object, &f->host.host);
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
    if (weft_native_machine()->elf == 0) {
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
    assert_int_equal(words(f, 0)[2 + 3], 92); /* see test_native_object.c */
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
    if (weft_native_machine()->elf != 0) {
        put_sample(f, cache, "main", true, false);
        assert_true(make_from_cache(&pipeline, &result, f, cache, "main", &checks));
        f->vk.DestroyPipeline(f->vk.handle, pipeline, NULL);
    }
#endif
    f->vk.DestroyPipelineCache(f->vk.handle, cache, NULL);
}
