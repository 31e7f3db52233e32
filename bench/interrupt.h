/* SPDX-License-Identifier: MIT */
/* Ctrl-C during a long measurement: what is done is kept. interrupt_posix.c, interrupt_windows.c. */
#ifndef WEFT_BENCH_INTERRUPT_H
#define WEFT_BENCH_INTERRUPT_H

#include <stdbool.h>

/** Begins a watch: the first SIGINT is only noted; a second one ends the program. */
void weft_bench_interrupt_begin(void);

/** Ends it: SIGINT ends the program again. */
void weft_bench_interrupt_end(void);

/** Whether one has come since the watch began. */
bool weft_bench_interrupted(void);

#endif
