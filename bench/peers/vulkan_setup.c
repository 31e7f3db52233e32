/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "vulkan_setup.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_DEVICES  16
#define MAX_FAMILIES 16

void peer_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static void check(VkResult result, const char *what) {
    if (result != VK_SUCCESS) {
        peer_fail("%s: Vulkan error %d", what, (int)result);
    }
}

double peer_clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* ---- the device ---- */

static void create_instance(struct peer_device *device) {
    check(volkInitialize(), "opening the Vulkan loader");
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "vkfft_raw",
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    check(vkCreateInstance(&info, NULL, &device->instance), "vkCreateInstance");
    volkLoadInstance(device->instance);
}

static void find_physical(struct peer_device *device, const char *name) {
    VkPhysicalDevice list[MAX_DEVICES];
    uint32_t count = MAX_DEVICES;
    VkResult result = vkEnumeratePhysicalDevices(device->instance, &count, list);
    if (result != VK_INCOMPLETE) {
        check(result, "vkEnumeratePhysicalDevices");
    }
    for (uint32_t i = 0; i < count; i++) {
        vkGetPhysicalDeviceProperties(list[i], &device->properties);
        if (strcmp(device->properties.deviceName, name) == 0) {
            device->physical = list[i];
            return;
        }
    }
    peer_fail("no Vulkan device is called '%s'", name);
}

static void find_family(struct peer_device *device) {
    VkQueueFamilyProperties families[MAX_FAMILIES];
    uint32_t count = MAX_FAMILIES;
    vkGetPhysicalDeviceQueueFamilyProperties(device->physical, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) {
            device->family = i;
            device->timestamp_bits = families[i].timestampValidBits;
            return;
        }
    }
    peer_fail("'%s' has no compute queue", device->properties.deviceName);
}

static void create_device(struct peer_device *device) {
    const float priority = 1.0F;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = device->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
    check(vkCreateDevice(device->physical, &info, NULL, &device->device), "vkCreateDevice");
    volkLoadDevice(device->device);
    vkGetDeviceQueue(device->device, device->family, 0, &device->queue);
}

static void create_pools(struct peer_device *device) {
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = device->family};
    check(vkCreateCommandPool(device->device, &pool, NULL, &device->pool), "vkCreateCommandPool");
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    check(vkCreateFence(device->device, &fence, NULL, &device->fence), "vkCreateFence");
    const VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                           .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                           .queryCount = 2};
    if (device->timestamp_bits > 0) {
        check(vkCreateQueryPool(device->device, &queries, NULL, &device->queries),
              "vkCreateQueryPool");
    }
}

void peer_device_open(struct peer_device *device, const char *name) {
    *device = (struct peer_device){0};
    create_instance(device);
    find_physical(device, name);
    find_family(device);
    create_device(device);
    create_pools(device);
}

void peer_device_close(struct peer_device *device) {
    vkDestroyQueryPool(device->device, device->queries, NULL);
    vkDestroyFence(device->device, device->fence, NULL);
    vkDestroyCommandPool(device->device, device->pool, NULL);
    vkDestroyDevice(device->device, NULL);
    vkDestroyInstance(device->instance, NULL);
}

/* ---- buffers ---- */

static uint32_t memory_type(struct peer_device *device, uint32_t allowed,
                            VkMemoryPropertyFlags flags) {
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(device->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++) {
        if (((allowed >> i) & 1U) != 0 && (memory.memoryTypes[i].propertyFlags & flags) == flags) {
            return i;
        }
    }
    peer_fail("no memory type with the flags %#x", (unsigned)flags);
}

static struct peer_buffer create_buffer(struct peer_device *device, uint64_t size,
                                        VkMemoryPropertyFlags flags) {
    struct peer_buffer made = {.size = size};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    check(vkCreateBuffer(device->device, &info, NULL, &made.buffer), "vkCreateBuffer");
    VkMemoryRequirements needed;
    vkGetBufferMemoryRequirements(device->device, made.buffer, &needed);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needed.size,
                                         .memoryTypeIndex =
                                             memory_type(device, needed.memoryTypeBits, flags)};
    check(vkAllocateMemory(device->device, &memory, NULL, &made.memory), "vkAllocateMemory");
    check(vkBindBufferMemory(device->device, made.buffer, made.memory, 0), "vkBindBufferMemory");
    return made;
}

