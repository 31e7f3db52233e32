/* SPDX-License-Identifier: MIT */
/* Commands that Weft does not record: events, updates, indirect dispatches, secondary command buffers, copies of time stamps. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <string.h>
#include <time.h>

#include "driver/driver.h"
#include "softvk/command.h"
#include "softvk/device.h"
#include "softvk/memory.h"
#include "softvk/query.h"

/* Adds a call with `size` bytes in all; null when memory is out. */
static void *add_call(VkCommandBuffer handle, size_t size,
                      void (*call)(struct weft_soft_call_record *record,
                                   const struct weft_watch *watch)) {
    struct weft_soft_call_record *record =
        weft_soft_record(weft_soft_command_buffer_of(handle), WEFT_SOFT_CALL, size);
    if (record) {
        record->call = call;
    }
    return record;
}

/* ---- buffers ---- */

static uint8_t *bytes_of(const struct weft_soft_range *range) {
    return range->memory->bytes + range->offset;
}

struct update {
    struct weft_soft_call_record call;
    struct weft_soft_range to;
    uint8_t bytes[];
};

static void run_update(struct weft_soft_call_record *record, const struct weft_watch *watch) {
    const struct update *update = (const void *)record;
    (void)watch;
    memcpy(bytes_of(&update->to), update->bytes, (size_t)update->to.size);
}

static VKAPI_ATTR void VKAPI_CALL update_buffer(VkCommandBuffer handle, VkBuffer to,
                                                VkDeviceSize offset, VkDeviceSize size,
                                                const void *data) {
    struct update *update = add_call(handle, sizeof *update + (size_t)size, run_update);
    if (update) {
        update->to = weft_soft_buffer_range(to, offset, size);
        memcpy(update->bytes, data, (size_t)size);
    }
}

struct copy_queries {
    struct weft_soft_call_record call;
    struct weft_soft_query_results results; /* all but where they go */
    struct weft_soft_range to;
};

static void run_copy_queries(struct weft_soft_call_record *record, const struct weft_watch *watch) {
    const struct copy_queries *copy = (const void *)record;
    struct weft_soft_query_results results = copy->results;
    (void)watch;
    results.to = bytes_of(&copy->to);
    (void)weft_soft_query_write(&results);
}

static VKAPI_ATTR void VKAPI_CALL copy_queries(VkCommandBuffer handle, VkQueryPool pool,
                                               uint32_t first, uint32_t count, VkBuffer to,
                                               VkDeviceSize offset, VkDeviceSize stride,
                                               VkQueryResultFlags flags) {
    struct copy_queries *copy = add_call(handle, sizeof *copy, run_copy_queries);
    if (copy) {
        copy->results.queries = (struct weft_soft_query_record){
            .pool = weft_soft_query_pool_of(pool), .first = first, .count = count};
        copy->results.stride = stride;
        copy->results.flags = flags;
        copy->to = weft_soft_buffer_range(to, offset, count * stride);
    }
}

/* ---- dispatches ---- */

struct indirect {
    struct weft_soft_call_record call;
    struct weft_soft_range groups;
};

/* Writes to the dispatch, which is the next record. */
static void run_indirect(struct weft_soft_call_record *record, const struct weft_watch *watch) {
    const struct indirect *indirect = (const void *)record;
    uint8_t *header = (uint8_t *)record - sizeof(struct weft_soft_record);
    struct weft_soft_record *next =
        (void *)(header + ((struct weft_soft_record *)(void *)header)->size);
    struct weft_soft_dispatch_record *dispatch = (void *)(next + 1);
    (void)watch;
    memcpy(dispatch->groups, bytes_of(&indirect->groups), sizeof dispatch->groups);
}

static VKAPI_ATTR void VKAPI_CALL dispatch_indirect(VkCommandBuffer handle, VkBuffer groups,
                                                    VkDeviceSize offset) {
    struct indirect *indirect = add_call(handle, sizeof *indirect, run_indirect);
    if (indirect) {
        indirect->groups = weft_soft_buffer_range(groups, offset, 3 * sizeof(uint32_t));
        WEFT_LIBRARY(CmdDispatch)(handle, 0, 0, 0);
    }
}

/* There is one device in the group. */
static VKAPI_ATTR void VKAPI_CALL set_device_mask(VkCommandBuffer handle, uint32_t mask) {
    (void)handle;
    (void)mask;
}

/* Secondary command buffers inherit nothing that their records need, so their records are copied. */
static VKAPI_ATTR void VKAPI_CALL execute_commands(VkCommandBuffer handle, uint32_t count,
                                                   const VkCommandBuffer *others) {
    struct weft_soft_command_buffer *buffer = weft_soft_command_buffer_of(handle);
    for (uint32_t i = 0; i < count; i++) {
        const struct weft_soft_stream *other = &weft_soft_command_buffer_of(others[i])->stream;
        const struct weft_soft_record *record = NULL;
        buffer->stream.has_given = buffer->stream.has_given || other->has_given;
        while ((record = weft_soft_stream_next(other, record))) {
            const size_t size = record->size - sizeof *record;
            void *copy = weft_soft_record(buffer, record->command, size);
            if (copy) {
                memcpy(copy, record + 1, size);
            }
        }
    }
}

