/* SPDX-License-Identifier: MIT */
/* Where and how a benchmark ran, devices apart: nothing by which a stranger would know whose machine it is. */
#ifndef WEFT_BENCH_ENVIRONMENT_H
#define WEFT_BENCH_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <jansson.h>

#define WEFT_BENCH_TEXT_SIZE 160

/** "" and 0: not told. */
typedef struct weft_bench_environment {
    char started[32];                  /* UTC, as 2026-11-21T11:00:00Z */
    const char *label;                 /* what the owner calls the machine (label.h), or null */
    char cpu[WEFT_BENCH_TEXT_SIZE];    /* the processor's name */
    char system[WEFT_BENCH_TEXT_SIZE]; /* kernel and machine */
    uint32_t cores;                    /* logical, online; at least 1 */
    uint64_t memory;                   /* of the machine, in bytes */
    /* Linux, of the first processor: how its clock is chosen, and what energy may cost. */
    char governor[32], energy_preference[32];
    char power_plan[32]; /* Windows */
} weft_bench_environment;

/** This machine, now; without a label. */
weft_bench_environment weft_bench_environment_now(void);

/**
 * {"label", "cpu", "cores", "system", "memory", "governor", "energy_preference", "power_plan"}, null where it is not told; null when
 * memory is out. Part of reports and of certificates.
 */
json_t *weft_bench_environment_json(const weft_bench_environment *environment);

/** What the operating system knows, in environment_posix.c and environment_windows.c: all but when. */
void weft_bench_ask_system(weft_bench_environment *environment);
bool weft_bench_utc(struct tm *utc, time_t time);

/** The first line of a file such as those of /proc and /sys, without its newline; "" and false where there is none. Not on Windows. */
bool weft_bench_read_line(char *line, int size, const char *path);

#endif
