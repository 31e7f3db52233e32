/* SPDX-License-Identifier: MIT */
/* Elements of weights in 16 bits, for those who write them in a layout of their own. */
#ifndef WEFT_LOWER_HALF_WEIGHT_H
#define WEFT_LOWER_HALF_WEIGHT_H

#include "lower/lowering.h"

/** All elements, in a form that the device keeps the weight in, but not as f32. Errors: the reader's. */
weft_status weft_half_weight_read(const weft_weight *weight, enum weft_half half, uint16_t *out);

/** Reads all of it into memory of the weight's host; the caller frees it. */
weft_status weft_half_weight_read_all(uint16_t **out, const weft_weight *weight,
                                      enum weft_half half);

#endif
