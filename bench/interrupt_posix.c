/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* sigaction */
#endif

#include "bench/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted;

static void note(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

void weft_bench_interrupt_begin(void) {
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    interrupted = 0;
    sigaction(SIGINT, &action, NULL);
}

void weft_bench_interrupt_end(void) {
    signal(SIGINT, SIG_DFL);
}

bool weft_bench_interrupted(void) {
    return interrupted != 0;
}
