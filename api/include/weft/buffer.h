/* SPDX-License-Identifier: MIT */
/* Device memory that plans read from and write to. To use a VkBuffer of your own, see weft_buffer_wrap in vulkan.h. */
#ifndef WEFT_BUFFER_H
#define WEFT_BUFFER_H

#include <weft/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A range of device memory. One thread at a time; destroyed before its device. */
typedef struct weft_buffer weft_buffer;

/**
 * Makes a buffer of `size` bytes (at least 1) whose contents are undefined.
 * Errors: WEFT_INVALID_ARGUMENT for size 0, WEFT_OUT_OF_DEVICE_MEMORY.
 */
WEFT_API weft_status weft_buffer_create(weft_buffer **buffer, weft_device *device, uint64_t size);

/**
 * Makes a buffer of the caller's memory without a copy: the device works on it in place. `memory` has `size` bytes,
 * starts at a multiple of weft_device_info.host_memory_alignment, is readable and writable, and outlives the buffer.
 * Where the alignment is a page, the device can see the whole first and last page. The host may write until it submits
 * a run that reads the memory. It sees a run's results once weft_plan_wait or weft_plan_run reports completion; a
 * recorded plan needs a barrier to VK_PIPELINE_STAGE_HOST_BIT. Errors: WEFT_UNSUPPORTED when the device cannot do this
 * at all, or not with this memory; WEFT_INVALID_ARGUMENT for null, size 0 or memory that is not aligned; driver errors.
 */
WEFT_API weft_status weft_buffer_wrap_host(weft_buffer **buffer, weft_device *device, void *memory,
                                           uint64_t size);

/** Waits for submitted work first, unless the buffer wraps a VkBuffer. */
WEFT_API void weft_buffer_destroy(weft_buffer **buffer);

/** Bytes. */
WEFT_API uint64_t weft_buffer_size(const weft_buffer *buffer);

/**
 * Copies `size` bytes from host memory to the buffer at `offset`; returns when the copy is complete.
 * Errors: WEFT_INVALID_ARGUMENT when the range does not fit.
 */
WEFT_API weft_status weft_buffer_write(weft_buffer *buffer, uint64_t offset, const void *data,
                                       uint64_t size);

/** Copies `size` bytes at `offset` to host memory, after all submitted work. Errors as weft_buffer_write. */
WEFT_API weft_status weft_buffer_read(weft_buffer *buffer, uint64_t offset, void *data,
                                      uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
