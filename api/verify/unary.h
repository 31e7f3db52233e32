/* SPDX-License-Identifier: MIT */
/* The parameters that cases of functions with parameters have. */
#ifndef WEFT_VERIFY_UNARY_H
#define WEFT_VERIFY_UNARY_H

#include <weft/arithmetic.h>

#define WEFT_UNARY_FLOATS (WEFT_UNARY_IS_INF + 1) /* functions of f32: all up to this */

/* alpha and beta. */
static const float weft_unary_parameters[WEFT_UNARY_FLOATS][2] = {
    [WEFT_UNARY_HARD_SIGMOID] = {0.2F, 0.5F},
    [WEFT_UNARY_HARD_SWISH] = {0.16666667F, 0.5F},
    [WEFT_UNARY_LEAKY_RELU] = {0.01F, 0.0F},
    [WEFT_UNARY_ELU] = {1.5F, 0.0F},
    [WEFT_UNARY_SELU] = {1.67326324F, 1.05070099F},
    [WEFT_UNARY_CELU] = {0.75F, 0.0F},
    [WEFT_UNARY_SOFTSHRINK] = {0.5F, 0.25F},
    [WEFT_UNARY_THRESHOLD] = {0.25F, -2.0F},
    [WEFT_UNARY_CLAMP] = {-0.5F, 3.0F},
};

#endif
