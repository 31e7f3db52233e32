/* SPDX-License-Identifier: MIT */
/*
 * Weft inside a program that already uses Vulkan. This one makes its own VkInstance, VkDevice, buffers
 * and command buffer, as an engine does, and lets Weft record a plan between its own commands:
 *
 *     copy staging → input     ours
 *     barrier                  ours: what wrote the input, to WEFT_PLAN_STAGE
 *     weft_plan_record         dispatches and the barriers between them
 *     barrier                  ours: WEFT_PLAN_STAGE, to what reads the output
 *     copy output → staging    ours
 *
 * Then the same run over several frames, a part in each.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <vulkan/vulkan_core.h>

#include <weft/mixers.h>
#include <weft/vulkan.h>

enum { LENGTH = 64, WIDTH = 32, COUNT = LENGTH * WIDTH };
#define BYTES ((VkDeviceSize)COUNT * sizeof(float))

/* The Vulkan functions this program calls. An engine has its own loader, such as volk. */
#define FUNCTIONS(X)                            \
    X(vkDestroyInstance)                        \
    X(vkEnumeratePhysicalDevices)               \
    X(vkGetPhysicalDeviceProperties)            \
    X(vkGetPhysicalDeviceQueueFamilyProperties) \
    X(vkGetPhysicalDeviceMemoryProperties)      \
    X(vkCreateDevice)                           \
    X(vkDestroyDevice)                          \
    X(vkGetDeviceQueue)                         \
    X(vkCreateBuffer)                           \
    X(vkDestroyBuffer)                          \
    X(vkGetBufferMemoryRequirements)            \
    X(vkAllocateMemory)                         \
    X(vkFreeMemory)                             \
    X(vkBindBufferMemory)                       \
    X(vkMapMemory)                              \
    X(vkCreateCommandPool)                      \
    X(vkDestroyCommandPool)                     \
    X(vkAllocateCommandBuffers)                 \
    X(vkBeginCommandBuffer)                     \
    X(vkEndCommandBuffer)                       \
    X(vkCmdCopyBuffer)                          \
    X(vkCmdPipelineBarrier)                     \
    X(vkQueueSubmit)                            \
    X(vkDeviceWaitIdle)

typedef struct buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
} buffer;

typedef struct engine {
    PFN_vkGetInstanceProcAddr get;
#define DECLARE(name) PFN_##name name;
    FUNCTIONS(DECLARE)
#undef DECLARE
    VkInstance instance;
    VkPhysicalDevice physical;
    uint32_t family;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    buffer staging, input, output;
    float *mapped; /* of staging */
} engine;

/* Names the call that failed. */
static bool check(VkResult result, const char *call) {
    if (result != VK_SUCCESS) {
        fprintf(stderr, "%s: VkResult %d\n", call, (int)result);
    }
    return result == VK_SUCCESS;
}

/* ---- the engine's own Vulkan ---- */

static bool load_vulkan(engine *e) {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = !library ? NULL : dlsym(library, "vkGetInstanceProcAddr");
    if (!symbol) {
        fprintf(stderr, "no Vulkan loader: %s\n", dlerror());
        return false;
    }
    /* ISO C has no conversion from void * to a function pointer; POSIX says that this works. */
    memcpy(&e->get, &symbol, sizeof symbol);
    return true;
}

static bool make_instance(engine *e) {
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)e->get(NULL, "vkCreateInstance");
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "weft embedding example",
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    if (!check(create(&info, NULL, &e->instance), "vkCreateInstance")) {
        return false;
    }
#define LOAD(name)                                    \
    e->name = (PFN_##name)e->get(e->instance, #name); \
    if (!e->name) {                                   \
        fprintf(stderr, "no function %s\n", #name);   \
        return false;                                 \
    }
    FUNCTIONS(LOAD)
#undef LOAD
    return true;
}

static bool find_compute_family(engine *e) {
    VkQueueFamilyProperties families[16];
    uint32_t count = sizeof families / sizeof families[0];
    e->vkGetPhysicalDeviceQueueFamilyProperties(e->physical, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) {
            e->family = i;
            return true;
        }
    }
    return false;
}

