/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* SIGXFSZ */
#endif
#ifdef __APPLE__
#define _DARWIN_C_SOURCE
#endif
#include "core/system/write_signals.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>

static const int numbers[] = {SIGXFSZ, SIGPIPE};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static unsigned members_of(const sigset_t *set) {
    unsigned members = 0;
    for (unsigned i = 0; i < NUMBERS; i++) {
        members |= sigismember(set, numbers[i]) == 1 ? 1U << i : 0;
    }
    return members;
}

static unsigned pending_now(void) {
    sigset_t set;
    return sigpending(&set) == 0 ? members_of(&set) : 0;
}

static void set_of(sigset_t *set, unsigned members) {
    (void)sigemptyset(set);
    for (unsigned i = 0; i < NUMBERS; i++) {
        if ((members & 1U << i) != 0) {
            (void)sigaddset(set, numbers[i]);
        }
    }
}

/* Without waiting: one that was sent to the whole process may have gone to another thread meanwhile. */
static void take(const sigset_t *set) {
#ifdef __APPLE__
    int number = 0;
    (void)sigwait(set, &number);
#else
    static const struct timespec at_once = {0};
    while (sigtimedwait(set, NULL, &at_once) < 0 && errno == EINTR) {
    }
#endif
}

uint64_t weft_write_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY
               ? UINT64_MAX
               : (uint64_t)limit.rlim_cur;
}

void weft_write_signals_hold(struct weft_write_signals *signals) {
    sigset_t all, before;
    *signals = (struct weft_write_signals){.pending = pending_now()};
    set_of(&all, ~0U);
    if (pthread_sigmask(SIG_BLOCK, &all, &before) == 0) {
        signals->blocked = ~members_of(&before);
    }
}

void weft_write_signals_release(const struct weft_write_signals *signals) {
    const int error = errno; /* of what was written between the two */
    const unsigned raised = pending_now() & ~signals->pending;
    sigset_t set;
    for (unsigned i = 0; i < NUMBERS; i++) {
        if ((raised & 1U << i) != 0) {
            set_of(&set, 1U << i);
            take(&set);
        }
    }
    set_of(&set, signals->blocked);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    errno = error;
}
