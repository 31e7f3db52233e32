/* SPDX-License-Identifier: MIT */
/* What is said of repeated measurements: order statistics, which ask nothing of how they are distributed. */
#ifndef WEFT_BENCH_STATISTICS_H
#define WEFT_BENCH_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

/** Fewer values have no 95 % confidence interval of their median: min … max of 6 covers it with 96.9 %. */
#define WEFT_BENCH_MIN_RUNS 6
#define WEFT_BENCH_MAX_RUNS 1000

/** An interval is tight when its half-width is at most this part of the median. */
#define WEFT_BENCH_TIGHT 0.02

typedef struct weft_bench_statistics {
    double median; /* of an even number of values: the mean of the two in the middle */
    double p5, p90, p95, p99;
    double spread; /* half the distance between the quartiles, over the median */
    /**
     * At least 95 % confidence that the median of what the values are samples of lies in here, whatever its
     * distribution: order statistics k and count + 1 - k with the largest k that 2 P(B(count, 1/2) < k) <= 5 %
     * allows (David and Nagaraja, "Order statistics", 2003, section 7.1). NaN with fewer than 6 values.
     */
    double low, high;
    bool tight; /* high - low is at most 2 WEFT_BENCH_TIGHT times the median */
} weft_bench_statistics;

/** Sorts the values, 1 to WEFT_BENCH_MAX_RUNS of them. */
weft_bench_statistics weft_bench_summarize(double *values, uint32_t count);

/** True if an interval is as narrow as WEFT_BENCH_TIGHT asks. */
bool weft_bench_is_tight(double median, double low, double high);

/** The median alone; sorts the values, at least one. */
double weft_bench_median(double *values, uint32_t count);

/** k above: the interval is from the k-th smallest value to the k-th largest; 0 with fewer than 6 values. */
uint32_t weft_bench_interval_rank(uint32_t count);

#endif