/* The first device with Vulkan 1.2 and a compute queue. */
static bool choose_physical(engine *e) {
    VkPhysicalDevice list[16];
    uint32_t count = sizeof list / sizeof list[0];
    VkResult result = e->vkEnumeratePhysicalDevices(e->instance, &count, list);
    for (uint32_t i = 0; i < count && (result == VK_SUCCESS || result == VK_INCOMPLETE); i++) {
        VkPhysicalDeviceProperties properties;
        e->vkGetPhysicalDeviceProperties(list[i], &properties);
        e->physical = list[i];
        if (properties.apiVersion >= VK_API_VERSION_1_2 && find_compute_family(e)) {
            printf("engine's device: %s\n", properties.deviceName);
            return true;
        }
    }
    fprintf(stderr, "no device with Vulkan 1.2 and compute\n");
    return false;
}

/* Weft says what it needs: here the features; it needs no extension of Vulkan 1.2. */
static bool make_device(engine *e) {
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &features12};
    if (weft_vulkan_require_features(&features) != WEFT_OK) {
        return false;
    }
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = e->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    uint32_t extension_count = 0;
    const char *const *extensions = weft_vulkan_required_extensions();
    while (extensions[extension_count]) {
        extension_count++;
    }
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &features,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = extension_count,
                                     .ppEnabledExtensionNames = extensions};
    if (!check(e->vkCreateDevice(e->physical, &info, NULL, &e->device), "vkCreateDevice")) {
        return false;
    }
    e->vkGetDeviceQueue(e->device, e->family, 0, &e->queue);
    return true;
}

static bool find_memory(const engine *e, uint32_t allowed, VkMemoryPropertyFlags wanted,
                        uint32_t *type) {
    VkPhysicalDeviceMemoryProperties memory;
    e->vkGetPhysicalDeviceMemoryProperties(e->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++) {
        if ((allowed >> i & 1u) != 0 && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
            *type = i;
            return true;
        }
    }
    fprintf(stderr, "no memory type with the flags %u\n", (unsigned)wanted);
    return false;
}

/* Buffers for Weft need STORAGE_BUFFER; TRANSFER is for our own copies. */
static bool make_buffer(const engine *e, buffer *made, VkMemoryPropertyFlags wanted) {
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = BYTES,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    if (!check(e->vkCreateBuffer(e->device, &info, NULL, &made->handle), "vkCreateBuffer")) {
        return false;
    }
    VkMemoryRequirements needs;
    e->vkGetBufferMemoryRequirements(e->device, made->handle, &needs);
    VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = needs.size};
    return find_memory(e, needs.memoryTypeBits, wanted, &allocation.memoryTypeIndex) &&
           check(e->vkAllocateMemory(e->device, &allocation, NULL, &made->memory),
                 "vkAllocateMemory") &&
           check(e->vkBindBufferMemory(e->device, made->handle, made->memory, 0),
                 "vkBindBufferMemory");
}

static bool make_buffers(engine *e) {
    void *mapped = NULL;
    bool fine =
        make_buffer(e, &e->staging,
                    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) &&
        make_buffer(e, &e->input, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) &&
        make_buffer(e, &e->output, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) &&
        check(e->vkMapMemory(e->device, e->staging.memory, 0, BYTES, 0, &mapped), "vkMapMemory");
    e->mapped = mapped;
    return fine;
}

static bool make_commands(engine *e) {
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = e->family};
    if (!check(e->vkCreateCommandPool(e->device, &pool, NULL, &e->pool), "vkCreateCommandPool")) {
        return false;
    }
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = e->pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = 1};
    return check(e->vkAllocateCommandBuffers(e->device, &info, &e->commands),
                 "vkAllocateCommandBuffers");
}