/* ---- events ---- */

struct event {
    atomic_bool set;
};

static struct event *event_of(VkEvent event) {
    return (struct event *)(uintptr_t)event; /* NOLINT(*int-to-ptr) */
}

static VKAPI_ATTR VkResult VKAPI_CALL create_event(VkDevice handle, const VkEventCreateInfo *info,
                                                   const VkAllocationCallbacks *allocator,
                                                   VkEvent *event) {
    (void)info;
    (void)allocator;
    struct event *made = weft_soft_new(weft_soft_device_of(handle), sizeof *made);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *event = WEFT_SOFT_HANDLE(VkEvent, made);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_event(VkDevice handle, VkEvent event,
                                                const VkAllocationCallbacks *allocator) {
    (void)allocator;
    weft_soft_delete(weft_soft_device_of(handle), event_of(event));
}

static VKAPI_ATTR VkResult VKAPI_CALL get_event_status(VkDevice handle, VkEvent event) {
    weft_soft_queue_hurry(&weft_soft_device_of(handle)->queue);
    return atomic_load(&event_of(event)->set) ? VK_EVENT_SET : VK_EVENT_RESET;
}

static VKAPI_ATTR VkResult VKAPI_CALL set_event(VkDevice handle, VkEvent event) {
    (void)handle;
    atomic_store(&event_of(event)->set, true);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL reset_event(VkDevice handle, VkEvent event) {
    (void)handle;
    atomic_store(&event_of(event)->set, false);
    return VK_SUCCESS;
}

struct event_call {
    struct weft_soft_call_record call;
    struct event *event;
    bool value; /* to set */
};

static void run_set(struct weft_soft_call_record *record, const struct weft_watch *watch) {
    const struct event_call *call = (const void *)record;
    (void)watch;
    atomic_store(&call->event->set, call->value);
}

static void run_wait(struct weft_soft_call_record *record, const struct weft_watch *watch) {
    const struct event_call *call = (const void *)record;
    const struct timespec moment = {.tv_nsec = 100000};
    while (!atomic_load(&call->event->set) && !weft_halted(watch)) {
        (void)nanosleep(&moment, NULL);
    }
}

/* Whoever waits for an event that is set does so, also where the run has been halted. */
static void record_set(VkCommandBuffer handle, VkEvent event, bool value) {
    struct event_call *call = add_call(handle, sizeof *call, run_set);
    if (call) {
        call->call.always = true;
        call->event = event_of(event);
        call->value = value;
    }
}

static VKAPI_ATTR void VKAPI_CALL cmd_set_event(VkCommandBuffer handle, VkEvent event,
                                                VkPipelineStageFlags stages) {
    (void)stages;
    record_set(handle, event, true);
}

static VKAPI_ATTR void VKAPI_CALL cmd_reset_event(VkCommandBuffer handle, VkEvent event,
                                                  VkPipelineStageFlags stages) {
    (void)stages;
    record_set(handle, event, false);
}

static VKAPI_ATTR void VKAPI_CALL cmd_wait_events(
    VkCommandBuffer handle, uint32_t count, const VkEvent *events, VkPipelineStageFlags before,
    VkPipelineStageFlags after, uint32_t memory_count, const VkMemoryBarrier *memory,
    uint32_t buffer_count, const VkBufferMemoryBarrier *buffers, uint32_t image_count,
    const VkImageMemoryBarrier *images) {
    for (uint32_t i = 0; i < count; i++) {
        struct event_call *call = add_call(handle, sizeof *call, run_wait);
        if (call) {
            call->event = event_of(events[i]);
        }
    }
    WEFT_LIBRARY(CmdPipelineBarrier)
    (handle, before, after, 0, memory_count, memory, buffer_count, buffers, image_count, images);
}

const struct weft_soft_function weft_driver_command_functions[] = {
    WEFT_SOFT_FUNCTION(CmdUpdateBuffer, update_buffer),
    WEFT_SOFT_FUNCTION(CmdCopyQueryPoolResults, copy_queries),
    WEFT_SOFT_FUNCTION(CmdDispatchIndirect, dispatch_indirect),
    WEFT_SOFT_FUNCTION(CmdSetDeviceMask, set_device_mask),
    WEFT_SOFT_FUNCTION(CmdExecuteCommands, execute_commands),
    WEFT_SOFT_FUNCTION(CreateEvent, create_event),
    WEFT_SOFT_FUNCTION(DestroyEvent, destroy_event),
    WEFT_SOFT_FUNCTION(GetEventStatus, get_event_status),
    WEFT_SOFT_FUNCTION(SetEvent, set_event),
    WEFT_SOFT_FUNCTION(ResetEvent, reset_event),
    WEFT_SOFT_FUNCTION(CmdSetEvent, cmd_set_event),
    WEFT_SOFT_FUNCTION(CmdResetEvent, cmd_reset_event),
    WEFT_SOFT_FUNCTION(CmdWaitEvents, cmd_wait_events),
    {NULL, NULL},
};
