#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Softmax over the last axis, of eight rows side by side: what softmax.comp computes.

#include "row_side.glsl"
#include "softmax_rows.glsl"
