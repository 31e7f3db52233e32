/* SPDX-License-Identifier: MIT */
/* The functions of Vulkan that VkFFT calls, as the recorder answers them. */
#include "mixers/vkfft/recorder.h"

#include <stdalign.h>
#include <string.h>

#include "mixers/vkfft/recorder_object.h"

static struct weft_fft_recorder *recorder_of(const void *dispatchable) {
    return (struct weft_fft_recorder *)(uintptr_t)dispatchable;
}

/* ---- the device's answers ---- */

void weft_fft_vkGetPhysicalDeviceProperties(VkPhysicalDevice device,
                                            VkPhysicalDeviceProperties *properties) {
    (void)device;
    *properties = (VkPhysicalDeviceProperties){.apiVersion = VK_API_VERSION_1_2};
    VkPhysicalDeviceLimits *limits = &properties->limits;
    limits->maxComputeWorkGroupInvocations = WEFT_FFT_MAX_INVOCATIONS;
    limits->maxComputeWorkGroupSize[0] = WEFT_FFT_MAX_INVOCATIONS;
    limits->maxComputeWorkGroupSize[1] = WEFT_FFT_MAX_INVOCATIONS;
    limits->maxComputeWorkGroupSize[2] = WEFT_FFT_MAX_LOCAL_SIZE_Z;
    limits->maxComputeSharedMemorySize = WEFT_FFT_SHARED_BYTES;
    for (int i = 0; i < 3; i++) {
        limits->maxComputeWorkGroupCount[i] = WEFT_FFT_NO_LIMIT;
    }
}

void weft_fft_vkGetPhysicalDeviceMemoryProperties(VkPhysicalDevice device,
                                                  VkPhysicalDeviceMemoryProperties *properties) {
    (void)device;
    *properties = (VkPhysicalDeviceMemoryProperties){.memoryTypeCount = 1, .memoryHeapCount = 1};
    properties->memoryTypes[0].propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                               VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                               VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    properties->memoryHeaps[0].size = UINT64_MAX;
    properties->memoryHeaps[0].flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT;
}

/* ---- handles, whose types differ and whose objects do not ---- */

#define DEFINE_DESTROY(function, type)                                                    \
    void function(VkDevice device, type handle, const VkAllocationCallbacks *allocator) { \
        (void)allocator;                                                                  \
        weft_fft_object_delete(recorder_of(device), WEFT_FFT_OBJECT(handle));             \
    }

DEFINE_DESTROY(weft_fft_vkDestroyBuffer, VkBuffer)
DEFINE_DESTROY(weft_fft_vkFreeMemory, VkDeviceMemory)
DEFINE_DESTROY(weft_fft_vkDestroyShaderModule, VkShaderModule)
DEFINE_DESTROY(weft_fft_vkDestroyPipeline, VkPipeline)
DEFINE_DESTROY(weft_fft_vkDestroyPipelineLayout, VkPipelineLayout)
DEFINE_DESTROY(weft_fft_vkDestroyDescriptorSetLayout, VkDescriptorSetLayout)
DEFINE_DESTROY(weft_fft_vkDestroyDescriptorPool, VkDescriptorPool)

