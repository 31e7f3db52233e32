/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* sigaction */
#endif

#include "stop.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

enum { SIGNALS = 2 };
static const int signals[SIGNALS] = {SIGINT, SIGTERM};
static struct sigaction before[SIGNALS];
static volatile sig_atomic_t stopped;

/* Milliseconds on a clock that is never set. */
static long long now(void) {
    struct timespec time = {0};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

/*
 * A second one ends the program, unless it is the first again: coreutils' timeout signals its child and then the
 * group that the child is in.
 */
static void note(int number) {
    enum { SAME_MS = 100 };
    static volatile long long first;
    if (stopped == 0) {
        first = now();
        stopped = number;
    } else if (number != stopped || now() - first >= SAME_MS) {
        signal(number, SIG_DFL);
        raise(number); /* pending until this returns */
    }
}

/* One that is ignored, as by nohup or in the background of a shell, stays so. */
void weft_cli_signals_watch(void) {
    struct sigaction action = {.sa_handler = note};
    sigemptyset(&action.sa_mask);
    stopped = 0;
    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) {
            sigaction(signals[i], &action, NULL);
        }
    }
}

void weft_cli_signals_leave(void) {
    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], &before[i], NULL);
    }
}

int weft_cli_signal(void) {
    return stopped;
}
