/* SPDX-License-Identifier: MIT */
/* Copies between the host and VkBuffers, in pieces through one staging buffer. */
#include <string.h>

#include "device/device.h"

#include "core/try.h"

static void barrier(const weft_device *device, VkCommandBuffer commands,
                    VkPipelineStageFlags before, VkAccessFlags written, VkPipelineStageFlags after,
                    VkAccessFlags used) {
    VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = written,
        .dstAccessMask = used,
    };
    device->vk.CmdPipelineBarrier(commands, before, after, 0, 1, &memory, 0, NULL, 0, NULL);
}

/*
 * After everything in the queue that may have read or written the bytes about to be copied. All
 * stages, because a wrapped buffer's owner may use it in any.
 */
static void wait_for_queue(const weft_device *device, VkCommandBuffer commands) {
    barrier(device, commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
            VK_PIPELINE_STAGE_TRANSFER_BIT,
            VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
}

static void copy(const weft_device *device, VkCommandBuffer commands, VkBuffer source,
                 uint64_t source_offset, VkBuffer target, uint64_t target_offset, uint64_t size) {
    VkBufferCopy region = {.srcOffset = source_offset, .dstOffset = target_offset, .size = size};
    device->vk.CmdCopyBuffer(commands, source, target, 1, &region);
}

static weft_status upload_piece(weft_device *device, VkBuffer buffer, uint64_t offset,
                                const void *data, uint64_t size) {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    WEFT_TRY(weft_device_begin_commands(&commands, device));
    /* A submission makes what the host wrote before it visible to the device. */
    memcpy(device->staging_mapped, data, (size_t)size);
    wait_for_queue(device, commands);
    copy(device, commands, device->staging, 0, buffer, offset, size);
    barrier(device, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
            VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
    return weft_device_finish_commands(device, commands);
}

static weft_status download_piece(weft_device *device, VkBuffer buffer, uint64_t offset, void *data,
                                  uint64_t size) {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    WEFT_TRY(weft_device_begin_commands(&commands, device));
    wait_for_queue(device, commands);
    copy(device, commands, buffer, offset, device->staging, 0, size);
    barrier(device, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    WEFT_TRY(weft_device_finish_commands(device, commands));
    memcpy(data, device->staging_mapped, (size_t)size);
    return WEFT_OK;
}

static uint64_t piece_size(uint64_t left) {
    return left < WEFT_STAGING_SIZE ? left : WEFT_STAGING_SIZE;
}

weft_status weft_device_upload(weft_device *device, VkBuffer buffer, uint64_t offset,
                               const void *data, uint64_t size) {
    const uint8_t *bytes = data;
    WEFT_TRY(weft_device_alive(device));
    for (uint64_t done = 0; done < size;) {
        uint64_t piece = piece_size(size - done);
        WEFT_TRY(upload_piece(device, buffer, offset + done, bytes + done, piece));
        done += piece;
    }
    return WEFT_OK;
}

weft_status weft_device_download(weft_device *device, VkBuffer buffer, uint64_t offset, void *data,
                                 uint64_t size) {
    uint8_t *bytes = data;
    WEFT_TRY(weft_device_alive(device));
    for (uint64_t done = 0; done < size;) {
        uint64_t piece = piece_size(size - done);
        WEFT_TRY(download_piece(device, buffer, offset + done, bytes + done, piece));
        done += piece;
    }
    return WEFT_OK;
}
