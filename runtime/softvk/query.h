/* SPDX-License-Identifier: MIT */
/* Time stamps, and what else of a stream is done here and not by back ends. */
#ifndef WEFT_SOFTVK_QUERY_H
#define WEFT_SOFTVK_QUERY_H

#include <stdatomic.h>

#include "softvk/functions.h"
#include "softvk/stream.h"

struct weft_soft_query {
    atomic_uint_least64_t value; /* nanoseconds */
    atomic_bool available;
};

struct weft_soft_query_pool {
    uint32_t count;
    struct weft_soft_query queries[];
};

WEFT_SOFT_OBJECT(VkQueryPool, query_pool)

/* Destination of results. */
struct weft_soft_query_results {
    struct weft_soft_query_record queries;
    uint8_t *to;
    uint64_t stride;
    VkQueryResultFlags flags;
};

/** True if all results were there. */
bool weft_soft_query_write(const struct weft_soft_query_results *results);

/** Makes the queries unavailable. */
void weft_soft_query_reset(const struct weft_soft_query_record *record);

/* ---- for back ends ---- */

/** Does what a record of queries or of a call says; `nanoseconds` is the time for WEFT_SOFT_WRITE_TIMESTAMP. */
void weft_soft_run_other(struct weft_soft_record *record, const struct weft_watch *watch,
                         uint64_t nanoseconds);

/** True if a record is run even where its stream has been halted: time stamps are there all the same. */
bool weft_soft_runs_when_halted(const struct weft_soft_record *record);

#endif
