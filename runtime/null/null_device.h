/* SPDX-License-Identifier: MIT */
/* A device that computes nothing: it keeps memory, copies, and counts what a plan asks of a device. Listed where WEFT_NULL_DEVICE=1. */
#ifndef WEFT_NULL_NULL_DEVICE_H
#define WEFT_NULL_NULL_DEVICE_H

#include "softvk/backend.h"

extern const struct weft_soft_backend weft_null_backend;

/** Counts of a device's work since its creation or weft_null_reset. */
struct weft_null_counts {
    uint64_t streams; /* command buffers */
    uint64_t dispatches, groups;
    uint64_t bound_bytes; /* of all bindings of all dispatches */
    uint64_t barriers;
    uint64_t copies, copied_bytes;
    uint64_t fills, filled_bytes;
};

/** Counts of a device whose queue is idle. */
struct weft_null_counts weft_null_counts(VkDevice device);
void weft_null_reset(VkDevice device);

#endif
