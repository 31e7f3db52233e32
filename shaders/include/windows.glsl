// SPDX-License-Identifier: MIT
//
// Where the elements of windows are, of convolutions and of pooling. An axis of `extent` elements with padding around is at
// most 2^31 - 1 long, so that places in front of it wrap around to numbers that no extent has.

#ifndef WEFT_INCLUDE_WINDOWS_GLSL
#define WEFT_INCLUDE_WINDOWS_GLSL

uint weft_window_place(uint window, uint stride, uint element, uint dilation, uint before)
{
    return window * stride + element * dilation - before;
}

#endif
