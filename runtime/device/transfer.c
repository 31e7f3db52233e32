/* SPDX-License-Identifier: MIT */
/* Copies between the host and VkBuffers, in pieces through a staging buffer that the thread has for itself. */
#include <string.h>

#include "device/commands.h"

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

/* At most WEFT_STAGING_SIZE bytes, in one direction: from or to the host. */
struct piece {
    VkBuffer buffer;
    uint64_t offset, size;
    weft_upload_source from; /* or null and … */
    weft_download_sink to;   /* … this one */
    void *user;
    uint64_t begin; /* of what `from` gives */
};

static weft_status upload(weft_device *device, struct weft_commands *commands,
                          const struct piece *piece) {
    /* A submission makes what the host wrote before it visible to the device. */
    WEFT_TRY(piece->from(piece->user, piece->begin, commands->staging_memory->mapped,
                         (size_t)piece->size));
    WEFT_TRY(weft_commands_begin(commands, device));
    wait_for_queue(device, commands->handle);
    copy(device, commands->handle, commands->staging, 0, piece->buffer, piece->offset, piece->size);
    barrier(device, commands->handle, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
            VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
    return weft_commands_run(commands, device);
}

static weft_status download(weft_device *device, struct weft_commands *commands,
                            const struct piece *piece) {
    WEFT_TRY(weft_commands_begin(commands, device));
    wait_for_queue(device, commands->handle);
    copy(device, commands->handle, piece->buffer, piece->offset, commands->staging, 0, piece->size);
    barrier(device, commands->handle, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    WEFT_TRY(weft_commands_run(commands, device));
    piece->to(piece->user, commands->staging_memory->mapped, (size_t)piece->size);
    return WEFT_OK;
}

static weft_status transfer(weft_device *device, const struct piece *whole) {
    struct weft_commands *commands = NULL;
    WEFT_TRY(weft_commands_take(&commands, device));
    weft_status status = WEFT_OK;
    for (uint64_t done = 0; done < whole->size && status == WEFT_OK;) {
        const uint64_t left = whole->size - done;
        const struct piece piece = {.buffer = whole->buffer,
                                    .offset = whole->offset + done,
                                    .size = left < WEFT_STAGING_SIZE ? left : WEFT_STAGING_SIZE,
                                    .from = whole->from,
                                    .to = whole->to,
                                    .user = whole->user,
                                    .begin = done};
        status = (piece.from ? upload : download)(device, commands, &piece);
        done += piece.size;
    }
    weft_commands_give(device, commands);
    return status;
}

static weft_status copy_bytes(void *user, uint64_t begin, void *out, size_t size) {
    memcpy(out, (const uint8_t *)user + begin, size);
    return WEFT_OK;
}

weft_status weft_device_upload(weft_device *device, VkBuffer buffer, uint64_t offset,
                               const void *data, uint64_t size) {
    /* Cast: the pointer is only read. */
    return weft_device_upload_from(device, buffer, offset, size, copy_bytes,
                                   (void *)(uintptr_t)data);
}

weft_status weft_device_upload_from(weft_device *device, VkBuffer buffer, uint64_t offset,
                                    uint64_t size, weft_upload_source from, void *user) {
    return transfer(
        device, &(struct piece){
                    .buffer = buffer, .offset = offset, .size = size, .from = from, .user = user});
}

static void take_bytes(void *user, const void *data, size_t size) {
    uint8_t **at = user;
    memcpy(*at, data, size);
    *at += size;
}

weft_status weft_device_download(weft_device *device, VkBuffer buffer, uint64_t offset, void *data,
                                 uint64_t size) {
    uint8_t *at = data;
    return weft_device_download_to(device, buffer, offset, size, take_bytes, &at);
}

weft_status weft_device_download_to(weft_device *device, VkBuffer buffer, uint64_t offset,
                                    uint64_t size, weft_download_sink to, void *user) {
    return transfer(
        device,
        &(struct piece){.buffer = buffer, .offset = offset, .size = size, .to = to, .user = user});
}