VkResult weft_fft_vkCreatePipelineLayout(VkDevice device, const VkPipelineLayoutCreateInfo *info,
                                         const VkAllocationCallbacks *allocator,
                                         VkPipelineLayout *layout) {
    (void)info;
    (void)allocator;
    *layout = WEFT_FFT_HANDLE(VkPipelineLayout,
                              weft_fft_object_new(recorder_of(device), WEFT_FFT_OBJECT_PLAIN));
    return WEFT_FFT_OBJECT(*layout) ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VkResult weft_fft_vkCreateDescriptorPool(VkDevice device, const VkDescriptorPoolCreateInfo *info,
                                         const VkAllocationCallbacks *allocator,
                                         VkDescriptorPool *pool) {
    (void)info;
    (void)allocator;
    *pool = WEFT_FFT_HANDLE(VkDescriptorPool,
                            weft_fft_object_new(recorder_of(device), WEFT_FFT_OBJECT_PLAIN));
    return WEFT_FFT_OBJECT(*pool) ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* ---- buffers and memory ---- */

VkResult weft_fft_vkCreateBuffer(VkDevice device, const VkBufferCreateInfo *info,
                                 const VkAllocationCallbacks *allocator, VkBuffer *buffer) {
    (void)allocator;
    *buffer = weft_fft_recorder_buffer(recorder_of(device), WEFT_FFT_ROLE_TABLE, info->size);
    return WEFT_FFT_OBJECT(*buffer) ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

void weft_fft_vkGetBufferMemoryRequirements(VkDevice device, VkBuffer buffer,
                                            VkMemoryRequirements *requirements) {
    (void)device;
    *requirements = (VkMemoryRequirements){.size = WEFT_FFT_OBJECT(buffer)->size,
                                           .alignment = alignof(max_align_t),
                                           .memoryTypeBits = 1};
}

VkResult weft_fft_vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
                                   const VkAllocationCallbacks *allocator, VkDeviceMemory *memory) {
    (void)allocator;
    struct weft_fft_object *object =
        weft_fft_object_new(recorder_of(device), WEFT_FFT_OBJECT_MEMORY);
    if (!object) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    object->size = info->allocationSize;
    *memory = WEFT_FFT_HANDLE(VkDeviceMemory, object);
    return VK_SUCCESS;
}

VkResult weft_fft_vkBindBufferMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                     VkDeviceSize offset) {
    (void)device;
    WEFT_FFT_OBJECT(buffer)->memory = WEFT_FFT_OBJECT(memory);
    WEFT_FFT_OBJECT(buffer)->memory_offset = offset;
    return VK_SUCCESS;
}

/* The temporary buffer is allocated like any other but never touched, so bytes appear on first use
   only. */
static uint8_t *bytes_of(struct weft_fft_recorder *recorder, struct weft_fft_object *memory,
                         uint64_t offset, uint64_t size) {
    if (!memory || offset > memory->size || size > memory->size - offset ||
        memory->size > SIZE_MAX) {
        weft_fft_recorder_fail(recorder, "memory was used outside of its size");
        return NULL;
    }
    if (!memory->data) {
        memory->data = weft_alloc_zero(recorder->host, 1, (size_t)memory->size);
        if (!memory->data) {
            weft_fft_recorder_out_of_memory(recorder);
            return NULL;
        }
    }
    return memory->data + offset;
}

VkResult weft_fft_vkMapMemory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
                              VkDeviceSize size, VkMemoryMapFlags flags, void **data) {
    (void)flags;
    uint8_t *bytes = bytes_of(recorder_of(device), WEFT_FFT_OBJECT(memory), offset, size);
    if (!bytes) {
        return VK_ERROR_MEMORY_MAP_FAILED;
    }
    *data = bytes;
    return VK_SUCCESS;
}

void weft_fft_vkUnmapMemory(VkDevice device, VkDeviceMemory memory) {
    (void)device;
    (void)memory;
}

static uint8_t *buffer_bytes(struct weft_fft_recorder *recorder,
                             const struct weft_fft_object *buffer, uint64_t offset, uint64_t size) {
    if (offset > buffer->size || size > buffer->size - offset) {
        weft_fft_recorder_fail(recorder, "a buffer was used outside of its size");
        return NULL;
    }
    return bytes_of(recorder, buffer->memory, buffer->memory_offset + offset, size);
}

void weft_fft_vkCmdCopyBuffer(VkCommandBuffer commands, VkBuffer source, VkBuffer target,
                              uint32_t count, const VkBufferCopy *regions) {
    struct weft_fft_recorder *recorder = recorder_of(commands);
    for (uint32_t i = 0; i < count; i++) {
        const VkBufferCopy *region = &regions[i];
        const uint8_t *from =
            buffer_bytes(recorder, WEFT_FFT_OBJECT(source), region->srcOffset, region->size);
        uint8_t *to =
            buffer_bytes(recorder, WEFT_FFT_OBJECT(target), region->dstOffset, region->size);
        if (!from || !to) {
            return;
        }
        memmove(to, from, (size_t)region->size);
    }
}

/* ---- modules and pipelines ---- */

static bool grow(struct weft_fft_recorder *recorder, void *array_address, uint32_t count,
                 uint32_t *capacity, size_t element_size) {
    if (weft_grow(recorder->host, array_address, count, capacity, element_size)) {
        return true;
    }
    weft_fft_recorder_out_of_memory(recorder);
    return false;
}

