// SPDX-License-Identifier: MIT
//
// Sines and cosines of the features that are waves.

#ifndef WEFT_INCLUDE_WAVE_GLSL
#define WEFT_INCLUDE_WAVE_GLSL

#include "math.glsl"

// sin (shift 0) and cos (shift 1) of a projection.
#ifdef WEFT_MATH_FAST
// Vulkan's own are only asked to be within 2^-11: too coarse for kernels, whose features cancel.
// Reduced by multiples of pi/2 in three parts; good to 2^-22 for projections up to some thousands.
float wave(float p, uint shift)
{
    float k = floor(p * 0.636619747f + 0.5f);
    float r = ((p - k * 1.57080078f) + k * 4.47034836e-06f) - k * 1.58906914e-08f;
    float z = r * r;
    float s = r + r * z * (-0.166666552f + z * (0.00833218824f + z * -0.000195180852f));
    float c = 0.0416666456f + z * (-0.00138873013f + z * 2.44306702e-05f);
    c = 1.0f - z * (0.5f - z * c);
    uint quadrant = uint(int(k)) + shift;
    float value = (quadrant & 1u) != 0u ? c : s;
    return (quadrant & 2u) != 0u ? -value : value;
}
#else
float wave(float p, uint shift)
{
    return shift == 0u ? weft_sin(p) : weft_cos(p);
}
#endif

#endif
