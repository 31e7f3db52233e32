/* SPDX-License-Identifier: MIT */
#ifndef WEFT_SOFTVK_PIPELINE_H
#define WEFT_SOFTVK_PIPELINE_H

#include "cpu/kernel.h"
#include "softvk/functions.h"

struct weft_soft_shader_module {
    size_t size; /* bytes */
    uint32_t words[];
};

/* Where a kernel's binding is in the sets of the layout. */
struct weft_soft_place {
    uint32_t set;
    uint32_t slot;
    uint32_t offset; /* number of its dynamic offset, or WEFT_SOFT_NOT_DYNAMIC */
};

struct weft_soft_pipeline {
    const struct weft_cpu_kernel *kernel;
    struct weft_cpu_kernel *owned; /* the same, or null for weft_processor_pipeline_wrap's */
    bool given;                    /* it may not end by itself, but loops look at the halt */
    uint64_t cost;                 /* of a workgroup, as in weft_share_items; the queue's */
    struct weft_soft_place places[WEFT_CPU_MAX_BINDINGS];
};

WEFT_SOFT_OBJECT(VkShaderModule, shader_module)
WEFT_SOFT_OBJECT(VkPipeline, pipeline)

/**
 * A pipeline of a kernel that its caller keeps: for tests, whose kernels are C functions. VK_ERROR_INVALID_SHADER_NV when the
 * layout lacks a binding of it, or it has more push constants than there can be.
 */
VkResult weft_processor_pipeline_wrap(VkPipeline *pipeline, VkDevice device,
                                      VkPipelineLayout layout,
                                      const struct weft_cpu_kernel *kernel);

#endif
