/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* sigaction */
#endif

#include "stop.h"

#include <signal.h>
#include <stddef.h>

enum { SIGNALS = 2 };
static const int signals[SIGNALS] = {SIGINT, SIGTERM};
static struct sigaction before[SIGNALS];
static volatile sig_atomic_t stopped;

/* Whichever comes next ends the program. */
static void note(int number) {
    stopped = number;
    for (size_t i = 0; i < SIGNALS; i++) {
        signal(signals[i], SIG_DFL);
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