VkResult weft_fft_vkCreateShaderModule(VkDevice device, const VkShaderModuleCreateInfo *info,
                                       const VkAllocationCallbacks *allocator,
                                       VkShaderModule *module) {
    (void)allocator;
    struct weft_fft_recorder *recorder = recorder_of(device);
    struct weft_fft_object *object = weft_fft_object_new(recorder, WEFT_FFT_OBJECT_MODULE);
    if (!object || !grow(recorder, &recorder->modules, recorder->module_count,
                         &recorder->module_capacity, sizeof *recorder->modules)) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    uint32_t *words = weft_alloc(recorder->host, info->codeSize);
    if (!words) {
        weft_fft_recorder_out_of_memory(recorder);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    memcpy(words, info->pCode, info->codeSize);
    object->module = recorder->module_count;
    recorder->modules[recorder->module_count++] =
        (struct weft_fft_module){.words = words, .size = info->codeSize};
    recorder->compiled++;
    *module = WEFT_FFT_HANDLE(VkShaderModule, object);
    return VK_SUCCESS;
}

VkResult weft_fft_vkCreateComputePipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                           const VkComputePipelineCreateInfo *infos,
                                           const VkAllocationCallbacks *allocator,
                                           VkPipeline *pipelines) {
    (void)cache;
    (void)allocator;
    struct weft_fft_recorder *recorder = recorder_of(device);
    for (uint32_t i = 0; i < count; i++) {
        const VkPipelineShaderStageCreateInfo *stage = &infos[i].stage;
        if (stage->pSpecializationInfo || strcmp(stage->pName, "main") != 0) {
            weft_fft_recorder_fail(
                recorder,
                "a pipeline has specialization constants or an entry point other than main");
        }
        struct weft_fft_object *object = weft_fft_object_new(recorder, WEFT_FFT_OBJECT_PIPELINE);
        if (!object) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        object->module = WEFT_FFT_OBJECT(stage->module)->module;
        pipelines[i] = WEFT_FFT_HANDLE(VkPipeline, object);
    }
    return VK_SUCCESS;
}

/* ---- descriptors ---- */

VkResult weft_fft_vkCreateDescriptorSetLayout(VkDevice device,
                                              const VkDescriptorSetLayoutCreateInfo *info,
                                              const VkAllocationCallbacks *allocator,
                                              VkDescriptorSetLayout *layout) {
    (void)allocator;
    struct weft_fft_recorder *recorder = recorder_of(device);
    for (uint32_t i = 0; i < info->bindingCount; i++) {
        const VkDescriptorSetLayoutBinding *binding = &info->pBindings[i];
        if (binding->binding >= WEFT_FFT_MAX_BINDINGS || binding->descriptorCount != 1 ||
            binding->descriptorType != VK_DESCRIPTOR_TYPE_STORAGE_BUFFER) {
            weft_fft_recorder_fail(recorder,
                                   "a kernel binds something other than a few storage buffers");
        }
    }
    struct weft_fft_object *object = weft_fft_object_new(recorder, WEFT_FFT_OBJECT_PLAIN);
    *layout = WEFT_FFT_HANDLE(VkDescriptorSetLayout, object);
    return object ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* Sets are never freed one by one; they go with the recorder. */
VkResult weft_fft_vkAllocateDescriptorSets(VkDevice device, const VkDescriptorSetAllocateInfo *info,
                                           VkDescriptorSet *sets) {
    for (uint32_t i = 0; i < info->descriptorSetCount; i++) {
        struct weft_fft_object *object =
            weft_fft_object_new(recorder_of(device), WEFT_FFT_OBJECT_SET);
        if (!object) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        sets[i] = WEFT_FFT_HANDLE(VkDescriptorSet, object);
    }
    return VK_SUCCESS;
}

void weft_fft_vkUpdateDescriptorSets(VkDevice device, uint32_t write_count,
                                     const VkWriteDescriptorSet *writes, uint32_t copy_count,
                                     const VkCopyDescriptorSet *copies) {
    (void)copies;
    struct weft_fft_recorder *recorder = recorder_of(device);
    if (copy_count != 0) {
        weft_fft_recorder_fail(recorder, "descriptors were copied");
    }
    for (uint32_t i = 0; i < write_count; i++) {
        const VkWriteDescriptorSet *write = &writes[i];
        if (write->dstBinding >= WEFT_FFT_MAX_BINDINGS || write->dstArrayElement != 0 ||
            write->descriptorCount != 1 || !write->pBufferInfo) {
            weft_fft_recorder_fail(recorder, "a descriptor is not one storage buffer");
            continue;
        }
        struct weft_fft_set_binding *binding =
            &WEFT_FFT_OBJECT(write->dstSet)->bindings[write->dstBinding];
        binding->buffer = WEFT_FFT_OBJECT(write->pBufferInfo->buffer);
        binding->offset = write->pBufferInfo->offset;
        binding->range = write->pBufferInfo->range;
    }
}

/* ---- commands ---- */

VkResult weft_fft_vkAllocateCommandBuffers(VkDevice device, const VkCommandBufferAllocateInfo *info,
                                           VkCommandBuffer *commands) {
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        commands[i] = (VkCommandBuffer)(void *)recorder_of(device);
    }
    return VK_SUCCESS;
}

