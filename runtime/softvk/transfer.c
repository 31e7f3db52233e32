/* SPDX-License-Identifier: MIT */
/* Recording copies, fills, barriers and events. */
#include <string.h>

#include "softvk/command.h"
#include "softvk/device.h"
#include "softvk/memory.h"

static VKAPI_ATTR void VKAPI_CALL copy_buffer(VkCommandBuffer handle, VkBuffer from, VkBuffer to,
                                              uint32_t count, const VkBufferCopy *regions) {
    struct weft_soft_command_buffer *buffer = weft_soft_command_buffer_of(handle);
    for (uint32_t i = 0; i < count; i++) {
        struct weft_soft_copy_record *record =
            weft_soft_record(buffer, WEFT_SOFT_COPY, sizeof *record);
        if (record) {
            record->from = weft_soft_buffer_of(from)->bytes + regions[i].srcOffset;
            record->to = weft_soft_buffer_of(to)->bytes + regions[i].dstOffset;
            record->size = regions[i].size;
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL fill_buffer(VkCommandBuffer handle, VkBuffer to,
                                              VkDeviceSize offset, VkDeviceSize size,
                                              uint32_t word) {
    const struct weft_soft_buffer *target = weft_soft_buffer_of(to);
    struct weft_soft_fill_record *record =
        weft_soft_record(weft_soft_command_buffer_of(handle), WEFT_SOFT_FILL, sizeof *record);
    if (record) {
        record->to = target->bytes + offset;
        record->size = size == VK_WHOLE_SIZE ? (target->size - offset) / 4 * 4 : size;
        record->word = word;
    }
}

static VKAPI_ATTR void VKAPI_CALL update_buffer(VkCommandBuffer handle, VkBuffer to,
                                                VkDeviceSize offset, VkDeviceSize size,
                                                const void *data) {
    const size_t header = weft_soft_record_round(sizeof(struct weft_soft_update_record));
    struct weft_soft_update_record *record = weft_soft_record(
        weft_soft_command_buffer_of(handle), WEFT_SOFT_UPDATE, header + (size_t)size);
    if (record) {
        record->to = weft_soft_buffer_of(to)->bytes + offset;
        record->size = size;
        memcpy((uint8_t *)record + header, data, (size_t)size);
    }
}

/* Commands run in their order, each to its end, and memory is coherent: what a barrier asks for is so already. */
static VKAPI_ATTR void VKAPI_CALL
pipeline_barrier(VkCommandBuffer handle, VkPipelineStageFlags before, VkPipelineStageFlags after,
                 VkDependencyFlags flags, uint32_t memory_count, const VkMemoryBarrier *memory,
                 uint32_t buffer_count, const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                 const VkImageMemoryBarrier *images) {
    (void)handle;
    (void)before;
    (void)after;
    (void)flags;
    (void)memory_count;
    (void)memory;
    (void)buffer_count;
    (void)buffers;
    (void)image_count;
    (void)images;
}

static void record_event(VkCommandBuffer handle, enum weft_soft_command command, VkEvent event,
                         bool value) {
    struct weft_soft_event_record *record =
        weft_soft_record(weft_soft_command_buffer_of(handle), command, sizeof *record);
    if (record) {
        *record =
            (struct weft_soft_event_record){.event = weft_soft_event_of(event), .value = value};
    }
}

static VKAPI_ATTR void VKAPI_CALL set_event(VkCommandBuffer handle, VkEvent event,
                                            VkPipelineStageFlags stages) {
    (void)stages;
    record_event(handle, WEFT_SOFT_SET_EVENT, event, true);
}

static VKAPI_ATTR void VKAPI_CALL reset_event(VkCommandBuffer handle, VkEvent event,
                                              VkPipelineStageFlags stages) {
    (void)stages;
    record_event(handle, WEFT_SOFT_SET_EVENT, event, false);
}

static VKAPI_ATTR void VKAPI_CALL wait_events(VkCommandBuffer handle, uint32_t count,
                                              const VkEvent *events, VkPipelineStageFlags before,
                                              VkPipelineStageFlags after, uint32_t memory_count,
                                              const VkMemoryBarrier *memory, uint32_t buffer_count,
                                              const VkBufferMemoryBarrier *buffers,
                                              uint32_t image_count,
                                              const VkImageMemoryBarrier *images) {
    for (uint32_t i = 0; i < count; i++) {
        record_event(handle, WEFT_SOFT_WAIT_EVENT, events[i], true);
    }
    pipeline_barrier(handle, before, after, 0, memory_count, memory, buffer_count, buffers,
                     image_count, images);
}

const struct weft_soft_function weft_soft_transfer_functions[] = {
    WEFT_SOFT_FUNCTION(CmdCopyBuffer, copy_buffer),
    WEFT_SOFT_FUNCTION(CmdFillBuffer, fill_buffer),
    WEFT_SOFT_FUNCTION(CmdUpdateBuffer, update_buffer),
    WEFT_SOFT_FUNCTION(CmdPipelineBarrier, pipeline_barrier),
    WEFT_SOFT_FUNCTION(CmdSetEvent, set_event),
    WEFT_SOFT_FUNCTION(CmdResetEvent, reset_event),
    WEFT_SOFT_FUNCTION(CmdWaitEvents, wait_events),
    {NULL, NULL},
};
