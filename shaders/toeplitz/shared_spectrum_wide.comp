#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// SPDX-License-Identifier: MIT
//
// The same by workgroups as those of convolution/shared_wide.comp.

#define WEFT_FFT_INVOCATIONS 512

#include "shared_spectrum.glsl"
