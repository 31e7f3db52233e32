/* SPDX-License-Identifier: MIT */
#include "support_images.h"

#include "device/commands.h"

#define GET(device, name) \
    ((PFN_vk##name)(device)->instance.GetDeviceProcAddr((device)->vk.handle, "vk" #name))

bool weft_test_has_images(const weft_device *device) {
    return device->info.type != WEFT_DEVICE_PROCESSOR;
}

struct weft_test_image weft_test_image_create(weft_device *device, VkFormat format,
                                              uint32_t texel_bytes, const uint32_t size[3],
                                              uint32_t mip) {
    struct weft_test_image p = {.format = format,
                                .width = size[0],
                                .height = size[1],
                                .layers = size[2],
                                .mip = mip,
                                .bytes = (uint64_t)size[0] * size[1] * size[2] * texel_bytes};
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = format,
        .extent = {size[0] << mip, size[1] << mip, 1},
        .mipLevels = mip + 1,
        .arrayLayers = size[2] + 2,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
    };
    assert_int_equal(GET(device, CreateImage)(device->vk.handle, &info, NULL, &p.image),
                     VK_SUCCESS);
    VkMemoryRequirements needs;
    GET(device, GetImageMemoryRequirements)(device->vk.handle, p.image, &needs);
    uint32_t type = 0;
    while ((needs.memoryTypeBits & (1U << type)) == 0) {
        type++;
    }
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = type};
    assert_int_equal(device->vk.AllocateMemory(device->vk.handle, &memory, NULL, &p.memory),
                     VK_SUCCESS);
    assert_int_equal(GET(device, BindImageMemory)(device->vk.handle, p.image, p.memory, 0),
                     VK_SUCCESS);
    return p;
}

void weft_test_image_destroy(weft_device *device, struct weft_test_image *p) {
    GET(device, DestroyImage)(device->vk.handle, p->image, NULL);
    device->vk.FreeMemory(device->vk.handle, p->memory, NULL);
}

weft_image_params weft_test_image_params(const struct weft_test_image *p, VkImageLayout before,
                                         VkImageLayout after) {
    return (weft_image_params){.image = p->image,
                               .format = p->format,
                               .width = p->width,
                               .height = p->height,
                               .mip_level = p->mip,
                               .base_layer = 1,
                               .layout = before,
                               .final_layout = after};
}

struct transfer {
    const struct weft_test_image *image;
    const weft_buffer *buffer;
    VkImageLayout from, to;
    bool upload;
};

static void image_barrier(const struct transfer *t, const weft_device *device,
                          VkCommandBuffer commands, VkImageLayout from, VkImageLayout to) {
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = WEFT_IMAGE_ACCESS,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = t->image->image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, t->image->mip, 1, 1, t->image->layers}};
    device->vk.CmdPipelineBarrier(commands, WEFT_IMAGE_STAGE, WEFT_IMAGE_STAGE, 0, 0, NULL, 0, NULL,
                                  1, &barrier);
}

static void record_transfer(const void *user, const weft_device *device, VkCommandBuffer commands) {
    const struct transfer *t = user;
    const VkImageLayout during =
        t->upload ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    const VkBufferImageCopy region = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, t->image->mip, 1, t->image->layers},
        .imageExtent = {t->image->width, t->image->height, 1}};
    image_barrier(t, device, commands, t->from, during);
    if (t->upload) {
        device->vk.CmdCopyBufferToImage(commands, t->buffer->handle, t->image->image, during, 1,
                                        &region);
    } else {
        device->vk.CmdCopyImageToBuffer(commands, t->image->image, during, t->buffer->handle, 1,
                                        &region);
    }
    image_barrier(t, device, commands, during, t->to);
}

void weft_test_image_upload(weft_device *device, const struct weft_test_image *p,
                            const void *texels, VkImageLayout to) {
    weft_buffer *buffer = NULL;
    assert_ok(weft_buffer_create(&buffer, device, p->bytes));
    assert_ok(weft_buffer_write(buffer, 0, texels, p->bytes));
    assert_ok(weft_commands_once(device, record_transfer,
                                 &(struct transfer){.image = p,
                                                    .buffer = buffer,
                                                    .from = VK_IMAGE_LAYOUT_UNDEFINED,
                                                    .to = to,
                                                    .upload = true}));
    weft_buffer_destroy(&buffer);
}

void weft_test_image_download(weft_device *device, const struct weft_test_image *p, void *texels,
                              VkImageLayout from) {
    weft_buffer *buffer = NULL;
    assert_ok(weft_buffer_create(&buffer, device, p->bytes));
    assert_ok(weft_commands_once(
        device, record_transfer,
        &(struct transfer){.image = p, .buffer = buffer, .from = from, .to = from}));
    assert_ok(weft_buffer_read(buffer, 0, texels, p->bytes));
    weft_buffer_destroy(&buffer);
}