void weft_fft_vkFreeCommandBuffers(VkDevice device, VkCommandPool pool, uint32_t count,
                                   const VkCommandBuffer *commands) {
    (void)device;
    (void)pool;
    (void)count;
    (void)commands;
}

VkResult weft_fft_vkBeginCommandBuffer(VkCommandBuffer commands,
                                       const VkCommandBufferBeginInfo *info) {
    (void)commands;
    (void)info;
    return VK_SUCCESS;
}

VkResult weft_fft_vkEndCommandBuffer(VkCommandBuffer commands) {
    (void)commands;
    return VK_SUCCESS;
}

VkResult weft_fft_vkQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *submits,
                                VkFence fence) {
    (void)queue;
    (void)count;
    (void)submits;
    (void)fence;
    return VK_SUCCESS;
}

VkResult weft_fft_vkWaitForFences(VkDevice device, uint32_t count, const VkFence *fences,
                                  VkBool32 all, uint64_t timeout) {
    (void)device;
    (void)count;
    (void)fences;
    (void)all;
    (void)timeout;
    return VK_SUCCESS;
}

VkResult weft_fft_vkResetFences(VkDevice device, uint32_t count, const VkFence *fences) {
    (void)device;
    (void)count;
    (void)fences;
    return VK_SUCCESS;
}

void weft_fft_vkCmdBindPipeline(VkCommandBuffer commands, VkPipelineBindPoint point,
                                VkPipeline pipeline) {
    (void)point;
    recorder_of(commands)->pipeline = WEFT_FFT_OBJECT(pipeline);
}

void weft_fft_vkCmdBindDescriptorSets(VkCommandBuffer commands, VkPipelineBindPoint point,
                                      VkPipelineLayout layout, uint32_t first, uint32_t count,
                                      const VkDescriptorSet *sets, uint32_t offset_count,
                                      const uint32_t *offsets) {
    (void)point;
    (void)layout;
    (void)offsets;
    if (first != 0 || count != 1 || offset_count != 0) {
        weft_fft_recorder_fail(recorder_of(commands), "a kernel uses more than one descriptor set");
        return;
    }
    recorder_of(commands)->set = WEFT_FFT_OBJECT(sets[0]);
}

/* Only kernels that are split, or take offsets when launched, have push constants. */
void weft_fft_vkCmdPushConstants(VkCommandBuffer commands, VkPipelineLayout layout,
                                 VkShaderStageFlags stages, uint32_t offset, uint32_t size,
                                 const void *values) {
    (void)layout;
    (void)stages;
    (void)offset;
    (void)size;
    (void)values;
    weft_fft_recorder_fail(recorder_of(commands), "a kernel has push constants");
}

/* The table that holds a buffer's bytes, made on first use: VkFFT has filled it by the time it
   dispatches. */
