#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Softmax over the last axis on processors: what softmax.comp computes.

#include "row_lanes.glsl"
#include "softmax_rows.glsl"
