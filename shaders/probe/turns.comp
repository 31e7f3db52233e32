// SPDX-License-Identifier: MIT
/*
 * Loops of many turns, of one invocation: a driver has been seen to end every loop once all of an invocation's have made 65,535 turns
 * together, whatever their conditions say (llvmpipe of Mesa 22.3; not of 25.0).
 */
#version 450

layout(local_size_x = 1) in;

layout(std430, set = 0, binding = 0) readonly buffer Cases {
    uint cases[]; // [1]
};
layout(std430, set = 0, binding = 1) buffer Results {
    uint results[]; // a word, and the turns that were made
};
layout(push_constant) uniform Parameters {
    uint turns, rounds;
};

void main() {
    uint value = cases[0];
    uint made = 0u;
    for (uint k = 0u; k < turns; k++) {
        value = value * 1664525u + k;
        value ^= value >> 15u;
        made++;
    }
    for (uint round = 0u; round < rounds; round++) {
        for (uint k = 0u; k < turns; k++) {
            value = value * 22695477u + k;
            value ^= value >> 13u;
            made++;
        }
    }
    results[0] = value;
    results[1] = made;
}
