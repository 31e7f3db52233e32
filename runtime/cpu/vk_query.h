/* SPDX-License-Identifier: MIT */
#ifndef WEFT_CPU_VK_QUERY_H
#define WEFT_CPU_VK_QUERY_H

#include <stdatomic.h>

#include "cpu/stream.h"
#include "cpu/vk.h"

struct weft_cpu_query {
    atomic_uint_least64_t value; /* nanoseconds */
    atomic_bool available;
};

struct weft_cpu_query_pool {
    uint32_t count;
    struct weft_cpu_query queries[];
};

WEFT_CPU_OBJECT(VkQueryPool, query_pool)

/** What the commands do. */
void weft_cpu_query_reset(const struct weft_cpu_query_record *record);
void weft_cpu_query_stamp(const struct weft_cpu_query_record *record);
void weft_cpu_query_copy(const struct weft_cpu_query_record *record);

#endif
