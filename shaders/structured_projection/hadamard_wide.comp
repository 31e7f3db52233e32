#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Products with Hadamard matrices by workgroups so wide that no invocation has more than one set, which is what GPUs have registers for.

#define LANES 256

#include "hadamard.glsl"
