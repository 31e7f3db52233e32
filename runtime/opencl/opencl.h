/* SPDX-License-Identifier: MIT */
/*
 * OpenCL devices as a back end of the software Vulkan: kernels become text of OpenCL C (opencl/emit.h), memory of the device is a cl_mem,
 * and a stream is enqueued in order.
 */
#ifndef WEFT_OPENCL_OPENCL_H
#define WEFT_OPENCL_OPENCL_H

#include "softvk/backend.h"

extern const struct weft_soft_backend weft_opencl_backend; /* its user: struct weft_cl_device */

#define WEFT_OPENCL_DRIVER_NAME "OpenCL"

#endif
