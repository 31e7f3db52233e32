/* SPDX-License-Identifier: MIT */
/*
 * Buffers and semaphores that two devices, two processes, or Weft and another library share without a copy. They are
 * exported as handles of the operating system, and imported from them.
 */
#ifndef WEFT_EXTERNAL_H
#define WEFT_EXTERNAL_H

#include <weft/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A file descriptor; on Windows a HANDLE, cast. Its owner closes it by the system's function. */
typedef intptr_t weft_external_handle;

typedef enum weft_external_type {
    /**
     * Only the same driver and device can import it, also for another API such as CUDA or OpenGL:
     * VK_KHR_external_memory_fd, on Windows VK_KHR_external_memory_win32 with NT handles. The processor device supports
     * it on Linux, as memory that cannot shrink, and on Windows, as sections.
     */
    WEFT_EXTERNAL_OPAQUE = 0,
    WEFT_EXTERNAL_DMA_BUF =
        1 /**< Linux: other devices and drivers can import it, too (VK_EXT_external_memory_dma_buf) */
} weft_external_type;

/** "opaque" or "dma_buf". */
WEFT_API const char *weft_external_type_name(weft_external_type type);

/** Directions that a device supports; both are false if it lacks the extension. */
typedef struct weft_external_info {
    bool exports;
    bool imports;
} weft_external_info;

/* ---- buffers ---- */

/**
 * Tells if a device exports and imports buffers of a type. Errors: WEFT_INVALID_ARGUMENT for null or an unknown type.
 */
WEFT_API weft_status weft_device_get_external(const weft_device *device, weft_external_type type,
                                              weft_external_info *info);

/**
 * As weft_buffer_create, with memory that can be exported. It counts neither in weft_device_stats nor against
 * memory_limit, and comes from the driver even if there is an allocator. Errors also: WEFT_UNSUPPORTED if
 * weft_device_get_external says so.
 */
WEFT_API weft_status weft_buffer_create_exportable(weft_buffer **buffer, weft_device *device,
                                                   uint64_t size, weft_external_type type);

/**
 * Returns a handle of an exportable buffer's memory. The caller owns and closes it. The memory lives until its last
 * buffer is destroyed and its last handle is closed. Errors: WEFT_INVALID_ARGUMENT for null or a buffer that is not
 * exportable, such as an imported one; driver errors.
 */
WEFT_API weft_status weft_buffer_export_memory(weft_buffer *buffer, weft_external_handle *handle);

/**
 * Makes a buffer of exported memory: a buffer of `size` bytes and this type from weft_buffer_export_memory in any
 * process, or memory of another API that begins with such a buffer. The caller keeps the handle and may close it at
 * once. Two buffers of one memory need the same care as two uses of one buffer: runs that write must have ended
 * (weft_plan_wait) or be ordered by semaphores. Do not pass an opaque handle of another driver or device: drivers need
 * not notice. Errors: WEFT_UNSUPPORTED if weft_device_get_external says so; WEFT_INVALID_ARGUMENT for null, size 0 or
 * an invalid handle; driver errors.
 */
WEFT_API weft_status weft_buffer_import_memory(weft_buffer **buffer, weft_device *device,
                                               weft_external_type type, weft_external_handle handle,
                                               uint64_t size);

/* ---- semaphores ---- */

/**
 * A shared Vulkan semaphore. Runs of weft_plan_submit_with wait for it and signal it through weft_semaphore_vulkan
 * (weft/vulkan.h). A binary semaphore has one wait for each signal; a timeline semaphore counts from 0. Destroy it
 * before its device. Any thread may use it, one at a time.
 */
typedef struct weft_semaphore weft_semaphore;

/**
 * Tells if a device exports and imports opaque handles of binary or timeline semaphores
 * (VK_KHR_external_semaphore_fd, on Windows VK_KHR_external_semaphore_win32). The processor device supports none.
 * Errors: WEFT_INVALID_ARGUMENT for null.
 */
WEFT_API weft_status weft_device_get_external_semaphore(const weft_device *device, bool timeline,
                                                        weft_external_info *info);

/**
 * Makes an exportable semaphore, not signalled. Errors: WEFT_UNSUPPORTED if weft_device_get_external_semaphore says so;
 * WEFT_INVALID_ARGUMENT for null; driver errors.
 */
WEFT_API weft_status weft_semaphore_create_exportable(weft_semaphore **semaphore,
                                                      weft_device *device, bool timeline);

/**
 * Returns a handle of a semaphore. The caller owns and closes it. Errors: WEFT_INVALID_ARGUMENT for null or a semaphore
 * that is not exportable, such as an imported one; driver errors.
 */
WEFT_API weft_status weft_semaphore_export_handle(weft_semaphore *semaphore,
                                                  weft_external_handle *handle);

/**
 * Imports the semaphore of a handle from weft_semaphore_export_handle or another API. Both are then the same semaphore.
 * `timeline` must say how it was made. The caller keeps the handle and may close it at once. Errors: WEFT_UNSUPPORTED
 * if weft_device_get_external_semaphore says so; WEFT_INVALID_ARGUMENT for null or an invalid handle; driver errors.
 */
WEFT_API weft_status weft_semaphore_import_handle(weft_semaphore **semaphore, weft_device *device,
                                                  bool timeline, weft_external_handle handle);

/** Waits for runs of weft_plan_submit. Does nothing for null; sets *semaphore to null. */
WEFT_API void weft_semaphore_destroy(weft_semaphore **semaphore);

#ifdef __cplusplus
}
#endif

#endif
