// SPDX-License-Identifier: MIT
//
// Sines and cosines of the features that are waves.

#ifndef WEFT_INCLUDE_WAVE_GLSL
#define WEFT_INCLUDE_WAVE_GLSL

#include "math.glsl"

// cos and sin of a projection.
#ifdef WEFT_MATH_FAST
struct weft_waves {
    float cosine;
    float sine;
};

// Vulkan's own are only asked to be within 2^-11: too coarse for kernels, whose features cancel.
// Reduced by multiples of pi/2 in three parts; good to 2^-22 for projections up to some thousands.
weft_waves waves_of(float p)
{
    float k = floor(p * 0.636619747f + 0.5f);
    float r = ((p - k * 1.57080078f) + k * 4.47034836e-06f) - k * 1.58906914e-08f;
    float z = r * r;
    float s = r + r * z * (-0.166666552f + z * (0.00833218824f + z * -0.000195180852f));
    float c = 0.0416666456f + z * (-0.00138873013f + z * 2.44306702e-05f);
    c = 1.0f - z * (0.5f - z * c);
    uint quadrant = uint(int(k));
    bool odd = (quadrant & 1u) != 0u;
    float cosine = odd ? s : c;
    float sine = odd ? c : s;
    return weft_waves(((quadrant + 1u) & 2u) != 0u ? -cosine : cosine, (quadrant & 2u) != 0u ? -sine : sine);
}
#else
weft_waves waves_of(float p) { return weft_cos_sin(p); }
#endif

#endif
