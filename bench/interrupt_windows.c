/* SPDX-License-Identifier: MIT */
#include <signal.h>

#include "bench/interrupt.h"

static volatile sig_atomic_t interrupted;

static void note(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

/* Windows forgets a handler when it calls it. */
void weft_bench_interrupt_begin(void) {
    interrupted = 0;
    signal(SIGINT, note);
}

void weft_bench_interrupt_end(void) {
    signal(SIGINT, SIG_DFL);
}

bool weft_bench_interrupted(void) {
    return interrupted != 0;
}
