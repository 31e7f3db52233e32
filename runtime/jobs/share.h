/* SPDX-License-Identifier: MIT */
/* Handing out the items of a piece of work in ranges. */
#ifndef WEFT_JOBS_SHARE_H
#define WEFT_JOBS_SHARE_H

#include <stdatomic.h>

#include "jobs/threads.h"

/** Tells running work to go on or to stop. One for each queue, for the submission that runs. */
struct weft_watch {
    /* Not 0: what runs ends as soon as it can. Compiled code reads this. */
    atomic_uint_least32_t halt;
    /* Asked now and then by the thread that runs the submission, while it computes, in the default float state: true halts
     * it. Or null. */
    bool (*ask)(void *user);
    void *user;
    uint64_t asked_ns; /* when it was asked last */
};

#define WEFT_WATCH_ASK_NS UINT64_C(50000000) /* between two times that it is asked */

static inline bool weft_halted(const struct weft_watch *watch) {
    return atomic_load_explicit(&watch->halt, memory_order_relaxed) != 0;
}

/** Asks, if it is time. To be called by the thread that runs the submission alone. */
void weft_watch_ask(struct weft_watch *watch);

struct weft_share_items {
    /* Runs items first … first + count - 1; `slot` as in weft_job. */
    void (*run)(const void *job, uint32_t slot, uint64_t first, uint64_t count);
    const void *job;
    uint64_t count;
    uint64_t
        *cost; /* picoseconds of an item as it was last measured, which this changes; 0 at first */
    struct weft_watch *watch; /* whether to go on; null: until all is done */
};

/**
 * Runs all items, by the job system or, where they take less time than waking somebody up, by the calling thread alone. While they run,
 * the float state of the thread is weft_float_state_kernel's, which the caller sets for its own: once for many dispatches, of which a short
 * one takes no longer than setting it. Where the watch is halted it returns when the items that have begun are done.
 */
void weft_share(const struct weft_share_items *items, const weft_job_system *jobs);

#endif
