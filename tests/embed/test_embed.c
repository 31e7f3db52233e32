/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/*
 * Weft inside a program that owns its VkDevice: a plan recorded twice into the program's own command buffer, between
 * its own dispatches, on its own VkBuffers, gives the bits of weft_plan_run.
 */
#include <weft/mixers.h>
#include <weft/vulkan.h>

#include "core/math/philox.h"
#include "device/loader.h"
#include "device/vk.h"
#include "shader/glsl.h"
#include "support.h"

enum {
    BATCH = 2,
    LENGTH = 37,
    CHANNELS = 96,
    COUNT = BATCH * LENGTH * CHANNELS,
    BYTES = COUNT * (int)sizeof(float)
};

/** The program around Weft: what any engine has. */
struct program {
    struct weft_test_host host;
    struct weft_vk_instance instance;
    struct weft_vk_device vk;
    VkPhysicalDevice physical;
    uint32_t family;
    VkQueue queue;
    VkCommandPool pool;
    VkBuffer buffer; /* input, first output, second output, one after the other */
    VkDeviceMemory memory;
    float *mapped;
    uint64_t stride; /* bytes from one to the next */
    weft_device *device;
    bool has_timeline; /* the feature is enabled */
    int locks;         /* how often Weft has locked and unlocked the queue */
};

/* ---- the program's own Vulkan ---- */

static void load_instance_functions(struct program *program) {
#define LOAD(name)                                                                                 \
    program->instance.name =                                                                       \
        (PFN_vk##name)program->instance.GetInstanceProcAddr(program->instance.handle, "vk" #name); \
    assert_non_null(program->instance.name);
    WEFT_VK_INSTANCE_FUNCTIONS(LOAD)
#undef LOAD
}

static void load_device_functions(struct program *program) {
#define LOAD(name)                                                                         \
    program->vk.name =                                                                     \
        (PFN_vk##name)program->instance.GetDeviceProcAddr(program->vk.handle, "vk" #name); \
    assert_non_null(program->vk.name);
    WEFT_VK_DEVICE_FUNCTIONS(LOAD)
#undef LOAD
}

static void make_instance(struct program *program) {
    program->instance.GetInstanceProcAddr = weft_loader_open();
    assert_non_null(program->instance.GetInstanceProcAddr);
    PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)program->instance.GetInstanceProcAddr(NULL, "vkCreateInstance");
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pApplicationName = "embed",
                                     .apiVersion = VK_API_VERSION_1_2};
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application,
                                 .enabledExtensionCount = 1,
                                 .ppEnabledExtensionNames = extensions};
    assert_int_equal(create(&info, NULL, &program->instance.handle), VK_SUCCESS);
    load_instance_functions(program);
}

static void make_device(struct program *program) {
    uint32_t count = 1;
    VkResult result = program->instance.EnumeratePhysicalDevices(program->instance.handle, &count,
                                                                 &program->physical);
    assert_true(result == VK_SUCCESS || result == VK_INCOMPLETE);
    assert_int_equal(count, 1);
    float priority = 1.0F;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = program->family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkPhysicalDeviceProperties properties;
    program->instance.GetPhysicalDeviceProperties(program->physical, &properties);
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &timeline};
    assert_ok(weft_vulkan_require_features(&features));
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
    program->has_timeline = properties.apiVersion >= VK_API_VERSION_1_2;
    if (!program->has_timeline) { /* nothing is needed, and nothing is said */
        info.pNext = NULL;
    }
    assert_int_equal(
        program->instance.CreateDevice(program->physical, &info, NULL, &program->vk.handle),
        VK_SUCCESS);
    load_device_functions(program);
    program->vk.GetDeviceQueue(program->vk.handle, program->family, 0, &program->queue);
}

static uint32_t host_memory_type(const struct program *program, uint32_t allowed) {
    VkPhysicalDeviceMemoryProperties properties;
    program->instance.GetPhysicalDeviceMemoryProperties(program->physical, &properties);
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (uint32_t i = 0; i < properties.memoryTypeCount; i++) {
        if ((allowed & (1U << i)) && (properties.memoryTypes[i].propertyFlags & wanted) == wanted) {
            return i;
        }
    }
    fail_msg("no host-visible memory");
    return 0;
}

