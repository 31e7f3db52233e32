#version 450
// SPDX-License-Identifier: MIT
//
// Rectangles, each an instance of two triangles.

struct Quad
{
    vec4 rect;  // x, y, width, height in pixels
    vec4 color; // and opacity
    uvec4 what; // kind, and its data: see quad.frag
};

layout(std430, binding = 0) readonly buffer Quads { Quad quads[]; };
layout(push_constant) uniform Push { vec2 size; } push; // of the window in pixels

layout(location = 0) out vec2 place; // 0 … 1 within the quad
layout(location = 1) flat out vec4 color;
layout(location = 2) flat out uvec4 what;

void main()
{
    const vec2 corners[6] = vec2[](vec2(0, 0), vec2(1, 0), vec2(0, 1), vec2(0, 1), vec2(1, 0), vec2(1, 1));
    Quad quad = quads[gl_InstanceIndex];
    place = corners[gl_VertexIndex];
    color = quad.color;
    what = quad.what;
    gl_Position = vec4((quad.rect.xy + place * quad.rect.zw) / push.size * 2.0 - 1.0, 0.0, 1.0);
}
