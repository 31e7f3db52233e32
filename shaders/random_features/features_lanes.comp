#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The features of rows on processors: what features.comp computes.

#include "row_lanes.glsl"
#include "random_features_store_rows.glsl"
