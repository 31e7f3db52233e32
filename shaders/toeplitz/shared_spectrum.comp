#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
//
// Spectra for convolutions in shared memory (shared_spectrum.glsl), by a workgroup that every device has.

#include "shared_spectrum.glsl"
