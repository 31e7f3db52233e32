/* SPDX-License-Identifier: MIT */
/* `weft bench --index` and `--from` with several files: what several machines have timed, beside each other. */
#ifndef WEFT_BENCH_SIDE_BY_SIDE_H
#define WEFT_BENCH_SIDE_BY_SIDE_H

#include "bench/publish.h"
#include "cli.h"

typedef struct weft_bench_machines {
    const char *folder; /* --index, or null: the files */
    const char *first;
    const char *const *more;
    uint32_t more_count;
    const char *baseline; /* --baseline, or null */
    const weft_bench_outputs *outputs;
} weft_bench_machines;

/** Reads, writes the files and prints: of a folder Markdown, of files tables, or JSON. Returns an exit code. */
int weft_bench_machines_run(const weft_bench_machines *machines, const weft_cli_syntax *syntax,
                            const weft_host *host);

#endif
