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

/** Makes the folder, below $TMPDIR or /tmp, on Windows below %TEMP%, and points the environment to it. After a failure, too, _end undoes it. */
weft_status weft_bench_temporary_begin(weft_bench_temporary *temporary, const weft_host *host);

/** Restores the environment and removes the folder with all that is in it. */
void weft_bench_temporary_end(weft_bench_temporary *temporary, const weft_host *host);

/* What temporary_posix.c and temporary_windows.c do of it; each gives 0 or a value of errno.h. */

/** A new folder. *folder is to be freed in any case. */
int weft_bench_make_temporary(char **folder, const weft_host *host);
/** With all that is in it, but nothing that links in it lead to. */
int weft_bench_remove_folder(const char *path, const weft_host *host);
/** *value is null where there is none. */
int weft_bench_get_variable(char **value, const char *name, const weft_host *host);
/** Without a value: removes the variable. */
int weft_bench_set_variable(const char *name, const char *value);

#endif
