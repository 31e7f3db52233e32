#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The largest exponent of each row, base included, on processors: what row_maximum.comp computes.

#include "row_lanes.glsl"
#include "random_features_row_maxima.glsl"
