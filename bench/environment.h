/* SPDX-License-Identifier: MIT */
/* Where and how a benchmark ran, devices apart. */
#ifndef WEFT_BENCH_ENVIRONMENT_H
#define WEFT_BENCH_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define WEFT_BENCH_TEXT_SIZE 160

typedef struct weft_bench_environment {
    char started[32];                  /* UTC, as 2026-11-21T11:00:00Z */
    char cpu[WEFT_BENCH_TEXT_SIZE];    /* the processor's name; empty where it cannot be found */
    char system[WEFT_BENCH_TEXT_SIZE]; /* kernel and machine */
    uint32_t cores;                    /* logical, online */
} weft_bench_environment;

/** This machine, now. */
weft_bench_environment weft_bench_environment_now(void);

/** What the operating system knows, in environment_posix.c and environment_windows.c: all but when. */
void weft_bench_ask_system(weft_bench_environment *environment);
bool weft_bench_utc(struct tm *utc, time_t time);

#endif
