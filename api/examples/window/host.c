/* SPDX-License-Identifier: MIT */
#include "host.h"

#include <stdio.h>
#include <string.h>

static bool make_instance(host *h) {
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "weft window example",
                                           .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    info.ppEnabledExtensionNames = glfwGetRequiredInstanceExtensions(&info.enabledExtensionCount);
    if (!info.ppEnabledExtensionNames) {
        fprintf(stderr, "no Vulkan that can show windows here\n");
        return false;
    }
    return gpu_check(vkCreateInstance(&info, NULL, &h->g.instance), "vkCreateInstance") &&
           gpu_check(glfwCreateWindowSurface(h->g.instance, h->window, NULL, &h->surface),
                     "glfwCreateWindowSurface");
}

/* A family that draws, computes and presents, with time stamps. */
static bool find_family(host *h) {
    VkQueueFamilyProperties families[16];
    uint32_t count = sizeof families / sizeof families[0];
    vkGetPhysicalDeviceQueueFamilyProperties(h->g.physical, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        const VkQueueFlags wanted = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
        VkBool32 presents = VK_FALSE;
        if ((families[i].queueFlags & wanted) == wanted && families[i].timestampValidBits == 64 &&
            vkGetPhysicalDeviceSurfaceSupportKHR(h->g.physical, i, h->surface, &presents) ==
                VK_SUCCESS &&
            presents) {
            h->g.family = i;
            return true;
        }
    }
    return false;
}

static bool choose_physical(host *h, const char *select) {
    VkPhysicalDevice list[16];
    uint32_t count = sizeof list / sizeof list[0];
    const VkResult result = vkEnumeratePhysicalDevices(h->g.instance, &count, list);
    for (uint32_t i = 0; i < count && (result == VK_SUCCESS || result == VK_INCOMPLETE); i++) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(list[i], &properties);
        h->g.physical = list[i];
        if (properties.apiVersion >= VK_API_VERSION_1_2 &&
            (!select || strstr(properties.deviceName, select)) && find_family(h)) {
            memcpy(h->device_name, properties.deviceName, sizeof h->device_name);
            h->timestamp_ms = (double)properties.limits.timestampPeriod * 1e-6;
            return true;
        }
    }
    fprintf(stderr, "no device%s%s with Vulkan 1.2 that draws, computes, presents and tells time\n",
            select ? " called " : "", select ? select : "");
    return false;
}

/* ---- the swapchain ---- */

/* Plain bytes of blue, green, red, which is what host_write_screenshot reads. */
static bool choose_format(host *h) {
    VkSurfaceFormatKHR formats[64];
    uint32_t count = sizeof formats / sizeof formats[0];
    const VkResult result =
        vkGetPhysicalDeviceSurfaceFormatsKHR(h->g.physical, h->surface, &count, formats);
    for (uint32_t i = 0; i < count && (result == VK_SUCCESS || result == VK_INCOMPLETE); i++) {
        if (formats[i].format == VK_FORMAT_B8G8R8A8_UNORM) {
            h->format = formats[i].format;
            return true;
        }
    }
    fprintf(stderr, "the window has no format B8G8R8A8_UNORM\n");
    return false;
}

/* The program keeps its own time: a mode that does not wait for the screen where there is one. */
static VkPresentModeKHR choose_mode(const host *h) {
    VkPresentModeKHR modes[16];
    uint32_t count = sizeof modes / sizeof modes[0];
    const VkResult result =
        vkGetPhysicalDeviceSurfacePresentModesKHR(h->g.physical, h->surface, &count, modes);
    for (uint32_t i = 0; i < count && (result == VK_SUCCESS || result == VK_INCOMPLETE); i++) {
        if (modes[i] == VK_PRESENT_MODE_MAILBOX_KHR) {
            return modes[i];
        }
    }
    return VK_PRESENT_MODE_FIFO_KHR;
}

static bool make_pass(host *h) {
    const VkAttachmentDescription image = {.format = h->format,
                                           .samples = VK_SAMPLE_COUNT_1_BIT,
                                           .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                           .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                           .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                                           .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
                                           .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
                                           .finalLayout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR};
    const VkAttachmentReference color = {.layout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                          .colorAttachmentCount = 1,
                                          .pColorAttachments = &color};
    /* The layout changes where the semaphore of the acquired image is waited for. */
    const VkSubpassDependency before = {
        .srcSubpass = VK_SUBPASS_EXTERNAL,
        .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
        .dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT};
    const VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                         .attachmentCount = 1,
                                         .pAttachments = &image,
                                         .subpassCount = 1,
                                         .pSubpasses = &subpass,
                                         .dependencyCount = 1,
                                         .pDependencies = &before};
    return gpu_check(vkCreateRenderPass(h->g.device, &info, NULL, &h->pass), "vkCreateRenderPass");
}