static void destroy_buffer(const engine *e, const buffer *old) {
    e->vkDestroyBuffer(e->device, old->handle, NULL);
    e->vkFreeMemory(e->device, old->memory, NULL);
}

static void destroy_engine(const engine *e) {
    if (e->device != VK_NULL_HANDLE) {
        destroy_buffer(e, &e->staging);
        destroy_buffer(e, &e->input);
        destroy_buffer(e, &e->output);
        e->vkDestroyCommandPool(e->device, e->pool, NULL);
        e->vkDestroyDevice(e->device, NULL);
    }
    if (e->instance != VK_NULL_HANDLE && e->vkDestroyInstance) {
        e->vkDestroyInstance(e->instance, NULL);
    }
}

/* ---- Weft on it ---- */

typedef struct network {
    weft_device *device;
    weft_plan *plan;
    weft_buffer *input, *output;
    weft_bindings *bindings;
} network;

static void print_log(void *user, weft_log_level level, const char *message) {
    (void)user;
    if (level <= WEFT_LOG_WARNING) {
        fprintf(stderr, "weft: %s\n", message);
    }
}

/* Returns the first error, where nothing has to be cleaned up. */
#define TRY(call)                          \
    do {                                   \
        const weft_status status = (call); \
        if (status != WEFT_OK) {           \
            return status;                 \
        }                                  \
    } while (0)

/* y = GELU(fourier(x)), x and y [1, LENGTH, WIDTH] */
static weft_status build(weft_graph *graph) {
    weft_tensor x = {0};
    TRY(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(1, LENGTH, WIDTH)));
    TRY(weft_graph_fourier(&x, graph, x));
    TRY(weft_graph_activate(&x, graph, x, WEFT_ACTIVATION_GELU_TANH));
    return weft_graph_output(graph, "y", x);
}

static weft_status compile(network *n) {
    weft_graph *graph = NULL;
    weft_host host = {.log = print_log};
    TRY(weft_graph_create(&graph, &host));
    weft_status status = build(graph);
    if (status == WEFT_OK) {
        status = weft_plan_compile(&n->plan, n->device, graph, NULL);
    }
    weft_graph_destroy(&graph);
    return status;
}

static weft_status bind(network *n, const engine *e) {
    TRY(weft_buffer_wrap(&n->input, n->device, e->input.handle, 0, BYTES));
    TRY(weft_buffer_wrap(&n->output, n->device, e->output.handle, 0, BYTES));
    TRY(weft_bindings_create(&n->bindings, n->plan));
    TRY(weft_bindings_set(n->bindings, "x", n->input));
    return weft_bindings_set(n->bindings, "y", n->output);
}

static weft_status make_network(network *n, const engine *e) {
    const weft_device_adopt_params params = {.host = {.log = print_log},
                                             .instance = e->instance,
                                             .physical_device = e->physical,
                                             .device = e->device,
                                             .queue = e->queue,
                                             .queue_family = e->family,
                                             .get_instance_proc_addr = e->get,
                                             .timeline_semaphore = true};
    TRY(weft_device_adopt(&n->device, &params));
    TRY(compile(n));
    return bind(n, e);
}

/* Before the engine's VkDevice goes. */
static void destroy_network(network *n) {
    weft_bindings_destroy(&n->bindings);
    weft_buffer_destroy(&n->input);
    weft_buffer_destroy(&n->output);
    weft_plan_destroy(&n->plan);
    weft_device_destroy(&n->device);
}

/* ---- one frame ---- */

