#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
//
// Circular convolution in shared memory (shared_points.glsl), by a workgroup that every device has.

#include "shared_points.glsl"