static bool make_target(host *h, uint32_t i) {
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = h->images[i],
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = h->format,
        .subresourceRange = {
            .aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .levelCount = 1, .layerCount = 1}};
    if (!gpu_check(vkCreateImageView(h->g.device, &view, NULL, &h->views[i]),
                   "vkCreateImageView")) {
        return false;
    }
    const VkFramebufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                          .renderPass = h->pass,
                                          .attachmentCount = 1,
                                          .pAttachments = &h->views[i],
                                          .width = h->size.width,
                                          .height = h->size.height,
                                          .layers = 1};
    return gpu_check(vkCreateFramebuffer(h->g.device, &info, NULL, &h->framebuffers[i]),
                     "vkCreateFramebuffer");
}

/* Of the surface's own size, or of the window's where it leaves that to us. */
static VkExtent2D surface_size(const host *h, const VkSurfaceCapabilitiesKHR *limits) {
    if (limits->currentExtent.width != UINT32_MAX) {
        return limits->currentExtent;
    }
    int width = 0, height = 0;
    glfwGetFramebufferSize(h->window, &width, &height);
    return (VkExtent2D){(uint32_t)width, (uint32_t)height};
}

static bool make_swapchain(host *h) {
    VkSurfaceCapabilitiesKHR limits;
    if (!gpu_check(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(h->g.physical, h->surface, &limits),
                   "vkGetPhysicalDeviceSurfaceCapabilitiesKHR")) {
        return false;
    }
    if ((limits.supportedUsageFlags & VK_IMAGE_USAGE_TRANSFER_SRC_BIT) == 0) {
        fprintf(stderr, "the window's images cannot be copied from\n");
        return false;
    }
    h->size = surface_size(h, &limits);
    VkSwapchainKHR old = h->swapchain;
    const VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                           .surface = h->surface,
                                           .minImageCount = limits.minImageCount,
                                           .imageFormat = h->format,
                                           .imageColorSpace = VK_COLOR_SPACE_SRGB_NONLINEAR_KHR,
                                           .imageExtent = h->size,
                                           .imageArrayLayers = 1,
                                           .imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                                         VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                                           .preTransform = limits.currentTransform,
                                           .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                           .presentMode = choose_mode(h),
                                           .clipped = VK_TRUE,
                                           .oldSwapchain = old};
    const bool made = gpu_check(vkCreateSwapchainKHR(h->g.device, &info, NULL, &h->swapchain),
                                "vkCreateSwapchainKHR");
    vkDestroySwapchainKHR(h->g.device, old, NULL);
    h->image_count = HOST_IMAGES;
    if (!made ||
        !gpu_check(vkGetSwapchainImagesKHR(h->g.device, h->swapchain, &h->image_count, h->images),
                   "vkGetSwapchainImagesKHR")) {
        h->image_count = 0;
        return false;
    }
    for (uint32_t i = 0; i < h->image_count; i++) {
        if (!make_target(h, i)) {
            return false;
        }
    }
    return true;
}

static void destroy_targets(host *h) {
    for (uint32_t i = 0; i < h->image_count; i++) {
        vkDestroyFramebuffer(h->g.device, h->framebuffers[i], NULL);
        vkDestroyImageView(h->g.device, h->views[i], NULL);
        h->framebuffers[i] = VK_NULL_HANDLE;
        h->views[i] = VK_NULL_HANDLE;
    }
}

static bool make_semaphores(host *h) {
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    bool fine =
        gpu_check(vkCreateSemaphore(h->g.device, &info, NULL, &h->acquired), "vkCreateSemaphore");
    for (uint32_t i = 0; i < HOST_IMAGES && fine; i++) {
        fine = gpu_check(vkCreateSemaphore(h->g.device, &info, NULL, &h->drawn[i]),
                         "vkCreateSemaphore");
    }
    return fine;
}

static bool make_window(host *h, int width, int height) {
    if (!glfwInit()) {
        const char *reason = NULL;
        glfwGetError(&reason);
        fprintf(stderr, "no window: %s\n", reason ? reason : "GLFW does not say why");
        return false;
    }
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    glfwWindowHint(GLFW_RESIZABLE, GLFW_FALSE);
    h->window = glfwCreateWindow(width, height, "Weft in what is left of each frame", NULL, NULL);
    return h->window != NULL;
}

