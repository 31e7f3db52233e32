/* SPDX-License-Identifier: MIT */
/* Who runs work that several threads can share: threads of the device's own, or whatever else has this struct. */
#ifndef WEFT_CPU_CREW_H
#define WEFT_CPU_CREW_H

#include "core/host.h"

/** Works on a job until nothing of it is left to begin. `slot` tells calls that go on at once from one another. */
typedef void (*weft_cpu_work)(void *job, uint32_t slot);

struct weft_cpu_crew {
    uint32_t slots; /* calls that may go on at once: 1 where the crew is the calling thread alone */
    void *user;
    /**
     * Calls work(job, slot) for different slots below `count` (at most `slots`), from whichever threads, and returns when all
     * calls have returned. Slot 0 must be called; the others may be left out, as one call alone finishes the job.
     */
    void (*run)(void *user, weft_cpu_work work, void *job, uint32_t count);
};

/** Threads of our own, which block all signals. */
struct weft_cpu_threads;

/**
 * Starts `count` - 1 threads; the thread that calls run is the last of the crew. One run at a time.
 * Errors: WEFT_OUT_OF_HOST_MEMORY, also when the system has no more threads.
 */
weft_status weft_cpu_threads_start(struct weft_cpu_threads **threads, struct weft_cpu_crew *crew,
                                   uint32_t count, const weft_host *host);
/** Ends them; nothing may be running. */
void weft_cpu_threads_end(struct weft_cpu_threads **threads, const weft_host *host);

#endif
