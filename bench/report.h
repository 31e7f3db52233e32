/* SPDX-License-Identifier: MIT */
/* What `weft bench` found, as tables and as JSON (bench/README.md has the fields). */
#ifndef WEFT_BENCH_REPORT_H
#define WEFT_BENCH_REPORT_H

#include "bench/growth.h"

typedef struct weft_bench_report {
    weft_device_info device;
    weft_math math;
    const weft_bench_row *rows;
    uint32_t row_count;
    const weft_bench_fit *fits;
    uint32_t fit_count;
} weft_bench_report;

/** Null when memory is out. */
json_t *weft_bench_report_json(const weft_bench_report *report);

/** Prints tables on stdout; returns an exit code. */
int weft_bench_report_print(const weft_bench_report *report);

#endif
