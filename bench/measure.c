/* SPDX-License-Identifier: MIT */
#include "bench/measure.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "core/system/clock.h"
#include "core/try.h"
#include "stop.h"

#define WARM_UP_SHARE 0.05 /* of the time limit */
#define LEAST_SHARE   0.1

struct series {
    weft_plan *plan;
    weft_bindings *bindings;
    uint32_t dispatches; /* 0 without time stamps */
    uint32_t repeats;    /* of the plan in each run */
    uint32_t runs;
    double run[WEFT_BENCH_MAX_RUNS], host[WEFT_BENCH_MAX_RUNS], cpu[WEFT_BENCH_MAX_RUNS];
    weft_timing *timings; /* of one run, by dispatch */
    double *dispatch;     /* [dispatches][WEFT_BENCH_MAX_RUNS] */
};

static weft_status warm_up(struct series *series, double ms) {
    const double begin = weft_clock_ms();
    while (weft_clock_ms() - begin < ms) {
        WEFT_TRY(weft_plan_run(series->plan, series->bindings));
    }
    return WEFT_OK;
}

/** Adds, by the device's time stamps, from the first dispatch's start to the last one's end. */
static weft_status read_time_stamps(struct series *series, uint32_t run) {
    uint32_t count = series->dispatches;
    WEFT_TRY(weft_plan_get_timings(series->plan, series->timings, &count));
    double end = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const weft_timing *timing = &series->timings[i];
        end = fmax(end, timing->start_ms + timing->duration_ms);
        series->dispatch[(size_t)i * WEFT_BENCH_MAX_RUNS + run] += timing->duration_ms;
    }
    series->run[run] += end;
    return WEFT_OK;
}

/** Adds one execution of the plan to a run's times, which are 0 at first. */
static weft_status add_execution(struct series *series, uint32_t run) {
    const clock_t cpu_start = clock();
    const double start = weft_clock_ms();
    weft_status status = weft_plan_run(series->plan, series->bindings);
    const double host_ms = weft_clock_ms() - start;
    series->host[run] += host_ms;
    series->cpu[run] += 1e3 * (double)(clock() - cpu_start) / CLOCKS_PER_SEC;
    if (status == WEFT_OK && series->dispatches > 0) {
        return read_time_stamps(series, run);
    }
    series->run[run] += host_ms;
    return status;
}

static weft_status time_run(struct series *series) {
    for (uint32_t i = 0; i < series->repeats; i++) {
        WEFT_TRY(add_execution(series, series->runs));
    }
    series->runs++;
    return WEFT_OK;
}

static bool is_tight(const struct series *series) {
    double sorted[WEFT_BENCH_MAX_RUNS];
    memcpy(sorted, series->run, series->runs * sizeof *sorted);
    return weft_bench_summarize(sorted, series->runs).tight;
}

/** Looks at the interval seldom: each look is a chance to stop by luck, which its confidence does not know of. */
static weft_status time_runs(struct series *series, const weft_bench_effort *effort) {
    const double begin = weft_clock_ms();
    uint32_t look = WEFT_BENCH_MIN_RUNS;
    while (series->runs < WEFT_BENCH_MAX_RUNS) {
        const double passed = weft_clock_ms() - begin;
        if ((series->runs >= effort->least_runs && passed >= effort->limit_ms) ||
            (series->runs > 0 && weft_cli_stopped())) {
            break;
        }
        if (series->runs >= look && passed >= LEAST_SHARE * effort->limit_ms) {
            if (is_tight(series)) {
                break;
            }
            look = series->runs + series->runs / 2;
        }
        WEFT_TRY(time_run(series));
    }
    return WEFT_OK;
}

static void find_longest(weft_bench_times *times, struct series *series) {
    times->longest_dispatch_ms = NAN;
    for (uint32_t i = 0; i < series->dispatches; i++) {
        const double ms =
            weft_bench_median(&series->dispatch[(size_t)i * WEFT_BENCH_MAX_RUNS], series->runs);
        if (!(ms <= times->longest_dispatch_ms)) { /* true of the first, too */
            times->longest_dispatch_ms = ms;
            times->longest_dispatch = i;
        }
    }
}

static void summarize(weft_bench_times *times, struct series *series) {
    *times = (weft_bench_times){.runs = series->runs, .device_clock = series->dispatches > 0};
    times->run = weft_bench_summarize(series->run, series->runs);
    if (series->runs < WEFT_BENCH_MIN_RUNS) {
        times->run.low = series->run[0]; /* sorted by now */
        times->run.high = series->run[series->runs - 1];
    }
    times->host_ms = weft_bench_median(series->host, series->runs);
    times->cpu_ms = weft_bench_median(series->cpu, series->runs);
    find_longest(times, series);
}

static weft_status begin(struct series *series, weft_plan *plan, weft_bindings *bindings,
                         bool timestamps, const weft_host *host) {
    weft_plan_info info;
    WEFT_TRY(weft_plan_get_info(plan, &info));
    series->plan = plan;
    series->bindings = bindings;
    if (timestamps) {
        const size_t count = (size_t)info.dispatches + 1;
        series->dispatches = info.dispatches;
        series->timings = weft_alloc_zero(host, count, sizeof *series->timings);
        series->dispatch =
            weft_alloc_zero(host, count, WEFT_BENCH_MAX_RUNS * sizeof *series->dispatch);
        if (!series->timings || !series->dispatch) {
            return weft_fail_memory(host, "the time stamps");
        }
    }
    return WEFT_OK;
}

weft_status weft_bench_measure(weft_bench_times *times, weft_plan *plan, weft_bindings *bindings,
                               bool timestamps, uint32_t repeats, double warmed_ms,
                               const weft_bench_effort *effort, const weft_host *host) {
    struct series *series = weft_alloc_zero(host, 1, sizeof *series);
    if (!series) {
        return weft_fail_memory(host, "the times");
    }
    series->repeats = repeats;
    weft_status status = begin(series, plan, bindings, timestamps, host);
    if (status == WEFT_OK) {
        status = warm_up(series, WARM_UP_SHARE * effort->limit_ms - warmed_ms);
    }
    if (status == WEFT_OK) {
        status = time_runs(series, effort);
    }
    if (status == WEFT_OK) {
        summarize(times, series);
    }
    weft_free(host, series->timings);
    weft_free(host, series->dispatch);
    weft_free(host, series);
    return status;
}
