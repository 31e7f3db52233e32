/* SPDX-License-Identifier: MIT */
/* The weights of powers that were not drawn here, such as a checkpoint's. */
#ifndef WEFT_FEATURES_DISCRETE_H
#define WEFT_FEATURES_DISCRETE_H

#include <weft/features.h>

/**
 * The weights [rows] that weft_features_fill gives with w [rows, columns], a matrix of the kind WEFT_FEATURES_POISSON or
 * WEFT_FEATURES_GEOMETRIC, of params' rate. Errors: WEFT_INVALID_ARGUMENT for a rate out of its range, an element that is
 * no whole number from 0 to 1023, and a weight above e^87.
 */
weft_status weft_features_discrete_weights(float *weights, const float *w,
                                           const weft_features_params *params,
                                           const weft_host *host);

#endif
