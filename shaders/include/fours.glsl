// SPDX-License-Identifier: MIT
//
// Words that are moved: one at a time, or with WEFT_FOUR four that stay next to each other, as one. All
// counts, places and strides of such a kernel are in these.

#ifndef WEFT_INCLUDE_FOURS_GLSL
#define WEFT_INCLUDE_FOURS_GLSL

#ifdef WEFT_FOUR
#define WEFT_WORD uvec4
#else
#define WEFT_WORD uint
#endif

#endif
