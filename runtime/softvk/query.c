/* SPDX-License-Identifier: MIT */
/* Query pools, of time stamps. */
#include "softvk/query.h"

#include <string.h>

#include "softvk/command.h"
#include "softvk/device.h"
#include "softvk/memory.h"

static VKAPI_ATTR VkResult VKAPI_CALL create_pool(VkDevice handle,
                                                  const VkQueryPoolCreateInfo *info,
                                                  const VkAllocationCallbacks *allocator,
                                                  VkQueryPool *pool) {
    (void)allocator;
    const struct weft_soft_device *device = weft_soft_device_of(handle);
    /* The header takes no more than one query would; the allocator notices a product that overflows. */
    _Static_assert(sizeof(struct weft_soft_query_pool) <= sizeof(struct weft_soft_query), "fits");
    struct weft_soft_query_pool *made =
        weft_alloc_zero(&device->host, (size_t)info->queryCount + 1, sizeof made->queries[0]);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->count = info->queryCount;
    *pool = WEFT_SOFT_HANDLE(VkQueryPool, made);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_pool(VkDevice handle, VkQueryPool pool,
                                               const VkAllocationCallbacks *allocator) {
    (void)allocator;
    weft_soft_delete(weft_soft_device_of(handle), weft_soft_query_pool_of(pool));
}

/* ---- results ---- */

/* Writes a number of 4 or 8 bytes. */
static void put(uint8_t *to, uint64_t value, bool wide) {
    const uint32_t low = (uint32_t)value;
    if (wide) {
        memcpy(to, &value, sizeof value);
    } else {
        memcpy(to, &low, sizeof low);
    }
}

bool weft_soft_query_write(const struct weft_soft_query_results *results) {
    const struct weft_soft_query_record *queries = &results->queries;
    const bool wide = (results->flags & VK_QUERY_RESULT_64_BIT) != 0;
    const bool partial = (results->flags & VK_QUERY_RESULT_PARTIAL_BIT) != 0;
    bool all = true;
    for (uint32_t i = 0; i < queries->count; i++) {
        const struct weft_soft_query *query = &queries->pool->queries[queries->first + i];
        const bool available = atomic_load(&query->available);
        uint8_t *to = results->to + i * results->stride;
        if (available || partial) {
            put(to, available ? atomic_load(&query->value) : 0, wide);
        }
        if ((results->flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT) != 0) {
            put(to + (wide ? 8 : 4), available, wide);
        }
        all = all && available;
    }
    return all;
}

static bool are_available(const struct weft_soft_queue *queue, const void *query_record) {
    (void)queue;
    const struct weft_soft_query_record *record = query_record;
    bool all = true;
    for (uint32_t i = 0; i < record->count; i++) {
        all = all && atomic_load(&record->pool->queries[record->first + i].available);
    }
    return all;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_results(VkDevice handle, VkQueryPool pool, uint32_t first,
                                                  uint32_t count, size_t size, void *data,
                                                  VkDeviceSize stride, VkQueryResultFlags flags) {
    (void)size;
    struct weft_soft_queue *queue = &weft_soft_device_of(handle)->queue;
    const struct weft_soft_query_results results = {
        .queries = {.pool = weft_soft_query_pool_of(pool), .first = first, .count = count},
        .to = data,
        .stride = stride,
        .flags = flags};
    if ((flags & VK_QUERY_RESULT_WAIT_BIT) != 0) {
        (void)weft_soft_queue_wait(queue, are_available, &results.queries, UINT64_MAX, NULL);
    } else {
        weft_soft_queue_hurry(queue);
    }
    return weft_soft_query_write(&results) ? VK_SUCCESS : VK_NOT_READY;
}

void weft_soft_query_reset(const struct weft_soft_query_record *record) {
    for (uint32_t i = 0; i < record->count; i++) {
        atomic_store(&record->pool->queries[record->first + i].available, false);
    }
}

static void stamp(const struct weft_soft_query_record *record, uint64_t nanoseconds) {
    struct weft_soft_query *query = &record->pool->queries[record->first];
    atomic_store(&query->value, nanoseconds);
    atomic_store(&query->available, true);
}

void weft_soft_run_other(struct weft_soft_record *record, const struct weft_watch *watch,
                         uint64_t nanoseconds) {
    void *contents = record + 1;
    if (record->command == WEFT_SOFT_RESET_QUERIES) {
        weft_soft_query_reset(contents);
    } else if (record->command == WEFT_SOFT_WRITE_TIMESTAMP) {
        stamp(contents, nanoseconds);
    } else if (record->command == WEFT_SOFT_CALL) {
        ((struct weft_soft_call_record *)contents)->call(contents, watch);
    }
}

bool weft_soft_runs_when_halted(const struct weft_soft_record *record) {
    const struct weft_soft_call_record *call = (const void *)(record + 1);
    return record->command == WEFT_SOFT_RESET_QUERIES ||
           record->command == WEFT_SOFT_WRITE_TIMESTAMP ||
           (record->command == WEFT_SOFT_CALL && call->always);
}

/* ---- commands ---- */

static void record_queries(VkCommandBuffer handle, enum weft_soft_command command,
                           const struct weft_soft_query_record *queries) {
    struct weft_soft_query_record *record =
        weft_soft_record(weft_soft_command_buffer_of(handle), command, sizeof *record);
    if (record) {
        *record = *queries;
    }
}

static VKAPI_ATTR void VKAPI_CALL cmd_reset(VkCommandBuffer handle, VkQueryPool pool,
                                            uint32_t first, uint32_t count) {
    const struct weft_soft_query_record queries = {
        .pool = weft_soft_query_pool_of(pool), .first = first, .count = count};
    record_queries(handle, WEFT_SOFT_RESET_QUERIES, &queries);
}

static VKAPI_ATTR void VKAPI_CALL cmd_stamp(VkCommandBuffer handle, VkPipelineStageFlagBits stage,
                                            VkQueryPool pool, uint32_t query) {
    (void)stage;
    const struct weft_soft_query_record queries = {
        .pool = weft_soft_query_pool_of(pool), .first = query, .count = 1};
    record_queries(handle, WEFT_SOFT_WRITE_TIMESTAMP, &queries);
}

const struct weft_soft_function weft_soft_query_functions[] = {
    WEFT_SOFT_FUNCTION(CreateQueryPool, create_pool),
    WEFT_SOFT_FUNCTION(DestroyQueryPool, destroy_pool),
    WEFT_SOFT_FUNCTION(GetQueryPoolResults, get_results),
    WEFT_SOFT_FUNCTION(CmdResetQueryPool, cmd_reset),
    WEFT_SOFT_FUNCTION(CmdWriteTimestamp, cmd_stamp),
    {NULL, NULL},
};
