/* SPDX-License-Identifier: MIT */
/* What the host programs in ../window, ../libplacebo and ../ffmpeg do with Vulkan in the same way: buffers and command buffers. */
#ifndef HOSTS_GPU_H
#define HOSTS_GPU_H

#include <stdbool.h>

#include <vulkan/vulkan.h>

/* A device of the host's, with one queue. */
typedef struct gpu {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
} gpu;

typedef struct gpu_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    VkDeviceSize size;
    void *mapped; /* null on the device's side */
} gpu_buffer;

/* Says on stderr which call failed, and how. */
bool gpu_check(VkResult result, const char *call);

/* A device on g's physical device with what Weft asks for, an extension beside that or null, and one queue of g's family. */
bool gpu_make_device(gpu *g, const char *extension);

/* A storage buffer that can be copied from and to: in memory that the host sees, and mapped, or in the device's own. */
bool gpu_make_buffer(const gpu *g, gpu_buffer *made, VkDeviceSize size, bool host);
void gpu_destroy_buffer(const gpu *g, gpu_buffer *old);

/* Memory for a requirement, of a type that has all these properties. */
bool gpu_allocate(const gpu *g, VkMemoryRequirements needs, VkMemoryPropertyFlags wanted,
                  VkDeviceMemory *memory);

/* A pool whose command buffers can be recorded again, and so many of them. */
bool gpu_make_commands(const gpu *g, VkCommandPool *pool, VkCommandBuffer *commands,
                       uint32_t count);
bool gpu_begin(VkCommandBuffer commands);

/* Between all that came before and all that follows. */
void gpu_barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
                 VkPipelineStageFlags to, VkAccessFlags needed);

#endif
