/* SPDX-License-Identifier: MIT */
/* Models' speeds as a table in Markdown, as llama-bench prints it, and as JSON (bench/README.md has the fields). */
#ifndef WEFT_BENCH_DECODERS_REPORT_H
#define WEFT_BENCH_DECODERS_REPORT_H

#include "bench/decoders.h"

/** Times the models one after the other, writes the JSON where it is asked for, and prints that or the table; returns an exit code. */
int weft_bench_decoders_run(const weft_bench_decoders_settings *settings,
                            const weft_cli_list *models);

/** The table in host memory; null when memory is out. */
char *weft_bench_decoders_table(const weft_bench_decoder *decoders, uint32_t count,
                                const weft_host *host);

#endif
