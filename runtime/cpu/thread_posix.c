/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "cpu/thread.h"

#include <signal.h>
#include <time.h>

bool weft_cpu_thread_start(pthread_t *thread, void *(*run)(void *), void *argument) {
    sigset_t all, before;
    (void)sigfillset(&all);
    /* A thread begins with the mask of the one that makes it. */
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) {
        return false;
    }
    const bool started = pthread_create(thread, NULL, run, argument) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

bool weft_cpu_condition_create(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        return false;
    }
    const bool made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                      pthread_cond_init(condition, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return made;
}

void weft_cpu_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t deadline) {
    const uint64_t second = UINT64_C(1000000000);
    if (deadline == UINT64_MAX) {
        (void)pthread_cond_wait(condition, lock);
        return;
    }
    const struct timespec at = {.tv_sec = (time_t)(deadline / second),
                                .tv_nsec = (long)(deadline % second)};
    (void)pthread_cond_timedwait(condition, lock, &at);
}
