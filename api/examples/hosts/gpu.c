/* SPDX-License-Identifier: MIT */
#include "gpu.h"

#include <stdio.h>

#include <weft/vulkan.h>

enum { EXTENSIONS = 16 }; /* most that are enabled */

bool gpu_check(VkResult result, const char *call) {
    if (result != VK_SUCCESS) {
        fprintf(stderr, "%s: VkResult %d\n", call, (int)result);
    }
    return result == VK_SUCCESS;
}

/* How many there are of both, or more than fit. */
static uint32_t list_extensions(const char *list[EXTENSIONS], const char *extension) {
    uint32_t count = 0;
    if (extension) {
        list[count++] = extension;
    }
    for (const char *const *name = weft_vulkan_required_extensions(); *name; name++, count++) {
        if (count < EXTENSIONS) {
            list[count] = *name;
        }
    }
    return count;
}

bool gpu_make_device(gpu *g, const char *extension) {
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &features12};
    const char *extensions[EXTENSIONS];
    const uint32_t extension_count = list_extensions(extensions, extension);
    if (extension_count > EXTENSIONS || weft_vulkan_require_features(&features) != WEFT_OK) {
        fprintf(stderr,
                "Weft asks for %u extensions, or for features that this program does not know\n",
                extension_count);
        return false;
    }
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = g->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &features,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = extension_count,
                                     .ppEnabledExtensionNames = extensions};
    if (!gpu_check(vkCreateDevice(g->physical, &info, NULL, &g->device), "vkCreateDevice")) {
        return false;
    }
    vkGetDeviceQueue(g->device, g->family, 0, &g->queue);
    return true;
}

bool gpu_allocate(const gpu *g, VkMemoryRequirements needs, VkMemoryPropertyFlags wanted,
                  VkDeviceMemory *memory) {
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(g->physical, &types);
    for (uint32_t i = 0; i < types.memoryTypeCount; i++) {
        if ((needs.memoryTypeBits >> i & 1u) != 0 &&
            (types.memoryTypes[i].propertyFlags & wanted) == wanted) {
            const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                               .allocationSize = needs.size,
                                               .memoryTypeIndex = i};
            return gpu_check(vkAllocateMemory(g->device, &info, NULL, memory), "vkAllocateMemory");
        }
    }
    fprintf(stderr, "no memory type with the flags %u\n", (unsigned)wanted);
    return false;
}

bool gpu_make_buffer(const gpu *g, gpu_buffer *made, VkDeviceSize size, bool host) {
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    const VkMemoryPropertyFlags wanted =
        host ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
             : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    VkMemoryRequirements needs;
    *made = (gpu_buffer){.size = size};
    if (!gpu_check(vkCreateBuffer(g->device, &info, NULL, &made->handle), "vkCreateBuffer")) {
        return false;
    }
    vkGetBufferMemoryRequirements(g->device, made->handle, &needs);
    return gpu_allocate(g, needs, wanted, &made->memory) &&
           gpu_check(vkBindBufferMemory(g->device, made->handle, made->memory, 0),
                     "vkBindBufferMemory") &&
           (!host || gpu_check(vkMapMemory(g->device, made->memory, 0, size, 0, &made->mapped),
                               "vkMapMemory"));
}

void gpu_destroy_buffer(const gpu *g, gpu_buffer *old) {
    vkDestroyBuffer(g->device, old->handle, NULL);
    vkFreeMemory(g->device, old->memory, NULL);
    *old = (gpu_buffer){0};
}

bool gpu_make_commands(const gpu *g, VkCommandPool *pool, VkCommandBuffer *commands,
                       uint32_t count) {
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                               .flags =
                                                   VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                               .queueFamilyIndex = g->family};
    if (!gpu_check(vkCreateCommandPool(g->device, &pool_info, NULL, pool), "vkCreateCommandPool")) {
        return false;
    }
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = *pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = count};
    return gpu_check(vkAllocateCommandBuffers(g->device, &info, commands),
                     "vkAllocateCommandBuffers");
}

bool gpu_begin(VkCommandBuffer commands) {
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    return gpu_check(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
}

void gpu_barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
                 VkPipelineStageFlags to, VkAccessFlags needed) {
    const VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = written,
                                    .dstAccessMask = needed};
    vkCmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}
