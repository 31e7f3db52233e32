/* SPDX-License-Identifier: MIT */
#include "gpu.h"

#include <stdio.h>

bool gpu_check(VkResult result, const char *call) {
    if (result != VK_SUCCESS) {
        fprintf(stderr, "%s: VkResult %d\n", call, (int)result);
    }
    return result == VK_SUCCESS;
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
