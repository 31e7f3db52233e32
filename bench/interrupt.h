/* SPDX-License-Identifier: MIT */
/* Ctrl-C during a long measurement: what is done is kept. */
#ifndef WEFT_BENCH_INTERRUPT_H
#define WEFT_BENCH_INTERRUPT_H

#include <stdbool.h>

/** From here on the first SIGINT is only noted; a second one ends the program, as ever. */
void weft_bench_interrupt_watch(void);

/** Whether one has come. */
bool weft_bench_interrupted(void);

#endif
