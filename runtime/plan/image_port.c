/* SPDX-License-Identifier: MIT */
/*
 * Images as inputs and outputs: copied to a buffer of the bindings' in front of a run, and from one behind it. Shaders never
 * see an image, so that bits depend neither on its tiling nor on how a driver samples it.
 */
#include <weft/vulkan.h>

#include "core/given.h"
#include "core/try.h"
#include "plan/plan.h"

/* Formats that lie in memory as elements of one type, by channels. */
static const struct format {
    VkFormat format;
    const char *name;
    weft_dtype dtype;
    uint32_t channels;
} formats[] = {
#define FORMAT(name, dtype, channels) \
    { VK_FORMAT_##name, #name, WEFT_##dtype, channels }
    FORMAT(R8_UNORM, U8, 1),
    FORMAT(R8_UINT, U8, 1),
    FORMAT(R8_SRGB, U8, 1),
    FORMAT(R8G8_UNORM, U8, 2),
    FORMAT(R8G8_UINT, U8, 2),
    FORMAT(R8G8B8A8_UNORM, U8, 4),
    FORMAT(R8G8B8A8_UINT, U8, 4),
    FORMAT(R8G8B8A8_SRGB, U8, 4),
    FORMAT(B8G8R8A8_UNORM, U8, 4),
    FORMAT(B8G8R8A8_SRGB, U8, 4),
    FORMAT(A8B8G8R8_UNORM_PACK32, U8, 4),
    FORMAT(A8B8G8R8_UINT_PACK32, U8, 4),
    FORMAT(A8B8G8R8_SRGB_PACK32, U8, 4),
    FORMAT(R16_SFLOAT, F16, 1),
    FORMAT(R16G16_SFLOAT, F16, 2),
    FORMAT(R16G16B16A16_SFLOAT, F16, 4),
    FORMAT(R32_SFLOAT, F32, 1),
    FORMAT(R32G32_SFLOAT, F32, 2),
    FORMAT(R32G32B32A32_SFLOAT, F32, 4),
    FORMAT(R32_SINT, I32, 1),
    FORMAT(R32_UINT, I32, 1),
    FORMAT(R32G32_SINT, I32, 2),
    FORMAT(R32G32_UINT, I32, 2),
    FORMAT(R32G32B32A32_SINT, I32, 4),
    FORMAT(R32G32B32A32_UINT, I32, 4),
#undef FORMAT
};

static const struct format *find_format(VkFormat format) {
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i].format == format) {
            return &formats[i];
        }
    }
    return NULL;
}

/* The extents of [h, w], [h, w, c] or [layers, h, w, c]. */
struct extents {
    uint32_t layers, height, width, channels;
};

static bool read_extents(struct extents *extents, weft_shape shape) {
    if (shape.rank < 2 || shape.rank > 4) {
        return false;
    }
    const uint32_t *dim = shape.dim + (shape.rank == 4);
    *extents = (struct extents){.layers = shape.rank == 4 ? shape.dim[0] : 1,
                                .height = dim[0],
                                .width = dim[1],
                                .channels = shape.rank > 2 ? dim[2] : 1};
    return true;
}

/* ---- checks ---- */

static weft_status check_layouts(const struct weft_port *port, const weft_image_params *image,
                                 const weft_host *host) {
    if (!port->is_output && image->layout == VK_IMAGE_LAYOUT_UNDEFINED) {
        return weft_fail(
            host, WEFT_INVALID_ARGUMENT,
            "weft_bindings_set_image: '%s' is an input: its image's layout must not be "
            "VK_IMAGE_LAYOUT_UNDEFINED",
            port->name);
    }
    if (image->final_layout == VK_IMAGE_LAYOUT_UNDEFINED ||
        image->final_layout == VK_IMAGE_LAYOUT_PREINITIALIZED) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "weft_bindings_set_image: '%s': no image can be left in final_layout %d",
                         port->name, (int)image->final_layout);
    }
    return WEFT_OK;
}

static weft_status check_image(struct extents *extents, const struct weft_port *port,
                               const weft_image_params *image, const weft_host *host) {
    char shape[WEFT_SHAPE_TEXT_SIZE];
    const struct format *format = find_format(image->format);
    if (port->is_state) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "weft_bindings_set_image: '%s' is a state, which must be a buffer",
                         port->name);
    }
    if (!format) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "weft_bindings_set_image: '%s': VkFormat %d cannot hold a tensor",
                         port->name, (int)image->format);
    }
    if (!read_extents(extents, port->shape) || format->dtype != port->dtype ||
        extents->channels != format->channels || extents->width != image->width ||
        extents->height != image->height) {
        return weft_fail(host, WEFT_SHAPE_MISMATCH,
                         "weft_bindings_set_image: '%s' is %s %s, the image %s, that is %s "
                         "[%u, %u, %u]",
                         port->name, weft_dtype_name(port->dtype),
                         weft_shape_text(port->shape, shape), format->name,
                         weft_dtype_name(format->dtype), image->height, image->width,
                         format->channels);
    }
    return check_layouts(port, image, host);
}

/* ---- setting one ---- */

