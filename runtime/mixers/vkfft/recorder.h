/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for Vulkan that records. VkFFT is compiled against it, plans against the constants it
 * answers with, fills its tables through it, and what it then dispatches becomes a
 * weft_fft_program. No driver is involved.
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

/* The functions of Vulkan that VkFFT calls: its own header declares the recorder's in their places. */
#ifdef VULKAN_H_
#error "recorder.h comes before vulkan.h"
#endif
#define vkAllocateCommandBuffers            weft_fft_vkAllocateCommandBuffers
#define vkAllocateDescriptorSets            weft_fft_vkAllocateDescriptorSets
#define vkAllocateMemory                    weft_fft_vkAllocateMemory
#define vkBeginCommandBuffer                weft_fft_vkBeginCommandBuffer
#define vkBindBufferMemory                  weft_fft_vkBindBufferMemory
#define vkCmdBindDescriptorSets             weft_fft_vkCmdBindDescriptorSets
#define vkCmdBindPipeline                   weft_fft_vkCmdBindPipeline
#define vkCmdCopyBuffer                     weft_fft_vkCmdCopyBuffer
#define vkCmdDispatch                       weft_fft_vkCmdDispatch
#define vkCmdPipelineBarrier                weft_fft_vkCmdPipelineBarrier
#define vkCmdPushConstants                  weft_fft_vkCmdPushConstants
#define vkCreateBuffer                      weft_fft_vkCreateBuffer
#define vkCreateComputePipelines            weft_fft_vkCreateComputePipelines
#define vkCreateDescriptorPool              weft_fft_vkCreateDescriptorPool
#define vkCreateDescriptorSetLayout         weft_fft_vkCreateDescriptorSetLayout
#define vkCreatePipelineLayout              weft_fft_vkCreatePipelineLayout
#define vkCreateShaderModule                weft_fft_vkCreateShaderModule
#define vkDestroyBuffer                     weft_fft_vkDestroyBuffer
#define vkDestroyDescriptorPool             weft_fft_vkDestroyDescriptorPool
#define vkDestroyDescriptorSetLayout        weft_fft_vkDestroyDescriptorSetLayout
#define vkDestroyPipeline                   weft_fft_vkDestroyPipeline
#define vkDestroyPipelineLayout             weft_fft_vkDestroyPipelineLayout
#define vkDestroyShaderModule               weft_fft_vkDestroyShaderModule
#define vkEndCommandBuffer                  weft_fft_vkEndCommandBuffer
#define vkFreeCommandBuffers                weft_fft_vkFreeCommandBuffers
#define vkFreeMemory                        weft_fft_vkFreeMemory
#define vkGetBufferMemoryRequirements       weft_fft_vkGetBufferMemoryRequirements
#define vkGetPhysicalDeviceMemoryProperties weft_fft_vkGetPhysicalDeviceMemoryProperties
#define vkGetPhysicalDeviceProperties       weft_fft_vkGetPhysicalDeviceProperties
#define vkMapMemory                         weft_fft_vkMapMemory
#define vkQueueSubmit                       weft_fft_vkQueueSubmit
#define vkResetFences                       weft_fft_vkResetFences
#define vkUnmapMemory                       weft_fft_vkUnmapMemory
#define vkUpdateDescriptorSets              weft_fft_vkUpdateDescriptorSets
#define vkWaitForFences                     weft_fft_vkWaitForFences
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

#endif
