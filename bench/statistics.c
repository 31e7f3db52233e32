/* SPDX-License-Identifier: MIT */
#include "bench/statistics.h"

#include <math.h>
#include <stdlib.h>

#define MISSED 0.05 /* the interval may miss the median this often, half of it on each side */

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double middle(const double *sorted, uint32_t count) {
    return 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
}

double weft_bench_median(double *values, uint32_t count) {
    qsort(values, count, sizeof *values, ascending);
    return middle(values, count);
}

bool weft_bench_is_tight(double median, double low, double high) {
    return high - low <= 2.0 * WEFT_BENCH_TIGHT * median;
}

uint32_t weft_bench_interval_rank(uint32_t count) {
    double probability = ldexp(1.0, -(int)count); /* of exactly `rank` values below the median */
    double below = probability;                   /* of at most `rank` */
    uint32_t rank = 0;
    while (2.0 * below <= MISSED) {
        rank++;
        probability *= (double)(count + 1 - rank) / rank;
        below += probability;
    }
    return rank;
}

/** The value nearest to a quantile, halves up. */
static double quantile(const double *sorted, uint32_t count, double q) {
    return sorted[(uint32_t)(q * (count - 1) + 0.5)];
}

weft_bench_statistics weft_bench_summarize(double *values, uint32_t count) {
    weft_bench_statistics result = {.median = weft_bench_median(values, count),
                                    .p5 = quantile(values, count, 0.05),
                                    .p90 = quantile(values, count, 0.90),
                                    .p95 = quantile(values, count, 0.95),
                                    .p99 = quantile(values, count, 0.99),
                                    .low = NAN,
                                    .high = NAN};
    result.spread =
        0.5 * (quantile(values, count, 0.75) - quantile(values, count, 0.25)) / result.median;
    const uint32_t rank = weft_bench_interval_rank(count);
    if (rank > 0) {
        result.low = values[rank - 1];
        result.high = values[count - rank];
        result.tight = weft_bench_is_tight(result.median, result.low, result.high);
    }
    return result;
}
