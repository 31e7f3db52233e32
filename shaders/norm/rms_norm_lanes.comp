#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Rows divided by their length on processors: what rms_norm.comp computes.

#include "row_lanes.glsl"
#include "rms_norm_rows.glsl"
