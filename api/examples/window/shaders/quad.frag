#version 450
// SPDX-License-Identifier: MIT
//
// A plain color, a character of 5 by 7 dots, or a photograph as the network reads it: 49 patches of 4 by 4 pixels.

const uint PLAIN = 0;
const uint GLYPH = 1; // what.yz: 35 bits, row by row, the first one the lowest
const uint PHOTO = 2; // what.y: its index

const uint SIDE = 28;

layout(std430, binding = 1) readonly buffer Photos { float photos[]; };

layout(location = 0) in vec2 place;
layout(location = 1) flat in vec4 color;
layout(location = 2) flat in uvec4 what;
layout(location = 0) out vec4 result;

void main()
{
    result = color;
    if (what.x == GLYPH) {
        uvec2 dot = min(uvec2(place * vec2(5, 7)), uvec2(4, 6));
        uint at = dot.y * 5 + dot.x;
        uint bits = at < 32 ? what.y >> at : what.z >> (at - 32);
        result.a *= float(bits & 1);
    } else if (what.x == PHOTO) {
        uvec2 pixel = min(uvec2(place * float(SIDE)), uvec2(SIDE - 1));
        uint patch_index = pixel.y / 4 * 7 + pixel.x / 4;
        float value = photos[(what.y * 49 + patch_index) * 16 + pixel.y % 4 * 4 + pixel.x % 4];
        result.rgb = mix(vec3(0.11, 0.12, 0.15), color.rgb, value);
    }
}
