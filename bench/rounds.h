/* SPDX-License-Identifier: MIT */
/*
 * Several measurements of one case in a session, minutes apart: what disturbs a machine lasts longer than one measurement,
 * whose own interval knows nothing of it.
 */
#ifndef WEFT_BENCH_ROUNDS_H
#define WEFT_BENCH_ROUNDS_H

#include "bench/run.h"

/**
 * Adds the times of another measurement of the row's case, both ok, of which there are fewer than WEFT_BENCH_MAX_ROUNDS so
 * far. Medians become the means of the rounds' medians; p5, p95 and the interval reach as far as any round's; runs are summed.
 * A sized case may have done another amount of work in `again`, whose times are scaled to that of the row first.
 * What has no part in that is left as the first round had it.
 */
void weft_bench_add_round(weft_bench_row *row, weft_bench_row *again);

/** So many runs each of `rounds` rounds makes at least, WEFT_BENCH_MIN_RUNS in all. */
uint32_t weft_bench_round_runs(uint32_t rounds);

#endif
