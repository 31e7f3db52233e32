/* SPDX-License-Identifier: MIT */
/*
 * Recording dispatches. Which bytes a kernel gets is resolved here: sets must not be updated between recording and the end of
 * the last run, so what they say now is what they will say then.
 */
#include <string.h>

#include "softvk/descriptor.h"
#include "softvk/device.h"
#include "softvk/memory.h"
#include "softvk/pipeline.h"

static VKAPI_ATTR void VKAPI_CALL bind_pipeline(VkCommandBuffer handle, VkPipelineBindPoint point,
                                                VkPipeline pipeline) {
    (void)point;
    weft_soft_command_buffer_of(handle)->pipeline = weft_soft_pipeline_of(pipeline);
}

static VKAPI_ATTR void VKAPI_CALL bind_sets(VkCommandBuffer handle, VkPipelineBindPoint point,
                                            VkPipelineLayout layout, uint32_t first, uint32_t count,
                                            const VkDescriptorSet *sets, uint32_t offset_count,
                                            const uint32_t *offsets) {
    (void)point;
    (void)layout;
    struct weft_soft_command_buffer *buffer = weft_soft_command_buffer_of(handle);
    uint32_t used = 0;
    for (uint32_t i = 0; i < count && first + i < WEFT_SOFT_MAX_SETS; i++) {
        struct weft_soft_bound_set *bound = &buffer->sets[first + i];
        bound->set = weft_soft_descriptor_set_of(sets[i]);
        const uint32_t wanted = bound->set ? bound->set->layout->offset_count : 0;
        for (uint32_t k = 0; k < wanted && used < offset_count; k++, used++) {
            if (k < WEFT_SOFT_MAX_BINDINGS) {
                bound->offsets[k] = offsets[used];
            }
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL push_constants(VkCommandBuffer handle, VkPipelineLayout layout,
                                                 VkShaderStageFlags stages, uint32_t offset,
                                                 uint32_t size, const void *values) {
    (void)layout;
    (void)stages;
    if (offset <= WEFT_SOFT_MAX_PUSH && size <= WEFT_SOFT_MAX_PUSH - offset) {
        memcpy(weft_soft_command_buffer_of(handle)->push + offset, values, size);
    }
}

static struct weft_soft_range resolve(const struct weft_soft_command_buffer *buffer,
                                      const struct weft_soft_place *place) {
    const struct weft_soft_bound_set *bound = &buffer->sets[place->set];
    if (!bound->set || place->slot >= bound->set->layout->slot_count) {
        return (struct weft_soft_range){0};
    }
    struct weft_soft_range range = bound->set->ranges[place->slot];
    if (place->offset != WEFT_SOFT_NOT_DYNAMIC) {
        range.offset += bound->offsets[place->offset];
    }
    return range;
}

/* Adds a dispatch with all but its groups. */
static struct weft_soft_dispatch_record *add_dispatch(VkCommandBuffer handle) {
    struct weft_soft_command_buffer *buffer = weft_soft_command_buffer_of(handle);
    struct weft_soft_pipeline *pipeline = buffer->pipeline;
    if (!pipeline) {
        return NULL;
    }
    const struct weft_soft_kernel *kernel = &pipeline->kernel;
    const size_t ranges_at = weft_soft_record_round(sizeof(struct weft_soft_dispatch_record));
    const size_t push_at =
        ranges_at + weft_soft_record_round(kernel->binding_count * sizeof(struct weft_soft_range));
    struct weft_soft_dispatch_record *record =
        weft_soft_record(buffer, WEFT_SOFT_DISPATCH, push_at + kernel->push_size);
    if (!record) {
        return NULL;
    }
    record->kernel = &pipeline->kernel;
    buffer->stream.has_given = buffer->stream.has_given || pipeline->given;
    struct weft_soft_range *ranges =
        (struct weft_soft_range *)(void *)((uint8_t *)record + ranges_at);
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        ranges[i] = resolve(buffer, &pipeline->places[i]);
    }
    memcpy((uint8_t *)record + push_at, buffer->push, kernel->push_size);
    return record;
}

static VKAPI_ATTR void VKAPI_CALL dispatch_base(VkCommandBuffer handle, uint32_t x, uint32_t y,
                                                uint32_t z, uint32_t width, uint32_t height,
                                                uint32_t depth) {
    struct weft_soft_dispatch_record *record = add_dispatch(handle);
    if (record) {
        const uint32_t base[3] = {x, y, z}, groups[3] = {width, height, depth};
        memcpy(record->base, base, sizeof base);
        memcpy(record->groups, groups, sizeof groups);
    }
}

static VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer handle, uint32_t width, uint32_t height,
                                           uint32_t depth) {
    dispatch_base(handle, 0, 0, 0, width, height, depth);
}

const struct weft_soft_function weft_soft_dispatch_functions[] = {
    WEFT_SOFT_FUNCTION(CmdBindPipeline, bind_pipeline),
    WEFT_SOFT_FUNCTION(CmdBindDescriptorSets, bind_sets),
    WEFT_SOFT_FUNCTION(CmdPushConstants, push_constants),
    WEFT_SOFT_FUNCTION(CmdDispatch, dispatch),
    WEFT_SOFT_FUNCTION(CmdDispatchBase, dispatch_base),
    {NULL, NULL},
};
