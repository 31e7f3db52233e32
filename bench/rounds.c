/* SPDX-License-Identifier: MIT */
#include "bench/rounds.h"

#include <math.h>

/** The mean of `count` values and one more. */
static void add_to_mean(double *mean, double value, uint32_t count) {
    *mean += (value - *mean) / (count + 1.0);
}

/** Operations, or where there are none, bytes. */
static double work_of(const weft_bench_row *row) {
    return row->info.flops > 0.0 ? row->info.flops : row->bytes;
}

/** Times of another amount of work, as if they were of the row's. */
static void scale(weft_bench_row *again, const weft_bench_row *row) {
    const double factor = work_of(row) / work_of(again);
    double *times[] = {&again->median_ms, &again->host_ms,        &again->cpu_ms,
                       &again->p5_ms,     &again->p90_ms,         &again->p95_ms,
                       &again->p99_ms,    &again->interval_ms[0], &again->interval_ms[1]};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        *times[i] *= factor;
    }
}

void weft_bench_add_round(weft_bench_row *row, weft_bench_row *again) {
    const uint32_t count = row->rounds;
    if (row->bench_case->sized) {
        scale(again, row);
    }
    add_to_mean(&row->median_ms, again->median_ms, count);
    add_to_mean(&row->host_ms, again->host_ms, count);
    add_to_mean(&row->cpu_ms, again->cpu_ms, count);
    add_to_mean(&row->spread, again->spread, count);
    row->p5_ms = fmin(row->p5_ms, again->p5_ms);
    row->p90_ms = fmax(row->p90_ms, again->p90_ms);
    row->p95_ms = fmax(row->p95_ms, again->p95_ms);
    row->p99_ms = fmax(row->p99_ms, again->p99_ms);
    row->interval_ms[0] = fmin(row->interval_ms[0], again->interval_ms[0]);
    row->interval_ms[1] = fmax(row->interval_ms[1], again->interval_ms[1]);
    row->tight = weft_bench_is_tight(row->median_ms, row->interval_ms[0], row->interval_ms[1]);
    row->tokens_per_s =
        row->bench_case->tokens > 0 ? 1e3 * row->bench_case->tokens / row->median_ms : (double)NAN;
    row->runs += again->runs;
    row->round_ms[row->rounds++] = again->median_ms;
}

uint32_t weft_bench_round_runs(uint32_t rounds) {
    return (WEFT_BENCH_MIN_RUNS + rounds - 1) / rounds;
}