static void make_buffer(struct program *program) {
    program->stride = (BYTES + 4095) / 4096 * 4096;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = 3 * program->stride,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    assert_int_equal(program->vk.CreateBuffer(program->vk.handle, &info, NULL, &program->buffer),
                     VK_SUCCESS);
    VkMemoryRequirements requirements;
    program->vk.GetBufferMemoryRequirements(program->vk.handle, program->buffer, &requirements);
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .allocationSize = requirements.size,
                                     .memoryTypeIndex =
                                         host_memory_type(program, requirements.memoryTypeBits)};
    void *mapped = NULL;
    assert_int_equal(
        program->vk.AllocateMemory(program->vk.handle, &allocate, NULL, &program->memory),
        VK_SUCCESS);
    assert_int_equal(
        program->vk.BindBufferMemory(program->vk.handle, program->buffer, program->memory, 0),
        VK_SUCCESS);
    assert_int_equal(
        program->vk.MapMemory(program->vk.handle, program->memory, 0, VK_WHOLE_SIZE, 0, &mapped),
        VK_SUCCESS);
    program->mapped = mapped;
    memset(mapped, 0xff, (size_t)(3 * program->stride));
}

static void lock_queue(void *user) {
    ((struct program *)user)->locks++;
}

static void unlock_queue(void *user) {
    ((struct program *)user)->locks--;
}

static int set_up(void **state) {
    struct program *program = calloc(1, sizeof *program);
    weft_test_host_begin(&program->host);
    make_instance(program);
    make_device(program);
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex = program->family};
    assert_int_equal(program->vk.CreateCommandPool(program->vk.handle, &pool, NULL, &program->pool),
                     VK_SUCCESS);
    make_buffer(program);
    weft_device_adopt_params params = {.host = program->host.host,
                                       .instance = program->instance.handle,
                                       .physical_device = program->physical,
                                       .device = program->vk.handle,
                                       .queue = program->queue,
                                       .queue_family = program->family,
                                       .lock_queue = lock_queue,
                                       .unlock_queue = unlock_queue,
                                       .lock_user = program,
                                       .timeline_semaphore = program->has_timeline,
                                       .debug_labels = true};
    assert_ok(weft_device_adopt(&program->device, &params));
    *state = program;
    return 0;
}

static int tear_down(void **state) {
    struct program *program = *state;
    weft_device_destroy(&program->device);
    assert_int_equal(program->locks, 0);
    program->vk.DestroyBuffer(program->vk.handle, program->buffer, NULL);
    program->vk.FreeMemory(program->vk.handle, program->memory, NULL);
    program->vk.DestroyCommandPool(program->vk.handle, program->pool, NULL);
    program->vk.DestroyDevice(program->vk.handle, NULL);
    program->instance.DestroyInstance(program->instance.handle, NULL);
    weft_test_host_end(&program->host);
    free(program);
    return 0;
}

#define TEST(name, f) WEFT_TEST_WITH(name, struct program *f, set_up, tear_down)

/* ---- the plan ---- */

static weft_tensor filled_weight(weft_graph *graph, weft_shape shape, uint64_t stream) {
    size_t count = (size_t)weft_shape_elements(shape);
    float *data = malloc(count * sizeof *data);
    weft_philox_uniform(data, count, 7, stream);
    weft_weight *weight = NULL;
    weft_tensor tensor;
    assert_ok(weft_weight_create(&weight, weft_weight_params(.shape = shape, .data = data), NULL));
    assert_ok(weft_graph_weight(&tensor, graph, weight));
    weft_weight_destroy(&weight);
    free(data);
    return tensor;
}