bool host_create(host *h, int width, int height, const char *select) {
    *h = (host){0};
    return make_window(h, width, height) && make_instance(h) && choose_physical(h, select) &&
           gpu_make_device(&h->g, VK_KHR_SWAPCHAIN_EXTENSION_NAME) && choose_format(h) &&
           make_pass(h) && make_semaphores(h) && make_swapchain(h);
}

void host_destroy(host *h) {
    if (h->g.device) {
        destroy_targets(h);
        vkDestroyRenderPass(h->g.device, h->pass, NULL);
        vkDestroySemaphore(h->g.device, h->acquired, NULL);
        for (uint32_t i = 0; i < HOST_IMAGES; i++) {
            vkDestroySemaphore(h->g.device, h->drawn[i], NULL);
        }
        vkDestroySwapchainKHR(h->g.device, h->swapchain, NULL);
        vkDestroyDevice(h->g.device, NULL);
    }
    if (h->g.instance) {
        vkDestroySurfaceKHR(h->g.instance, h->surface, NULL);
        vkDestroyInstance(h->g.instance, NULL);
    }
    if (h->window) {
        glfwDestroyWindow(h->window);
    }
    glfwTerminate();
}

bool host_acquire(host *h) {
    VkResult result = vkAcquireNextImageKHR(h->g.device, h->swapchain, UINT64_MAX, h->acquired,
                                            VK_NULL_HANDLE, &h->image);
    if (result == VK_ERROR_OUT_OF_DATE_KHR) {
        vkDeviceWaitIdle(h->g.device);
        destroy_targets(h);
        if (!make_swapchain(h)) {
            return false;
        }
        result = vkAcquireNextImageKHR(h->g.device, h->swapchain, UINT64_MAX, h->acquired,
                                       VK_NULL_HANDLE, &h->image);
    }
    return result == VK_SUBOPTIMAL_KHR || gpu_check(result, "vkAcquireNextImageKHR");
}

/* A window that has changed is found out by the next host_acquire. */
bool host_present(host *h) {
    const VkPresentInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                   .waitSemaphoreCount = 1,
                                   .pWaitSemaphores = &h->drawn[h->image],
                                   .swapchainCount = 1,
                                   .pSwapchains = &h->swapchain,
                                   .pImageIndices = &h->image};
    const VkResult result = vkQueuePresentKHR(h->g.queue, &info);
    return result == VK_SUBOPTIMAL_KHR || result == VK_ERROR_OUT_OF_DATE_KHR ||
           gpu_check(result, "vkQueuePresentKHR");
}

/* ---- pictures ---- */

static void change_layout(const host *h, VkCommandBuffer commands, VkImageLayout from,
                          VkImageLayout to) {
    const VkImageMemoryBarrier change = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = h->images[h->image],
        .subresourceRange = {
            .aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .levelCount = 1, .layerCount = 1}};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &change);
}

bool host_record_screenshot(const host *h, VkCommandBuffer commands, const gpu_buffer *to) {
    const VkBufferImageCopy whole = {
        .imageSubresource = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1},
        .imageExtent = {h->size.width, h->size.height, 1}};
    if (to->size < 4 * (VkDeviceSize)h->size.width * h->size.height) {
        fprintf(stderr, "the window has grown: no picture of it\n");
        return false;
    }
    change_layout(h, commands, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
                  VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    vkCmdCopyImageToBuffer(commands, h->images[h->image], VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           to->handle, 1, &whole);
    change_layout(h, commands, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                  VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
    gpu_barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    return true;
}

bool host_write_screenshot(const host *h, const gpu_buffer *from, const char *path) {
    const uint8_t *pixels = from->mapped;
    const size_t count = (size_t)h->size.width * h->size.height;
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        return false;
    }
    fprintf(file, "P6\n%u %u\n255\n", h->size.width, h->size.height);
    for (size_t i = 0; i < count; i++) {
        const uint8_t rgb[3] = {pixels[4 * i + 2], pixels[4 * i + 1], pixels[4 * i]};
        fwrite(rgb, 1, sizeof rgb, file);
    }
    const bool fine = ferror(file) == 0;
    if (fclose(file) != 0 || !fine) {
        perror(path);
        return false;
    }
    return true;
}
