/* SPDX-License-Identifier: MIT */
/* The times of an index (bench/index.h) as multiples of those of one column, and their geometric means. */
#ifndef WEFT_BENCH_RATIOS_H
#define WEFT_BENCH_RATIOS_H

#include <jansson.h>

#include "core/host.h"

/** The column that shares most times with others, the first of several; 0 where there is none. */
size_t weft_bench_usual_baseline(const json_t *index);

/** The first column whose machine has this name, else that has it in the name of machine or device; false where there is none. */
bool weft_bench_find_baseline(size_t *column, const json_t *index, const char *text);

/**
 * Adds to an index
 *
 * "baseline": the place of a column, null without any,
 * "ratios": [{"math", "suite": null of all suites together, "column", "cases", "ratio": the geometric mean of theirs}]
 *
 * and to each cell "ratio": its time over the column's, null where either is missing, refused or not the newest. WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_bench_ratios_add(json_t *index, size_t baseline, const weft_host *host);

#endif
