/* SPDX-License-Identifier: MIT */
/* Recording copies, fills and barriers. */
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
            record->from = weft_soft_buffer_range(from, regions[i].srcOffset, regions[i].size);
            record->to = weft_soft_buffer_range(to, regions[i].dstOffset, regions[i].size);
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL fill_buffer(VkCommandBuffer handle, VkBuffer to,
                                              VkDeviceSize offset, VkDeviceSize size,
                                              uint32_t word) {
    const uint64_t rest = (weft_soft_buffer_of(to)->size - offset) / 4 * 4;
    struct weft_soft_fill_record *record =
        weft_soft_record(weft_soft_command_buffer_of(handle), WEFT_SOFT_FILL, sizeof *record);
    if (record) {
        record->to = weft_soft_buffer_range(to, offset, size == VK_WHOLE_SIZE ? rest : size);
        record->word = word;
    }
}

/* Memory is one for all stages and accesses: a barrier says only that what comes before it is done before what comes after. */
static VKAPI_ATTR void VKAPI_CALL
pipeline_barrier(VkCommandBuffer handle, VkPipelineStageFlags before, VkPipelineStageFlags after,
                 VkDependencyFlags flags, uint32_t memory_count, const VkMemoryBarrier *memory,
                 uint32_t buffer_count, const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                 const VkImageMemoryBarrier *images) {
    (void)before;
    (void)after;
    (void)flags;
    (void)memory_count;
    (void)memory;
    (void)buffer_count;
    (void)buffers;
    (void)image_count;
    (void)images;
    (void)weft_soft_record(weft_soft_command_buffer_of(handle), WEFT_SOFT_BARRIER, 0);
}

const struct weft_soft_function weft_soft_transfer_functions[] = {
    WEFT_SOFT_FUNCTION(CmdCopyBuffer, copy_buffer),
    WEFT_SOFT_FUNCTION(CmdFillBuffer, fill_buffer),
    WEFT_SOFT_FUNCTION(CmdPipelineBarrier, pipeline_barrier),
    {NULL, NULL},
};
