/* SPDX-License-Identifier: MIT */
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

/** What the commands do. */
void weft_soft_query_reset(const struct weft_soft_query_record *record);
void weft_soft_query_stamp(const struct weft_soft_query_record *record);
void weft_soft_query_copy(const struct weft_soft_query_record *record);

#endif
