/* SPDX-License-Identifier: MIT */
/* With the threads of mingw-w64, winpthreads. There are no signals to keep away from a thread. */
#include "jobs/thread.h"

#include <errno.h>
#include <time.h>

#include "jobs/machine.h"

bool weft_thread_start(pthread_t *thread, void *(*run)(void *), void *argument) {
    return pthread_create(thread, NULL, run, argument) == 0;
}

bool weft_condition_create(pthread_cond_t *condition) {
    return pthread_cond_init(condition, NULL) == 0;
}

/* Conditions know the clock of the day only, which somebody may set: so a wait says how long, not until when. */
void weft_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t deadline) {
    const uint64_t second = UINT64_C(1000000000);
    if (deadline == UINT64_MAX) {
        (void)pthread_cond_wait(condition, lock);
        return;
    }
    const uint64_t now = weft_clock_ns(), left = deadline > now ? deadline - now : 0;
    /* It waits in whole milliseconds and is not to give up before the time. */
    const uint64_t rounded = left / 1000000 * 1000000 + (left % 1000000 != 0 ? 1000000 : 0);
    const struct timespec time = {.tv_sec = (time_t)(rounded / second),
                                  .tv_nsec = (long)(rounded % second)};
    (void)pthread_cond_timedwait_relative_np(condition, lock, &time);
}
