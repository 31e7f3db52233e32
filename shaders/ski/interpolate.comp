#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The result from the inducing points and the taps: an invocation makes positions of four channels.

#include "interpolate.glsl"
