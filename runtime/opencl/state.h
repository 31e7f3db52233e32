/* SPDX-License-Identifier: MIT */
/* Declarations that the files of OpenCL devices share. */
#ifndef WEFT_OPENCL_STATE_H
#define WEFT_OPENCL_STATE_H

#include "opencl/devices.h"
#include "opencl/emit.h"
#include "softvk/device.h"

/** Bytes of weft_arguments of a kernel, see opencl/emit.h. */
static inline uint32_t weft_cl_argument_size(uint32_t binding_count, uint32_t push_size) {
    return (WEFT_CL_FIXED_WORDS + 2 * binding_count) * 4 + push_size;
}

/** weft_soft_device::state. */
struct weft_cl_state {
    const struct weft_cl_functions *cl;
    cl_device_id id;
    struct weft_soft_device *device;
    cl_context context;
    cl_command_queue queue; /* in order, with profiling */
    bool builds_alone;      /* weft_cl_builds_alone */
};

/** weft_soft_kernel::own. */
struct weft_cl_kernel {
    cl_program program;
    cl_kernel kernel;
    uint32_t local_size[3];
    uint32_t argument_size; /* bytes of the first argument, weft_arguments of opencl/emit.h */
};

/** Logs that a function has failed, as in "clBuildProgram: CL_…", and gives the status for it. */
weft_status weft_cl_fail(const weft_host *host, const char *function, cl_int error);

/** Address in this process of memory for the host; null for the device's memory. */
static inline uint8_t *weft_cl_bytes(const struct weft_soft_range *range) {
    return range->memory->bytes ? range->memory->bytes + range->offset : NULL;
}

/** The functions of weft_soft_backend that are about kernels: program.c. */
weft_status weft_cl_compile(struct weft_soft_object *object, const struct weft_soft_source *source,
                            void *state, const weft_host *host);
weft_status weft_cl_load(struct weft_soft_kernel *kernel, const uint8_t *bytes, size_t size,
                         void *state, const weft_host *host);
void weft_cl_unload(struct weft_soft_kernel *kernel, void *state);

/** And the one that runs a stream: run.c. */
void weft_cl_run(const struct weft_soft_stream *stream, struct weft_watch *watch, void *state);

#endif
