/* SPDX-License-Identifier: MIT */
/* Running the workgroups of one dispatch. */
#ifndef WEFT_PROCESSOR_WORKGROUPS_H
#define WEFT_PROCESSOR_WORKGROUPS_H

#include "jobs/scratch.h"
#include "jobs/share.h"
#include "jobs/threads.h"
#include "native/kernel.h"

struct weft_processor_dispatch {
    const struct weft_native_kernel *kernel;
    const struct weft_native_range *ranges; /* one for each of its bindings */
    const void *push;
    uint32_t base[3]; /* the first workgroup */
    uint32_t groups[3];
    uint64_t *cost; /* of a workgroup, as in weft_share_items */
    struct weft_watch *watch;
};

/** Returns when it is done, or was halted. The scratch has pieces for every slot of the job system, as large as the kernel wants them. */
void weft_processor_dispatch_run(const struct weft_processor_dispatch *dispatch,
                                 const weft_job_system *jobs,
                                 const struct weft_scratch_pieces *scratch);

#endif
