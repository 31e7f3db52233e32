/* SPDX-License-Identifier: MIT */
#include "bench/state.h"

#include <math.h>

weft_bench_state weft_bench_state_untold(void) {
    return (weft_bench_state){.lowest_mhz = NAN,
                              .mean_mhz = NAN,
                              .highest_mhz = NAN,
                              .temperature_c = NAN,
                              .gpu_mhz = NAN,
                              .gpu_temperature_c = NAN,
                              .gpu_watt = NAN,
                              .load_1min = NAN,
                              .busy_s = NAN,
                              .all_s = NAN,
                              .own_s = NAN};
}

double weft_bench_others_busy(const weft_bench_state *before, const weft_bench_state *after) {
    const double all = after->all_s - before->all_s;
    const double others = (after->busy_s - before->busy_s) - (after->own_s - before->own_s);
    return all > 0.0 ? fmin(fmax(others / all, 0.0), 1.0) : (double)NAN;
}
