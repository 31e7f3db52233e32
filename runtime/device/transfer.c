/* SPDX-License-Identifier: MIT */
/* Copies between the host and VkBuffers, in pieces through a staging buffer that the thread has for itself. */
#include <string.h>

#include "device/device.h"

#include "core/try.h"

struct weft_staging {
    struct weft_staging *next;
    VkBuffer buffer;
    struct weft_allocation *allocation;
    bool busy; /* under locks.slots */
    bool
        unsettled; /* submitted, and not known to be complete: where a wait failed the copy may still be to run */
};

static weft_status add_staging(struct weft_staging **staging, weft_device *device) {
    struct weft_staging *made = weft_alloc_zero(&device->host, 1, sizeof *made);
    if (!made) {
        return weft_fail_memory(&device->host, "a staging buffer");
    }
    made->busy = true;
    const weft_status status = weft_vkbuffer_create(&made->buffer, &made->allocation, device,
                                                    WEFT_STAGING_SIZE, WEFT_MEMORY_STAGING);
    if (status != WEFT_OK) {
        weft_free(&device->host, made);
        return status;
    }
    pthread_mutex_lock(&device->locks.slots);
    made->next = device->staging;
    device->staging = made;
    pthread_mutex_unlock(&device->locks.slots);
    *staging = made;
    return WEFT_OK;
}

static weft_status take_staging(struct weft_staging **staging, weft_device *device) {
    pthread_mutex_lock(&device->locks.slots);
    struct weft_staging *found = device->staging;
    while (found && found->busy) {
        found = found->next;
    }
    if (found) {
        found->busy = true;
    }
    pthread_mutex_unlock(&device->locks.slots);
    *staging = found;
    return found ? WEFT_OK : add_staging(staging, device);
}

/* One that is not settled stays taken until the device goes. */
static void give_staging(weft_device *device, struct weft_staging *staging) {
    pthread_mutex_lock(&device->locks.slots);
    staging->busy = staging->unsettled;
    pthread_mutex_unlock(&device->locks.slots);
}

weft_status weft_staging_create(weft_device *device) {
    struct weft_staging *staging = NULL;
    WEFT_TRY(add_staging(&staging, device));
    give_staging(device, staging);
    return WEFT_OK;
}

void weft_staging_destroy(weft_device *device) {
    while (device->staging) {
        struct weft_staging *staging = device->staging;
        device->staging = staging->next;
        weft_vkbuffer_destroy(device, &staging->buffer, &staging->allocation);
        weft_free(&device->host, staging);
    }
}

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

static weft_status finish(weft_device *device, struct weft_staging *staging,
                          VkCommandBuffer commands) {
    staging->unsettled = true;
    WEFT_TRY(weft_device_finish_commands(device, commands));
    staging->unsettled = false;
    return WEFT_OK;
}

static weft_status upload_piece(weft_device *device, struct weft_staging *staging, VkBuffer buffer,
                                uint64_t offset, const void *data, uint64_t size) {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    WEFT_TRY(weft_device_begin_commands(&commands, device));
    /* A submission makes what the host wrote before it visible to the device. */
    memcpy(staging->allocation->mapped, data, (size_t)size);
    wait_for_queue(device, commands);
    copy(device, commands, staging->buffer, 0, buffer, offset, size);
    barrier(device, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
            VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
    return finish(device, staging, commands);
}

static weft_status download_piece(weft_device *device, struct weft_staging *staging,
                                  VkBuffer buffer, uint64_t offset, void *data, uint64_t size) {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    WEFT_TRY(weft_device_begin_commands(&commands, device));
    wait_for_queue(device, commands);
    copy(device, commands, buffer, offset, staging->buffer, 0, size);
    barrier(device, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    WEFT_TRY(finish(device, staging, commands));
    memcpy(data, staging->allocation->mapped, (size_t)size);
    return WEFT_OK;
}

static uint64_t piece_size(uint64_t left) {
    return left < WEFT_STAGING_SIZE ? left : WEFT_STAGING_SIZE;
}

weft_status weft_device_upload(weft_device *device, VkBuffer buffer, uint64_t offset,
                               const void *data, uint64_t size) {
    const uint8_t *bytes = data;
    WEFT_TRY(weft_device_alive(device));
    struct weft_staging *staging = NULL;
    WEFT_TRY(take_staging(&staging, device));
    weft_status status = WEFT_OK;
    for (uint64_t done = 0; done < size && status == WEFT_OK;) {
        uint64_t piece = piece_size(size - done);
        status = upload_piece(device, staging, buffer, offset + done, bytes + done, piece);
        done += piece;
    }
    give_staging(device, staging);
    return status;
}

weft_status weft_device_download(weft_device *device, VkBuffer buffer, uint64_t offset, void *data,
                                 uint64_t size) {
    uint8_t *bytes = data;
    WEFT_TRY(weft_device_alive(device));
    struct weft_staging *staging = NULL;
    WEFT_TRY(take_staging(&staging, device));
    weft_status status = WEFT_OK;
    for (uint64_t done = 0; done < size && status == WEFT_OK;) {
        uint64_t piece = piece_size(size - done);
        status = download_piece(device, staging, buffer, offset + done, bytes + done, piece);
        done += piece;
    }
    give_staging(device, staging);
    return status;
}
