/* SPDX-License-Identifier: MIT */
/* Times of a bound plan, run again and again. */
#ifndef WEFT_BENCH_MEASURE_H
#define WEFT_BENCH_MEASURE_H

#include "bench/statistics.h"
#include "core/host.h"
#include <weft/graph.h>

/** How much is done for one case. */
typedef struct weft_bench_effort {
    double limit_ms;     /* to repeat it for so long, … */
    uint32_t least_runs; /* but so often at least; not 0 */
} weft_bench_effort;

typedef struct weft_bench_times {
    uint32_t runs;
    bool device_clock;          /* `run` is by the device's time stamps */
    weft_bench_statistics run;  /* milliseconds of a run */
    double host_ms;             /* median of weft_plan_run: submission and waiting included */
    double cpu_ms;              /* median of this process's processor time, all threads */
    uint32_t longest_dispatch;  /* which one takes longest, by its median … */
    double longest_dispatch_ms; /* … which is this; NaN without time stamps */
} weft_bench_times;

/**
 * Runs the plan until its median is known to within WEFT_BENCH_TIGHT, but at least effort->least_runs times and for a
 * tenth of the limit, and at most WEFT_BENCH_MAX_RUNS times or, after the least number of runs, until the limit. Whether it
 * got there is run.tight. Of fewer than WEFT_BENCH_MIN_RUNS the interval is from the smallest to the largest. Ctrl-C ends it after the run in progress, so what it then tells is of too few runs to be kept.
 * Runs that are not counted warm up before that until, with the warmed_ms of runs before the call, a twentieth of the limit
 * has passed. Without time stamps in the plan the times of a run are those of weft_plan_run. A run executes the plan
 * `repeats` times, and its times are their sums: 1, but for --debug-slow-down.
 */
weft_status weft_bench_measure(weft_bench_times *times, weft_plan *plan, weft_bindings *bindings,
                               bool timestamps, uint32_t repeats, double warmed_ms,
                               const weft_bench_effort *effort, const weft_host *host);

#endif
