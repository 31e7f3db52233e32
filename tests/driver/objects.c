/* SPDX-License-Identifier: MIT */
/* What can be done with objects of a device, and in other words than Weft's. */
#include "driver/driver.h"

#include <string.h>

#include "softvk/cache.h"
#include "softvk/descriptor.h"
#include "softvk/device.h"
#include "softvk/memory.h"
#include "softvk/query.h"

/* ---- queues and semaphores ---- */

static VKAPI_ATTR void VKAPI_CALL get_queue2(VkDevice handle, const VkDeviceQueueInfo2 *info,
                                             VkQueue *queue) {
    WEFT_LIBRARY(GetDeviceQueue)(handle, info->queueFamilyIndex, info->queueIndex, queue);
}

static VKAPI_ATTR void VKAPI_CALL get_peer_features(VkDevice handle, uint32_t heap, uint32_t local,
                                                    uint32_t remote,
                                                    VkPeerMemoryFeatureFlags *features) {
    (void)handle;
    (void)heap;
    (void)local;
    (void)remote;
    *features = 0; /* there is one device in the group */
}

/* There is one queue. */
static VKAPI_ATTR VkResult VKAPI_CALL wait_queue(VkQueue handle) {
    struct weft_soft_device *device = weft_soft_queue_of(handle)->device;
    return WEFT_LIBRARY(DeviceWaitIdle)(WEFT_SOFT_HANDLE(VkDevice, device));
}

static VKAPI_ATTR VkResult VKAPI_CALL signal_semaphore(VkDevice handle,
                                                       const VkSemaphoreSignalInfo *info) {
    weft_soft_queue_set(&weft_soft_device_of(handle)->queue,
                        &weft_soft_semaphore_of(info->semaphore)->value, info->value);
    return VK_SUCCESS;
}

/* ---- memory ---- */

