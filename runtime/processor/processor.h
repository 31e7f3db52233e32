/* SPDX-License-Identifier: MIT */
/* The processor as a device of runtime/softvk: kernels as native code, on threads of a job system. */
#ifndef WEFT_PROCESSOR_PROCESSOR_H
#define WEFT_PROCESSOR_PROCESSOR_H

#include "native/kernel.h"
#include "softvk/backend.h"

/** VkPhysicalDeviceDriverProperties::driverName of the device. */
#define WEFT_PROCESSOR_DRIVER_NAME "Weft processor"

extern const struct weft_soft_backend weft_processor_backend;

/** A pipeline of a kernel that its caller keeps: for tests, whose kernels are C functions. */
VkResult weft_processor_pipeline_wrap(VkPipeline *pipeline, VkDevice device,
                                      VkPipelineLayout layout,
                                      const struct weft_native_kernel *kernel);

#endif
