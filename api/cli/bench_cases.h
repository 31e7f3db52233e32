/* SPDX-License-Identifier: MIT */
/* What `weft bench` times: graphs with Philox weights, built from the public API alone. */
#ifndef WEFT_CLI_BENCH_CASES_H
#define WEFT_CLI_BENCH_CASES_H

#include <weft/graph.h>

#define WEFT_BENCH_NAME_SIZE 80

typedef struct weft_bench_case {
    const char *suite;
    char name[WEFT_BENCH_NAME_SIZE];
    const char *implementation; /* forced, or null */
    uint32_t sizes[4];          /* what they mean is the builder's */
    weft_status (*build)(weft_graph *graph, const struct weft_bench_case *bench_case);

    /* Of cases that differ in their length alone, so that growth can be fitted: */
    const char *series; /* what they have in common, such as "fourier"; null: no such case */
    uint32_t length;    /* n */
    bool linear;        /* time and memory ought to be linear in n */
    bool dense; /* a form of dense attention: what the others of its suite are held against */
} weft_bench_case;

/**
 * All cases in fresh memory (free it with weft_free), *count of them, series with these lengths in ascending order.
 * Cases of a series stand together. WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_bench_cases(weft_bench_case **cases, uint32_t *count, const uint32_t *lengths,
                             uint32_t length_count, const weft_host *host);

#endif
