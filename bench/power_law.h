/* SPDX-License-Identifier: MIT */
/* How a measured quantity grows with the length n, and from which length on one thing is as fast as another. */
#ifndef WEFT_BENCH_POWER_LAW_H
#define WEFT_BENCH_POWER_LAW_H

#include <stdbool.h>
#include <stdint.h>

/** A quantity at one length. */
typedef struct weft_growth_point {
    double n;
    double value;
} weft_growth_point;

/** value ≈ exp(offset) n^exponent, by least squares of log(value) on log(n). */
typedef struct weft_growth {
    uint32_t count; /* points used: those with n and value above 0 */
    double from, to;
    double exponent;       /* NaN with fewer than two lengths */
    double standard_error; /* of the exponent; NaN with fewer than three points */
    double offset;
} weft_growth;

/** Fits points of any order. */
weft_growth weft_growth_fit(const weft_growth_point *points, uint32_t count);

typedef enum weft_crossover_kind {
    WEFT_CROSSOVER_UNKNOWN = 0, /* no length is common to both */
    WEFT_CROSSOVER_ALWAYS,      /* never slower, so it lies below `from` */
    WEFT_CROSSOVER_AT,          /* at `n` */
    WEFT_CROSSOVER_NEVER        /* slower at `to` */
} weft_crossover_kind;

typedef struct weft_crossover {
    weft_crossover_kind kind;
    double n;        /* for WEFT_CROSSOVER_AT; else NaN */
    double from, to; /* the shortest and longest common length */
} weft_crossover;

/**
 * The length from which on, up to the longest that both were measured at, `values` are at most `baseline`. Between
 * measured lengths both are taken as straight lines in log-log. Points of each in ascending order of n, values above 0.
 */
weft_crossover weft_crossover_find(const weft_growth_point *values, uint32_t value_count,
                                   const weft_growth_point *baseline, uint32_t baseline_count);

/** The value at n, continued from the last points as a power of n of at least 1; NaN without points. Ascending n. */
double weft_growth_extrapolate(const weft_growth_point *points, uint32_t count, double n);

#endif
