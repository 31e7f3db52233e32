/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for Vulkan that records. VkFFT is compiled against it (vkfft_unit.c renames the
 * functions), plans against the constants it answers with, fills its tables through it, and what it
 * then dispatches becomes a weft_fft_program. No driver is involved.
 *
 * Every dispatchable handle is the recorder itself; every other handle is a small host object that
 * the recorder owns. Copies happen at once, submissions and fences do nothing, barriers are left
 * out (the dispatches of a program are ordered by contract). What VkFFT allocates with malloc is
 * owned by the recorder too, so nothing is lost when VkFFT gives up half way. Used by one thread at
 * a time.
 */
#ifndef WEFT_MIXERS_VKFFT_RECORDER_H
#define WEFT_MIXERS_VKFFT_RECORDER_H

#include <setjmp.h>

#include "mixers/vkfft/program.h"

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan.h>

/** The device that VkFFT sees: the portable minimum of docs/reproducibility.md, rule 4, and no vendor. */
enum {
    WEFT_FFT_MAX_INVOCATIONS = 128,
    WEFT_FFT_MAX_LOCAL_SIZE_Z = 64,
    WEFT_FFT_SHARED_BYTES = 16384,
    /* What every Vulkan device has. VkFFT is told that there is no limit, because it splits what
       exceeds one and 1.3.4 gets that wrong for batches; such a dispatch is refused instead. */
    WEFT_FFT_MAX_GROUPS = 65535,
    WEFT_FFT_NO_LIMIT = INT32_MAX
};

/** What a buffer stands for. Only tables ever have memory. */
enum weft_fft_role {
    WEFT_FFT_ROLE_TABLE = 0, /* filled while planning; every buffer is one until told otherwise */
    WEFT_FFT_ROLE_INPUT,
    WEFT_FFT_ROLE_OUTPUT,
    WEFT_FFT_ROLE_WORK, /* VkFFT's main buffer, where that is not the output */
    WEFT_FFT_ROLE_TEMP  /* VkFFT's temporary buffer */
};

struct weft_fft_object;
struct weft_fft_block;

struct weft_fft_recorder {
    const weft_host *host;
    struct weft_fft_object *objects;
    struct weft_fft_block *blocks;
    bool out_of_memory;
    /* Where to go on when memory is out, or null: VkFFT does not check every allocation, and its
       way out of an error is long. What it leaves behind is the recorder's. */
    jmp_buf *escape;
    const char *failure; /* null, or what VkFFT asked for that the stand-in does not do */

    struct weft_fft_object *pipeline; /* bound */
    struct weft_fft_object *set;      /* bound */
    uint32_t compiled;                /* modules made */
    uint32_t module_count, module_capacity;
    struct weft_fft_module *modules;
    uint32_t table_count, table_capacity;
    struct weft_fft_table *tables;
    struct weft_fft_object **table_owners; /* the buffer each table was copied from */
    uint32_t owner_capacity;
    uint32_t dispatch_count, dispatch_capacity;
    struct weft_fft_dispatch *dispatches;
};

void weft_fft_recorder_init(struct weft_fft_recorder *recorder, const weft_host *host);
/** Frees everything, also what VkFFT forgot. */
void weft_fft_recorder_finish(struct weft_fft_recorder *recorder);

/**
 * A buffer without memory that stands for one of the caller's. VK_NULL_HANDLE when memory is out.
 */
VkBuffer weft_fft_recorder_buffer(struct weft_fft_recorder *recorder, enum weft_fft_role role,
                                  uint64_t size);
/** Says what a buffer that VkFFT made itself stands for. */
void weft_fft_recorder_set_role(VkBuffer buffer, enum weft_fft_role role);

/**
 * Turns what was recorded into a program, which takes over modules, tables and dispatches: gives
 * the work and temporary buffers their places in one, and checks that the input is only read.
 * Errors: WEFT_UNSUPPORTED with the reason in recorder->failure; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_fft_recorder_take(struct weft_fft_recorder *recorder,
                                   struct weft_fft_program *program);

/** Remembers that memory is out, and escapes where that is possible. */
void weft_fft_recorder_out_of_memory(struct weft_fft_recorder *recorder);

/* ---- the C library's allocation functions, for VkFFT ---- */

void *weft_fft_malloc(struct weft_fft_recorder *recorder, size_t size);
void *weft_fft_calloc(struct weft_fft_recorder *recorder, size_t count, size_t size);
void weft_fft_free(struct weft_fft_recorder *recorder, void *pointer);

/* ---- the functions of Vulkan that VkFFT calls; parameters as there ---- */

void weft_fft_vkGetPhysicalDeviceProperties(VkPhysicalDevice device,
                                            VkPhysicalDeviceProperties *properties);
void weft_fft_vkGetPhysicalDeviceMemoryProperties(VkPhysicalDevice device,
                                                  VkPhysicalDeviceMemoryProperties *properties);
VkResult weft_fft_vkCreateBuffer(VkDevice device, const VkBufferCreateInfo *info,
                                 const VkAllocationCallbacks *allocator, VkBuffer *buffer);
void weft_fft_vkDestroyBuffer(VkDevice device, VkBuffer buffer,
                              const VkAllocationCallbacks *allocator);
