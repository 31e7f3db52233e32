/* SPDX-License-Identifier: MIT */
/*
 * The program's job system, held to what it is for: whatever it does with a job, each slot is taken once, the job is done when
 * the run is over, and no call that comes later touches it. And one that does not return is noticed.
 */
#ifndef WEFT_JOBS_GIVEN_JOBS_H
#define WEFT_JOBS_GIVEN_JOBS_H

#include <stdatomic.h>

#include "core/host.h"

struct weft_given_jobs;

/** `broken` is set when a run was left in another way than by returning. */
weft_status weft_given_jobs_create(struct weft_given_jobs **given, weft_job_system *jobs,
                                   const weft_job_system *asked, atomic_bool *broken,
                                   const weft_host *host);
void weft_given_jobs_destroy(struct weft_given_jobs **given);

/** The calling thread calls the library: if it is in a run, it was left by a longjmp, or something in it calls back. */
void weft_given_jobs_look(struct weft_given_jobs *given);

#endif
