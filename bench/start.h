/* SPDX-License-Identifier: MIT */
/* How long a case takes to get started, with nothing cached and with everything. */
#ifndef WEFT_BENCH_START_H
#define WEFT_BENCH_START_H

#include "bench/case.h"

/**
 * Milliseconds to compile the case's plan, and what its first run takes longer than its second, because some drivers
 * compile shaders only then. The graph is there already; opening the device is not counted.
 */
typedef struct weft_bench_start {
    double cold_ms;       /* with empty caches: Weft's and the driver's */
    double warm_cache_ms; /* on a device opened anew, with the caches that the first one left */
    double steady_ms;     /* again on the first device, with pipelines and weights there */
    uint32_t cold_compiled, warm_compiled,
        steady_compiled; /* pipelines that Weft's cache had not */
} weft_bench_start;

/**
 * Opens the device twice, each time with the caches of Weft and of the driver in a temporary folder, which is removed in
 * the end. Drivers are told by the environment variables that Mesa, NVIDIA's and AMD's know, restored before this returns, so no
 * other thread may use the environment meanwhile; a driver that knows none of them may have cached things elsewhere. A
 * case that compiles by itself (case->compile) makes its weights anew, so that its steady_ms has their upload in it.
 * device_select as in weft_device_params. Errors: WEFT_IO_ERROR for the folder, those of the device and of the plan.
 */
weft_status weft_bench_start_times(weft_bench_start *out, const weft_bench_case *bench_case,
                                   const char *device_select, weft_math math,
                                   const weft_host *host);

#endif
