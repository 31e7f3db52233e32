// SPDX-License-Identifier: MIT
//
// The rows of a workgroup, in the form that the build asks for. A kernel that makes each row by itself is written once over the
// names that these three files have in common, and its forms are lines of its own:
//
//   // form NAME                row_group.glsl: a workgroup of 128 for each row
//   // form NAME WEFT_LANES     row_lanes.glsl: several rows, on processors
//   // form NAME WEFT_SIDE      row_side.glsl: eight rows side by side, on GPUs
//
// All add in the same order: they have the same bits.

#ifndef WEFT_INCLUDE_ROW_GLSL
#define WEFT_INCLUDE_ROW_GLSL

#if defined(WEFT_LANES)
#include "row_lanes.glsl"
#elif defined(WEFT_SIDE)
#include "row_side.glsl"
#else
#include "row_group.glsl"
#endif

#endif
