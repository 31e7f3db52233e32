#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The features of rows, eight side by side: what features.comp computes.

#define WEFT_LONG_STEPS true
#include "row_side.glsl"
#include "random_features_store_rows.glsl"
