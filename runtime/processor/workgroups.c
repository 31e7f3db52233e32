/* SPDX-License-Identifier: MIT */
#include "processor/workgroups.h"

#include <string.h>

struct job {
    const struct weft_processor_dispatch *dispatch;
    const struct weft_scratch_pieces *scratch;
};

/* A range of workgroups, counted x first, is a run of x in each row of the grid that it touches. */
static void run_groups(const void *untyped, uint32_t slot, uint64_t first, uint64_t count) {
    const struct job *job = untyped;
    const struct weft_processor_dispatch *dispatch = job->dispatch;
    const uint32_t *groups = dispatch->groups, *base = dispatch->base;
    struct weft_native_call call = {.ranges = dispatch->ranges,
                                    .push = dispatch->push,
                                    .scratch = weft_scratch_piece(job->scratch, slot),
                                    .halt = &dispatch->watch->halt,
                                    .interpreted = dispatch->kernel->interpreted};
    memcpy(call.groups, groups, sizeof call.groups);
    uint64_t row = first / groups[0];
    uint32_t x = (uint32_t)(first % groups[0]);
    while (count > 0) {
        const uint32_t left = groups[0] - x;
        const uint32_t run = count < left ? (uint32_t)count : left;
        dispatch->kernel->entry(&call, base[0] + x, base[1] + (uint32_t)(row % groups[1]),
                                base[2] + (uint32_t)(row / groups[1]), run);
        count -= run;
        x = 0;
        row++;
    }
}

void weft_processor_dispatch_run(const struct weft_processor_dispatch *dispatch,
                                 const weft_job_system *jobs,
                                 const struct weft_scratch_pieces *scratch) {
    const uint32_t *groups = dispatch->groups;
    const struct job job = {.dispatch = dispatch, .scratch = scratch};
    /* At most 2^31 * 2^16 * 2^16, by the device's limits. */
    const struct weft_share_items items = {.run = run_groups,
                                           .job = &job,
                                           .count = (uint64_t)groups[0] * groups[1] * groups[2],
                                           .cost = dispatch->cost,
                                           .watch = dispatch->watch};
    weft_share(&items, jobs);
}
