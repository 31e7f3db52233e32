#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
//
// The same by so many invocations that each has one work item of a stage at most: stages are no loops, what they differ in is
// known when this is compiled, and in the same shared memory more subgroups hide each other's waits.

#define WEFT_FFT_INVOCATIONS 512

#include "shared_points.glsl"
