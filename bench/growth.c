/* SPDX-License-Identifier: MIT */
#include "bench/growth.h"

#include <math.h>
#include <string.h>

struct points {
    weft_growth_point time[WEFT_BENCH_MAX_LENGTHS], cpu_time[WEFT_BENCH_MAX_LENGTHS];
    weft_growth_point memory[WEFT_BENCH_MAX_LENGTHS];
    uint32_t count;
};

static bool same_series(const weft_bench_case *a, const weft_bench_case *b) {
    return a->series && b->series && strcmp(a->series, b->series) == 0 &&
           strcmp(a->suite, b->suite) == 0;
}

static struct points points_of(const weft_bench_row *rows, uint32_t count,
                               const weft_bench_case *bench_case) {
    struct points points = {.count = 0};
    for (uint32_t i = 0; i < count && points.count < WEFT_BENCH_MAX_LENGTHS; i++) {
        const weft_bench_row *row = &rows[i];
        if (row->status == WEFT_BENCH_OK && same_series(row->bench_case, bench_case)) {
            double n = row->bench_case->length;
            points.time[points.count] = (weft_growth_point){n, row->median_ms};
            points.cpu_time[points.count] = (weft_growth_point){n, row->cpu_ms};
            points.memory[points.count++] = (weft_growth_point){n, (double)row->info.arena_bytes};
        }
    }
    return points;
}

static void add_smaller(struct points *points, double n, double value) {
    uint32_t at = 0;
    while (at < points->count && points->time[at].n < n) {
        at++;
    }
    if (at < points->count && points->time[at].n == n) {
        points->time[at].value = fmin(points->time[at].value, value);
    } else if (points->count < WEFT_BENCH_MAX_LENGTHS) {
        memmove(&points->time[at + 1], &points->time[at],
                (points->count - at) * sizeof *points->time);
        points->time[at] = (weft_growth_point){n, value};
        points->count++;
    }
}

/** What a series is held against, in whichever form is fastest at each length; its times alone. */
static struct points dense_points(const weft_bench_row *rows, uint32_t count,
                                  const weft_bench_case *series) {
    struct points points = {.count = 0};
    for (uint32_t i = 0; i < count; i++) {
        const weft_bench_case *bench_case = rows[i].bench_case;
        if (rows[i].status == WEFT_BENCH_OK && bench_case->dense &&
            bench_case->width == series->width && strcmp(bench_case->suite, series->suite) == 0) {
            add_smaller(&points, bench_case->length, rows[i].median_ms);
        }
    }
    return points;
}

static double value_at(const struct points *points, double n) {
    for (uint32_t i = 0; i < points->count; i++) {
        if (points->time[i].n == n) {
            return points->time[i].value;
        }
    }
    return NAN;
}

static weft_bench_fit fit_series(const weft_bench_row *rows, uint32_t count,
                                 const weft_bench_case *bench_case) {
    const struct points own = points_of(rows, count, bench_case);
    const struct points baseline = dense_points(rows, count, bench_case);
    weft_bench_fit fit = {.suite = bench_case->suite,
                          .series = bench_case->series,
                          .linear = bench_case->linear,
                          .dense = bench_case->dense};
    fit.time = weft_growth_fit(own.time, own.count);
    fit.cpu_time = weft_growth_fit(own.cpu_time, own.count);
    fit.memory = weft_growth_fit(own.memory, own.count);
    fit.crossover = weft_crossover_find(own.time, own.count, baseline.time, baseline.count);
    fit.speedup = value_at(&baseline, fit.crossover.to) / value_at(&own, fit.crossover.to);
    return fit;
}

weft_status weft_bench_fits(weft_bench_fit **fits, uint32_t *count, const weft_bench_row *rows,
                            uint32_t row_count, const weft_host *host) {
    weft_bench_fit *list = weft_alloc_zero(host, (size_t)row_count + 1, sizeof *list);
    *fits = list;
    *count = 0;
    if (!list) {
        return weft_fail_memory(host, "the fits");
    }
    for (uint32_t i = 0; i < row_count; i++) {
        const weft_bench_case *bench_case = rows[i].bench_case;
        bool first = i == 0 || !same_series(rows[i - 1].bench_case, bench_case);
        if (bench_case->series && first) {
            list[(*count)++] = fit_series(rows, row_count, bench_case);
        }
    }
    return WEFT_OK;
}

double weft_bench_expected_ms(const weft_bench_row *rows, uint32_t count,
                              const weft_bench_case *bench_case) {
    const struct points points = points_of(rows, count, bench_case);
    return weft_growth_extrapolate(points.time, points.count, bench_case->length);
}
