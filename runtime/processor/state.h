/* SPDX-License-Identifier: MIT */
/* Declarations that the files of the processor device share. */
#ifndef WEFT_PROCESSOR_STATE_H
#define WEFT_PROCESSOR_STATE_H

#include "jobs/scratch.h"
#include "native/kernel.h"
#include "softvk/device.h"

/** weft_soft_device::state. */
struct weft_processor {
    struct weft_soft_device *device;
    struct weft_scratch scratch;
};

/** weft_soft_kernel::own. */
struct weft_processor_kernel {
    const struct weft_native_kernel *native;
    struct weft_native_kernel *owned; /* the same, or null for weft_processor_pipeline_wrap's */
    uint64_t cost;                    /* of a workgroup, as in weft_share_items; the queue's */
};

/** The functions of weft_soft_backend that are about kernels: kernel.c. */
weft_status weft_processor_compile(struct weft_soft_object *object,
                                   const struct weft_soft_source *source, void *state,
                                   const weft_host *host);
weft_status weft_processor_load(struct weft_soft_kernel *kernel, const uint8_t *bytes, size_t size,
                                void *state, const weft_host *host);
void weft_processor_unload(struct weft_soft_kernel *kernel, void *state);

/** And the one that runs a stream: run.c. */
void weft_processor_run(const struct weft_soft_stream *stream, struct weft_watch *watch,
                        void *state);

#endif
