#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// What a chunk of queries reads, by twice as many invocations with half the sums: for GPUs that have few registers.

#define WEFT_TILE_ROWS 4

#include "apply.glsl"
