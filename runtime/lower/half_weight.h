/* SPDX-License-Identifier: MIT */
/* How elements of weights become f16, for those who write them in a layout of their own. */
#ifndef WEFT_LOWER_HALF_WEIGHT_H
#define WEFT_LOWER_HALF_WEIGHT_H

#include "graph/graph.h"

/** The power of two that the elements of a weight are multiplied by; it must be one that the device keeps as f16. */
float weft_half_weight_scale(const weft_weight *weight);

/** The f16 bits of an element; 0 where it would be subnormal. */
uint16_t weft_half_weight_element(float value, float scale);

#endif
