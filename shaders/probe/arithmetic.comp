// SPDX-License-Identifier: MIT
/*
 * One case per invocation: three floats a, b, c, a word d and a float e in; what the device makes
 * of them out. The host knows the only right answer to each (runtime/shader/probe_cases.c has the
 * same list of results). Words, not floats, go through memory, so that nothing but the operation
 * under test can touch the bits.
 */
#version 450
#extension GL_GOOGLE_include_directive : require

#include "math.glsl"

layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Cases {
    uint cases[]; // [count][5]: a, b, c, d, e
};
layout(std430, set = 0, binding = 1) writeonly buffer Results {
    uint results[]; // [count][26]
};
layout(push_constant) uniform Parameters {
    uint count;
};

uint comparisons(float a, float b) {
    return (a < b ? 1u : 0u) | (a <= b ? 2u : 0u) | (a == b ? 4u : 0u) | (a != b ? 8u : 0u) |
           (a > b ? 16u : 0u) | (a >= b ? 32u : 0u);
}

void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index >= count) {
        return;
    }
    float a = uintBitsToFloat(cases[index * 5u]);
    float b = uintBitsToFloat(cases[index * 5u + 1u]);
    float c = uintBitsToFloat(cases[index * 5u + 2u]);
    uint d = cases[index * 5u + 3u];
    uint e = cases[index * 5u + 4u];

    precise float sum = a + b;
    precise float difference = a - b;
    precise float product = a * b;
    precise float product_plus = a * b + c;
    precise float product_minus = a * b - c;
    precise float minus_product = c - a * b;
    precise float sum_of_three = (a + b) + c;
    precise float sum_and_back = (a + b) - a;
    precise float negated = -a;
    // As kernels double what is then added: a product with 2 or 4 is exact, but where it overflows.
    precise float twice_minus = weft_twice(a) - b;
    precise float four_times_plus = weft_twice(weft_twice(a)) + c;

    // Products that nothing else reads: Mesa's ACO fuses no others, and those above are one.
    precise float once_plus = b * c + a;
    precise float minus_once = b - c * a;

    // Zeros that the driver sees: x * 0 is no zero for an infinite x, and x + 0 no x for -0. The
    // last two are a complex product with a constant factor, as Fourier transforms have it.
    precise float times_zero = a * 0.0f;
    precise float times_minus_zero = a * -0.0f;
    precise float plus_zero = a + 0.0f;
    precise float plus_minus_zero = a + -0.0f;
    precise float zero_minus = 0.0f - a;
    precise float minus_zero = a - 0.0f;
    float one = 1.0f;
    float zero = 0.0f;
    precise float real = a * one - b * zero;
    precise float imaginary = a * zero + b * one;

    uint base = index * 26u;
    results[base] = floatBitsToUint(sum);
    results[base + 1u] = floatBitsToUint(difference);
    results[base + 2u] = floatBitsToUint(product);
    results[base + 3u] = floatBitsToUint(product_plus);
    results[base + 4u] = floatBitsToUint(product_minus);
    results[base + 5u] = floatBitsToUint(minus_product);
    results[base + 6u] = floatBitsToUint(sum_of_three);
    results[base + 7u] = floatBitsToUint(sum_and_back);
    results[base + 8u] = floatBitsToUint(negated);
    results[base + 9u] = comparisons(a, b);
    results[base + 10u] = floatBitsToUint(float(int(d)));
    // Only what floats can hold: SwiftShader rounds the others in two steps, as Vulkan lets it.
    results[base + 11u] = floatBitsToUint(float(d < 0x1000000u ? d : d & 0xffffff00u));
    results[base + 12u] = uint(int(uintBitsToFloat(e)));
    results[base + 13u] = uint(uintBitsToFloat(e & 0x7fffffffu));
    results[base + 14u] = floatBitsToUint(twice_minus);
    results[base + 15u] = floatBitsToUint(four_times_plus);
    results[base + 16u] = floatBitsToUint(once_plus);
    results[base + 17u] = floatBitsToUint(minus_once);
    results[base + 18u] = floatBitsToUint(times_zero);
    results[base + 19u] = floatBitsToUint(times_minus_zero);
    results[base + 20u] = floatBitsToUint(plus_zero);
    results[base + 21u] = floatBitsToUint(plus_minus_zero);
    results[base + 22u] = floatBitsToUint(zero_minus);
    results[base + 23u] = floatBitsToUint(minus_zero);
    results[base + 24u] = floatBitsToUint(real);
    results[base + 25u] = floatBitsToUint(imaginary);
}
