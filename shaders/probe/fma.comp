// SPDX-License-Identifier: MIT
/*
 * Fused math's question: three floats a, b, c in; what the device makes of fma out, as it stands, with operands that are negated, and where
 * one follows another. The host knows the only right answers (runtime/shader/probe_fma.c). Words, not floats, go through memory.
 */
#version 450

layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Cases {
    uint cases[]; // [count][3]
};
layout(std430, set = 0, binding = 1) writeonly buffer Results {
    uint results[]; // [count][4]
};
layout(push_constant) uniform Parameters {
    uint count;
};

void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index >= count) {
        return;
    }
    float a = uintBitsToFloat(cases[index * 3u]);
    float b = uintBitsToFloat(cases[index * 3u + 1u]);
    float c = uintBitsToFloat(cases[index * 3u + 2u]);
    precise float plain = fma(a, b, c);
    precise float minus_product = fma(-a, b, c);
    precise float minus_addend = fma(a, b, -c);
    precise float chained = fma(plain, b, a);
    uint base = index * 4u;
    results[base] = floatBitsToUint(plain);
    results[base + 1u] = floatBitsToUint(minus_product);
    results[base + 2u] = floatBitsToUint(minus_addend);
    results[base + 3u] = floatBitsToUint(chained);
}
