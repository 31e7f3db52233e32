/* SPDX-License-Identifier: MIT */
/* The growth of the series among the rows of `weft bench`. */
#ifndef WEFT_BENCH_GROWTH_H
#define WEFT_BENCH_GROWTH_H

#include "bench/power_law.h"
#include "bench/run.h"

typedef struct weft_bench_fit {
    const char *suite, *series;
    bool linear, dense;       /* as weft_bench_case */
    weft_growth time;         /* of the median */
    weft_growth cpu_time;     /* of the processor time; no points but on software drivers */
    weft_growth memory;       /* of the arena; lengths without one are left out */
    weft_crossover crossover; /* against what is `dense`, in its fastest form at each length */
    double speedup; /* dense attention's median over this one's at crossover.to; NaN without */
} weft_bench_fit;

/** Fits every series of the rows, of which those of a series stand together, in fresh memory (weft_free). */
weft_status weft_bench_fits(weft_bench_fit **fits, uint32_t *count, const weft_bench_row *rows,
                            uint32_t row_count, const weft_host *host);

/** The time that a row would take by the rows before it, of its series; NaN when there are none. */
double weft_bench_expected_ms(const weft_bench_row *rows, uint32_t count,
                              const weft_bench_case *bench_case);

#endif
