/* SPDX-License-Identifier: MIT */
/* An index (bench/index.h) with ratios (bench/ratios.h) as text and as comma-separated values: machines side by side. */
#ifndef WEFT_BENCH_SIDE_H
#define WEFT_BENCH_SIDE_H

#include "cli.h"

/** Prints machines, the cases that several have, and geometric means as tables on stdout; returns an exit code. */
int weft_bench_side_print(const json_t *index);

/**
 * Writes each time of a case that several have on a line of its own, by RFC 4180: suite, case, math, machine, device, driver, file,
 * median_ms, other_bits, newest, ratio. WEFT_IO_ERROR, WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_bench_side_csv_write(const char *path, const json_t *index, const weft_host *host);

#endif
