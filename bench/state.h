/* SPDX-License-Identifier: MIT */
/* Clocks, temperatures and load of the machine, as far as the system tells: Linux by /proc and /sys, Windows the load alone. */
#ifndef WEFT_BENCH_STATE_H
#define WEFT_BENCH_STATE_H

#include <stdint.h>

/** At one moment. NaN and "": not told. */
typedef struct weft_bench_state {
    double lowest_mhz, mean_mhz, highest_mhz; /* of all processors */
    char governor[32];                        /* of the first */
    double temperature_c; /* the highest of the processor's and of thermal zones */
    double gpu_mhz, gpu_temperature_c, gpu_watt; /* of the first GPU of amdgpu */
    double load_1min;                            /* processes that want to run */
    /* Processor time since the machine started, of all processors, and of this process, in seconds: */
    double busy_s, all_s, own_s;
} weft_bench_state;

/** Nothing is told. */
weft_bench_state weft_bench_state_untold(void);

/** What the operating system tells, in state_posix.c and state_windows.c. */
weft_bench_state weft_bench_state_now(void);

/** The part of all processors' time that other processes had between two moments; NaN where it is not told. */
double weft_bench_others_busy(const weft_bench_state *before, const weft_bench_state *after);

/** Waits. */
void weft_bench_state_wait(uint32_t ms);

#endif
