/* SPDX-License-Identifier: MIT */
#include "bench/noise.h"

#include <math.h>

#include "core/math/quantile.h"

#define FALSE_ALARMS  0.05              /* of all comparisons of two files together */
#define HALF_INTERVAL 1.959963984540054 /* of 95 %, in standard errors */

double weft_bench_noise_quantile(uint32_t comparisons) {
    return weft_normal_quantile(1.0 - 0.5 * FALSE_ALARMS / (comparisons > 0 ? comparisons : 1));
}

/** Of log(median). */
static double standard_error(const weft_bench_timing *timing) {
    return log(timing->high_ms / timing->low_ms) / (2.0 * HALF_INTERVAL);
}

static int sign_beyond(double value, double limit) {
    return value > limit ? 1 : value < -limit ? -1 : 0;
}

/** Of the processor time, which far beyond the floor needs no clock to agree. */
static int cpu_direction(double log_ratio, double floor_log, int clock_direction) {
    const int direction = sign_beyond(log_ratio, floor_log);
    const bool far = sign_beyond(log_ratio, 2.0 * floor_log) != 0;
    return far || direction == clock_direction ? direction : 0;
}

weft_bench_change weft_bench_noise_compare(const weft_bench_timing *before,
                                           const weft_bench_timing *after,
                                           const weft_bench_noise *noise, double quantile) {
    weft_bench_change change = {.by_cpu = before->cpu_ms > 0.0 && after->cpu_ms > 0.0};
    change.before_ms = change.by_cpu ? before->cpu_ms : before->median_ms;
    change.after_ms = change.by_cpu ? after->cpu_ms : after->median_ms;
    change.ratio = change.after_ms / change.before_ms;
    change.median_ratio = after->median_ms / before->median_ms;
    const bool noisy = before->noisy || after->noisy;
    const double floor_log = log1p(noisy ? noise->software : noise->hardware);
    const double first = standard_error(before), second = standard_error(after);
    const double error = sqrt(first * first + second * second); // hypot would ask for glibc 2.35
    const double limit = floor_log + quantile * error;
    change.noise = expm1(limit);
    change.direction = sign_beyond(log(change.median_ratio), limit);
    if (change.by_cpu) {
        change.direction = cpu_direction(log(change.ratio), floor_log, change.direction);
    }
    return change;
}
