/* SPDX-License-Identifier: MIT */
/* Cases of sizes of their own, for suites or parts of them without series. */
#ifndef WEFT_BENCH_FIXED_H
#define WEFT_BENCH_FIXED_H

#include "bench/case.h"

typedef struct weft_bench_fixed {
    const char *name, *implementation;
    uint32_t sizes[4];
    void (*define)(struct weft_case *c, const weft_bench_case *bench_case);
    weft_bench_size least; /* it belongs to this size of the suite and the larger ones */
} weft_bench_fixed;

/** Adds those of `count` that belong to the scope's size. */
void weft_bench_list_add_fixed(weft_bench_list *list, const weft_bench_scope *scope,
                               const char *suite, const weft_bench_fixed *fixed, uint32_t count);

#endif