/** One FNet layer's worth of ops: norm(x + fourier(x)), then a matrix product with bias and GELU. */
static weft_plan *make_plan(struct program *program) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor x;
    weft_tensor y;
    assert_ok(weft_graph_create(&graph, &program->host.host));
    assert_ok(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(BATCH, LENGTH, CHANNELS)));
    assert_ok(weft_graph_fourier(&y, graph, x));
    assert_ok(weft_graph_binary(&y, graph, WEFT_BINARY_ADD, x, y));
    assert_ok(weft_graph_layer_norm(&y, graph, y, filled_weight(graph, weft_shape_of(CHANNELS), 1),
                                    filled_weight(graph, weft_shape_of(CHANNELS), 2), 1e-12F));
    assert_ok(weft_graph_linear(&y, graph, y,
                                filled_weight(graph, weft_shape_of(CHANNELS, CHANNELS), 3),
                                filled_weight(graph, weft_shape_of(CHANNELS), 4)));
    assert_ok(weft_graph_activate(&y, graph, y, WEFT_ACTIVATION_GELU_TANH));
    assert_ok(weft_graph_output(graph, "y", y));
    assert_ok(weft_plan_compile(&plan, program->device, graph, NULL));
    weft_graph_destroy(&graph);
    return plan;
}

static void run_plan(weft_plan *plan, float *input, float *output) {
    weft_host_tensor tensors[] = {{.name = "x", .data = input, .bytes = BYTES},
                                  {.name = "y", .data = output, .bytes = BYTES}};
    assert_ok(weft_plan_execute(plan, tensors, 2));
}

/* ---- the program's own dispatches: x ← 2 x + 1/2, which rounds once however it is contracted ---- */

struct stepper {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool pool;
    VkDescriptorSet set;
};

static const char stepper_source[] = "#version 450\n"
                                     "layout(local_size_x = 64) in;\n"
                                     "layout(std430, binding = 0) buffer X { float x[]; };\n"
                                     "void main() { uint i = gl_GlobalInvocationID.x;\n"
                                     "  if (i < x.length()) x[i] = x[i] * 2.0 + 0.5; }\n";

static void make_stepper_layout(struct program *program, struct stepper *stepper) {
    const struct weft_vk_device *vk = &program->vk;
    VkDescriptorSetLayoutBinding binding = {.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                            .descriptorCount = 1,
                                            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo set_layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding};
    assert_int_equal(
        vk->CreateDescriptorSetLayout(vk->handle, &set_layout, NULL, &stepper->set_layout),
        VK_SUCCESS);
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &stepper->set_layout};
    assert_int_equal(vk->CreatePipelineLayout(vk->handle, &layout, NULL, &stepper->layout),
                     VK_SUCCESS);
}

static void make_stepper_pipeline(struct program *program, struct stepper *stepper) {
    const struct weft_vk_device *vk = &program->vk;
    uint32_t *words = NULL;
    size_t size = 0;
    VkShaderModule module;
    assert_ok(weft_glsl_compile(&words, &size, program->device, "stepper", stepper_source));
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
    assert_int_equal(vk->CreateShaderModule(vk->handle, &info, NULL, &module), VK_SUCCESS);
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = stepper->layout};
    assert_int_equal(vk->CreateComputePipelines(vk->handle, VK_NULL_HANDLE, 1, &pipeline, NULL,
                                                &stepper->pipeline),
                     VK_SUCCESS);
    vk->DestroyShaderModule(vk->handle, module, NULL);
    weft_free(&program->host.host, words);
}

static void make_stepper_set(struct program *program, struct stepper *stepper) {
    const struct weft_vk_device *vk = &program->vk;
    VkDescriptorPoolSize size = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = 1};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    assert_int_equal(vk->CreateDescriptorPool(vk->handle, &pool, NULL, &stepper->pool), VK_SUCCESS);
    VkDescriptorSetAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = stepper->pool,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &stepper->set_layout};
    assert_int_equal(vk->AllocateDescriptorSets(vk->handle, &allocate, &stepper->set), VK_SUCCESS);
    VkDescriptorBufferInfo buffer = {.buffer = program->buffer, .range = BYTES};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = stepper->set,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &buffer};
    vk->UpdateDescriptorSets(vk->handle, 1, &write, 0, NULL);
}

static void destroy_stepper(struct program *program, struct stepper *stepper) {
    const struct weft_vk_device *vk = &program->vk;
    vk->DestroyPipeline(vk->handle, stepper->pipeline, NULL);
    vk->DestroyPipelineLayout(vk->handle, stepper->layout, NULL);
    vk->DestroyDescriptorPool(vk->handle, stepper->pool, NULL);
    vk->DestroyDescriptorSetLayout(vk->handle, stepper->set_layout, NULL);
}

