/* SPDX-License-Identifier: MIT */
/*
 * A device of runtime/softvk that records. VkFFT plans against the constants that it describes itself with, and fills its tables in its
 * memory; VkFFT's dispatches become a weft_fft_program. No driver is involved.
 *
 * Copies are made, dispatches are noted, barriers are left out (the dispatches of a program are ordered by contract). What VkFFT
 * allocates with malloc, and what the device's objects take, is the recorder's, so nothing is lost when VkFFT gives up half way. Used by
 * one thread at a time.
 */
#ifndef WEFT_MIXERS_VKFFT_RECORDER_H
#define WEFT_MIXERS_VKFFT_RECORDER_H

#include <setjmp.h>

#include "device/vk.h"
#include "mixers/vkfft/program.h"

/** The device that VkFFT sees: the portable minimum of docs/reproducibility.md, rule 4, and no vendor. */
enum {
    WEFT_FFT_MAX_INVOCATIONS = 128,
    WEFT_FFT_MAX_LOCAL_SIZE_Z = 64,
    WEFT_FFT_SHARED_BYTES = 16384,
    /*
     * Limit of every Vulkan device. VkFFT gets no limit, because 1.3.4 splits larger dispatches wrongly for batches;
     * a dispatch above the limit is refused instead.
     */
    WEFT_FFT_MAX_GROUPS = 65535,
    WEFT_FFT_NO_LIMIT = INT32_MAX
};

/** Role of a buffer; every other buffer is a table, which is filled while planning. */
enum weft_fft_role {
    WEFT_FFT_ROLE_INPUT = 0,
    WEFT_FFT_ROLE_OUTPUT,
    WEFT_FFT_ROLE_WORK, /* VkFFT's main buffer, where that is not the output */
    WEFT_FFT_ROLE_TEMP, /* VkFFT's temporary buffer */
    WEFT_FFT_ROLE_COUNT
};

struct weft_fft_block;
struct weft_soft_memory;

struct weft_fft_recorder {
    const weft_host *host;
    uint32_t share; /* of what the device has below: as many times */
    weft_host own;  /* what it allocates goes with the recorder */
    struct weft_fft_block *blocks;
    bool out_of_memory;
    /*
     * Place to jump to when memory is out, or null: VkFFT does not check every allocation, and its way out of an
     * error is long. The recorder frees the remains.
     */
    jmp_buf *escape;
    const char *failure; /* null, or what VkFFT asked for that programs cannot have */

    struct weft_vk_instance instance;
    struct weft_vk_device vk;
    VkPhysicalDevice physical;
    VkQueue queue;
    VkCommandPool pool;
    VkFence fence;
    const struct weft_soft_memory *roles[WEFT_FFT_ROLE_COUNT]; /* null for what there is not */

    uint32_t compiled; /* modules made */
    uint32_t module_count, module_capacity;
    struct weft_fft_module *modules;
    uint32_t table_count, table_capacity;
    struct weft_fft_table *tables;
    const struct weft_soft_memory **table_owners; /* what each table was copied from */
    uint32_t owner_capacity;
    uint32_t dispatch_count, dispatch_capacity;
    struct weft_fft_dispatch *dispatches;
};

/** Makes the device, with `share` times what is above. Errors: WEFT_OUT_OF_HOST_MEMORY. Finish it also then. */
weft_status weft_fft_recorder_init(struct weft_fft_recorder *recorder, uint32_t share,
                                   const weft_host *host);
/** Frees everything, also what VkFFT forgot. */
void weft_fft_recorder_finish(struct weft_fft_recorder *recorder);

/** A buffer that stands for one of the caller's. VK_NULL_HANDLE when memory is out. */
VkBuffer weft_fft_recorder_buffer(struct weft_fft_recorder *recorder, enum weft_fft_role role,
                                  uint64_t size);
/** Says what a buffer that VkFFT made itself stands for. */
void weft_fft_recorder_set_role(struct weft_fft_recorder *recorder, VkBuffer buffer,
                                enum weft_fft_role role);

/** A command buffer that records, and its run. Null, or false, when memory is out. */
VkCommandBuffer weft_fft_recorder_begin(struct weft_fft_recorder *recorder);
bool weft_fft_recorder_run(struct weft_fft_recorder *recorder, VkCommandBuffer commands);

/**
 * Turns what was run into a program, which takes over modules, tables and dispatches: gives
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
