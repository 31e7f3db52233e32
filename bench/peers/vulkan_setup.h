/* SPDX-License-Identifier: MIT */
/*
 * Just enough of Vulkan to run one library's command buffers on one device by themselves: nothing of Weft. Every function
 * ends the program with a message on stderr when Vulkan refuses.
 */
#ifndef WEFT_PEERS_VULKAN_SETUP_H
#define WEFT_PEERS_VULKAN_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <volk.h>

struct peer_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint64_t size;
};

struct peer_device {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkPhysicalDeviceProperties properties;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    uint32_t timestamp_bits; /* of that family; 0: no time stamps */
    VkCommandPool pool;
    VkFence fence;
    VkQueryPool queries;
};

/** One submission's times. */
struct peer_times {
    double device_ms; /* negative without time stamps */
    double host_ms;
    double cpu_ms; /* of all threads of the process */
};

/** Prints the message and ends the program with 1. */
_Noreturn void peer_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The device of exactly this name. */
void peer_device_open(struct peer_device *device, const char *name);
void peer_device_close(struct peer_device *device);

/** In device memory, for storage and copies. */
struct peer_buffer peer_buffer_create(struct peer_device *device, uint64_t size);
void peer_buffer_destroy(struct peer_device *device, struct peer_buffer *buffer);
void peer_buffer_write(struct peer_device *device, const struct peer_buffer *buffer,
                       const void *data, size_t size);
void peer_buffer_read(struct peer_device *device, const struct peer_buffer *buffer, void *data,
                      size_t size);

/** A command buffer that is being recorded, with the first time stamp in it. */
VkCommandBuffer peer_commands_begin(struct peer_device *device);
/** Ends it with the second time stamp. */
void peer_commands_end(struct peer_device *device, VkCommandBuffer commands);
struct peer_times peer_commands_run(struct peer_device *device, VkCommandBuffer commands);
void peer_commands_free(struct peer_device *device, VkCommandBuffer commands);

double peer_clock_ms(void);

#endif
