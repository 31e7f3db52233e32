/* SPDX-License-Identifier: MIT */
#ifndef WEFT_SOFTVK_PIPELINE_H
#define WEFT_SOFTVK_PIPELINE_H

#include "softvk/functions.h"

struct weft_soft_shader_module {
    size_t size; /* bytes */
    uint32_t words[];
};

/* Place of a kernel's binding in the sets of the layout. */
struct weft_soft_place {
    uint32_t set;
    uint32_t slot;
    uint32_t offset; /* number of its dynamic offset, or WEFT_SOFT_NOT_DYNAMIC */
};

struct weft_soft_pipeline {
    struct weft_soft_kernel kernel;
    bool given; /* it may not end by itself, but loops look at the halt */
    struct weft_soft_place places[WEFT_SOFT_MAX_BINDINGS];
};

WEFT_SOFT_OBJECT(VkShaderModule, shader_module)
WEFT_SOFT_OBJECT(VkPipeline, pipeline)

/**
 * A pipeline of a kernel, which it takes over: also for tests, whose kernels are C functions. VK_ERROR_INVALID_SHADER_NV when the
 * layout lacks a binding of it, or it has more push constants than there can be.
 */
VkResult weft_soft_pipeline_wrap(VkPipeline *pipeline, VkDevice device, VkPipelineLayout layout,
                                 const struct weft_soft_kernel *kernel);

#endif
