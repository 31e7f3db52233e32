/* SPDX-License-Identifier: MIT */
/* What becomes of a report: files, a comparison with an earlier one, and text or JSON on stdout. */
#ifndef WEFT_BENCH_PUBLISH_H
#define WEFT_BENCH_PUBLISH_H

#include <jansson.h>

#include "core/host.h"

typedef struct weft_bench_outputs {
    const char *json_file; /* --out, or null */
    const char *csv_file;  /* --csv, or null */
    const json_t
        *before; /* --compare: the earlier report, as weft_bench_file_read checks it; or null */
    uint32_t noise_percent; /* --noise: instead of both floors of bench/noise.h; 0: those */
    bool fail_on_slower;    /* --fail-on-slower: a slower row fails the command */
    bool json; /* --json: the comparison where there is one, else the report, instead of text */
} weft_bench_outputs;

/** Writes the files and prints; takes the report, which may be null when memory is out. Returns an exit code. */
int weft_bench_publish(json_t *report, const weft_bench_outputs *outputs, const weft_host *host);

#endif