void weft_fft_vkGetBufferMemoryRequirements(VkDevice device, VkBuffer buffer,
                                            VkMemoryRequirements *requirements);
VkResult weft_fft_vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
                                   const VkAllocationCallbacks *allocator, VkDeviceMemory *memory);
void weft_fft_vkFreeMemory(VkDevice device, VkDeviceMemory memory,
                           const VkAllocationCallbacks *allocator);
VkResult weft_fft_vkBindBufferMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                     VkDeviceSize offset);
VkResult weft_fft_vkMapMemory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
                              VkDeviceSize size, VkMemoryMapFlags flags, void **data);
void weft_fft_vkUnmapMemory(VkDevice device, VkDeviceMemory memory);
VkResult weft_fft_vkCreateShaderModule(VkDevice device, const VkShaderModuleCreateInfo *info,
                                       const VkAllocationCallbacks *allocator,
                                       VkShaderModule *module);
void weft_fft_vkDestroyShaderModule(VkDevice device, VkShaderModule module,
                                    const VkAllocationCallbacks *allocator);
VkResult weft_fft_vkCreateDescriptorSetLayout(VkDevice device,
                                              const VkDescriptorSetLayoutCreateInfo *info,
                                              const VkAllocationCallbacks *allocator,
                                              VkDescriptorSetLayout *layout);
void weft_fft_vkDestroyDescriptorSetLayout(VkDevice device, VkDescriptorSetLayout layout,
                                           const VkAllocationCallbacks *allocator);
VkResult weft_fft_vkCreateDescriptorPool(VkDevice device, const VkDescriptorPoolCreateInfo *info,
                                         const VkAllocationCallbacks *allocator,
                                         VkDescriptorPool *pool);
void weft_fft_vkDestroyDescriptorPool(VkDevice device, VkDescriptorPool pool,
                                      const VkAllocationCallbacks *allocator);
VkResult weft_fft_vkAllocateDescriptorSets(VkDevice device, const VkDescriptorSetAllocateInfo *info,
                                           VkDescriptorSet *sets);
void weft_fft_vkUpdateDescriptorSets(VkDevice device, uint32_t write_count,
                                     const VkWriteDescriptorSet *writes, uint32_t copy_count,
                                     const VkCopyDescriptorSet *copies);
VkResult weft_fft_vkCreatePipelineLayout(VkDevice device, const VkPipelineLayoutCreateInfo *info,
                                         const VkAllocationCallbacks *allocator,
                                         VkPipelineLayout *layout);
void weft_fft_vkDestroyPipelineLayout(VkDevice device, VkPipelineLayout layout,
                                      const VkAllocationCallbacks *allocator);
VkResult weft_fft_vkCreateComputePipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                           const VkComputePipelineCreateInfo *infos,
                                           const VkAllocationCallbacks *allocator,
                                           VkPipeline *pipelines);
void weft_fft_vkDestroyPipeline(VkDevice device, VkPipeline pipeline,
                                const VkAllocationCallbacks *allocator);
VkResult weft_fft_vkAllocateCommandBuffers(VkDevice device, const VkCommandBufferAllocateInfo *info,
                                           VkCommandBuffer *commands);
void weft_fft_vkFreeCommandBuffers(VkDevice device, VkCommandPool pool, uint32_t count,
                                   const VkCommandBuffer *commands);
VkResult weft_fft_vkBeginCommandBuffer(VkCommandBuffer commands,
                                       const VkCommandBufferBeginInfo *info);
VkResult weft_fft_vkEndCommandBuffer(VkCommandBuffer commands);
VkResult weft_fft_vkQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *submits,
                                VkFence fence);
VkResult weft_fft_vkWaitForFences(VkDevice device, uint32_t count, const VkFence *fences,
                                  VkBool32 all, uint64_t timeout);
VkResult weft_fft_vkResetFences(VkDevice device, uint32_t count, const VkFence *fences);
void weft_fft_vkCmdBindPipeline(VkCommandBuffer commands, VkPipelineBindPoint point,
                                VkPipeline pipeline);
void weft_fft_vkCmdBindDescriptorSets(VkCommandBuffer commands, VkPipelineBindPoint point,
                                      VkPipelineLayout layout, uint32_t first, uint32_t count,
                                      const VkDescriptorSet *sets, uint32_t offset_count,
                                      const uint32_t *offsets);
void weft_fft_vkCmdPushConstants(VkCommandBuffer commands, VkPipelineLayout layout,
                                 VkShaderStageFlags stages, uint32_t offset, uint32_t size,
                                 const void *values);
void weft_fft_vkCmdDispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z);
void weft_fft_vkCmdCopyBuffer(VkCommandBuffer commands, VkBuffer source, VkBuffer target,
                              uint32_t count, const VkBufferCopy *regions);
void weft_fft_vkCmdPipelineBarrier(VkCommandBuffer commands, VkPipelineStageFlags before,
                                   VkPipelineStageFlags after, VkDependencyFlags flags,
                                   uint32_t memory_count, const VkMemoryBarrier *memory,
                                   uint32_t buffer_count, const VkBufferMemoryBarrier *buffers,
                                   uint32_t image_count, const VkImageMemoryBarrier *images);

#endif
