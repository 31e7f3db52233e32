/* SPDX-License-Identifier: MIT */
/* Starting a thread that has nothing of its parent's signals: thread_posix.c, thread_windows.c. */
#ifndef WEFT_JOBS_THREAD_H
#define WEFT_JOBS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/** Starts a thread that blocks all signals, so that no handler of the program's runs on it. */
bool weft_thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

/** A condition whose timed waits go by CLOCK_MONOTONIC. */
bool weft_condition_create(pthread_cond_t *condition);

/** Waits until signalled or `deadline`, in nanoseconds of weft_clock_ns; UINT64_MAX: for ever. */
void weft_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t deadline);

#endif
