#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The small Toeplitz matrix times the projected sequence: an invocation makes points of four channels.

#include "apply.glsl"