static void record_step(struct program *program, VkCommandBuffer commands,
                        const struct stepper *stepper) {
    program->vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, stepper->pipeline);
    program->vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, stepper->layout, 0,
                                      1, &stepper->set, 0, NULL);
    program->vk.CmdDispatchBase(commands, 0, 0, 0, (COUNT + 63) / 64, 1, 1);
}

static void record_barrier(struct program *program, VkCommandBuffer commands,
                           VkPipelineStageFlags before, VkPipelineStageFlags after) {
    VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = before == VK_PIPELINE_STAGE_HOST_BIT ? VK_ACCESS_HOST_WRITE_BIT
                                                              : VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask =
            after == VK_PIPELINE_STAGE_HOST_BIT ? VK_ACCESS_HOST_READ_BIT : WEFT_PLAN_ACCESS};
    program->vk.CmdPipelineBarrier(commands, before, after, 0, 1, &barrier, 0, NULL, 0, NULL);
}

static VkCommandBuffer begin_commands(struct program *program) {
    VkCommandBuffer commands;
    VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = program->pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(program->vk.AllocateCommandBuffers(program->vk.handle, &allocate, &commands),
                     VK_SUCCESS);
    assert_int_equal(program->vk.BeginCommandBuffer(commands, &begin), VK_SUCCESS);
    return commands;
}

static void submit_and_wait(struct program *program, VkCommandBuffer commands) {
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &commands};
    assert_int_equal(program->vk.EndCommandBuffer(commands), VK_SUCCESS);
    assert_int_equal(program->vk.QueueSubmit(program->queue, 1, &submit, VK_NULL_HANDLE),
                     VK_SUCCESS);
    assert_int_equal(program->vk.DeviceWaitIdle(program->vk.handle), VK_SUCCESS);
}

/* ---- tests ---- */

static weft_bindings *bind_own(struct program *program, weft_plan *plan, uint32_t output,
                               weft_buffer **buffers) {
    weft_bindings *bindings = NULL;
    assert_ok(weft_buffer_wrap(&buffers[0], program->device, program->buffer, 0, BYTES));
    assert_ok(weft_buffer_wrap(&buffers[1], program->device, program->buffer,
                               output * program->stride, BYTES));
    assert_ok(weft_bindings_create(&bindings, plan));
    assert_ok(weft_bindings_set(bindings, "x", buffers[0]));
    assert_ok(weft_bindings_set(bindings, "y", buffers[1]));
    return bindings;
}

TEST(test_record_between_own_dispatches, program) {
    float *input = malloc(BYTES);
    float *expected = malloc((size_t)2 * BYTES);
    struct stepper stepper = {0};
    weft_philox_uniform(input, COUNT, 1, 0);
    memcpy(program->mapped, input, BYTES);
    weft_plan *plan = make_plan(program);
    make_stepper_layout(program, &stepper);
    make_stepper_pipeline(program, &stepper);
    make_stepper_set(program, &stepper);

    weft_buffer *buffers[4] = {NULL};
    weft_bindings *first = bind_own(program, plan, 1, &buffers[0]);
    weft_bindings *second = bind_own(program, plan, 2, &buffers[2]);
    VkCommandBuffer commands = begin_commands(program);
    record_barrier(program, commands, VK_PIPELINE_STAGE_HOST_BIT, WEFT_PLAN_STAGE);
    record_step(program, commands, &stepper);
    record_barrier(program, commands, WEFT_PLAN_STAGE, WEFT_PLAN_STAGE);
    weft_device_stats before;
    weft_device_stats after;
    assert_ok(weft_device_get_stats(program->device, &before));
    weft_test_host_reset(&program->host);
    assert_ok(weft_plan_record(plan, commands, first));
    record_barrier(program, commands, WEFT_PLAN_STAGE, WEFT_PLAN_STAGE);
    record_step(program, commands, &stepper);
    record_barrier(program, commands, WEFT_PLAN_STAGE, WEFT_PLAN_STAGE);
    assert_ok(weft_plan_record(plan, commands, second));
    assert_int_equal(program->host.allocations, 0); /* recording allocates nothing … */
    assert_ok(weft_device_get_stats(program->device, &after));
    assert_int_equal(after.submissions, before.submissions); /* … and submits nothing */
    assert_int_equal(after.bytes_in_use, before.bytes_in_use);
    record_barrier(program, commands, WEFT_PLAN_STAGE, VK_PIPELINE_STAGE_HOST_BIT);
    submit_and_wait(program, commands);

    for (int i = 0; i < COUNT; i++) {
        input[i] = input[i] * 2.0F + 0.5F;
    }
    run_plan(plan, input, expected);
    for (int i = 0; i < COUNT; i++) {
        input[i] = input[i] * 2.0F + 0.5F;
    }
    run_plan(plan, input, expected + COUNT);
    assert_memory_equal((char *)program->mapped + program->stride, expected, BYTES);
    assert_memory_equal((char *)program->mapped + 2 * program->stride, expected + COUNT, BYTES);
    assert_memory_not_equal(expected, expected + COUNT, BYTES);

    weft_bindings_destroy(&first);
    weft_bindings_destroy(&second);
    for (int i = 0; i < 4; i++) {
        weft_buffer_destroy(&buffers[i]);
    }
    weft_plan_destroy(&plan);
    destroy_stepper(program, &stepper);
    free(input);
    free(expected);
}

