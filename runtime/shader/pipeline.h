/* SPDX-License-Identifier: MIT */
/* Compute pipelines: made once per device for each (module, specialization), kept until the device goes. */
#ifndef WEFT_SHADER_PIPELINE_H
#define WEFT_SHADER_PIPELINE_H

#include "shader/pipeline_store.h"
#include "shader/shader.h"
#include "spirv/passes/passes.h"

/** Description of a pipeline. Everything is copied. */
struct weft_pipeline_desc {
    const char
        *name; /* of an embedded shader; for a given module, what the log and traces call it */
    struct weft_spirv spirv; /* words null: the embedded shader `name`, in the device's math mode */
    uint32_t
        subgroup; /* invocations of a subgroup, of a device that can be asked; 0: the driver's choice */
    bool checked; /* accesses outside of its buffers are harmless, where the driver can see to it */
    uint32_t binding_count; /* storage buffers at set 0, bindings 0 … binding_count - 1 */
    uint32_t push_size;     /* bytes, a multiple of 4 */
    uint32_t specialization_count;
    uint32_t specialization[WEFT_MAX_SPECIALIZATION]; /* constant_id i has value [i] */
};

/**
 * The pipeline for a description, made on first use; valid until the device is destroyed. When the device's math is reproducible, every
 * module first goes through the passes of reproducible math, those that the device needs to treat special values like all others, and the
 * lint (spirv/passes). All pipelines allow vkCmdDispatchBase.
 * Errors: WEFT_NOT_FOUND for an unknown embedded shader, WEFT_UNSUPPORTED when the module's local size exceeds the
 * device's limits (both named) or the lint refuses it, WEFT_COMPILE_ERROR for words that are no module, driver errors.
 */
weft_status weft_pipeline_get(const struct weft_pipeline **pipeline, weft_device *device,
                              const struct weft_pipeline_desc *desc);

struct weft_pipeline_request {
    const struct weft_pipeline_desc *desc;
    const struct weft_pipeline *pipeline; /* what is found or made */
};

/**
 * Makes many pipelines by common calls of the driver: the processor device compiles them on all its threads.
 * Pipelines made before an error are kept.
 */
weft_status weft_pipeline_get_all(struct weft_pipeline_request *requests, uint32_t count,
                                  weft_device *device);

/**
 * The module of a description that the driver gets or, in reproducible math, a `portable` one, before anything is added
 * that this device needs; to be freed by weft_spirv_edit_free. Errors: as above.
 */
weft_status weft_pipeline_module(struct weft_spirv_edit *made, const weft_device *device,
                                 const struct weft_pipeline_desc *desc, bool portable);

/** Adds to *needs what some devices' compilers need in either mode, as weft_pipeline_get has it. */
void weft_pipeline_suit_compiler(struct weft_spirv_needs *needs, const weft_device_info *info);

#endif
