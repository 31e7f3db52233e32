/* SPDX-License-Identifier: MIT */
/*
 * Device memory that two devices, two processes, or Weft and another library share without a copy: buffers that are exported as
 * descriptors of the system, and imported from them. On Linux; descriptors of Windows are not supported yet.
 */
#ifndef WEFT_EXTERNAL_H
#define WEFT_EXTERNAL_H

#include <weft/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_external_type {
    /** What only the same driver and device can import (VK_KHR_external_memory_fd), also for another API, such as CUDA or OpenGL. */
    WEFT_EXTERNAL_OPAQUE_FD = 0,
    WEFT_EXTERNAL_DMA_BUF =
        1 /**< of Linux, for other devices and drivers too (VK_EXT_external_memory_dma_buf) */
} weft_external_type;

/** "opaque_fd" or "dma_buf". */
WEFT_API const char *weft_external_type_name(weft_external_type type);

/** What a device can do with buffers of a type: nothing where it lacks the extension, as the processor device does. */
typedef struct weft_external_info {
    bool exports;
    bool imports;
} weft_external_info;

WEFT_API weft_status weft_device_get_external(const weft_device *device, weft_external_type type,
                                              weft_external_info *info);

/**
 * As weft_buffer_create, of memory that can be exported. It counts neither in weft_device_stats nor against memory_limit, and comes
 * from the driver, also where there is an allocator. Errors also: WEFT_UNSUPPORTED where weft_device_get_external says so.
 */
WEFT_API weft_status weft_buffer_create_exportable(weft_buffer **buffer, weft_device *device,
                                                   uint64_t size, weft_external_type type);

/**
 * A descriptor of an exportable buffer's memory, which the caller owns and closes; the memory stays until the last buffer of it is
 * destroyed and the last descriptor closed. Errors: WEFT_INVALID_ARGUMENT for null or a buffer that is not exportable; driver errors.
 */
WEFT_API weft_status weft_buffer_export_memory(weft_buffer *buffer, int *descriptor);

/**
 * A buffer of what was exported as a buffer of `size` bytes of that type: by weft_buffer_export_memory, in any process, or by another API as memory
 * that begins with such a buffer. The descriptor stays the caller's and may be closed at once. Two buffers of one memory need what two uses of
 * one buffer need: runs that write must have ended (weft_plan_wait), or be ordered by semaphores. An opaque descriptor of
 * another driver or device must not be given: drivers need not notice. Errors: WEFT_UNSUPPORTED where
 * weft_device_get_external says so; WEFT_INVALID_ARGUMENT for null, size 0 or a descriptor that is none; driver errors.
 */
WEFT_API weft_status weft_buffer_import_memory(weft_buffer **buffer, weft_device *device,
                                               weft_external_type type, int descriptor,
                                               uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
