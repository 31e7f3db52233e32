/* SPDX-License-Identifier: MIT */
/* What weft bench says of repeated measurements: known values, and how often an interval covers the median. */
#include <math.h>

#include "bench/statistics.h"
#include "core/math/philox.h"
#include "support.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-12)

/* Tables of the sign test: the largest k with 2 P(B(n, 1/2) < k) <= 0.05. */
WEFT_TEST(ranks_are_those_of_the_sign_test) {
    static const uint32_t known[][2] = {{1, 0},  {5, 0},  {6, 1},   {8, 1},   {9, 2},
                                        {12, 3}, {20, 6}, {30, 10}, {50, 18}, {100, 40}};
    for (uint32_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_int_equal(weft_bench_interval_rank(known[i][0]), known[i][1]);
    }
    /* Beyond tables by the normal approximation: n/2 - 1.96 sqrt(n)/2 = 469.01. */
    assert_in_range(weft_bench_interval_rank(WEFT_BENCH_MAX_RUNS), 468, 470);
}

WEFT_TEST(order_statistics_of_few_values) {
    double values[] = {9.0, 1.0, 5.0, 7.0, 3.0, 11.0, 13.0, 15.0, 17.0};
    const weft_bench_statistics odd = weft_bench_summarize(values, 9);
    NEAR(odd.median, 9.0);
    NEAR(odd.p5, 1.0);
    NEAR(odd.p95, 17.0);
    NEAR(odd.spread, 0.5 * (13.0 - 5.0) / 9.0);
    NEAR(odd.low, 3.0); /* rank 2 */
    NEAR(odd.high, 15.0);
    assert_false(odd.tight);
    const weft_bench_statistics even = weft_bench_summarize(values, 8);
    NEAR(even.median, 8.0);
    NEAR(even.low, 1.0); /* rank 1 */
    NEAR(even.high, 15.0);
    NEAR(weft_bench_median(values, 1), 1.0);
}

WEFT_TEST(few_values_have_no_interval) {
    double values[] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    const weft_bench_statistics five = weft_bench_summarize(values, 5);
    assert_true(isnan(five.low) && isnan(five.high));
    assert_false(five.tight);
    const weft_bench_statistics six = weft_bench_summarize(values, 6);
    assert_true(six.tight);
    NEAR(six.low, 1.0);
}

WEFT_TEST(tight_is_two_per_cent_either_way) {
    double within[] = {98.5, 99.0, 100.0, 100.0, 101.0, 102.25};
    double beyond[] = {97.5, 99.0, 100.0, 100.0, 101.0, 102.25};
    assert_true(weft_bench_summarize(within, 6).tight);
    assert_false(weft_bench_summarize(beyond, 6).tight);
}

/* Of 2,000 samples of 50 skewed values each, the interval holds the true median at least 95 % of the time, less three
 * standard errors; it is not trivially wide either: 96.7 % is what rank 18 of 50 has. */
WEFT_TEST(interval_covers_the_median) {
    enum { TRIALS = 2000, COUNT = 50 };
    uint32_t covered = 0;
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        float uniform[COUNT];
        double values[COUNT];
        weft_philox_uniform(uniform, COUNT, 6, trial);
        for (uint32_t i = 0; i < COUNT; i++) {
            values[i] = exp(2.0 * (double)uniform[i]); /* median 1 */
        }
        const weft_bench_statistics found = weft_bench_summarize(values, COUNT);
        covered += found.low <= 1.0 && 1.0 <= found.high;
    }
    assert_in_range(covered, 1901, 1965);
}
