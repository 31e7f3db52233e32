/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#ifdef __APPLE__
#define _DARWIN_C_SOURCE /* pthread_cond_timedwait_relative_np */
#endif
#include "jobs/thread.h"

#include <signal.h>
#include <time.h>

#ifdef __APPLE__
#include "jobs/machine.h"
#endif

/* Enough for LLVM. Without a size of its own a thread may have as little as RLIMIT_STACK, or musl's 128 KiB. */
#define STACK_SIZE ((size_t)8 << 20)

static bool create(pthread_t *thread, void *(*run)(void *), void *argument) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    const bool created = pthread_attr_setstacksize(&attributes, STACK_SIZE) == 0 &&
                         pthread_create(thread, &attributes, run, argument) == 0;
    (void)pthread_attr_destroy(&attributes);
    return created;
}

bool weft_thread_start(pthread_t *thread, void *(*run)(void *), void *argument) {
    sigset_t all, before;
    (void)sigfillset(&all);
    /* A thread begins with the mask of the one that makes it. */
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) {
        return false;
    }
    const bool started = create(thread, run, argument);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* macOS has no conditions that wait by the monotonic clock, but some that wait for a time. */
#ifdef __APPLE__

static int create_condition(pthread_cond_t *condition, const pthread_condattr_t *attributes) {
    return pthread_cond_init(condition, attributes);
}

static void wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t deadline) {
    const uint64_t second = UINT64_C(1000000000), now = weft_clock_ns();
    const uint64_t left = deadline > now ? deadline - now : 0;
    const struct timespec time = {.tv_sec = (time_t)(left / second),
                                  .tv_nsec = (long)(left % second)};
    (void)pthread_cond_timedwait_relative_np(condition, lock, &time);
}

#else

static int create_condition(pthread_cond_t *condition, pthread_condattr_t *attributes) {
    const int error = pthread_condattr_setclock(attributes, CLOCK_MONOTONIC);
    return error ? error : pthread_cond_init(condition, attributes);
}

static void wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t deadline) {
    const uint64_t second = UINT64_C(1000000000);
    const struct timespec at = {.tv_sec = (time_t)(deadline / second),
                                .tv_nsec = (long)(deadline % second)};
    (void)pthread_cond_timedwait(condition, lock, &at);
}

#endif

bool weft_condition_create(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        return false;
    }
    const bool made = create_condition(condition, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return made;
}

void weft_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t deadline) {
    if (deadline == UINT64_MAX) {
        (void)pthread_cond_wait(condition, lock);
    } else {
        wait_until(condition, lock, deadline);
    }
}
