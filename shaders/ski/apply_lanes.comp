#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// What apply.comp computes, on processors: channels lie along the lanes.

#define WEFT_SKI_LANES
#include "apply.glsl"
