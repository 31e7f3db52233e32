/* SPDX-License-Identifier: MIT */
/* What a device can do at most, by the rows of suite `device`: what the rows of all suites are held against. */
#ifndef WEFT_BENCH_CEILINGS_H
#define WEFT_BENCH_CEILINGS_H

#include "bench/run.h"

typedef enum weft_bench_ceiling {
    WEFT_BENCH_COPY =
        0, /* GB/s, read and written, of the faster of two kernels, by the device's clock */
    WEFT_BENCH_F32, /* GFLOP/s: products and sums, one after the other or, in fast math, at once */
    WEFT_BENCH_F16, /* the same in f16; fast math alone has any */
    WEFT_BENCH_F16_MATRICES,  /* by units for matrices, with f32 sums; fast math alone */
    WEFT_BENCH_INT8_MATRICES, /* in 10^9 operations a second, with int32 sums */
    WEFT_BENCH_BF16_MATRICES, /* always missing, with the reason */
    WEFT_BENCH_DISPATCH, /* µs from one dispatch to the next that waits for it: 5th percentiles of 256 less 16 */
    WEFT_BENCH_SUBMISSION, /* µs of a run of one small dispatch, beyond the device's time */
    WEFT_BENCH_CEILING_COUNT
} weft_bench_ceiling;

/** As reports have them: "copy_gb_per_s". */
extern const char *const weft_bench_ceiling_names[WEFT_BENCH_CEILING_COUNT];

/** In the device's math mode. NaN where a value could not be measured; its reason is then not empty. */
typedef struct weft_bench_ceilings {
    double of[WEFT_BENCH_CEILING_COUNT];
    char reasons[WEFT_BENCH_CEILING_COUNT][WEFT_CLI_ERROR_SIZE];
} weft_bench_ceilings;

/** None is measured, for this reason. */
void weft_bench_no_ceilings(weft_bench_ceilings *ceilings, const char *reason);

/**
 * Runs the cases of suite `device`, each for limit_ms at most, but for the time that it takes to find their sizes.
 * `common` is that of the host, whose errors go to the reasons meanwhile. Errors are those of the list of cases; what the
 * device cannot do is none.
 */
weft_status weft_bench_measure_ceilings(weft_bench_ceilings *ceilings, weft_device *device,
                                        weft_cli_common *common, double limit_ms,
                                        const weft_host *host);

/** The same from rows of the suite, which are found by their cases' names. */
void weft_bench_take_ceilings(weft_bench_ceilings *ceilings, const weft_bench_row *rows,
                              uint32_t count);

/** Keeps the better of two measurements of each limit, with its reason: what disturbs a machine makes it no faster. */
void weft_bench_better_ceilings(weft_bench_ceilings *ceilings, const weft_bench_ceilings *again);

/** value / ceiling; NaN where either is NaN or the ceiling is not above 0. */
double weft_bench_fraction(double value, double ceiling);

#endif
