/* SPDX-License-Identifier: MIT */
/* A temporary folder in which the driver and Weft keep what they cache, as long as it is there. */
#ifndef WEFT_BENCH_TEMPORARY_H
#define WEFT_BENCH_TEMPORARY_H

#include "core/host.h"

#define WEFT_BENCH_CACHE_VARIABLES 5

typedef struct weft_bench_temporary {
    char *folder;                               /* for the driver's caches … */
    char *own;                                  /* … and in it one for Weft's */
    char *previous[WEFT_BENCH_CACHE_VARIABLES]; /* the environment's values; null: was not set */
    bool redirected;
} weft_bench_temporary;

/** Makes the folder, below $TMPDIR or /tmp, and points the environment to it. After a failure, too, _end undoes it. */
weft_status weft_bench_temporary_begin(weft_bench_temporary *temporary, const weft_host *host);

/** Restores the environment and removes the folder with all that is in it. */
void weft_bench_temporary_end(weft_bench_temporary *temporary, const weft_host *host);

#endif
