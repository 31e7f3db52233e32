// SPDX-License-Identifier: MIT
/*
 * Loops in loops that invocations leave at different times, by `break` and `continue`, and a loop of the whole workgroup with
 * barriers, in which ever fewer invocations have something to do. All of it in integers.
 */
#version 450

layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Cases {
    uint cases[]; // [count]
};
layout(std430, set = 0, binding = 1) buffer Results {
    uint results[]; // [count], then a sum for each workgroup
};
layout(push_constant) uniform Parameters {
    uint count, rounds;
};

shared uint sums[64];

// Turns a word over and over: the inner loop leaves at a bit that the word says.
uint turned(uint word) {
    uint value = word;
    for (uint round = 0u; round < rounds; round++) {
        for (uint bit = 0u;; bit++) {
            if (bit > (word >> 27u)) {
                break;
            }
            if ((word >> bit & 1u) == 0u) {
                continue;
            }
            value = value * 1664525u + bit;
            if (value % 11u == 0u) {
                break;
            }
        }
        value ^= value >> 15u;
    }
    return value;
}

void main() {
    uint i = gl_LocalInvocationID.x;
    uint at = gl_WorkGroupID.x * 64u + i;
    uint value = 0u;
    if (at < count) {
        value = turned(cases[at]);
        results[at] = value;
    }
    sums[i] = value;
    for (uint half_count = 32u; half_count > 0u; half_count /= 2u) {
        barrier();
        if (i < half_count) {
            sums[i] += sums[i + half_count];
        }
    }
    if (i == 0u) {
        results[count + gl_WorkGroupID.x] = sums[0];
    }
}