static VKAPI_ATTR void VKAPI_CALL get_requirements2(VkDevice handle,
                                                    const VkBufferMemoryRequirementsInfo2 *info,
                                                    VkMemoryRequirements2 *requirements) {
    VkMemoryDedicatedRequirements *dedicated = NULL;
    for (VkBaseOutStructure *link = requirements->pNext; link; link = link->pNext) {
        if (link->sType == VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS) {
            dedicated = (VkMemoryDedicatedRequirements *)link;
            dedicated->prefersDedicatedAllocation = VK_FALSE;
            dedicated->requiresDedicatedAllocation = VK_FALSE;
        }
    }
    WEFT_LIBRARY(GetBufferMemoryRequirements)
    (handle, info->buffer, &requirements->memoryRequirements);
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_buffers(VkDevice handle, uint32_t count,
                                                   const VkBindBufferMemoryInfo *infos) {
    for (uint32_t i = 0; i < count; i++) {
        (void)WEFT_LIBRARY(BindBufferMemory)(handle, infos[i].buffer, infos[i].memory,
                                             infos[i].memoryOffset);
    }
    return VK_SUCCESS;
}

/* Flushing and invalidating: what the host and the device see is the same bytes. */
static VKAPI_ATTR VkResult VKAPI_CALL sync_ranges(VkDevice handle, uint32_t count,
                                                  const VkMappedMemoryRange *ranges) {
    (void)handle;
    (void)count;
    (void)ranges;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL get_commitment(VkDevice handle, VkDeviceMemory memory,
                                                 VkDeviceSize *bytes) {
    (void)handle;
    *bytes = weft_soft_memory_of(memory)->size;
}

/* ---- descriptors ---- */

static VKAPI_ATTR void VKAPI_CALL get_support(VkDevice handle,
                                              const VkDescriptorSetLayoutCreateInfo *info,
                                              VkDescriptorSetLayoutSupport *support) {
    VkDescriptorSetLayout layout = VK_NULL_HANDLE;
    support->supported =
        WEFT_LIBRARY(CreateDescriptorSetLayout)(handle, info, NULL, &layout) == VK_SUCCESS;
    WEFT_LIBRARY(DestroyDescriptorSetLayout)(handle, layout, NULL);
}

static VKAPI_ATTR VkResult VKAPI_CALL free_sets(VkDevice handle, VkDescriptorPool pool,
                                                uint32_t count, const VkDescriptorSet *sets) {
    (void)pool;
    for (uint32_t i = 0; i < count; i++) {
        if (sets[i] != VK_NULL_HANDLE) {
            weft_soft_set_destroy(weft_soft_device_of(handle),
                                  weft_soft_descriptor_set_of(sets[i]));
        }
    }
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL reset_descriptors(VkDevice handle, VkDescriptorPool pool,
                                                        VkDescriptorPoolResetFlags flags) {
    (void)flags;
    weft_soft_pool_empty(weft_soft_device_of(handle), weft_soft_descriptor_pool_of(pool));
    return VK_SUCCESS;
}

static void copy_slots(const VkCopyDescriptorSet *copy) {
    const struct weft_soft_descriptor_set *from = weft_soft_descriptor_set_of(copy->srcSet);
    struct weft_soft_descriptor_set *to = weft_soft_descriptor_set_of(copy->dstSet);
    uint32_t source = 0, target = 0;
    const uint32_t there =
        weft_soft_find_slots(&source, from->layout, copy->srcBinding, copy->srcArrayElement);
    const uint32_t room =
        weft_soft_find_slots(&target, to->layout, copy->dstBinding, copy->dstArrayElement);
    for (uint32_t i = 0; i < copy->descriptorCount && i < there && i < room; i++) {
        to->ranges[target + i] = from->ranges[source + i];
    }
}

static VKAPI_ATTR void VKAPI_CALL update_sets(VkDevice handle, uint32_t write_count,
                                              const VkWriteDescriptorSet *writes,
                                              uint32_t copy_count,
                                              const VkCopyDescriptorSet *copies) {
    WEFT_LIBRARY(UpdateDescriptorSets)(handle, write_count, writes, 0, NULL);
    for (uint32_t i = 0; i < copy_count; i++) {
        copy_slots(&copies[i]);
    }
}

/* ---- pools and caches ---- */

static VKAPI_ATTR VkResult VKAPI_CALL reset_commands(VkDevice handle, VkCommandPool pool,
                                                     VkCommandPoolResetFlags flags) {
    (void)handle;
    const bool release = (flags & VK_COMMAND_POOL_RESET_RELEASE_RESOURCES_BIT) != 0;
    struct weft_soft_command_buffer *buffer = weft_soft_command_pool_of(pool)->buffers;
    for (; buffer; buffer = buffer->next) {
        (void)WEFT_LIBRARY(ResetCommandBuffer)(
            WEFT_SOFT_HANDLE(VkCommandBuffer, buffer),
            release ? VK_COMMAND_BUFFER_RESET_RELEASE_RESOURCES_BIT : 0);
    }
    return VK_SUCCESS;
}

/* Command buffers keep the memory that they had use for, and nothing else is kept. */
static VKAPI_ATTR void VKAPI_CALL trim_commands(VkDevice handle, VkCommandPool pool,
                                                VkCommandPoolTrimFlags flags) {
    (void)handle;
    (void)pool;
    (void)flags;
}

static VKAPI_ATTR void VKAPI_CALL reset_queries(VkDevice handle, VkQueryPool pool, uint32_t first,
                                                uint32_t count) {
    (void)handle;
    const struct weft_soft_query_record record = {
        .pool = weft_soft_query_pool_of(pool), .first = first, .count = count};
    weft_soft_query_reset(&record);
}

static bool put_copy(struct weft_soft_cache *into, const struct weft_soft_cache_entry *entry,
                     const weft_host *host) {
    struct weft_soft_object object = {.bytes = weft_alloc(host, entry->object.size),
                                      .size = entry->object.size};
    if (!object.bytes) {
        return false;
    }
    memcpy(object.bytes, entry->object.bytes, object.size);
    weft_soft_cache_put(into, &entry->key, &object, host);
    const bool taken = !object.bytes;
    weft_free(host, object.bytes);
    return taken;
}

static VKAPI_ATTR VkResult VKAPI_CALL merge_caches(VkDevice handle, VkPipelineCache into,
                                                   uint32_t count, const VkPipelineCache *caches) {
    bool all = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct weft_soft_cache *from = weft_soft_cache_of(caches[i]);
        for (uint32_t k = 0; k < from->count; k++) {
            all = all && put_copy(weft_soft_cache_of(into), &from->entries[k],
                                  &weft_soft_device_of(handle)->host);
        }
    }
    return all ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

const struct weft_soft_function weft_driver_object_functions[] = {
    WEFT_SOFT_FUNCTION(GetDeviceQueue2, get_queue2),
    WEFT_SOFT_FUNCTION(GetDeviceGroupPeerMemoryFeatures, get_peer_features),
    WEFT_SOFT_FUNCTION(QueueWaitIdle, wait_queue),
    WEFT_SOFT_FUNCTION(SignalSemaphore, signal_semaphore),
    WEFT_SOFT_FUNCTION(FlushMappedMemoryRanges, sync_ranges),
    WEFT_SOFT_FUNCTION(InvalidateMappedMemoryRanges, sync_ranges),
    WEFT_SOFT_FUNCTION(GetDeviceMemoryCommitment, get_commitment),
    WEFT_SOFT_FUNCTION(GetBufferMemoryRequirements2, get_requirements2),
    WEFT_SOFT_FUNCTION(BindBufferMemory2, bind_buffers),
    WEFT_SOFT_FUNCTION(GetDescriptorSetLayoutSupport, get_support),
    WEFT_SOFT_FUNCTION(FreeDescriptorSets, free_sets),
    WEFT_SOFT_FUNCTION(ResetDescriptorPool, reset_descriptors),
    WEFT_SOFT_FUNCTION(UpdateDescriptorSets, update_sets),
    WEFT_SOFT_FUNCTION(ResetCommandPool, reset_commands),
    WEFT_SOFT_FUNCTION(TrimCommandPool, trim_commands),
    WEFT_SOFT_FUNCTION(ResetQueryPool, reset_queries),
    WEFT_SOFT_FUNCTION(MergePipelineCaches, merge_caches),
    {NULL, NULL},
};
