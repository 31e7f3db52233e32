/* SPDX-License-Identifier: MIT */
/* What `weft bench` times: graphs with Philox weights, built from the public API alone. */
#ifndef WEFT_CLI_BENCH_CASES_H
#define WEFT_CLI_BENCH_CASES_H

#include <weft/graph.h>

typedef struct weft_bench_case {
    const char *suite;
    const char *name;
    const char *implementation; /* forced, or null */
    uint32_t sizes[4];          /* what they mean is the builder's */
    weft_status (*build)(weft_graph *graph, const struct weft_bench_case *bench_case);
} weft_bench_case;

/** All cases; *count receives how many. */
const weft_bench_case *weft_bench_cases(uint32_t *count);

#endif
