/* SPDX-License-Identifier: MIT */
/* The program's own window and Vulkan: instance, device, queue and swapchain. Nothing here knows of Weft's plans. */
#ifndef WINDOW_HOST_H
#define WINDOW_HOST_H

#include "gpu.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

enum { HOST_IMAGES = 8 }; /* most images that a swapchain may have here */

typedef struct host {
    gpu g;
    GLFWwindow *window;
    VkSurfaceKHR surface;
    char device_name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    double timestamp_ms; /* of one unit of its time stamps */
    VkSwapchainKHR swapchain;
    VkFormat format;
    VkExtent2D size; /* of the images, in pixels */
    uint32_t image_count;
    VkImage images[HOST_IMAGES];
    VkImageView views[HOST_IMAGES];
    VkFramebuffer framebuffers[HOST_IMAGES];
    VkRenderPass pass;
    VkSemaphore acquired;
    VkSemaphore drawn
        [HOST_IMAGES]; /* one for each image: the present that waits for it is over when the image is acquired again */
    uint32_t image; /* the one that was acquired */
} host;

/* A window of that size, on the first device whose name has `select` in it (null: any) and that can draw, compute and present. */
bool host_create(host *h, int width, int height, const char *select);
void host_destroy(host *h);

/* The next image of the swapchain, which is made again where the window has changed. */
bool host_acquire(host *h);
bool host_present(host *h);

/* After the frame in which `commands` was recorded with it: the image as a PPM. */
bool host_record_screenshot(const host *h, VkCommandBuffer commands, const gpu_buffer *to);
bool host_write_screenshot(const host *h, const gpu_buffer *from, const char *path);

#endif
