#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The largest exponent of each row, base included, of eight side by side: what row_maximum.comp computes.

#define WEFT_LONG_STEPS true
#include "row_side.glsl"
#include "random_features_row_maxima.glsl"
