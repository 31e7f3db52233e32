// SPDX-License-Identifier: MIT
//
// How many features a head of fast weights may have: a workgroup holds a row of W, or columns of the state.

#ifndef WEFT_INCLUDE_FAST_WEIGHT_GLSL
#define WEFT_INCLUDE_FAST_WEIGHT_GLSL

#define WEFT_MAX_FEATURES 512
layout(constant_id = 66) const uint WEFT_FIXED_MAX_FEATURES = WEFT_MAX_FEATURES; // for the host

#endif
