/* SPDX-License-Identifier: MIT */
/* The job system (weft_job_system) of a device that brings its own threads. */
#ifndef WEFT_JOBS_THREADS_H
#define WEFT_JOBS_THREADS_H

#include "core/host.h"

/** Threads of our own, which block all signals. */
struct weft_threads;

/**
 * Starts `count` - 1 threads, or as many as the system has, which a warning says; the thread that calls jobs->run is the last of them. One run at
 * a time.
 * Errors: WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_threads_start(struct weft_threads **threads, weft_job_system *jobs, uint32_t count,
                               const weft_host *host);
/**
 * In a forked child, which has none of its parent's threads: makes the locks anew, and the next job starts threads. Nothing was running
 * when the process was forked. `threads` may be null. False where the system has no more locks.
 */
bool weft_threads_inherit(struct weft_threads *threads);
/** Ends them; nothing may be running. */
void weft_threads_end(struct weft_threads **threads, const weft_host *host);

#endif
