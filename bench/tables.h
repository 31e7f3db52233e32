/* SPDX-License-Identifier: MIT */
/* A report (bench/report.h) as tables for a terminal. */
#ifndef WEFT_BENCH_TABLES_H
#define WEFT_BENCH_TABLES_H

#include "cli.h"

/** Prints on stdout; returns an exit code. */
int weft_bench_tables_print(const json_t *report);

#endif
