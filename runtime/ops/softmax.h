/* SPDX-License-Identifier: MIT */
#ifndef WEFT_OPS_SOFTMAX_H
#define WEFT_OPS_SOFTMAX_H

#include "lower/lowering.h"

/** Appends result = softmax(x) over rows of storages; result and x may be the same storage. */
void weft_lower_softmax(struct weft_lowering *lowering, uint32_t result, uint32_t x,
                        struct weft_rows rows);

#endif
