/* SPDX-License-Identifier: MIT */
/* What becomes of a report: files, a comparison with an earlier one, and text or JSON on stdout. */
#ifndef WEFT_BENCH_PUBLISH_H
#define WEFT_BENCH_PUBLISH_H

#include <jansson.h>

#include "core/host.h"

typedef struct weft_bench_outputs {
    const char *json_file;  /* --out, or null */
    const char *csv_file;   /* --csv, or null */
    const char *html_file;  /* --html, or null */
    const json_t *before;   /* --compare: the earlier report, which weft_bench_file_read takes */
    uint32_t noise_percent; /* --noise: instead of both floors of bench/noise.h; 0: those */
    bool fail_on_slower;    /* --fail-on-slower: a slower row fails the command */
    bool measured;          /* the rows are new: text has them also before a comparison */
    bool json;              /* --json: the comparison if there is one, else the report; no text */
} weft_bench_outputs;

/** Writes the files and prints; takes the report, which may be null when memory is out. Returns an exit code. */
int weft_bench_publish(json_t *report, const weft_bench_outputs *outputs, const weft_host *host);

#endif
