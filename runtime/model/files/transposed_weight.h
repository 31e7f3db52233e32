/* SPDX-License-Identifier: MIT */
/* A weight as its transpose, without a copy of it. */
#ifndef WEFT_MODEL_TRANSPOSED_WEIGHT_H
#define WEFT_MODEL_TRANSPOSED_WEIGHT_H

#include <weft/graph.h>

/** A matrix [r, c] as [c, r]; its rows are read from the other's columns when they are needed. */
weft_status weft_weight_transposed_of(weft_weight **out, weft_weight *weight);
/** The weight that one of these is made of; null for others. */
const weft_weight *weft_weight_transposed_from(const weft_weight *weight);

#endif
