/* SPDX-License-Identifier: MIT */
/* Handing out the items of a piece of work in ranges. */
#ifndef WEFT_CPU_SHARE_H
#define WEFT_CPU_SHARE_H

#include "cpu/threads.h"

struct weft_cpu_items {
    /* Runs items first … first + count - 1; `slot` as in weft_job. */
    void (*run)(const void *job, uint32_t slot, uint64_t first, uint64_t count);
    const void *job;
    uint64_t count;
    uint64_t
        *cost; /* picoseconds of an item as it was last measured, which this changes; 0 at first */
};

/**
 * Runs all items, by the job system or, where they take less time than waking somebody up, by the calling thread alone. While they run,
 * the float state of the thread is weft_float_state_kernel's.
 */
void weft_cpu_share(const struct weft_cpu_items *items, const weft_job_system *jobs);

#endif