static void barrier(const engine *e, VkPipelineStageFlags from, VkAccessFlags written,
                    VkPipelineStageFlags to, VkAccessFlags needed) {
    const VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = written,
                                    .dstAccessMask = needed};
    e->vkCmdPipelineBarrier(e->commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

/* Behind what has made the output available to transfers. */
static void copy_to_host(const engine *e) {
    const VkBufferCopy whole = {.size = BYTES};
    e->vkCmdCopyBuffer(e->commands, e->output.handle, e->staging.handle, 1, &whole);
    barrier(e, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

static bool record(const engine *e, const network *n) {
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkBufferCopy whole = {.size = BYTES};
    if (!check(e->vkBeginCommandBuffer(e->commands, &begin), "vkBeginCommandBuffer")) {
        return false;
    }
    e->vkCmdCopyBuffer(e->commands, e->staging.handle, e->input.handle, 1, &whole);
    barrier(e, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, WEFT_PLAN_STAGE,
            WEFT_PLAN_ACCESS);
    if (weft_plan_record(n->plan, e->commands, n->bindings) != WEFT_OK) {
        return false;
    }
    barrier(e, WEFT_PLAN_STAGE, VK_ACCESS_SHADER_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
            VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
    copy_to_host(e);
    return check(e->vkEndCommandBuffer(e->commands), "vkEndCommandBuffer");
}

static void fill_input(const engine *e) {
    for (int i = 0; i < COUNT; i++) {
        e->mapped[i] = sinf((float)i) / 10.0f;
    }
}

/* What was recorded, to its end. */
static bool submit(const engine *e) {
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &e->commands};
    return check(e->vkQueueSubmit(e->queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit") &&
           check(e->vkDeviceWaitIdle(e->device), "vkDeviceWaitIdle");
}

static bool run_frame(const engine *e) {
    fill_input(e);
    if (!submit(e)) {
        return false;
    }
    printf("y[0] = %g %g %g %g ...\n", (double)e->mapped[0], (double)e->mapped[1],
           (double)e->mapped[2], (double)e->mapped[3]);
    return true;
}

/* ---- a run over several frames ---- */

#define BUDGET_MS \
    1e-4 /* what a frame has left for the network: so little that this small one takes several */

/* Input at a run's beginning, as much of the run as fits, and output at its end. */
static bool record_part(const engine *e, const network *n, weft_frame_cursor *cursor) {
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkBufferCopy whole = {.size = BYTES};
    if (!check(e->vkBeginCommandBuffer(e->commands, &begin), "vkBeginCommandBuffer")) {
        return false;
    }
    if (cursor->next == 0) {
        e->vkCmdCopyBuffer(e->commands, e->staging.handle, e->input.handle, 1, &whole);
        barrier(e, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, WEFT_PLAN_STAGE,
                WEFT_PLAN_ACCESS);
    }
    if (weft_plan_record_frame(n->plan, e->commands, n->bindings, BUDGET_MS, cursor) != WEFT_OK) {
        return false;
    }
    if (cursor->done) {
        barrier(e, WEFT_PLAN_STAGE, VK_ACCESS_SHADER_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
        copy_to_host(e);
    }
    return check(e->vkEndCommandBuffer(e->commands), "vkEndCommandBuffer");
}

/* The output is that of one frame, bit for bit. */
static bool run_frames(const engine *e, const network *n) {
    weft_frame_cursor cursor = {0}; /* one for each run that is under way */
    float expected[COUNT];
    int frames = 0;
    memcpy(expected, e->mapped, sizeof expected);
    fill_input(e);
    while (!cursor.done) {
        if (!record_part(e, n, &cursor) || !submit(e)) {
            return false;
        }
        frames++;
    }
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bits are meant, not numbers */
    const bool same = memcmp(expected, e->mapped, sizeof expected) == 0;
    printf("over %d frames: %s\n", frames, same ? "the same bits" : "other bits");
    return same;
}

int main(void) {
    engine e = {0};
    network n = {0};
    bool fine = load_vulkan(&e) && make_instance(&e) && choose_physical(&e) && make_device(&e) &&
                make_buffers(&e) && make_commands(&e) && make_network(&n, &e) == WEFT_OK &&
                record(&e, &n);
    /* The command buffer can be submitted again in every frame. */
    for (int frame = 0; frame < 2 && fine; frame++) {
        fine = run_frame(&e);
    }
    fine = fine && run_frames(&e, &n);
    destroy_network(&n);
    destroy_engine(&e);
    return fine ? 0 : 1;
}
