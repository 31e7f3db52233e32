/* SPDX-License-Identifier: MIT */
#ifndef WEFT_OPS_COPY_H
#define WEFT_OPS_COPY_H

#include "lower/lowering.h"

/** Appends target[0 … count) = source[0 … count), in words. */
void weft_lower_copy(struct weft_lowering *lowering, uint32_t target, uint32_t source,
                     uint64_t count);

#endif
