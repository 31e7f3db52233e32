#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Products with Hadamard matrices by workgroups that every device has: an invocation has two sets of a block of 4,096.

#define LANES 128

#include "hadamard.glsl"