static weft_status make_buffer(struct weft_image_port *port, weft_device *device, uint64_t bytes) {
    return port->buffer ? WEFT_OK
                        : weft_vkbuffer_create(&port->buffer, &port->allocation, device,
                                               (bytes + 3) / 4 * 4, WEFT_MEMORY_DEVICE);
}

static bool same(const weft_image_params *a, const weft_image_params *b) {
    return a->image == b->image && a->format == b->format && a->mip_level == b->mip_level &&
           a->base_layer == b->base_layer && a->layout == b->layout &&
           a->final_layout == b->final_layout;
}

weft_status weft_bindings_set_image(weft_bindings *bindings, const char *name,
                                    const weft_image_params *image) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(bindings, plan->device->host), bindings, name, image);
    if (image->image == VK_NULL_HANDLE) {
        return weft_fail(&bindings->plan->device->host, WEFT_INVALID_ARGUMENT,
                         "weft_bindings_set_image: the VkImage is null");
    }
    const weft_plan *plan = bindings->plan;
    weft_device *device = plan->device;
    uint32_t index = 0;
    struct extents extents = {0};
    if (device->limits.maxImageDimension2D == 0) {
        return weft_fail(&device->host, WEFT_UNSUPPORTED,
                         "weft_bindings_set_image: %s has no images", device->info.name);
    }
    WEFT_TRY(weft_device_runs(device));
    WEFT_TRY(weft_plan_find_port(&index, plan, name));
    WEFT_TRY(check_image(&extents, &plan->ports[index], image, &device->host));
    if (!bindings->images) {
        bindings->images =
            weft_alloc_zero(&device->host, plan->port_count, sizeof *bindings->images);
        if (!bindings->images) {
            return weft_fail_memory(&device->host, "bindings");
        }
    }
    struct weft_image_port *port = &bindings->images[index];
    WEFT_TRY(make_buffer(port, device, plan->ports[index].bytes));
    if (!port->is_set || !same(&port->params, image)) {
        port->params = *image;
        port->layers = extents.layers;
        bindings->commands_current = false;
    }
    port->is_set = true;
    weft_bindings_point(bindings, index, port->buffer, 0);
    return WEFT_OK;
}

void weft_images_end(weft_bindings *bindings) {
    weft_device *device = bindings->plan->device;
    for (uint32_t i = 0; bindings->images && i < bindings->plan->port_count; i++) {
        weft_vkbuffer_destroy(device, &bindings->images[i].buffer, &bindings->images[i].allocation);
    }
    weft_free(&device->host, bindings->images);
}

/* ---- recording ---- */

static VkBufferImageCopy region_of(const struct weft_image_port *port) {
    return (VkBufferImageCopy){.imageSubresource = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
                                                    .mipLevel = port->params.mip_level,
                                                    .baseArrayLayer = port->params.base_layer,
                                                    .layerCount = port->layers},
                               .imageExtent = {port->params.width, port->params.height, 1}};
}

/*
 * Between two uses of the image, and between those of the buffer at the stages that go with them. Copies come behind compute work
 * that used the buffer, and in front of compute work that will. Around the run the caller's barriers meet these at
 * WEFT_IMAGE_STAGE.
 */
static void barrier(const weft_device *device, VkCommandBuffer commands,
                    const struct weft_image_port *port, VkImageLayout from, VkImageLayout to) {
    const VkPipelineStageFlags stages = WEFT_PLAN_STAGE | WEFT_IMAGE_STAGE;
    const VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask =
                                        VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                                    .dstAccessMask = WEFT_PLAN_ACCESS | WEFT_IMAGE_ACCESS};
    const VkImageMemoryBarrier image = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = WEFT_IMAGE_ACCESS,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = port->params.image,
        .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
                             .baseMipLevel = port->params.mip_level,
                             .levelCount = 1,
                             .baseArrayLayer = port->params.base_layer,
                             .layerCount = port->layers}};
    device->vk.CmdPipelineBarrier(commands, stages, stages, 0, 1, &memory, 0, NULL, 1, &image);
}

static void record_copy(const weft_device *device, VkCommandBuffer commands,
                        const struct weft_image_port *port, bool is_output) {
    const VkBufferImageCopy region = region_of(port);
    const VkImageLayout layout =
        is_output ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    barrier(device, commands, port, port->params.layout, layout);
    if (is_output) {
        device->vk.CmdCopyBufferToImage(commands, port->buffer, port->params.image, layout, 1,
                                        &region);
    } else {
        device->vk.CmdCopyImageToBuffer(commands, port->params.image, layout, port->buffer, 1,
                                        &region);
    }
    barrier(device, commands, port, layout, port->params.final_layout);
}

void weft_images_record(const weft_bindings *bindings, VkCommandBuffer commands, bool outputs) {
    const weft_plan *plan = bindings->plan;
    for (uint32_t i = 0; bindings->images && i < plan->port_count; i++) {
        if (bindings->images[i].is_set && plan->ports[i].is_output == outputs) {
            record_copy(plan->device, commands, &bindings->images[i], outputs);
        }
    }
}