static bool table_of(struct weft_fft_recorder *recorder, struct weft_fft_object *buffer,
                     uint32_t *index) {
    for (uint32_t i = 0; i < recorder->table_count; i++) {
        if (recorder->table_owners[i] == buffer) {
            *index = i;
            return true;
        }
    }
    if (!grow(recorder, &recorder->tables, recorder->table_count, &recorder->table_capacity,
              sizeof *recorder->tables) ||
        !grow(recorder, &recorder->table_owners, recorder->table_count, &recorder->owner_capacity,
              sizeof *recorder->table_owners)) {
        return false;
    }
    const uint8_t *bytes = buffer_bytes(recorder, buffer, 0, buffer->size);
    if (!bytes) {
        return false;
    }
    uint8_t *copy = weft_alloc(recorder->host, (size_t)buffer->size);
    if (!copy) {
        weft_fft_recorder_out_of_memory(recorder);
        return false;
    }
    memcpy(copy, bytes, (size_t)buffer->size);
    *index = recorder->table_count++;
    recorder->tables[*index] = (struct weft_fft_table){.data = copy, .size = (size_t)buffer->size};
    recorder->table_owners[*index] = buffer;
    return true;
}

/* While recording, `table` of a temporary binding says which: 0 VkFFT's temporary buffer, 1 the
   work buffer. */
static bool resolve_binding(struct weft_fft_recorder *recorder, struct weft_fft_binding *binding,
                            const struct weft_fft_set_binding *bound) {
    struct weft_fft_object *buffer = bound->buffer;
    if (!buffer || bound->range == 0 || bound->offset > buffer->size ||
        bound->range > buffer->size - bound->offset) {
        weft_fft_recorder_fail(recorder,
                               "a kernel's binding is empty or reaches behind its buffer");
        return false;
    }
    *binding = (struct weft_fft_binding){.offset = bound->offset, .range = bound->range};
    switch (buffer->role) {
    case WEFT_FFT_ROLE_INPUT:
        binding->buffer = WEFT_FFT_INPUT;
        return true;
    case WEFT_FFT_ROLE_OUTPUT:
        binding->buffer = WEFT_FFT_OUTPUT;
        return true;
    case WEFT_FFT_ROLE_WORK:
        binding->buffer = WEFT_FFT_TEMP;
        binding->table = 1;
        return true;
    case WEFT_FFT_ROLE_TEMP:
        binding->buffer = WEFT_FFT_TEMP;
        return true;
    case WEFT_FFT_ROLE_TABLE:
    default:
        binding->buffer = WEFT_FFT_TABLE;
        return table_of(recorder, buffer, &binding->table);
    }
}

void weft_fft_vkCmdDispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
    struct weft_fft_recorder *recorder = recorder_of(commands);
    if (!recorder->pipeline || !recorder->set) {
        weft_fft_recorder_fail(recorder, "a dispatch without a pipeline or descriptors");
        return;
    }
    if (x > WEFT_FFT_MAX_GROUPS || y > WEFT_FFT_MAX_GROUPS || z > WEFT_FFT_MAX_GROUPS) {
        weft_fft_recorder_fail(recorder, "it needs more work groups than one dispatch may have");
        return;
    }
    if (!grow(recorder, &recorder->dispatches, recorder->dispatch_count,
              &recorder->dispatch_capacity, sizeof *recorder->dispatches)) {
        return;
    }
    struct weft_fft_dispatch dispatch = {.module = recorder->pipeline->module, .groups = {x, y, z}};
    const struct weft_fft_set_binding *bound = recorder->set->bindings;
    while (dispatch.binding_count < WEFT_FFT_MAX_BINDINGS && bound[dispatch.binding_count].buffer) {
        if (!resolve_binding(recorder, &dispatch.binding[dispatch.binding_count],
                             &bound[dispatch.binding_count])) {
            return;
        }
        dispatch.binding_count++;
    }
    recorder->dispatches[recorder->dispatch_count++] = dispatch;
}

void weft_fft_vkCmdPipelineBarrier(VkCommandBuffer commands, VkPipelineStageFlags before,
                                   VkPipelineStageFlags after, VkDependencyFlags flags,
                                   uint32_t memory_count, const VkMemoryBarrier *memory,
                                   uint32_t buffer_count, const VkBufferMemoryBarrier *buffers,
                                   uint32_t image_count, const VkImageMemoryBarrier *images) {
    (void)commands;
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
