// SPDX-License-Identifier: MIT
#ifndef WEFT_INCLUDE_DECAY_GLSL
#define WEFT_INCLUDE_DECAY_GLSL

// gamma^lag for 0 < gamma <= 1, with an error of a few units of 2^-24, however long the lag: while
// gamma^(2^i) is above one half, what is squared is its distance from 1, 1 - (1 - e)^2 = e (2 - e),
// whose relative error grows by two roundings a step instead of doubling. 1 for lag 0, whatever
// gamma is.
float weft_decay(float gamma, uint lag)
{
    float distance = 1.0 - gamma;
    float square = gamma;
    float power = 1.0;
    bool is_far = floatBitsToUint(distance) > 0x3f000000u; // above 1/2, below 0 or NaN
    for (; lag != 0u; lag >>= 1) {
        float factor = is_far ? square : 1.0 - distance;
        if ((lag & 1u) != 0u) {
            power = power * factor;
        }
        if (is_far) {
            square = square * square;
        } else {
            distance = distance * (2.0 - distance);
            is_far = floatBitsToUint(distance) > 0x3f000000u;
            square = 1.0 - distance;
        }
    }
    return power;
}

#endif
