#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Words of x [outer, length, inner] by their indices along the middle axis: result [outer, taken,
// inner]. Strides say which index is an element's: one for a whole slice, or its own. All three may be
// windows of larger tensors: what is outside is left alone, and an index outside the axis gives
// `missing` where x's window is the first.
//
// With BY_ROWS, where an index is a whole slice's, workgroups lie in slices, and all three are whole.
//
// form take
// form take_four WEFT_FOUR

#include "divide.glsl"
#include "fours.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { WEFT_WORD x[]; };
layout(std430, binding = 1) readonly buffer Indices { uint indices[]; };
layout(std430, binding = 2) writeonly buffer Result { WEFT_WORD result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint first; // word of the window of the result
    uint inner;
    uint inner_magic;
    uint taken;
    uint taken_magic;
    uint shifts;
    uint axis_length;
    uint outer_stride; // of the indices
    uint taken_stride;
    uint inner_stride;
    uint indices_first;  // index of the window
    uint indices_window; // words
    uint x_first;
    uint x_window;
    uint missing;
} push;

layout(constant_id = 0) const uint BY_ROWS = 0;

void main()
{
    uint i = weft_item_index(push.groups_x);
    uint slices;
    uint within;
    if (BY_ROWS != 0) {
        uvec2 own = weft_row_item(push.groups_x, push.inner);
        slices = own.y;
        within = own.x;
        i = slices * push.inner + within;
        if (within >= push.inner || i >= push.count) {
            return;
        }
    } else {
        if (i >= push.count) {
            return;
        }
        slices = weft_quotient(push.first + i, push.inner_magic, weft_shift_of(push.shifts, 0u));
        within = push.first + i - slices * push.inner;
    }
    uint outer = weft_quotient(slices, push.taken_magic, weft_shift_of(push.shifts, 1u));
    uint slice = slices - outer * push.taken;
    uint at = outer * push.outer_stride + slice * push.taken_stride - push.indices_first;
    if (BY_ROWS == 0) {
        at += within * push.inner_stride;
    }
    if (at >= push.indices_window) {
        return;
    }
    uint index = indices[at]; // a negative one becomes one that is too large
    uint place = (outer * push.axis_length + index) * push.inner + within - push.x_first;
    if (index >= push.axis_length) {
        if (push.x_first == 0u) {
            result[i] = WEFT_WORD(push.missing);
        }
    } else if (place < push.x_window) {
        result[i] = x[place];
    }
}
