/* SPDX-License-Identifier: MIT */
/*
 * What two devices, two processes, or Weft and another library share without a copy: buffers and semaphores that are exported as
 * handles of the operating system, and imported from them.
 */
#ifndef WEFT_EXTERNAL_H
#define WEFT_EXTERNAL_H

#include <weft/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What the system calls it: a file descriptor; on Windows a HANDLE, cast. Who has one closes it, as the system has it. */
typedef intptr_t weft_external_handle;

typedef enum weft_external_type {
    /**
     * What only the same driver and device can import, also for another API, such as CUDA or OpenGL: VK_KHR_external_memory_fd, on
     * Windows VK_KHR_external_memory_win32 with NT handles. The processor device has it on Linux, as memory that cannot shrink, and
     * on Windows, as sections.
     */
    WEFT_EXTERNAL_OPAQUE = 0,
    WEFT_EXTERNAL_DMA_BUF =
        1 /**< of Linux, for other devices and drivers too (VK_EXT_external_memory_dma_buf) */
} weft_external_type;

/** "opaque" or "dma_buf". */
WEFT_API const char *weft_external_type_name(weft_external_type type);

/** What a device can do: nothing where it lacks the extension. */
typedef struct weft_external_info {
    bool exports;
    bool imports;
} weft_external_info;

/* ---- buffers ---- */

/** With buffers of a type. Errors: WEFT_INVALID_ARGUMENT for null or no type. */
WEFT_API weft_status weft_device_get_external(const weft_device *device, weft_external_type type,
                                              weft_external_info *info);

/**
 * As weft_buffer_create, of memory that can be exported. It counts neither in weft_device_stats nor against memory_limit, and comes
 * from the driver, also where there is an allocator. Errors also: WEFT_UNSUPPORTED where weft_device_get_external says so.
 */
WEFT_API weft_status weft_buffer_create_exportable(weft_buffer **buffer, weft_device *device,
                                                   uint64_t size, weft_external_type type);

/**
 * A handle of an exportable buffer's memory, which the caller owns and closes; the memory stays until the last buffer of it is
 * destroyed and the last handle closed. Errors: WEFT_INVALID_ARGUMENT for null or a buffer that is not exportable, such as one that
 * was imported; driver errors.
 */
WEFT_API weft_status weft_buffer_export_memory(weft_buffer *buffer, weft_external_handle *handle);

/**
 * A buffer of what was exported as a buffer of `size` bytes of that type: by weft_buffer_export_memory, in any process, or by another API as memory
 * that begins with such a buffer. The handle stays the caller's and may be closed at once. Two buffers of one memory need what two uses of
 * one buffer need: runs that write must have ended (weft_plan_wait), or be ordered by semaphores. An opaque handle of
 * another driver or device must not be given: drivers need not notice. Errors: WEFT_UNSUPPORTED where
 * weft_device_get_external says so; WEFT_INVALID_ARGUMENT for null, size 0 or a handle that is none; driver errors.
 */
WEFT_API weft_status weft_buffer_import_memory(weft_buffer **buffer, weft_device *device,
                                               weft_external_type type, weft_external_handle handle,
                                               uint64_t size);

/* ---- semaphores ---- */

/**
 * A semaphore of Vulkan that others have, too: what runs of weft_plan_submit_with wait for and signal, as weft_semaphore_vulkan (of
 * weft/vulkan.h). Binary ones have one wait for each signal; timeline ones count from 0. Destroy it before its device; any thread,
 * one at a time.
 */
typedef struct weft_semaphore weft_semaphore;

/**
 * With opaque handles of binary or of timeline semaphores (VK_KHR_external_semaphore_fd, on Windows
 * VK_KHR_external_semaphore_win32). The processor device has none. Errors: WEFT_INVALID_ARGUMENT for null.
 */
WEFT_API weft_status weft_device_get_external_semaphore(const weft_device *device, bool timeline,
                                                        weft_external_info *info);

/**
 * One that can be exported, not signalled. Errors: WEFT_UNSUPPORTED where weft_device_get_external_semaphore says so;
 * WEFT_INVALID_ARGUMENT for null; driver errors.
 */
WEFT_API weft_status weft_semaphore_create_exportable(weft_semaphore **semaphore,
                                                      weft_device *device, bool timeline);

/**
 * A handle of it, which the caller owns and closes. Errors: WEFT_INVALID_ARGUMENT for null or one that is not exportable, such as
 * one that was imported; driver errors.
 */
WEFT_API weft_status weft_semaphore_export_handle(weft_semaphore *semaphore,
                                                  weft_external_handle *handle);

/**
 * The semaphore that a handle is of: another's weft_semaphore_export_handle, or another API's. Both are one from then on. `timeline` is as it
 * was made. The handle stays the caller's and may be closed at once. Errors: WEFT_UNSUPPORTED where
 * weft_device_get_external_semaphore says so; WEFT_INVALID_ARGUMENT for null or a handle that is none; driver errors.
 */
WEFT_API weft_status weft_semaphore_import_handle(weft_semaphore **semaphore, weft_device *device,
                                                  bool timeline, weft_external_handle handle);

/** Waits for runs of weft_plan_submit. Does nothing for null; *semaphore is null after. */
WEFT_API void weft_semaphore_destroy(weft_semaphore **semaphore);

#ifdef __cplusplus
}
#endif

#endif
