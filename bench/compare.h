/* SPDX-License-Identifier: MIT */
/*
 * Two reports (schema 2) held against each other: before and after, or a device against another. bench/noise.h has the
 * rule by which a time has changed.
 *
 * Rows belong together when suite, case, runtime, math and device are the same; of several such rows in a file the first
 * belongs to the first, and so on. Where each file has one device and they differ, the devices are compared: rows of the
 * one belong to those of the other.
 */
#ifndef WEFT_BENCH_COMPARE_H
#define WEFT_BENCH_COMPARE_H

#include <jansson.h>

#include "bench/noise.h"

/**
 * The comparison as JSON, which the caller drops; null when memory is out. The reports are as weft_bench_file_read checks
 * them.
 *
 * {"before": {"weft", "started", "devices": [names]}, "after": {…}, "across_devices": bool,
 *  "noise": {"hardware", "software" (the floors, as fractions), "comparisons", "quantile" (z)},
 *  "differences": [{"field", "before", "after"}] (of the environment: processor, options, driver …),
 *  "counts": {one of each verdict, "output_changed"},
 *  "suites": [{"suite", "rows", "ratio" (geometric mean of the rows' ratios)}],
 *  "rows": [{"suite", "case", "runtime", "math", "device", "verdict", "reason", "time" ("median_ms" or "cpu_ms"),
 *            "before_ms", "after_ms" (of that time), "ratio" (after over before), "median_ratio", "noise" (the
 *            fraction that this row's median_ratio had to exceed), "output_changed": bool}]}
 *
 * Verdicts: "slower", "faster", "same" (within noise), "new" and "gone" (in one file only), "unmeasured" (in neither, and
 * of the same status), "incomparable" (the status, the shape, the clock or, but in fast mode, the bits are others; `reason` says it). Times, ratios and
 * noise are null for the last four. output_changed: the bits are others.
 */
json_t *weft_bench_compare(const json_t *before, const json_t *after,
                           const weft_bench_noise *noise);

/** How many rows have this verdict, or "output_changed". */
uint32_t weft_bench_compare_count(const json_t *comparison, const char *verdict);

/** Prints the changes as a table, counts and suites on stdout; returns an exit code. */
int weft_bench_compare_print(const json_t *comparison);

#endif
