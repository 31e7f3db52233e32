#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// What a chunk of queries reads, by workgroups that every device has.

#include "apply.glsl"