struct peer_buffer peer_buffer_create(struct peer_device *device, uint64_t size) {
    return create_buffer(device, size, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
}

void peer_buffer_destroy(struct peer_device *device, struct peer_buffer *buffer) {
    vkDestroyBuffer(device->device, buffer->buffer, NULL);
    vkFreeMemory(device->device, buffer->memory, NULL);
    *buffer = (struct peer_buffer){0};
}

/** Copies data to the buffer, or the buffer to data, by way of memory that the host sees. */
static void transfer(struct peer_device *device, const struct peer_buffer *buffer, void *data,
                     size_t size, bool write) {
    struct peer_buffer staging = create_buffer(
        device, size, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    void *mapped = NULL;
    check(vkMapMemory(device->device, staging.memory, 0, size, 0, &mapped), "vkMapMemory");
    if (write) {
        memcpy(mapped, data, size);
    }
    VkCommandBuffer commands = peer_commands_begin(device);
    const VkBufferCopy region = {.size = size};
    vkCmdCopyBuffer(commands, write ? staging.buffer : buffer->buffer,
                    write ? buffer->buffer : staging.buffer, 1, &region);
    peer_commands_end(device, commands);
    (void)peer_commands_run(device, commands);
    peer_commands_free(device, commands);
    if (!write) {
        memcpy(data, mapped, size);
    }
    peer_buffer_destroy(device, &staging);
}

void peer_buffer_write(struct peer_device *device, const struct peer_buffer *buffer,
                       const void *data, size_t size) {
    transfer(device, buffer, (void *)(uintptr_t)data, size, true);
}

void peer_buffer_read(struct peer_device *device, const struct peer_buffer *buffer, void *data,
                      size_t size) {
    transfer(device, buffer, data, size, false);
}

/* ---- commands ---- */

VkCommandBuffer peer_commands_begin(struct peer_device *device) {
    const VkCommandBufferAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = device->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    check(vkAllocateCommandBuffers(device->device, &allocation, &commands),
          "vkAllocateCommandBuffers");
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    check(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
    if (device->queries) {
        vkCmdResetQueryPool(commands, device->queries, 0, 2);
        vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, device->queries, 0);
    }
    return commands;
}

void peer_commands_end(struct peer_device *device, VkCommandBuffer commands) {
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                     .dstAccessMask =
                                         VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_HOST_READ_BIT};
    if (device->queries) {
        vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, device->queries, 1);
    }
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
    check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

static double between_time_stamps(struct peer_device *device) {
    uint64_t stamp[2] = {0};
    if (!device->queries) {
        return -1.0;
    }
    check(vkGetQueryPoolResults(device->device, device->queries, 0, 2, sizeof stamp, stamp,
                                sizeof *stamp, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults");
    uint64_t ticks = stamp[1] - stamp[0];
    if (device->timestamp_bits < 64) {
        ticks &= (UINT64_C(1) << device->timestamp_bits) - 1;
    }
    return 1e-6 * (double)device->properties.limits.timestampPeriod * (double)ticks;
}

struct peer_times peer_commands_run(struct peer_device *device, VkCommandBuffer commands) {
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    clock_t processor = clock();
    double start = peer_clock_ms();
    check(vkQueueSubmit(device->queue, 1, &submit, device->fence), "vkQueueSubmit");
    check(vkWaitForFences(device->device, 1, &device->fence, VK_TRUE, UINT64_MAX),
          "vkWaitForFences");
    struct peer_times times = {.host_ms = peer_clock_ms() - start,
                               .cpu_ms = 1e3 * (double)(clock() - processor) / CLOCKS_PER_SEC};
    check(vkResetFences(device->device, 1, &device->fence), "vkResetFences");
    times.device_ms = between_time_stamps(device);
    return times;
}

void peer_commands_free(struct peer_device *device, VkCommandBuffer commands) {
    vkFreeCommandBuffers(device->device, device->pool, 1, &commands);
}