TEST(test_record_refuses_unset_ports, program) {
    weft_plan *plan = make_plan(program);
    weft_bindings *bindings = NULL;
    weft_buffer *buffer = NULL;
    assert_ok(weft_bindings_create(&bindings, plan));
    VkCommandBuffer commands = begin_commands(program);
    WEFT_EXPECT_REFUSED(&program->host, WEFT_INVALID_ARGUMENT,
                        weft_plan_record(plan, commands, bindings), "input 'x' is not set");
    assert_ok(weft_buffer_wrap(&buffer, program->device, program->buffer, 0, BYTES - 4));
    assert_int_equal(weft_bindings_set(bindings, "x", buffer), WEFT_SHAPE_MISMATCH);
    WEFT_EXPECT_REFUSED(&program->host, WEFT_NOT_FOUND, weft_bindings_set(bindings, "z", buffer),
                        "'z'", "x y");
    submit_and_wait(program, commands);
    weft_buffer_destroy(&buffer);
    weft_bindings_destroy(&bindings);
    weft_plan_destroy(&plan);
}

TEST(test_wrap_refuses_misaligned_offsets, program) {
    weft_buffer *buffer = NULL;
    WEFT_EXPECT_REFUSED(&program->host, WEFT_INVALID_ARGUMENT,
                        weft_buffer_wrap(&buffer, program->device, program->buffer, 1, BYTES),
                        "offset");
    assert_ok(weft_buffer_wrap(&buffer, program->device, program->buffer, program->stride, BYTES));
    uint64_t offset = 0;
    assert_ptr_equal(weft_buffer_vulkan(buffer, &offset), program->buffer);
    assert_int_equal(offset, program->stride);
    weft_buffer_destroy(&buffer);
}

/** A loader whose instances do not have the extension. */
static PFN_vkVoidFunction VKAPI_CALL get_without_labels(VkInstance instance, const char *name) {
    return strcmp(name, "vkCmdBeginDebugUtilsLabelEXT") == 0 ? NULL
                                                             : weft_loader_open()(instance, name);
}

TEST(test_labels_need_their_extension, program) {
    weft_device *device = NULL;
    weft_device_adopt_params params = {.host = program->host.host,
                                       .instance = program->instance.handle,
                                       .physical_device = program->physical,
                                       .device = program->vk.handle,
                                       .queue = program->queue,
                                       .queue_family = program->family,
                                       .get_instance_proc_addr = get_without_labels,
                                       .debug_labels = true};
    WEFT_EXPECT_REFUSED(&program->host, WEFT_UNSUPPORTED, weft_device_adopt(&device, &params),
                        "vkCmdBeginDebugUtilsLabelEXT", "VK_EXT_debug_utils");
    assert_null(device);
    params.debug_labels = false;
    assert_ok(weft_device_adopt(&device, &params));
    weft_device_destroy(&device);
}
