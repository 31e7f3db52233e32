/* SPDX-License-Identifier: MIT */
/*
 * When two measurements of the same work differ by more than noise.
 *
 * A measurement's median comes with a 95 % confidence interval, from which its logarithm has the standard error
 * log(high / low) / (2 · 1.96). The logarithm of the ratio of two medians has the root of the sum of both squares, s. A
 * change counts when |log(ratio)| > log(1 + floor) + z s, where
 * - z is the two-sided normal quantile of 5 % shared by all comparisons of two files (Bonferroni): 1.96 for one, 3.8 for
 *   300. So the intervals alone raise a false alarm in one of 20 comparisons of files at most;
 * - the floor is what two runs of the same program differ by though each is narrow in itself: clock rates, where memory
 *   lies, what else the machine does for the whole second that a case is measured.
 *
 * Software drivers and peers on the processor have two times: by the clock (median_ms) and of the processor (cpu_ms).
 * Another program on the same cores makes the first longer, up to as many times as there are programs for a core, and
 * the second mostly shorter, since threads that wait for each other spin less. So there the change that counts is that of
 * the processor time: when it exceeds the floor and median_ms has changed in the same direction by the rule above, or when
 * its logarithm exceeds twice the floor's, whatever the clock says.
 *
 * What the floor is from: the same program again and again, on lavapipe on two cores that seven builds and their tests
 * shared, up to ten processes for each core; 1430 pairs of runs of a case (690 of 46 cases, 740 of 74 under heavier load).
 * median_ms differed by a factor of up to 11.8 and cpu_ms of up to 1.42. False alarms of this rule by the floor: 10 %: 88,
 * 15 %: 21, 20 %: 3, 25 %: 1 (a product of matrices that had lost its caches to the others: 2.9 and 1.34 times); with 25 % the
 * clock alone would have raised 496, and the processor time alone 40. In two rounds (rounds.h) and without other work, three
 * comparisons of 334 cases each had no false alarm.
 */
#ifndef WEFT_BENCH_NOISE_H
#define WEFT_BENCH_NOISE_H

#include <stdbool.h>
#include <stdint.h>

/** The floors, as fractions: 0.03 is 3 %. */
typedef struct weft_bench_noise {
    double hardware; /* GPUs, by their own clock */
    double software; /* software drivers, processors, and whatever is timed by the host's clock */
} weft_bench_noise;

#define WEFT_BENCH_HARDWARE_NOISE 0.03
#define WEFT_BENCH_SOFTWARE_NOISE 0.25

/** One measurement. */
typedef struct weft_bench_timing {
    double median_ms, low_ms, high_ms; /* the median and its interval, which may begin at 0 */
    double cpu_ms;                     /* 0 where the processor does not do the work */
    bool noisy;                        /* the floor is that of software */
} weft_bench_timing;

/** Two of the same work. */
typedef struct weft_bench_change {
    bool by_cpu; /* both have cpu_ms, and `ratio` is of that */
    double before_ms, after_ms;
    double ratio;        /* after over before */
    double median_ratio; /* of median_ms */
    double noise;  /* what median_ratio has to exceed, as a fraction: 0.3 is 1.3, or 1 / 1.3 */
    int direction; /* 1: slower; -1: faster; 0: within noise */
} weft_bench_change;

/** z above, for so many comparisons (0 counts as 1). */
double weft_bench_noise_quantile(uint32_t comparisons);

/** Holds two measurements against each other; `quantile` is z. */
weft_bench_change weft_bench_noise_compare(const weft_bench_timing *before,
                                           const weft_bench_timing *after,
                                           const weft_bench_noise *noise, double quantile);

#endif
