/* SPDX-License-Identifier: MIT */
/* One case of `weft bench` on a device. */
#ifndef WEFT_BENCH_RUN_H
#define WEFT_BENCH_RUN_H

#include "bench/devices.h"
#include "bench/measure.h"
#include "bench/outputs.h"
#include "bench/start.h"
#include "bench/verify.h"
#include "cli.h"

#define WEFT_BENCH_MAX_ROUNDS 10

typedef enum weft_bench_status {
    WEFT_BENCH_OK = 0,
    WEFT_BENCH_UNSUPPORTED, /* the device cannot do it */
    WEFT_BENCH_SKIPPED,     /* it would take too long, or more memory than there is */
    WEFT_BENCH_ERROR        /* it failed, or its output is wrong */
} weft_bench_status;

/** "ok", "unsupported", "skipped" or "error". */
const char *weft_bench_status_name(weft_bench_status status);

/** The dispatch that takes longest by its median. */
typedef struct weft_bench_longest {
    char kernel[64]; /* empty without time stamps */
    char node[64];
    double ms; /* NaN without */
} weft_bench_longest;

typedef struct weft_bench_row {
    const weft_bench_case *bench_case;
    uint32_t repeats; /* of the plan in each timed run: 1, but for --debug-slow-down */
    weft_bench_status status;
    char reason[WEFT_CLI_ERROR_SIZE]; /* empty when ok */
    weft_shape shape;                 /* of the first input */
    double cold_ms;                   /* to compile the plan: shaders, weights and all */
    bool device_clock;                /* the times of runs below are by the device's time stamps */
    double median_ms, p5_ms, p90_ms, p95_ms, p99_ms;
    double spread;         /* half the distance between the quartiles, over the median */
    double interval_ms[2]; /* 95 % confidence interval of the median */
    bool tight;            /* it got as narrow as WEFT_BENCH_TIGHT asks */
    double host_ms;        /* median of weft_plan_run: submission and waiting included */
    /* Median of this process's processor time, all threads; 0 but on software drivers. */
    double cpu_ms;
    uint32_t runs;
    double round_ms[WEFT_BENCH_MAX_ROUNDS]; /* the medians of the rounds (rounds.h) */
    uint32_t rounds;
    double bytes; /* read and written by all dispatches */
    weft_plan_info info;
    uint64_t peak_bytes; /* the most held at once, from before the plan was compiled on */
    double tokens_per_s; /* NaN where none are counted */
    weft_bench_longest longest;
    weft_bench_verification verification;
    char sha256[WEFT_DIGEST_TEXT_SIZE]; /* of the outputs' bits */
    bool started;                       /* `start` was measured, which weft_bench_run does not */
    weft_bench_start start;
} weft_bench_row;

/** What a failed call with this status makes of a row. */
weft_bench_status weft_bench_status_of(weft_status status);

/**
 * Compiles the row's case, runs it once, and times it as weft_bench_measure does. Where the row has a digest already, the
 * outputs must have that one, and are not verified again. All else of the row is written, but for
 * the reason of a failed call, which is where the device's log goes. Resets the device's peak of memory in use.
 */
void weft_bench_run(weft_bench_row *row, const weft_bench_devices *devices,
                    const weft_bench_effort *effort, const weft_host *host);

#endif
