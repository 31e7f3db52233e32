/* SPDX-License-Identifier: MIT */
/*
 * Embedding Weft in a program that already uses OpenCL: adopt its cl_context and queue, and wrap its cl_mem. This is the only header
 * that shows OpenCL's types. Include your OpenCL headers first if you need particular ones; Weft uses OpenCL 1.2.
 *
 * To open an OpenCL device of the system's, see weft_device_params.select. OpenCL devices, adopted or not, have no
 * VkDevice: recording into a VkCommandBuffer, images and memory of weft/external.h return WEFT_UNSUPPORTED.
 */
#ifndef WEFT_OPENCL_H
#define WEFT_OPENCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#ifdef __APPLE__
#include <OpenCL/cl.h>
#else
#include <CL/cl.h>
#endif

#include <weft/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A context and a queue that the caller created. Weft retains both until the weft_device is destroyed. */
typedef struct weft_device_adopt_opencl_params {
    weft_host host;
    weft_math math;
    weft_weight_storage weights; /**< as weft_device_params */
    cl_context context;
    /**
     * Queue of `context`; Weft uses its device. It runs commands in order (no
     * CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE). Weft's commands wait for those that were enqueued before. With
     * CL_QUEUE_PROFILING_ENABLE time stamps are the device's; without it the host takes them when it sees that work
     * is done.
     */
    cl_command_queue queue;
    uint64_t memory_limit;        /**< as weft_device_params */
    const char *cache_dir;        /**< as weft_device_params: as trusted as the program */
    uint64_t cache_limit;         /**< as weft_device_params */
    uint32_t submission_limit_ms; /**< as weft_device_params */
} weft_device_adopt_opencl_params;

#ifndef __cplusplus
#define weft_device_adopt_opencl_params(...) (&(weft_device_adopt_opencl_params){__VA_ARGS__})
#endif

/**
 * Makes a weft_device of a context and a queue. The program and Weft may use different OpenCL loaders.
 * Errors: WEFT_INVALID_ARGUMENT for null or foreign handles and a queue that is not in order; WEFT_NO_DEVICE if the system has no OpenCL
 * library that Weft can open; WEFT_UNSUPPORTED as weft_device_open.
 */
WEFT_API weft_status weft_device_adopt_opencl(weft_device **device,
                                              const weft_device_adopt_opencl_params *params);

/**
 * A buffer of `size` bytes of a cl_mem at `offset`, a multiple of 16, on an OpenCL device. The cl_mem is of the device's context, stays
 * alive until the buffer is destroyed, and must not be mapped while Weft uses it. Its bytes are defined for Weft's commands once the caller's are
 * complete, or enqueued on the adopted queue.
 * Errors: WEFT_INVALID_ARGUMENT; WEFT_UNSUPPORTED on a device that is not OpenCL's.
 */
WEFT_API weft_status weft_buffer_wrap_opencl(weft_buffer **buffer, weft_device *device,
                                             cl_mem memory, uint64_t offset, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
